#include "broker/state.h"

#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "net/task.h"

/*
 * Leases. A worker that spins keeps its socket alive, and a worker that is cut
 * off does not know it; so an attempt lives as long as its bytes grow, by our
 * own monotonic clock. A lease that ends too early costs a second decode and
 * nothing else: the merger's ledger takes each shard once.
 */

struct rd_work_text rd_task_text(const struct rd_task *t)
{
	return rd_work_text(t->work, t->work == RD__WORK__DECODE ? t->trace->number : 0, t->shard);
}

struct rd_attempt *rd_attempt_find(struct rd_broker *b, const Rd__Envelope *e)
{
	for (size_t i = 0; i < b->attempts.n; i++) {
		struct rd_attempt *a = &b->attempts.at[i];
		if (a->task + 1 == e->task && a->number == e->attempt && strlen(a->job->id) == e->job.len &&
		    memcmp(a->job->id, e->job.data, e->job.len) == 0)
			return a;
	}
	return NULL;
}

void rd_attempt_commit(struct rd_broker *b, struct rd_attempt *a)
{
	struct rd_member *m = rd_member_find(b, a->worker);

	a->committed = true;
	a->committed_ns = b->now_ns;
	a->job->running--;
	a->job->decoded_bytes += rd_attempt_task(a)->bytes;
	a->job->decoded_ns += b->now_ns - a->begun_ns;
	if (m)
		m->load--;
}

void rd_attempt_end(struct rd_broker *b, struct rd_attempt *a)
{
	struct rd_member *m = rd_member_find(b, a->worker);
	size_t i = (size_t)(a - b->attempts.at);

	if (m && !a->committed)
		m->load--;
	a->job->running -= !a->committed;
	rd_attempt_task(a)->live--;
	b->attempts.n--;
	memmove(b->attempts.at + i, b->attempts.at + i + 1, (b->attempts.n - i) * sizeof *b->attempts.at);
}

/* Too many failures: a shard is given up and named. */
static void give_up(struct rd_broker *b, struct rd_job *j, struct rd_task *t)
{
	if (t->work != RD__WORK__DECODE) {
		struct rd_error why = j->error;
		rd_job_input_failed(b, j, t, &why);
		return;
	}
	rd_log(RD_LOG_WARN, "quarantined", "job=%s task=%zu trace=%" PRIu32 " shard=%" PRIu32 " attempts=%" PRIu32,
	       j->id, (size_t)(t - j->tasks.at) + 1, t->trace->number, t->shard, t->attempts);
	b->totals.quarantined++;
	rd_job_settle(b, j, t, RD_TASK_QUARANTINED);
	rd_job_advance(b, j);
}

static uint32_t chances(const struct rd_broker *b, const struct rd_job *j)
{
	return j->submit->attempts ? j->submit->attempts : b->opt.attempts;
}

void rd_attempt_lost(struct rd_broker *b, struct rd_attempt *a, enum rd_blame blame, const struct rd_error *why)
{
	struct rd_job *j = a->job;
	struct rd_task *t = rd_attempt_task(a);
	char line[800], quoted[900];

	rd_log(RD_LOG_INFO, "attempt_lost", "job=%s task=%" PRIu32 " %s attempt=%" PRIu32 " error=%s", j->id,
	       a->task + 1, rd_task_text(t).at, a->number,
	       rd_log_quote(rd_error_line(why, line, sizeof line), quoted, sizeof quoted));
	b->totals.lost_failed += blame == RD_BLAMED;
	b->totals.lost_lease += blame == RD_OVERDUE;
	b->totals.lost_vanished += blame == RD_VANISHED;
	b->totals.lost_blameless += blame == RD_BLAMELESS;
	if (b->merger && a->chunks > 0)
		rd_say_attempt(b, b->merger->id, RD__KIND__ABANDON, a);
	if (blame != RD_BLAMELESS) {
		t->failures += blame == RD_BLAMED || blame == RD_OVERDUE;
		t->vanished += blame == RD_VANISHED;
		t->failed_on = a->worker;
		j->error = *why;
		j->dirty = true;
		rd_touch_task(b, j, t);
	}
	rd_attempt_end(b, a);
	if (t->live > 0)
		return;
	if (t->failures + t->vanished / RD_VANISHED_A_FAILURE >= chances(b, j))
		give_up(b, j, t);
	else
		rd_job_requeue(j, t);
}

void rd_attempts_abandon(struct rd_broker *b, const struct rd_job *j, const struct rd_task *t)
{
	size_t i = 0;

	while (i < b->attempts.n) {
		struct rd_attempt *a = &b->attempts.at[i];
		if (a->job != j || (t && rd_attempt_task(a) != t)) {
			i++;
			continue;
		}
		if (a->worker)
			rd_say_attempt(b, a->worker, RD__KIND__ABANDON, a);
		if (b->merger && a->chunks > 0)
			rd_say_attempt(b, b->merger->id, RD__KIND__ABANDON, a);
		rd_attempt_end(b, a);
	}
}

void rd_attempts_merger_lost(struct rd_broker *b)
{
	struct rd_error why = {0};
	size_t i = 0;

	rd_fail(&why, RD_IO, "the merger vanished");
	while (i < b->attempts.n) {
		struct rd_attempt *a = &b->attempts.at[i];
		if (a->chunks == 0 && !a->committed) {
			i++;
			continue;
		}
		if (a->worker)
			rd_say_attempt(b, a->worker, RD__KIND__ABANDON, a);
		rd_attempt_lost(b, a, RD_BLAMELESS, &why);
		i = 0; /* its job may have ended, and others with it */
	}
}

void rd_attempts_expire(struct rd_broker *b)
{
	struct rd_error why = {0};
	size_t i = 0;

	rd_fail(&why, RD_LIMIT, "no progress for %" PRIu64 " s", b->opt.lease_ns / RD_SECOND_NS);
	while (i < b->attempts.n) {
		struct rd_attempt *a = &b->attempts.at[i];
		if (a->committed || a->lease_until_ns > b->now_ns) {
			i++;
			continue;
		}
		rd_say_attempt(b, a->worker, RD__KIND__ABANDON, a);
		rd_attempt_lost(b, a, RD_OVERDUE, &why);
		i = 0;
	}
}
