#include "merger/serve.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/place.h"
#include "base/signals.h"
#include "merger/finish.h"
#include "merger/inside.h"
#include "merger/look.h"
#include "merger/work.h"
#include "net/metrics.h"
#include "net/socket.h"
#include "net/validate.h"
#include "net/watched.h"

#define MESSAGES_A_TURN 64
/* Readers that died are looked for so often. */
#define READERS_NS      60000000000u

struct serve {
	struct rd_merger merger;
	struct rd_work *work;
	const char *state;
	struct rd_net *net;
	struct rd_socket *socket;
	struct rd_forker *forker;
	struct rd_pipe pipe; /* of the one child that finishes; fd -1 without one */
	struct rd_look look;
	int lock, signals;
	struct rd_log_limit refusals;
	struct rd_watched watched;
	bool blocked; /* the socket took no more */
	bool forker_gone;
	bool sweeping; /* rows of ended jobs are left */
	uint64_t readers_at_ns;
};

/* ---- the acts that the state machine asks for */

static int act_send(void *ctx, const Rd__Envelope *e, struct rd_error *err)
{
	struct serve *s = ctx;
	return rd_send(s->socket, 0, e, NULL, err);
}

static int act_spool_file(void *ctx, struct rd_error *err)
{
	struct serve *s = ctx;
	return rd_spool_file(s->state, err);
}

static int act_ledger(void *ctx, const struct rd_shard_id *id, struct rd_ledger_row *row, struct rd_error *err)
{
	return rd_work_ledger(((struct serve *)ctx)->work, id, row, err);
}

static int act_ledger_task(void *ctx, const char *job, uint64_t task, struct rd_error *err)
{
	return rd_work_ledger_task(((struct serve *)ctx)->work, job, task, err);
}

static int act_commit(void *ctx, const struct rd_shard_id *id, const struct rd_ledger_row *row,
		      const struct rd_spool *spool, struct rd_error *err)
{
	return rd_work_commit(((struct serve *)ctx)->work, id, row, spool, err);
}

static int act_job(void *ctx, const char *job, struct rd_job_record *out, struct rd_error *err)
{
	return rd_work_job(((struct serve *)ctx)->work, job, out, err);
}

static int act_job_put(void *ctx, const char *job, struct rd_job_record *record, struct rd_error *err)
{
	struct serve *s = ctx;

	s->sweeping = true;
	return rd_work_job_put(s->work, job, record, err);
}

static int act_start(void *ctx, uint64_t child, enum rd_finish_step step, const struct rd_message *order,
		     const struct rd_job_record *record, struct rd_error *err)
{
	struct serve *s = ctx;
	int fd = rd_finish_task_file(step, order, record, err);

	if (fd < 0)
		return fd;
	int code = rd_forker_spawn_task(s->forker, child, fd, RD_FINISH_BODY_MAX, &s->pipe, err);
	close(fd);
	return code;
}

