#include "tests/net/broker_end.h"

#include "base/clock.h"
#include "tests/support.h"

void broker_listen(struct broker_end *b, const char *endpoint)
{
	struct rd_error err;

	assert_ok(rd_net_open(&b->net, &err), &err);
	assert_ok(rd_socket_listen(b->net, endpoint, &b->socket, &err), &err);
}

const Rd__Envelope *broker_hear(struct broker_end *b, enum rd_sender from)
{
	uint64_t end = rd_now_ns() + 10000000000u;
	struct rd_error err;

	rd_message_release(&b->m);
	for (;;) {
		int got = rd_receive(b->socket, &b->m, &err);
		assert_ok(got, &err);
		if (got == 1)
			break;
		if (rd_now_ns() > end)
			fail_msg("the peer says nothing");
		struct rd_poll item = {.socket = b->socket, .want = RD_POLL_IN};
		assert_ok(rd_net_poll(&item, 1, 1000, &err), &err);
		rd_socket_events(b->socket);
	}
	bool hello = b->m.envelope->kind == RD__KIND__HELLO;
	assert_ok(rd_validate(&b->m, hello ? RD_FROM_STRANGER : from, &err), &err);
	b->peer = b->m.from;
	return b->m.envelope;
}

static bool passed_over(Rd__Kind kind)
{
	return kind == RD__KIND__PROGRESS || kind == RD__KIND__FINISH_PROGRESS || kind == RD__KIND__CHUNK_ACK;
}

const Rd__Envelope *broker_expect(struct broker_end *b, enum rd_sender from, Rd__Kind kind)
{
	const Rd__Envelope *e;

	do
		e = broker_hear(b, from);
	while (e->kind != kind && passed_over(e->kind));
	assert_string_equal(rd_kind_name(e->kind), rd_kind_name(kind));
	return e;
}

void broker_tell(struct broker_end *b, const Rd__Envelope *e, struct rd_blob *blob)
{
	struct rd_error err;

	assert_int_equal(rd_send(b->socket, b->peer, e, blob, &err), 1);
}

void broker_welcome(struct broker_end *b)
{
	Rd__Envelope e = rd_envelope(RD__KIND__WELCOME);
	Rd__Welcome w = RD__WELCOME__INIT;

	w.epoch = rd_field("0123456789abcdef");
	w.version = rd_field("1");
	w.progress_ms = 100;
	e.welcome = &w;
	broker_tell(b, &e, NULL);
}

void broker_close(struct broker_end *b)
{
	rd_message_release(&b->m);
	rd_net_close(b->net);
	*b = (struct broker_end){0};
}
