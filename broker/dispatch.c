#include "broker/state.h"

#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "net/task.h"

/*
 * Who gets what. A job of higher priority comes first. Jobs of equal priority
 * share: the one with the fewest workers is next, and of those the one that
 * was served longest ago, so that one worker serves many jobs in turn.
 *
 * Near the end a worker that finds nothing waiting tries a shard that another
 * one is slow at; the merger takes whichever commits first.
 *
 * Chunks that may be on their way to the merger: few per attempt, and fewer
 * when there are many workers. Small partials fit into the window whole and
 * are committed without an acknowledgement; so the partials that wait for
 * MERGED are counted, too. A merger that lags fills nobody's memory.
 */
#define WINDOW_CHUNKS     8
#define WINDOW_CHUNKS_ALL 64
#define UNMERGED_A_WORKER 2
#define UNMERGED_LEAST    4
/* An attempt lags when it took so many times what others took, and at least so long. */
#define LAG_TIMES         3
#define LAG_LEAST_NS      (5 * RD_SECOND_NS)
/* Or when nothing was heard of it for so long. */
#define SILENCE_NS        (15 * RD_SECOND_NS)

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

/* It is counted before it goes out: the number is never used again, by this broker or the next. */
static void count_out(struct rd_broker *b, struct rd_job *j, struct rd_task *t, struct rd_member *m)
{
	t->state = RD_TASK_RUNNING;
	t->attempts++;
	t->live++;
	rd_touch_task(b, j, t);
	b->totals.attempts++;
	b->totals.retries += t->attempts > 1 && t->live == 1;
	b->totals.second_attempts += t->live > 1;
	j->attempts++;
	j->running++;
	j->served = ++b->served;
	j->changed = j->changed_state = true;
	if (j->state == RD_JOB_QUEUED) {
		j->state = RD_JOB_RUNNING;
		rd_touch_job(j);
	}
	if (j->begun_ns == 0)
		j->begun_ns = b->now_ns;
	if (t->work == RD__WORK__DECODE && j->decode_from_ns == 0) {
		j->decode_from_ns = b->now_ns;
		j->decode_from_bytes = j->bytes_done;
	}
	m->load++;
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
	count_out(b, j, t, m);
	*a = (struct rd_attempt){.job = j, .task = (uint32_t)(t - j->tasks.at), .number = t->attempts, .worker = m->id};
	a->begun_ns = b->now_ns;
	a->lease_until_ns = b->now_ns + b->opt.lease_ns;
	e.job = rd_field(j->id);
	e.task = a->task + 1;
	e.attempt = a->number;
	e.work = &work;
	rd_say(b, m->id, &e, &blob, NULL);
	rd_log(RD_LOG_DEBUG, "task", "job=%s task=%" PRIu32 " %s attempt=%" PRIu32 " peer=%" PRIu64, j->id, a->task + 1,
	       rd_task_text(t).at, a->number, m->id);
}

/* ---- who gets what */

static uint32_t unmerged(const struct rd_broker *b)
{
	uint32_t n = 0;

	for (size_t i = 0; i < b->attempts.n; i++)
		n += b->attempts.at[i].committed;
	return n;
}

/* Whether shards are to be decoded at all. */
static bool merger_keeps_up(const struct rd_broker *b)
{
	uint32_t most = UNMERGED_A_WORKER * rd_members_workers(b);

	return b->merger && unmerged(b) < (most > UNMERGED_LEAST ? most : UNMERGED_LEAST);
}

static bool has_room(const struct rd_job *j)
{
	return j->submit->workers_most == 0 || j->running < j->submit->workers_most;
}

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

/* What was handed out before comes first. One that failed here waits for another worker, if there is any. */
static struct rd_task *take_waiting(struct rd_broker *b, const struct rd_member *m, struct rd_job *j)
{
	bool alone = rd_members_workers(b) == 1, decode = merger_keeps_up(b);

	for (size_t i = j->waiting.n; i > 0; i--) {
		struct rd_task *t = &j->tasks.at[j->waiting.at[i - 1]];
		if ((t->work == RD__WORK__DECODE && !decode) || t->asked || (t->failed_on == m->id && !alone))
			continue;
		memmove(j->waiting.at + i - 1, j->waiting.at + i, (j->waiting.n - i) * sizeof *j->waiting.at);
		j->waiting.n--;
		return t;
	}
	if (j->fresh == j->tasks.n || (j->tasks.at[j->fresh].work == RD__WORK__DECODE && !decode))
		return NULL;
	return &j->tasks.at[rd_job_in_turn(j, j->fresh++)];
}

static bool comes_before(const struct rd_job *a, const struct rd_job *b)
{
	if (a->submit->priority != b->submit->priority)
		return a->submit->priority > b->submit->priority;
	if (a->running != b->running)
		return a->running < b->running;
	return a->served < b->served;
}

