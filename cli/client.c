#include "cli/client.h"

#include <stdlib.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/log.h"
#include "cli/command.h"
#include "net/hello.h"
#include "net/socket.h"
#include "net/validate.h"
#include "net/wire_error.h"

#define PATIENCE_NS UINT64_C(30000000000)

struct talk {
	const struct rd_client_words *words;
	const Rd__Envelope *question;
	rd_client_hear_fn hear;
	void *ctx;
	struct rd_net *net;
	struct rd_socket *socket;
	uint8_t uuid[16];
	bool ask_due, answered, over, failed;
	uint64_t give_up_ns; /* unless there is an answer before */
};

struct rd_client_words rd_client_words(void)
{
	const char *broker = getenv("RUNDOWN_BROKER");
	const char *keys = getenv("RUNDOWN_KEYS");

	return (struct rd_client_words){
		.broker = broker && broker[0] ? broker : NULL,
		.security = {.keys = keys && keys[0] ? keys : NULL},
		.patience_ns = PATIENCE_NS,
		.signals = -1,
	};
}

int rd_client_check(const struct rd_client_words *w, const char *command)
{
	struct rd_error err = {0};

	if (w->broker == NULL)
		rd_fail(&err, RD_USAGE, "--broker ENDPOINT is missing, and there is no RUNDOWN_BROKER");
	else
		rd_security_check(&w->security, w->broker, &err);
	/* What the connection comes to is said in one line of ours. */
	rd_log_init(RD_LOG_ERROR, "client");
	return err.code < 0 ? rd_complain(command, &err) : 0;
}

/* Who we are, and what we want to know. */
static int ask(struct talk *t, struct rd_error *err)
{
	Rd__Envelope e = rd_envelope(RD__KIND__HELLO);
	struct rd_hello h;

	rd_hello(&h, RD__ROLE__CLIENT, t->uuid);
	e.hello = &h.message;
	int rc = rd_send(t->socket, 0, &e, NULL, err);
	if (rc > 0)
		rc = rd_send(t->socket, 0, t->question, NULL, err);
	t->ask_due = rc == 0;
	return rc < 0 ? rc : 0;
}

static int take_refusal(struct talk *t, const Rd__Error *error, struct rd_error *err)
{
	/* A broker that is new does not know us. */
	if (error->code == RD_NOT_FOUND) {
		t->ask_due = true;
		return 0;
	}
	rd_wire_error_take(err, error);
	return rd_error_in(err, err->code, "the broker refused");
}

static int take(struct talk *t, const Rd__Envelope *e, struct rd_error *err)
{
	if (e->kind == RD__KIND__REFUSED)
		return take_refusal(t, e->error, err);
	if (e->kind == RD__KIND__WELCOME || e->kind == RD__KIND__PING)
		return 0;
	t->answered = true;
	int rc = t->hear(t->ctx, e, err);
	t->over = rc > 0;
	return rc < 0 ? rc : 0;
}

static int hear_all(struct talk *t, struct rd_error *err)
{
	struct rd_message m;
	int rc;

	while (!t->over && (rc = rd_receive(t->socket, &m, err)) != 0) {
		if (rc < 0)
			return rc;
		rc = rd_validate(&m, RD_FROM_BROKER, err);
		if (rc == 0)
			rc = take(t, m.envelope, err);
		rd_message_release(&m);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int turn(struct talk *t, struct rd_error *err)
{
	struct rd_poll items[] = {
		{.socket = t->socket, .want = RD_POLL_IN | (t->ask_due ? RD_POLL_OUT : 0u)},
		{.fd = t->words->signals, .want = RD_POLL_IN},
	};
	size_t n = t->words->signals < 0 ? 1 : 2;

	/* One who watches waits as long as there is a broker. */
	int rc = rd_net_poll(items, n, rd_wait_ms(t->answered ? UINT64_MAX : t->give_up_ns), err);
	if (rc < 0)
		return rc;
	if (items[1].got)
		return rd_fail(err, RD_CANCELLED, "a signal");
	unsigned events = rd_socket_events(t->socket);
	if (events & RD_NET_REFUSED)
		return rd_fail(err, RD_IO, "the broker at %s does not let this key in", t->words->broker);
	t->failed |= (events & RD_NET_FAILED) != 0;
	if (events & RD_NET_DOWN) {
		t->answered = false;
		t->give_up_ns = rd_now_ns() + t->words->patience_ns;
	}
	if (events & RD_NET_UP)
		t->ask_due = true;
	if ((rc = hear_all(t, err)) < 0 || t->over)
		return rc;
	if (t->ask_due && (rc = ask(t, err)) < 0)
		return rc;
	if (t->answered || rd_now_ns() < t->give_up_ns)
		return 0;
	return rd_fail(err, RD_IO, "no broker answers at %s%s", t->words->broker,
		       !t->failed                ? ""
		       : t->words->security.keys ? "; what does has another server's key"
						 : "; what does may want keys (--keys)");
}

int rd_client_ask(const struct rd_client_words *w, const Rd__Envelope *question, rd_client_hear_fn hear, void *ctx,
		  struct rd_error *err)
{
	struct talk t = {.words = w, .question = question, .hear = hear, .ctx = ctx};

	if (getrandom(t.uuid, sizeof t.uuid, 0) != sizeof t.uuid)
		return rd_fail_errno(err, "no random numbers");
	t.give_up_ns = rd_now_ns() + w->patience_ns;
	int rc = rd_net_open(&t.net, err);
	if (rc == 0)
		rc = rd_net_secure(t.net, &w->security, RD__ROLE__CLIENT, w->broker, err);
	if (rc == 0)
		rc = rd_socket_connect(t.net, w->broker, &t.socket, err);
	while (rc == 0 && !t.over)
		rc = turn(&t, err);
	rd_net_close(t.net);
	return rc;
}
