#include "worker/serve.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/signals.h"
#include "net/metrics.h"
#include "net/socket.h"
#include "net/watched.h"
#include "worker/parse.h"

/* How long a worker that ends waits for its last words to reach the wire. */
#define LINGER_MS       500
/* Messages taken in a row before the child is heard again. */
#define MESSAGES_A_TURN 64

struct serve {
	struct rd_worker worker;
	struct rd_net *net;
	struct rd_socket *socket;
	struct rd_forker *forker;
	struct rd_pipe pipe; /* of the one child; fd -1 without one */
	int signals;
	struct rd_log_limit refusals;
	struct rd_watched watched;
	bool blocked; /* the socket took no more */
	bool forker_gone;
};

/* ---- the acts that the state machine asks for */

static int act_send(void *ctx, const Rd__Envelope *e, struct rd_blob *blob, struct rd_error *err)
{
	struct serve *s = ctx;
	return rd_send(s->socket, 0, e, blob, err);
}

static int act_start(void *ctx, uint64_t child, const struct rd_message *task, const char *folder, struct rd_error *err)
{
	struct serve *s = ctx;
	int fd = rd_parse_task_file(task, folder, err);

	if (fd < 0)
		return fd;
	int code = rd_forker_spawn_task(s->forker, child, fd, RD_ANSWER_BODY_MAX, &s->pipe, err);
	close(fd);
	return code;
}

static void act_kill(void *ctx, uint64_t child)
{
	struct serve *s = ctx;

	rd_pipe_release(&s->pipe);
	/* A forker that cannot be told is gone, and so is the child. */
	(void)rd_forker_kill(s->forker, child, NULL);
}

static void act_clean(void *ctx, const char *folder)
{
	struct rd_error err;
	char line[1024], quoted[1100];

	(void)ctx;
	if (rd_remove_tree(folder, &err) < 0)
		rd_log(RD_LOG_WARN, "folder_stays", "error=%s",
		       rd_log_quote(rd_error_line(&err, line, sizeof line), quoted, sizeof quoted));
}

static uint64_t act_now(void *ctx)
{
	(void)ctx;
	return rd_now_ns();
}

/* ---- what happens */

static void tell_refused(struct serve *s, const struct rd_error *why)
{
	char quoted[600];
	uint64_t unsaid;

	if (rd_log_may(&s->refusals, &unsaid))
		rd_log(RD_LOG_WARN, "message_refused", "error=%s unsaid=%llu",
		       rd_log_quote(why->text, quoted, sizeof quoted), (unsigned long long)unsaid);
}

static void hear_broker(struct serve *s)
{
	struct rd_message m;
	struct rd_error err;

	for (int i = 0; i < MESSAGES_A_TURN; i++) {
		int got = rd_receive(s->socket, &m, &err);
		if (got == 0)
			return;
		if (got > 0)
			got = rd_validate(&m, RD_FROM_BROKER, &err);
		if (got < 0) {
			tell_refused(s, &err);
		} else {
			rd_worker_message(&s->worker, &m);
		}
		rd_message_release(&m);
	}
}

static int pump(struct serve *s, struct rd_error *err)
{
	int full = rd_worker_pump(&s->worker, err);

	if (full >= 0)
		s->blocked = full;
	return full < 0 ? full : 0;
}

/* Everything that the child said and that is wanted now; 0, or the socket's error. */
static int hear_child(struct serve *s, struct rd_error *err)
{
	struct rd_pipe_frame frame;
	struct rd_error why;

	while (s->pipe.fd >= 0 && rd_worker_wants_frames(&s->worker)) {
		int got = rd_pipe_hear(&s->pipe, &frame, &why);
		if (got == 1) {
			rd_worker_frame(&s->worker, &frame);
			int code = pump(s, err);
			if (code < 0)
				return code;
			continue;
		}
		if (got == 0 && !s->pipe.ended)
			return 0;
		size_t left = rd_pipe_left(&s->pipe);
		rd_pipe_release(&s->pipe);
		rd_worker_pipe_end(&s->worker, left, got < 0 ? &why : NULL);
		/* The child's end may have been told before: then this makes the last word due. */
		return pump(s, err);
	}
	return 0;
}

