#include "broker/state.h"

#include <inttypes.h>

#include "base/log.h"
#include "net/wire_error.h"

static void chunk_ack(struct rd_broker *b, const Rd__Envelope *e)
{
	struct rd_attempt *a = rd_attempt_find(b, e);

	if (a && a->worker && !a->committed)
		rd_say(b, a->worker, e, NULL, NULL);
}

/*
 * The partial is on disk, whichever attempt it came from: also when that
 * attempt was taken for lost meanwhile, or its shard was given up.
 */
static void merged(struct rd_broker *b, const Rd__Envelope *e)
{
	struct rd_job *j = rd_job_find(b, &e->job);

	if (j == NULL || j->state != RD_JOB_RUNNING || e->task > j->tasks.n)
		return;
	struct rd_task *t = &j->tasks.at[e->task - 1];
	if (t->work != RD__WORK__DECODE || t->state == RD_TASK_DONE || e->attempt > t->attempts)
		return;
	struct rd_attempt *a = rd_attempt_find(b, e);
	if (a) {
		if (a->worker)
			rd_say_attempt(b, a->worker, RD__KIND__DONE, a);
		rd_attempt_end(b, a);
	}
	rd_attempts_abandon(b, j, t);
	if (t->state == RD_TASK_WAITING)
		rd_job_unqueue(j, t);
	b->totals.merged++;
	rd_job_settle(b, j, t, RD_TASK_DONE);
	rd_job_advance(b, j);
}

/*
 * A finish that was killed or found no memory may do better the next time; as often as a shard. One that lacks shards
 * is of a merger that lost its store: it is asked for each, and what it has not is decoded again.
 */
static void finish_failed(struct rd_broker *b, struct rd_job *j, bool retry, struct rd_error *why)
{
	char line[800], quoted[900];
	bool lacks = why->code == RD_NOT_FOUND;

	j->finish_failures++;
	if ((!retry && !lacks) || j->finish_failures >= b->opt.attempts) {
		if (j->finish_failures > 1)
			rd_error_in(why, why->code, "after %" PRIu32 " attempts", j->finish_failures);
		rd_job_fail(b, j, why);
		return;
	}
	rd_log(RD_LOG_INFO, "finish_lost", "job=%s attempt=%" PRIu32 " error=%s", j->id, j->finish_failures,
	       rd_log_quote(rd_error_line(why, line, sizeof line), quoted, sizeof quoted));
	j->finish_done = 0;
	rd_touch_job(j);
	if (lacks) {
		rd_job_doubt(b, j);
		rd_ask_for_merged(b, j);
	} else {
		rd_finish_ask(b, j);
	}
}

/* The merger was asked about a task whose attempts are lost, and does not have it. */
static void not_merged(struct rd_broker *b, const Rd__Envelope *e)
{
	struct rd_job *j = rd_job_find(b, &e->job);

	if (j && j->state == RD_JOB_RUNNING && e->task <= j->tasks.n)
		j->tasks.at[e->task - 1].asked = false;
}

static void failed(struct rd_broker *b, const Rd__Envelope *e)
{
	struct rd_error why;

	rd_wire_error_take(&why, e->error);
	if (e->task == 0) {
		struct rd_job *j = rd_job_find(b, &e->job);
		if (j && j->state == RD_JOB_FINISHING)
			finish_failed(b, j, e->error->retry, &why);
		return;
	}
	struct rd_attempt *a = rd_attempt_find(b, e);
	if (a == NULL) {
		not_merged(b, e);
		return;
	}
	if (a->worker)
		rd_say_attempt(b, a->worker, RD__KIND__ABANDON, a);
	if (e->error->retry)
		rd_attempt_lost(b, a, RD_BLAMED, &why);
	else
		rd_job_fail(b, a->job, &why);
}

static void finish_progress(struct rd_broker *b, const Rd__Envelope *e)
{
	struct rd_job *j = rd_job_find(b, &e->job);

	if (j == NULL || j->state != RD_JOB_FINISHING)
		return;
	j->finish_done = e->bytes;
	j->finish_total = e->total;
	j->changed = true;
}

static void finished(struct rd_broker *b, struct rd_message *m)
{
	struct rd_job *j = rd_job_find(b, &m->envelope->job);

	if (j == NULL || j->state != RD_JOB_FINISHING)
		return;
	j->finished = m->envelope;
	m->envelope = NULL;
	rd_job_end(b, j, RD_JOB_DONE);
}

void rd_hear_merger(struct rd_broker *b, struct rd_message *m)
{
	switch (m->envelope->kind) {
	case RD__KIND__CHUNK_ACK:
		chunk_ack(b, m->envelope);
		break;
	case RD__KIND__MERGED:
		merged(b, m->envelope);
		break;
	case RD__KIND__FAILED:
		failed(b, m->envelope);
		break;
	case RD__KIND__FINISH_PROGRESS:
		finish_progress(b, m->envelope);
		break;
	case RD__KIND__TOP_ROWS:
		rd_top_answer(b, m->envelope);
		break;
	case RD__KIND__FINISHED:
		finished(b, m);
		break;
	default:
		break;
	}
}
