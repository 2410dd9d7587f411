#include "broker/state.h"

#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "net/task.h"
#include "net/wire_error.h"

/*
 * Leases. A worker that spins keeps its socket alive, and a worker that is cut
 * off does not know it; so an attempt lives as long as its bytes grow, by our
 * own monotonic clock. A lease that ends too early costs a second decode and
 * nothing else: the merger's ledger takes each shard once.
 *
 * Chunks that may be on their way to the merger: few per attempt, and fewer
 * when there are many workers, so that a merger that lags fills nobody's
 * memory.
 */
#define WINDOW_CHUNKS     8
#define WINDOW_CHUNKS_ALL 64

/* ---- what a task needs to be done elsewhere */

static int pack_parts(const struct rd_task *t, Rd__Assignment *work, struct rd_blob *blob, struct rd_error *err)
{
	struct rd_bytes info = {0}, context = {0}, blocks = {0};
	rd_block_vec counted = {0}, replayed = {0};
	const struct rd_trace *trace = t->trace;

	int rc = rd_plan_shard_blocks(&trace->index, &trace->plan, t->shard, &counted, &replayed, err);
	if (rc == 0)
		rc = rd_info_pack(&trace->index.info, &info, err);
	if (rc == 0)
		rc = rd_blocks_pack(replayed.at, replayed.n, &context, err);
	if (rc == 0)
		rc = rd_blocks_pack(counted.at, counted.n, &blocks, err);
	if (rc == 0)
		rc = rd_task_pack(
			blob, work,
			&(struct rd_task_parts){{info.at, info.n}, {context.at, context.n}, {blocks.at, blocks.n}},
			err);
	rd_vec_release(&counted);
	rd_vec_release(&replayed);
	rd_bytes_release(&info);
	rd_bytes_release(&context);
	rd_bytes_release(&blocks);
	return rc;
}

static uint32_t window(const struct rd_broker *b)
{
	uint32_t n = WINDOW_CHUNKS_ALL / (rd_members_workers(b) + 1) + 1;
	return n < WINDOW_CHUNKS ? n : WINDOW_CHUNKS;
}

static int fill_work(const struct rd_broker *b, const struct rd_job *j, const struct rd_task *t, Rd__Assignment *w,
		     struct rd_blob *blob, struct rd_error *err)
{
	const struct rd_trace *trace = t->trace;

	w->work = t->work;
	w->path = trace ? trace->path : j->submit->path[t->input];
	if (t->work == RD__WORK__OPEN)
		w->scratch = j->submit->scratch;
	if (t->work == RD__WORK__INDEX)
		w->damage = trace->damage;
	if (t->work != RD__WORK__DECODE)
		return 0;
	w->trace = trace->number;
	w->shard = t->shard;
	w->size_bytes = trace->index.info.size_bytes;
	w->mtime_ns = trace->index.info.mtime_ns;
	w->digest = trace->index.info.digest;
	w->stack_depth = j->submit->stack_depth;
	w->preliminary = j->submit->preliminary;
	w->window = window(b);
	return pack_parts(t, w, blob, err);
}

static void hand_out(struct rd_broker *b, struct rd_job *j, struct rd_task *t, struct rd_member *m)
{
	Rd__Envelope e = rd_envelope(RD__KIND__TASK);
	Rd__Assignment work = RD__ASSIGNMENT__INIT;
	struct rd_error err = {0};
	struct rd_blob blob = {0};

	struct rd_attempt *a = rd_vec_add(&b->attempts);
	int rc = a ? fill_work(b, j, t, &work, &blob, &err) : RD_NOMEM;
	if (rc < 0) {
		rd_blob_release(&blob);
		b->attempts.n -= a != NULL;
		if (rc == RD_NOMEM)
			b->failed = true;
		else
			rd_job_fail(b, j, &err);
		return;
	}
	t->state = RD_TASK_RUNNING;
	t->attempts++;
	t->live++;
	j->attempts++;
	j->state = RD_JOB_RUNNING;
	j->changed = j->changed_state = true;
	if (t->work == RD__WORK__DECODE && j->decode_from_ns == 0)
		j->decode_from_ns = b->now_ns;
	m->load++;
	*a = (struct rd_attempt){.job = j, .task = (uint32_t)(t - j->tasks.at), .number = t->attempts, .worker = m->id};
	a->lease_until_ns = b->now_ns + b->opt.lease_ns;
	e.job = rd_field(j->id);
	e.task = a->task + 1;
	e.attempt = a->number;
	e.work = &work;
	rd_say(b, m->id, &e, &blob, NULL);
	rd_log(RD_LOG_DEBUG, "task", "job=%s task=%" PRIu32 " attempt=%" PRIu32 " work=%d peer=%" PRIu64, j->id,
	       a->task + 1, a->number, (int)t->work, m->id);
}

