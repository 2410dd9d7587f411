#include "tests/support.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#include "base/clock.h"
#include "net/socket.h"
#include "net/validate.h"

struct pair {
	struct rd_net *net;
	struct rd_socket *broker, *worker;
	struct rd_error err;
};

static const char *endpoint(void)
{
	static char text[4200];
	snprintf(text, sizeof text, "ipc://%s", scratch_path("broker"));
	return text;
}

static int open_pair(void **state)
{
	static struct pair p;

	p = (struct pair){0};
	assert_ok(rd_net_open(&p.net, &p.err), &p.err);
	assert_ok(rd_socket_listen(p.net, endpoint(), &p.broker, &p.err), &p.err);
	assert_ok(rd_socket_connect(p.net, endpoint(), &p.worker, &p.err), &p.err);
	*state = &p;
	return 0;
}

static int close_pair(void **state)
{
	struct pair *p = *state;
	rd_net_close(p->net);
	return 0;
}

static int wait_for(struct rd_socket *s, unsigned want, int timeout_ms)
{
	struct rd_poll item = {.socket = s, .want = want};
	uint64_t until = rd_now_ns() + (uint64_t)timeout_ms * 1000000;

	while (rd_now_ns() < until) {
		rd_net_poll(&item, 1, 20, NULL);
		if (item.got & want)
			return 1;
	}
	return 0;
}

static void receive_one(struct rd_socket *s, struct rd_message *m)
{
	struct rd_error err;
	assert_true(wait_for(s, RD_POLL_IN, 5000));
	assert_int_equal(1, rd_receive(s, m, &err));
}

static void send_one(struct rd_socket *s, rd_peer to, const Rd__Envelope *e, struct rd_blob *blob)
{
	struct rd_error err;
	assert_true(wait_for(s, RD_POLL_OUT, 5000));
	assert_int_equal(1, rd_send(s, to, e, blob, &err));
}

static void a_message_and_its_answer(void **state)
{
	struct pair *p = *state;
	Rd__Envelope e = rd_envelope(RD__KIND__PROGRESS);
	struct rd_message m;
	char text[16];

	e.job = rd_field("j1");
	e.task = 7;
	e.attempt = 2;
	e.bytes = UINT64_C(1) << 40;
	send_one(p->worker, 0, &e, NULL);
	receive_one(p->broker, &m);
	assert_int_equal(RD__KIND__PROGRESS, m.envelope->kind);
	assert_string_equal("j1", rd_field_text(&m.envelope->job, text, sizeof text));
	assert_int_equal(7, m.envelope->task);
	assert_int_equal(UINT64_C(1) << 40, m.envelope->bytes);
	assert_int_equal(0, m.blob.frames.n);
	rd_peer worker = m.from;
	rd_message_release(&m);

	e = rd_envelope(RD__KIND__PING);
	send_one(p->broker, worker, &e, NULL);
	receive_one(p->worker, &m);
	assert_int_equal(RD__KIND__PING, m.envelope->kind);
	rd_message_release(&m);
	assert_int_equal(0, rd_receive(p->worker, &m, NULL));
}

static void a_blob_of_many_frames_is_relayed_whole(void **state)
{
	struct pair *p = *state;
	size_t n = 3 * (size_t)RD_FRAME_BYTES + 17;
	uint8_t *bytes = malloc(n);
	struct rd_blob blob = {0};
	struct rd_bytes room = {0};
	struct rd_span whole;
	struct rd_message m;

	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)(i * 31 + (i >> 12));
	assert_ok(rd_blob_add(&blob, bytes, n, &p->err), &p->err);
	assert_int_equal(4, blob.frames.n);
	Rd__Envelope e = rd_envelope(RD__KIND__RESULT);
	send_one(p->worker, 0, &e, &blob);
	assert_int_equal(0, blob.frames.n);
	assert_int_equal(0, blob.size_bytes);

	receive_one(p->broker, &m);
	assert_int_equal(n, m.blob.size_bytes);
	/* The frames that came in go out again as they are. */
	send_one(p->broker, m.from, m.envelope, &m.blob);
	rd_message_release(&m);
	receive_one(p->worker, &m);
	assert_ok(rd_blob_whole(&m.blob, &room, &whole, &p->err), &p->err);
	assert_int_equal(n, whole.size_bytes);
	assert_memory_equal(bytes, whole.at, n);
	rd_message_release(&m);
	rd_bytes_release(&room);
	free(bytes);
}

static void a_peer_that_is_gone_is_told(void **state)
{
	struct pair *p = *state;
	Rd__Envelope e = rd_envelope(RD__KIND__PING);
	struct rd_message m;
	int rc = 1;

	assert_int_equal(RD_NOT_FOUND, rd_send(p->broker, 12345, &e, NULL, NULL));
	assert_int_equal(RD_NOT_FOUND, rd_send(p->broker, UINT64_MAX, &e, NULL, NULL));

	send_one(p->worker, 0, &e, NULL);
	receive_one(p->broker, &m);
	rd_peer worker = m.from;
	rd_message_release(&m);
	assert_true(rd_socket_events(p->broker) & RD_NET_UP);
	rd_socket_close(p->worker);

	unsigned events = 0;
	for (int i = 0; i < 500 && (rc != RD_NOT_FOUND || !(events & RD_NET_DOWN)); i++) {
		struct rd_poll item = {.socket = p->broker, .want = RD_POLL_IN};
		rd_net_poll(&item, 1, 10, NULL);
		events |= rd_socket_events(p->broker);
		rc = rd_send(p->broker, worker, &e, NULL, NULL);
	}
	assert_int_equal(RD_NOT_FOUND, rc);
	assert_true(events & RD_NET_DOWN);
}