static void hear_forker(struct serve *s)
{
	struct rd_forker_exit e;
	int got;

	while ((got = rd_forker_next(s->forker, &e, NULL)) == 1)
		rd_worker_child_gone(&s->worker, &e);
	if (got == 0 || s->forker_gone)
		return;
	rd_log(RD_LOG_ERROR, "forker_gone", "child=%llu", (unsigned long long)s->worker.child);
	s->forker_gone = true;
	rd_worker_leave(&s->worker);
	/* No end will be told: its children died with it. */
	e = (struct rd_forker_exit){.id = s->worker.child, .spawn_errno = ECHILD};
	rd_worker_child_gone(&s->worker, &e);
}

static void hear_signal(struct serve *s)
{
	int number;

	while ((number = rd_signals_next(s->signals)) != 0) {
		rd_log(RD_LOG_INFO, "worker_leaves", "signal=%d", number);
		rd_worker_leave(&s->worker);
	}
}

static const char *page(void *ctx, const char *path, struct rd_out *out)
{
	struct serve *s = ctx;

	if (strcmp(path, "/") == 0) {
		rd_worker_page(&s->worker, rd_now_ns(), out);
		return RD_HTML_TYPE;
	}
	if (strcmp(path, "/metrics") != 0)
		return NULL;
	rd_metrics_process(out, "worker");
	rd_worker_metrics(&s->worker, out);
	return RD_METRICS_TYPE;
}

/* ---- the loop */

static int turn(struct serve *s, struct rd_error *err)
{
	int full = rd_worker_pump(&s->worker, err);

	if (full < 0 || rd_worker_over(&s->worker))
		return full;
	s->blocked = full;
	int code = hear_child(s, err);
	if (code < 0)
		return code;

	struct rd_poll items[5] = {
		{.socket = s->socket, .want = RD_POLL_IN | (s->blocked ? RD_POLL_OUT : 0u)},
		{.fd = s->signals, .want = RD_POLL_IN},
	};
	size_t n = 2;
	if (!s->forker_gone)
		items[n++] = (struct rd_poll){.fd = s->forker->fd, .want = RD_POLL_IN};
	if (s->pipe.fd >= 0 && rd_worker_wants_frames(&s->worker))
		items[n++] = (struct rd_poll){.fd = s->pipe.fd, .want = RD_POLL_IN};
	n += rd_watched_poll(&s->watched, &items[n]);
	code = rd_net_poll(items, n, rd_watched_wait_ms(&s->watched, rd_wait_ms(rd_worker_wake_ns(&s->worker))), err);
	if (code < 0)
		return code;
	unsigned events = rd_socket_events(s->socket);
	rd_watched_turn(&s->watched);
	if (events & RD_NET_DOWN)
		rd_worker_down(&s->worker);
	if (events & RD_NET_UP)
		rd_worker_up(&s->worker);
	hear_broker(s);
	if (!s->forker_gone)
		hear_forker(s);
	hear_signal(s);
	return 0;
}

int rd_worker_serve(const struct rd_serve_options *o, struct rd_forker *forker, struct rd_error *err)
{
	struct serve s = {.forker = forker, .signals = -1, .pipe = {.fd = -1}};
	struct rd_worker_acts acts = {&s, act_send, act_start, act_kill, act_clean, act_now};
	sigset_t ending;
	uint8_t uuid[16];

	if (getrandom(uuid, sizeof uuid, 0) != sizeof uuid)
		return rd_fail_errno(err, "making a uuid");
	rd_worker_init(&s.worker, &acts, &o->limits, uuid, o->scratch);
	rd_signals_ending(&ending);
	/* Before the context: its threads inherit which signals are blocked. */
	int code = s.signals = rd_signals_open(&ending, err);
	if (code >= 0)
		code = rd_net_open(&s.net, err);
	if (code == 0)
		code = rd_net_secure(s.net, &o->security, RD__ROLE__WORKER, o->broker, err);
	if (code == 0)
		code = rd_socket_connect(s.net, o->broker, &s.socket, err);
	if (code == 0)
		code = rd_watched_open(&s.watched, o->http, page, &s, err);
	while (code >= 0 && !rd_worker_over(&s.worker))
		code = turn(&s, err);
	if (code >= 0 && s.worker.refused) {
		*err = s.worker.refusal;
		code = rd_error_in(err, err->code, "the broker refused this worker");
	} else if (code >= 0 && s.forker_gone) {
		code = rd_fail(err, RD_INTERNAL, "the process that forks the parsers died");
	}
	rd_watched_close(&s.watched);
	if (s.socket)
		rd_socket_linger(s.socket, LINGER_MS);
	rd_net_close(s.net);
	rd_pipe_release(&s.pipe);
	if (s.signals >= 0)
		close(s.signals);
	rd_worker_release(&s.worker);
	return code < 0 ? code : 0;
}