static void act_kill(void *ctx, uint64_t child)
{
	struct serve *s = ctx;

	rd_pipe_release(&s->pipe);
	(void)rd_forker_kill(s->forker, child, NULL);
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

static int hear_broker(struct serve *s, struct rd_error *err)
{
	struct rd_message m;
	struct rd_error why;
	int code = 0;

	for (int i = 0; i < MESSAGES_A_TURN && code == 0 && rd_merger_listens(&s->merger); i++) {
		int got = rd_receive(s->socket, &m, &why);
		if (got == 0)
			return 0;
		if (got > 0)
			got = rd_validate(&m, RD_FROM_BROKER, &why);
		if (got < 0) {
			tell_refused(s, &why);
		} else if (m.envelope->kind == RD__KIND__TOP) {
			rd_look_ask(&s->look, &m);
		} else {
			code = rd_merger_message(&s->merger, &m, err);
		}
		rd_message_release(&m);
	}
	return code;
}

static void hear_child(struct serve *s)
{
	struct rd_pipe_frame frame;
	struct rd_error why;

	while (s->pipe.fd >= 0) {
		int got = rd_pipe_hear(&s->pipe, &frame, &why);
		if (got == 1) {
			rd_merger_frame(&s->merger, &frame);
			continue;
		}
		if (got == 0 && !s->pipe.ended)
			return;
		if (got < 0 || rd_pipe_left(&s->pipe)) {
			/* As good as a frame that is none. */
			frame = (struct rd_pipe_frame){0};
			rd_merger_frame(&s->merger, &frame);
		}
		rd_pipe_release(&s->pipe);
		rd_merger_pipe_end(&s->merger);
	}
}

static void hear_forker(struct serve *s)
{
	struct rd_forker_exit e;
	int got;

	while ((got = rd_forker_next(s->forker, &e, NULL)) == 1)
		if (e.id & RD_LOOK_CHILD)
			rd_look_gone(&s->look, &e);
		else
			rd_merger_child_gone(&s->merger, &e);
	if (got < 0)
		s->forker_gone = true;
}

/* An answer that the socket does not take now is lost; whoever wants it asks again. */
static void answer_looks(struct serve *s)
{
	Rd__Envelope *e;

	rd_look_hear(&s->look);
	if (rd_look_take(&s->look, &e) == 1) {
		(void)rd_send(s->socket, 0, e, NULL, NULL);
		rd_envelope_free(e);
	}
	if (!s->forker_gone)
		rd_look_pump(&s->look, s->forker);
}

static void hear_signal(struct serve *s)
{
	int number;

	while ((number = rd_signals_next(s->signals)) != 0) {
		rd_log(RD_LOG_INFO, "merger_leaves", "signal=%d", number);
		rd_merger_leave(&s->merger);
	}
}

/* What can wait until nobody speaks: rows of ended jobs, readers that died. */
static int keep_house(struct serve *s, struct rd_error *err)
{
	uint64_t now = rd_now_ns();

	if (now >= s->readers_at_ns) {
		rd_work_check_readers(s->work);
		s->readers_at_ns = now + READERS_NS;
	}
	if (!s->sweeping)
		return 0;
	int more = rd_work_sweep(s->work, err);
	/* To delete takes pages too; on a full disk it goes on with the next job that ends. */
	if (rd_merger_disk_full(more, err))
		more = 0;
	s->sweeping = more > 0;
	return more < 0 ? more : 0;
}

static const char *page(void *ctx, const char *path, struct rd_out *out)
{
	struct serve *s = ctx;

	if (strcmp(path, "/") == 0) {
		rd_merger_page(&s->merger, out);
		return RD_HTML_TYPE;
	}
	if (strcmp(path, "/metrics") != 0)
		return NULL;
	rd_metrics_process(out, "merger");
	rd_merger_metrics(&s->merger, out);
	return RD_METRICS_TYPE;
}

/* ---- the loop */

static int wait_ms(const struct serve *s)
{
	uint64_t wake = rd_merger_wake_ns(&s->merger);

	if (s->sweeping)
		return 0;
	return rd_wait_ms(wake < s->readers_at_ns ? wake : s->readers_at_ns);
}

static int turn(struct serve *s, struct rd_error *err)
{
	int full = rd_merger_pump(&s->merger, err);

	if (full < 0 || rd_merger_over(&s->merger))
		return full;
	s->blocked = full;
	struct rd_poll items[6] = {
		{.socket = s->socket,
		 .want = (rd_merger_listens(&s->merger) ? RD_POLL_IN : 0u) | (s->blocked ? RD_POLL_OUT : 0u)},
		{.fd = s->signals, .want = RD_POLL_IN},
		{.fd = s->forker->fd, .want = RD_POLL_IN},
	};
	size_t n = 3;
	if (s->pipe.fd >= 0)
		items[n++] = (struct rd_poll){.fd = s->pipe.fd, .want = RD_POLL_IN};
	if (s->look.pipe.fd >= 0)
		items[n++] = (struct rd_poll){.fd = s->look.pipe.fd, .want = RD_POLL_IN};
	size_t ours = n;
	n += rd_watched_poll(&s->watched, &items[n]);
	int ready = rd_net_poll(items, n, rd_watched_wait_ms(&s->watched, wait_ms(s)), err);
	if (ready < 0)
		return ready;
	rd_watched_turn(&s->watched);
	/* Who watches is nobody that the house must wait for. */
	ready -= n > ours && items[ours].got != 0;
	if (rd_socket_events(s->socket) & RD_NET_UP)
		rd_merger_up(&s->merger);
	int code = hear_broker(s, err);
	hear_child(s);
	hear_forker(s);
	answer_looks(s);
	hear_signal(s);
	if (s->forker_gone)
		return rd_fail(err, RD_INTERNAL, "the process that forks the finishes died");
	return code == 0 && ready == 0 ? keep_house(s, err) : code;
}

static int open_all(struct serve *s, const struct rd_merger_options *o, struct rd_error *err)
{
	sigset_t ending;
	struct rd_work_options work = {.map_bytes = o->map_bytes, .thrown_away = o->limits.thrown_away};
	char folder[4096];

	s->lock = rd_place_own(o->state, "merger", o->limits.thrown_away, err);
	if (s->lock < 0)
		return s->lock;
	int code = rd_path(folder, sizeof folder, err, "%s/work", o->state);
	if (code == 0)
		code = rd_work_open(folder, &work, &s->work, err);
	rd_signals_ending(&ending);
	/* Before the context: its threads inherit which signals are blocked. */
	if (code == 0)
		code = s->signals = rd_signals_open(&ending, err);
	if (code >= 0)
		code = rd_net_open(&s->net, err);
	if (code == 0)
		code = rd_net_secure(s->net, &o->security, RD__ROLE__MERGER, o->broker, err);
	if (code == 0)
		code = rd_socket_connect(s->net, o->broker, &s->socket, err);
	return code == 0 ? rd_watched_open(&s->watched, o->http, page, s, err) : code;
}

int rd_merger_serve(const struct rd_merger_options *o, struct rd_forker *forker, struct rd_error *err)
{
	struct serve s = {.state = o->state, .forker = forker, .lock = -1, .signals = -1, .pipe = {.fd = -1}};
	struct rd_merger_acts acts = {&s,         act_send, act_spool_file, o->state,  act_ledger, act_ledger_task,
				      act_commit, act_job,  act_job_put,    act_start, act_kill,   act_now};
	uint8_t uuid[16];

	if (getrandom(uuid, sizeof uuid, 0) != sizeof uuid)
		return rd_fail_errno(err, "making a uuid");
	rd_merger_init(&s.merger, &acts, &o->limits, uuid);
	rd_look_init(&s.look);
	s.sweeping = true;
	int code = open_all(&s, o, err);
	while (code >= 0 && !rd_merger_over(&s.merger))
		code = turn(&s, err);
	if (code >= 0 && s.merger.refused) {
		*err = s.merger.refusal;
		code = rd_error_in(err, err->code, "the broker refused this merger");
	}
	rd_watched_close(&s.watched);
	rd_net_close(s.net);
	rd_pipe_release(&s.pipe);
	rd_look_release(&s.look);
	rd_merger_release(&s.merger);
	rd_work_close(s.work);
	if (s.signals >= 0)
		close(s.signals);
	if (s.lock >= 0)
		close(s.lock);
	return code < 0 ? code : 0;
}
