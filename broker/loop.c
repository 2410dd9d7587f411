#include "broker/loop.h"

#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/signals.h"
#include "net/socket.h"

/* Messages that are heard before the answers go out: one flush serves them all. */
#define BATCH 64

struct loop {
	struct rd_net *net;
	struct rd_socket *socket;
	struct rd_broker *broker;
	int signals;
};

static int send_letter(void *ctx, rd_peer to, struct rd_span envelope, struct rd_blob *blob)
{
	struct loop *l = ctx;
	return rd_send_packed(l->socket, to, envelope, blob, NULL);
}

/* 1 more may wait, 0 all is heard, negative: the socket is broken. */
static int hear(struct loop *l, struct rd_error *err)
{
	for (int i = 0; i < BATCH; i++) {
		struct rd_message m;
		int rc = rd_receive(l->socket, &m, err);
		if (rc == 0)
			return 0;
		if (rc == RD_PROTOCOL)
			rd_broker_hear_rubbish(l->broker, m.from, err, rd_now_ns());
		else if (rc < 0)
			return rc;
		else
			rd_broker_hear(l->broker, &m, rd_now_ns());
	}
	return 1;
}

static int turn(struct loop *l, bool *ended, struct rd_error *err)
{
	struct rd_poll items[] = {{.socket = l->socket, .want = RD_POLL_IN}, {.fd = l->signals, .want = RD_POLL_IN}};

	int rc = hear(l, err);
	if (rc < 0)
		return rc;
	bool more = rc > 0;
	if (rd_socket_events(l->socket) & RD_NET_DOWN)
		rd_broker_probe(l->broker, rd_now_ns());
	rd_broker_tick(l->broker, rd_now_ns());
	rc = rd_broker_flush(l->broker, rd_now_ns(), send_letter, l, err);
	if (rc < 0 || more)
		return rc;
	rc = rd_net_poll(items, 2, rd_wait_ms(rd_broker_next_ns(l->broker)), err);
	*ended = items[1].got & RD_POLL_IN;
	return rc < 0 ? rc : 0;
}

static int open_loop(struct loop *l, const char *endpoint, int listen_fd, const struct rd_broker_options *opt,
		     struct rd_error *err)
{
	struct rd_broker_options filled = *opt;
	sigset_t ending;

	if (getrandom(filled.epoch, sizeof filled.epoch, 0) != sizeof filled.epoch)
		return rd_fail_errno(err, "no random numbers");
	rd_signals_ending(&ending);
	/* Before the context: its threads inherit the mask. */
	l->signals = rd_signals_open(&ending, err);
	if (l->signals < 0)
		return l->signals;
	int rc = rd_net_open(&l->net, err);
	if (rc == 0)
		rc = listen_fd < 0 ? rd_socket_listen(l->net, endpoint, &l->socket, err)
				   : rd_socket_listen_on(l->net, endpoint, listen_fd, &l->socket, err);
	return rc == 0 ? rd_broker_new(&filled, &l->broker, err) : rc;
}

int rd_broker_serve(const char *endpoint, int listen_fd, const struct rd_broker_options *opt, struct rd_error *err)
{
	struct loop l = {.signals = -1};
	bool ended = false;

	int rc = open_loop(&l, endpoint, listen_fd, opt, err);
	if (rc == 0)
		rd_log(RD_LOG_INFO, "listening", "endpoint=%s", endpoint);
	while (rc == 0 && !ended)
		rc = turn(&l, &ended, err);
	rd_broker_free(l.broker);
	rd_net_close(l.net);
	if (l.signals >= 0)
		close(l.signals);
	return rc;
}