/* ---- who gets what */

/* Of those that were not passed over in this round. */
static struct rd_member *idlest_worker(const struct rd_broker *b)
{
	struct rd_member *best = NULL;

	for (size_t i = 0; i < b->members.n; i++) {
		struct rd_member *m = b->members.at[i];
		if (m->role != RD__ROLE__WORKER || m->gone || m->passed_over || m->load >= m->capacity)
			continue;
		if (best == NULL || m->load < best->load)
			best = m;
	}
	return best;
}

/* The next task for this worker; one that failed there waits for another worker, if there is any. */
static bool take_waiting(struct rd_broker *b, const struct rd_member *m, struct rd_job *j, struct rd_task **out)
{
	bool alone = rd_members_workers(b) == 1;

	for (size_t i = j->waiting.n; i > 0; i--) {
		struct rd_task *t = &j->tasks.at[j->waiting.at[i - 1]];
		if ((t->work == RD__WORK__DECODE && b->merger == NULL) || (t->failed_on == m->id && !alone))
			continue;
		memmove(j->waiting.at + i - 1, j->waiting.at + i, (j->waiting.n - i) * sizeof *j->waiting.at);
		j->waiting.n--;
		*out = t;
		return true;
	}
	return false;
}

static bool hand_out_one(struct rd_broker *b, struct rd_member *m)
{
	struct rd_task *t;

	for (size_t i = 0; i < b->jobs.n; i++) {
		struct rd_job *j = b->jobs.at[i];
		if (j->state <= RD_JOB_RUNNING && take_waiting(b, m, j, &t)) {
			hand_out(b, j, t, m);
			return true;
		}
	}
	return false;
}

void rd_dispatch(struct rd_broker *b)
{
	struct rd_member *m;

	for (size_t i = 0; i < b->members.n; i++)
		b->members.at[i]->passed_over = false;
	while (!b->failed && (m = idlest_worker(b)) != NULL)
		m->passed_over = !hand_out_one(b, m);
}

/* ---- what becomes of an attempt */

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
	if (m)
		m->load--;
}

void rd_attempt_end(struct rd_broker *b, struct rd_attempt *a)
{
	struct rd_member *m = rd_member_find(b, a->worker);
	size_t i = (size_t)(a - b->attempts.at);

	if (m && !a->committed)
		m->load--;
	rd_attempt_task(a)->live--;
	b->attempts.n--;
	memmove(b->attempts.at + i, b->attempts.at + i + 1, (b->attempts.n - i) * sizeof *b->attempts.at);
}

/* Too many failures: a shard is given up and named, an input that cannot be opened fails the job. */
static void give_up(struct rd_broker *b, struct rd_job *j, struct rd_task *t)
{
	if (t->work != RD__WORK__DECODE) {
		struct rd_error why = j->error;
		rd_job_fail(b, j, &why);
		return;
	}
	rd_log(RD_LOG_WARN, "quarantined", "job=%s task=%zu trace=%" PRIu32 " shard=%" PRIu32 " attempts=%" PRIu32,
	       j->id, (size_t)(t - j->tasks.at) + 1, t->trace->number, t->shard, t->attempts);
	rd_job_settle(j, t, RD_TASK_QUARANTINED);
	rd_job_advance(b, j);
}

void rd_attempt_lost(struct rd_broker *b, struct rd_attempt *a, enum rd_blame blame, const struct rd_error *why)
{
	struct rd_job *j = a->job;
	struct rd_task *t = rd_attempt_task(a);
	char line[800], quoted[900];

	rd_log(RD_LOG_INFO, "attempt_lost", "job=%s task=%" PRIu32 " attempt=%" PRIu32 " error=%s", j->id, a->task + 1,
	       a->number, rd_log_quote(rd_error_line(why, line, sizeof line), quoted, sizeof quoted));
	if (b->merger && a->chunks > 0)
		rd_say_attempt(b, b->merger->id, RD__KIND__ABANDON, a);
	if (blame == RD_BLAMED) {
		t->failures++;
		t->failed_on = a->worker;
		j->error = *why;
	}
	rd_attempt_end(b, a);
	if (t->live > 0)
		return;
	if (t->failures >= b->opt.attempts)
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
		rd_attempt_lost(b, a, RD_BLAMED, &why);
		i = 0;
	}
}
