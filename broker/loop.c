#include "broker/loop.h"

#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/signals.h"
#include "broker/journal.h"
#include "net/metrics.h"
#include "net/socket.h"
#include "net/watched.h"

/* Messages that are heard before the answers go out: one flush, and one commit of the journal, serves them all. */
#define BATCH    64
/* A full disk is asked again. */
#define RETRY_MS 1000

struct loop {
	struct rd_net *net;
	struct rd_socket *socket;
	struct rd_broker *broker;
	struct rd_journal *journal; /* NULL none */
	struct rd_watched watched;
	int signals;
	bool held; /* the disk is full: nothing is heard or said until the last turn is kept */
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

/* 0 all is kept and said; 1 the disk is full. */
static int flush(struct loop *l, struct rd_error *err)
{
	char line[800], quoted[900];
	int rc = rd_broker_flush(l->broker, rd_now_ns(), send_letter, l, err);
	bool full = rc < 0 && l->journal && rd_journal_disk_full(err);

	if (full && !l->held)
		rd_log(RD_LOG_WARN, "disk_full", "error=%s",
		       rd_log_quote(rd_error_line(err, line, sizeof line), quoted, sizeof quoted));
	if (rc == 0 && l->held)
		rd_log(RD_LOG_INFO, "disk_has_room", "held=0");
	l->held = full;
	return full ? 1 : rc;
}

static int wait(struct loop *l, int wait_ms, bool *ended, struct rd_error *err)
{
	struct rd_poll items[3] = {{.fd = l->signals, .want = RD_POLL_IN}};
	size_t n = 1 + rd_watched_poll(&l->watched, &items[1]);

	if (!l->held)
		items[n++] = (struct rd_poll){.socket = l->socket, .want = RD_POLL_IN};
	int rc = rd_net_poll(items, n, rd_watched_wait_ms(&l->watched, wait_ms), err);
	*ended = items[0].got & RD_POLL_IN;
	return rc < 0 ? rc : 0;
}

static int turn(struct loop *l, bool *ended, struct rd_error *err)
{
	int rc = l->held ? 0 : hear(l, err);

	if (rc < 0)
		return rc;
	rd_watched_turn(&l->watched);
	bool more = rc > 0;
	if (!l->held) {
		if (rd_socket_events(l->socket) & RD_NET_DOWN)
			rd_broker_probe(l->broker, rd_now_ns());
		rd_broker_tick(l->broker, rd_now_ns());
	}
	rc = flush(l, err);
	if (rc < 0)
		return rc;
	if (rc > 0)
		return wait(l, RETRY_MS, ended, err);
	return more ? 0 : wait(l, rd_wait_ms(rd_broker_next_ns(l->broker)), ended, err);
}

/* Before anybody can connect: what a broker knows is known from the first word on. */
static int open_broker(struct loop *l, const char *state, struct rd_broker_options *opt, struct rd_error *err)
{
	if (state == NULL)
		return rd_broker_new(opt, &l->broker, err);
	int rc = rd_journal_open(state, &l->journal, err);
	opt->keep = rd_journal_keep;
	opt->keep_ctx = l->journal;
	if (rc == 0)
		rc = rd_broker_new(opt, &l->broker, err);
	return rc == 0 ? rd_journal_recall(l->journal, l->broker, err) : rc;
}

static const char *page(void *ctx, const char *path, struct rd_out *out)
{
	struct loop *l = ctx;

	if (strcmp(path, "/") == 0) {
		rd_broker_page(l->broker, rd_now_ns(), out);
		return RD_HTML_TYPE;
	}
	if (strcmp(path, "/metrics") != 0)
		return NULL;
	rd_metrics_process(out, "broker");
	rd_broker_metrics(l->broker, rd_now_ns(), out);
	rd_metric_gauge(out, "rundown_disk_full", "1: nothing is heard until the journal finds room.", l->held);
	if (l->journal)
		rd_journal_metrics(l->journal, out);
	return RD_METRICS_TYPE;
}

static int open_loop(struct loop *l, const struct rd_broker_place *at, const struct rd_broker_options *opt,
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
	int rc = open_broker(l, at->state, &filled, err);
	if (rc == 0)
		rc = rd_net_open(&l->net, err);
	if (rc == 0)
		rc = rd_net_secure(l->net, &at->security, RD__ROLE__ROLE_NONE, at->endpoint, err);
	if (rc == 0)
		rc = at->listen_fd < 0 ? rd_socket_listen(l->net, at->endpoint, &l->socket, err)
				       : rd_socket_listen_on(l->net, at->endpoint, at->listen_fd, &l->socket, err);
	return rc == 0 ? rd_watched_open(&l->watched, at->http, page, l, err) : rc;
}

int rd_broker_serve(const struct rd_broker_place *at, const struct rd_broker_options *opt, struct rd_error *err)
{
	struct loop l = {.signals = -1};
	bool ended = false;

	int rc = open_loop(&l, at, opt, err);
	if (rc == 0)
		rd_log(RD_LOG_INFO, "listening", "endpoint=%s", at->endpoint);
	while (rc == 0 && !ended)
		rc = turn(&l, &ended, err);
	rd_watched_close(&l.watched);
	rd_broker_free(l.broker);
	rd_net_close(l.net);
	rd_journal_close(l.journal);
	if (l.signals >= 0)
		close(l.signals);
	return rc;
}