static void nobody_there_yet(void **state)
{
	struct pair *p = *state;
	Rd__Envelope e = rd_envelope(RD__KIND__PING);
	struct rd_socket *early, *late;
	char where[4200];

	snprintf(where, sizeof where, "ipc://%s", scratch_path("late"));
	assert_ok(rd_socket_connect(p->net, where, &early, &p->err), &p->err);
	assert_int_equal(0, rd_send(early, 0, &e, NULL, &p->err));
	assert_ok(rd_socket_listen(p->net, where, &late, &p->err), &p->err);
	send_one(early, 0, &e, NULL);
}

static void bad_endpoints(void **state)
{
	struct pair *p = *state;
	struct rd_socket *s;

	assert_code(RD_USAGE, rd_socket_listen(p->net, "nonsense", &s, &p->err));
	assert_code(RD_USAGE, rd_socket_connect(p->net, "smoke://signals", &s, &p->err));
	assert_code(RD_IO, rd_socket_listen(p->net, "ipc:///no/such/folder/x", &s, &p->err));
	assert_non_null(strstr(p->err.context, "/no/such/folder/x"));
}

/* Peers that use ZeroMQ as they like. */
static void hostile_frames(void **state)
{
	struct pair *p = *state;
	struct rd_message m;
	void *context = zmq_ctx_new();
	void *raw = zmq_socket(context, ZMQ_DEALER);
	int linger = 0;

	zmq_setsockopt(raw, ZMQ_LINGER, &linger, sizeof linger);
	assert_int_equal(0, zmq_connect(raw, endpoint()));
	zmq_send(raw, "\xff\xff\xff", 3, ZMQ_SNDMORE);
	zmq_send(raw, "blob", 4, 0);
	zmq_send(raw, "", 0, 0);
	for (int i = 0; i < RD_BLOB_FRAMES_MAX + 2; i++)
		zmq_send(raw, "", 0, i <= RD_BLOB_FRAMES_MAX ? ZMQ_SNDMORE : 0);
	zmq_send(raw, "\x10\x04", 2, 0);

	assert_true(wait_for(p->broker, RD_POLL_IN, 5000));
	assert_code(RD_PROTOCOL, rd_receive(p->broker, &m, &p->err));
	assert_true(m.from > 0 && m.from <= UINT32_MAX);
	assert_null(m.envelope);
	/* An empty envelope is a message, which validation then refuses. */
	receive_one(p->broker, &m);
	assert_code(RD_PROTOCOL, rd_validate(&m, RD_FROM_WORKER, &p->err));
	rd_message_release(&m);
	assert_true(wait_for(p->broker, RD_POLL_IN, 5000));
	assert_code(RD_PROTOCOL, rd_receive(p->broker, &m, &p->err));
	assert_int_equal(0, m.blob.frames.n);
	/* What follows is read from its start. */
	receive_one(p->broker, &m);
	assert_int_equal(4, m.envelope->kind);
	rd_message_release(&m);

	/* A frame above the limit costs the sender its connection. */
	uint8_t *big = calloc(1, RD_FRAME_BYTES + 1);
	zmq_send(raw, big, RD_FRAME_BYTES + 1, 0);
	assert_false(wait_for(p->broker, RD_POLL_IN, 200));
	free(big);
	zmq_close(raw);
	zmq_ctx_term(context);
}

static void a_peer_that_names_itself_is_refused(void **state)
{
	struct pair *p = *state;
	struct rd_message m;
	void *context = zmq_ctx_new();
	void *raw = zmq_socket(context, ZMQ_DEALER);
	int linger = 0;

	zmq_setsockopt(raw, ZMQ_LINGER, &linger, sizeof linger);
	zmq_setsockopt(raw, ZMQ_ROUTING_ID, "me", 2);
	assert_int_equal(0, zmq_connect(raw, endpoint()));
	zmq_send(raw, "\x10\x04", 2, 0);
	assert_true(wait_for(p->broker, RD_POLL_IN, 5000));
	assert_code(RD_PROTOCOL, rd_receive(p->broker, &m, &p->err));
	assert_int_equal(UINT64_MAX, m.from);
	zmq_close(raw);
	zmq_ctx_term(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_message_and_its_answer, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(a_blob_of_many_frames_is_relayed_whole, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(a_peer_that_is_gone_is_told, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(nobody_there_yet, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(bad_endpoints, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(hostile_frames, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(a_peer_that_names_itself_is_refused, open_pair, close_pair),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