static struct rd_job *next_job(const struct rd_broker *b)
{
	struct rd_job *best = NULL;

	for (size_t i = 0; i < b->jobs.n; i++) {
		struct rd_job *j = b->jobs.at[i];
		if (j->state > RD_JOB_RUNNING || j->passed_over || !has_room(j) ||
		    (j->waiting.n == 0 && j->fresh == j->tasks.n))
			continue;
		if (best == NULL || comes_before(j, best))
			best = j;
	}
	return best;
}

static bool hand_out_one(struct rd_broker *b, struct rd_member *m)
{
	struct rd_job *j;

	for (size_t i = 0; i < b->jobs.n; i++)
		b->jobs.at[i]->passed_over = false;
	while ((j = next_job(b)) != NULL) {
		struct rd_task *t = take_waiting(b, m, j);
		if (t) {
			hand_out(b, j, t, m);
			return true;
		}
		j->passed_over = true;
	}
	return false;
}

/* ---- second attempts */

static bool could_be_helped(const struct rd_attempt *a)
{
	const struct rd_task *t = rd_attempt_task(a);

	return !a->committed && t->work == RD__WORK__DECODE && t->live == 1 && a->job->state == RD_JOB_RUNNING;
}

/* What others would need for it; 0 not known yet. */
static uint64_t usual_ns(const struct rd_attempt *a)
{
	const struct rd_job *j = a->job;

	if (j->decoded_bytes == 0)
		return 0;
	return (uint64_t)((double)j->decoded_ns / (double)j->decoded_bytes * (double)rd_attempt_task(a)->bytes);
}

static uint64_t silent_from_ns(const struct rd_broker *b, const struct rd_attempt *a)
{
	uint64_t patience = b->opt.lease_ns / 2 < SILENCE_NS ? b->opt.lease_ns / 2 : SILENCE_NS;
	return a->lease_until_ns - b->opt.lease_ns + patience;
}

/* From when it may lag; whether it does, its bytes say then. */
static uint64_t lags_from_ns(const struct rd_broker *b, const struct rd_attempt *a)
{
	uint64_t usual = usual_ns(a), silent = silent_from_ns(b, a);

	if (usual == 0)
		return silent;
	uint64_t late = a->begun_ns + (LAG_TIMES * usual > LAG_LEAST_NS ? LAG_TIMES * usual : LAG_LEAST_NS);
	return late < silent ? late : silent;
}

static bool lags(const struct rd_broker *b, const struct rd_attempt *a)
{
	if (b->now_ns < lags_from_ns(b, a))
		return false;
	if (a->bytes == 0 || b->now_ns >= silent_from_ns(b, a))
		return true;
	/* Another one must have a chance to be quicker. */
	double left = (double)rd_attempt_task(a)->bytes - (double)a->bytes;
	return (double)(b->now_ns - a->begun_ns) / (double)a->bytes * left > (double)usual_ns(a);
}

static bool help_one(struct rd_broker *b, struct rd_member *m)
{
	struct rd_attempt *best = NULL;

	if (!merger_keeps_up(b))
		return false;
	for (size_t i = 0; i < b->attempts.n; i++) {
		struct rd_attempt *a = &b->attempts.at[i];
		if (could_be_helped(a) && a->worker != m->id && rd_attempt_task(a)->failed_on != m->id &&
		    has_room(a->job) && lags(b, a) && (best == NULL || a->begun_ns < best->begun_ns))
			best = a;
	}
	if (best == NULL)
		return false;
	rd_log(RD_LOG_INFO, "second_attempt", "job=%s task=%" PRIu32 " %s first=%" PRIu32, best->job->id,
	       best->task + 1, rd_task_text(rd_attempt_task(best)).at, best->number);
	hand_out(b, best->job, rd_attempt_task(best), m);
	return true;
}

/* ---- */

void rd_dispatch(struct rd_broker *b)
{
	struct rd_member *m;

	for (size_t i = 0; i < b->members.n; i++)
		b->members.at[i]->passed_over = false;
	while (!b->failed && (m = idlest_worker(b)) != NULL)
		m->passed_over = !hand_out_one(b, m) && !help_one(b, m);
}

uint64_t rd_dispatch_next_ns(const struct rd_broker *b)
{
	uint64_t next = UINT64_MAX;
	bool idle = false;

	for (size_t i = 0; i < b->members.n && !idle; i++) {
		const struct rd_member *m = b->members.at[i];
		idle = m->role == RD__ROLE__WORKER && !m->gone && m->load < m->capacity;
	}
	for (size_t i = 0; i < b->attempts.n && idle; i++) {
		const struct rd_attempt *a = &b->attempts.at[i];
		uint64_t at = could_be_helped(a) ? lags_from_ns(b, a) : UINT64_MAX;
		/* One whose time has come waits for another reason. */
		if (at > b->now_ns && at < next)
			next = at;
	}
	return next;
}
