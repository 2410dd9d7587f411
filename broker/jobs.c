#include "broker/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/log.h"

struct rd_job *rd_job_find(const struct rd_broker *b, const ProtobufCBinaryData *id)
{
	for (size_t i = 0; i < b->jobs.n; i++) {
		struct rd_job *j = b->jobs.at[i];
		if (strlen(j->id) == id->len && memcmp(j->id, id->data, id->len) == 0)
			return j;
	}
	return NULL;
}

bool rd_job_ended(const struct rd_job *j)
{
	return j->state >= RD_JOB_DONE;
}

const char *rd_job_display_path(const struct rd_job *j, uint32_t input, const struct rd_trace *t, char *buf,
				size_t size)
{
	char path[RD_PATH_MAX + 1], member[256] = "";

	rd_field_text(&j->submit->path[input], path, sizeof path);
	if (t)
		rd_field_text(&t->member, member, sizeof member);
	snprintf(buf, size, "%s%s%s", path, member[0] ? ":" : "", member);
	return buf;
}

/* ---- its memory */

static void free_trace(struct rd_trace *t)
{
	rd_index_release(&t->index);
	rd_plan_release(&t->plan);
	rd_free(t);
}

/* An ended job keeps what status tells of it, not the plan. */
void rd_job_release_work(struct rd_job *j)
{
	for (size_t i = 0; i < j->inputs.n; i++) {
		for (size_t k = 0; k < j->inputs.at[i].traces.n; k++)
			free_trace(j->inputs.at[i].traces.at[k]);
		rd_vec_release(&j->inputs.at[i].traces);
	}
	rd_vec_release(&j->inputs);
	rd_vec_release(&j->traces);
	rd_vec_release(&j->tasks);
	rd_vec_release(&j->waiting);
	rd_vec_release(&j->dirty_tasks);
	rd_arena_release(&j->arena);
}

void rd_job_free(struct rd_job *j)
{
	if (j == NULL)
		return;
	rd_job_release_work(j);
	rd_envelope_free(j->submitted);
	rd_envelope_free(j->finished);
	rd_free(j);
}

/* ---- tasks */

struct rd_task *rd_job_add_task(struct rd_broker *b, struct rd_job *j, Rd__Work work)
{
	/* Room for all at once: a requeue then never fails. */
	if (rd_vec_reserve(&j->waiting, j->tasks.n + 1 - j->waiting.n) < 0 ||
	    rd_vec_reserve(&j->dirty_tasks, j->tasks.n + 1 - j->dirty_tasks.n) < 0 ||
	    rd_vec_reserve(&j->tasks, 1) < 0) {
		b->failed = true;
		return NULL;
	}
	struct rd_task *t = &j->tasks.at[j->tasks.n++];
	*t = (struct rd_task){.work = work};
	return t;
}

uint32_t rd_job_in_turn(const struct rd_job *j, uint32_t turn)
{
	const struct rd_task *t = &j->tasks.at[turn];

	if (t->work != RD__WORK__DECODE)
		return turn;
	uint32_t first = t->trace->first_task, n = (uint32_t)t->trace->plan.shards.n, at = turn - first;
	return first + (at % 2 ? n - 1 - at / 2 : at / 2);
}

void rd_job_requeue(struct rd_job *j, struct rd_task *t)
{
	t->state = RD_TASK_WAITING;
	j->waiting.at[j->waiting.n++] = (uint32_t)(t - j->tasks.at);
}

void rd_job_unqueue(struct rd_job *j, const struct rd_task *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < j->waiting.n; i++)
		if (&j->tasks.at[j->waiting.at[i]] != t)
			j->waiting.at[kept++] = j->waiting.at[i];
	j->waiting.n = kept;
}

/* A shard that was settled, either way, is not any more. */
static void unsettle(struct rd_job *j, const struct rd_task *t)
{
	j->shards_done -= t->state == RD_TASK_DONE;
	j->quarantined -= t->state == RD_TASK_QUARANTINED;
	j->unsettled++;
	j->bytes_done -= t->bytes;
}

uint32_t rd_job_revive(struct rd_broker *b, struct rd_job *j)
{
	uint32_t n = 0;

	for (size_t i = 0; i < j->tasks.n; i++) {
		struct rd_task *t = &j->tasks.at[i];
		if (t->state != RD_TASK_QUARANTINED)
			continue;
		t->failures = t->vanished = 0;
		t->failed_on = 0;
		unsettle(j, t);
		rd_job_requeue(j, t);
		rd_touch_task(b, j, t);
		n++;
	}
	if (n > 0)
		rd_touch_job(j);
	return n;
}

void rd_job_doubt(struct rd_broker *b, struct rd_job *j)
{
	for (size_t i = 0; i < j->tasks.n; i++) {
		struct rd_task *t = &j->tasks.at[i];
		if (t->work != RD__WORK__DECODE || t->state != RD_TASK_DONE)
			continue;
		unsettle(j, t);
		rd_job_requeue(j, t);
		rd_touch_task(b, j, t);
	}
	j->state = RD_JOB_RUNNING;
	rd_touch_job(j);
}

/* ---- its beginning */

int rd_job_add_inputs(struct rd_broker *b, struct rd_job *j)
{
	for (uint32_t i = 0; i < j->submit->n_path; i++) {
		struct rd_input *in = rd_vec_add(&j->inputs);
		struct rd_task *t = in ? rd_job_add_task(b, j, RD__WORK__OPEN) : NULL;
		if (in)
			*in = (struct rd_input){0};
		if (t == NULL)
			return RD_NOMEM;
		t->input = i;
		j->unopened++;
	}
	return 0;
}

/* Takes the envelope. */
static struct rd_job *new_job(struct rd_broker *b, Rd__Envelope *submitted)
{
	struct rd_job *j = rd_realloc(NULL, sizeof *j);

	if (j == NULL || rd_vec_reserve(&b->jobs, 1) < 0) {
		rd_free(j);
		rd_envelope_free(submitted);
		b->failed = true;
		return NULL;
	}
	submitted->submit->submitted_s = (uint64_t)time(NULL);
	*j = (struct rd_job){.submitted = submitted, .submit = submitted->submit, .serial = ++b->jobs_so_far};
	/* A merger may have kept partials of a broker without a journal: ids must differ from theirs. */
	const uint8_t *e = b->opt.epoch;
	snprintf(j->id, sizeof j->id, "%02x%02x%02x%02x-%" PRIu64, e[0], e[1], e[2], e[3], j->serial);
	rd_error_clear(&j->error);
	if (rd_job_add_inputs(b, j) < 0) {
		b->failed = true;
		rd_job_free(j);
		return NULL;
	}
	b->jobs.at[b->jobs.n++] = j;
	rd_keep_job(b, j);
	j->dirty = true;
	b->totals.jobs_submitted++;
	rd_log(RD_LOG_INFO, "job_submitted", "job=%s inputs=%zu", j->id, j->inputs.n);
	return j;
}

struct rd_job *rd_job_submit(struct rd_broker *b, struct rd_message *m)
{
	Rd__Envelope *submitted = m->envelope;

	m->envelope = NULL;
	return new_job(b, submitted);
}

struct rd_job *rd_job_again(struct rd_broker *b, const struct rd_job *j, const ProtobufCBinaryData *token)
{
	Rd__Submit submit = *j->submit;
	Rd__Envelope e = rd_envelope(RD__KIND__SUBMIT), *copy = NULL;

	/* What it left incomplete is its own to replace. */
	submit.replace = submit.replace || j->state == RD_JOB_DONE;
	submit.update = false;
	e.submit = &submit;
	e.token = *token;
	if (rd_envelope_copy(&e, &copy, NULL) < 0) {
		b->failed = true;
		return NULL;
	}
	return new_job(b, copy);
}

static void shards_settled(struct rd_broker *b, struct rd_job *j)
{
	if (j->quarantined == j->shards) {
		struct rd_error why = j->error;
		rd_error_in(&why, why.code, "no shard could be decoded");
		rd_job_fail(b, j, &why);
		return;
	}
	j->state = RD_JOB_FINISHING;
	rd_touch_job(j);
	if (b->merger)
		rd_finish_ask(b, j);
}

void rd_job_settle(struct rd_broker *b, struct rd_job *j, struct rd_task *t, enum rd_task_state state)
{
	bool decode = t->work == RD__WORK__DECODE;

	/* Given up too early: a late attempt was merged after all. */
	if (t->state == RD_TASK_QUARANTINED)
		unsettle(j, t);
	t->state = state;
	rd_touch_task(b, j, t);
	j->changed = j->changed_state = true;
	if (!decode) {
		/* What an archive holds is counted by rd_job_opened. */
		j->unopened--;
		return;
	}
	j->unsettled--;
	j->shards_done += state == RD_TASK_DONE;
	j->quarantined += state == RD_TASK_QUARANTINED;
	j->bytes_done += t->bytes;
}

void rd_job_advance(struct rd_broker *b, struct rd_job *j)
{
	if (j->state != RD_JOB_RUNNING || j->unopened > 0)
		return;
	if (!j->planned)
		rd_job_cut_shards(b, j);
	if (j->state == RD_JOB_RUNNING && j->unsettled == 0 && !b->failed)
		shards_settled(b, j);
}

/* ---- its end */

/* Something was unpacked, or an attempt to do so was lost. */
static bool uses_scratch(const struct rd_job *j)
{
	for (size_t i = 0; i < j->tasks.n; i++) {
		const struct rd_task *t = &j->tasks.at[i];
		if (t->work == RD__WORK__INDEX ||
		    (t->work == RD__WORK__OPEN && t->attempts > (t->state == RD_TASK_DONE)))
			return rd_is_scratch(rd_field_span(&j->submit->scratch));
	}
	return false;
}

/*
 * Only workers see the folder. Nobody answers: a worker that dies at this very
 * moment leaves an empty or half-empty folder, whose name says what it was.
 */
void rd_jobs_sweep(struct rd_broker *b)
{
	const struct rd_member *worker = NULL;

	for (size_t i = 0; i < b->members.n && worker == NULL; i++)
		if (b->members.at[i]->role == RD__ROLE__WORKER && !b->members.at[i]->gone)
			worker = b->members.at[i];
	for (size_t i = 0; i < b->jobs.n && worker; i++) {
		struct rd_job *j = b->jobs.at[i];
		Rd__Envelope e = rd_envelope(RD__KIND__SWEEP);
		Rd__Assignment work = RD__ASSIGNMENT__INIT;
		if (!j->sweep_due)
			continue;
		work.path = j->submit->scratch;
		e.job = rd_field(j->id);
		e.work = &work;
		rd_say(b, worker->id, &e, NULL, NULL);
		j->sweep_due = false;
		j->dirty = true;
	}
}

void rd_job_end(struct rd_broker *b, struct rd_job *j, enum rd_job_state state)
{
	b->totals.jobs_done += state == RD_JOB_DONE;
	b->totals.jobs_failed += state == RD_JOB_FAILED;
	b->totals.jobs_cancelled += state == RD_JOB_CANCELLED;
	j->spent_ns = rd_job_spent_ns(b, j);
	j->begun_ns = 0;
	j->state = state;
	j->sweep_due = uses_scratch(j);
	rd_top_give_up(b, j);
	rd_touch_job(j);
	rd_keep_less(b, j, false);
	if (state != RD_JOB_DONE) {
		rd_attempts_abandon(b, j, NULL);
		if (b->merger) {
			Rd__Envelope e = rd_envelope(RD__KIND__DROP);
			e.job = rd_field(j->id);
			rd_say(b, b->merger->id, &e, NULL, NULL);
		}
	}
	rd_job_release_work(j);
}

void rd_job_fail(struct rd_broker *b, struct rd_job *j, const struct rd_error *why)
{
	char line[800], quoted[900];

	j->error = *why;
	rd_log(RD_LOG_INFO, "job_failed", "job=%s error=%s", j->id,
	       rd_log_quote(rd_error_line(why, line, sizeof line), quoted, sizeof quoted));
	rd_job_end(b, j, RD_JOB_FAILED);
}

/* ---- its time */

uint64_t rd_job_spent_ns(const struct rd_broker *b, const struct rd_job *j)
{
	return j->spent_ns + (j->begun_ns && b->now_ns > j->begun_ns ? b->now_ns - j->begun_ns : 0);
}

static bool is_timed(const struct rd_job *j)
{
	return j->submit->seconds && (j->state == RD_JOB_RUNNING || j->state == RD_JOB_FINISHING);
}

void rd_jobs_expire(struct rd_broker *b)
{
	for (size_t i = 0; i < b->jobs.n; i++) {
		struct rd_job *j = b->jobs.at[i];
		struct rd_error why = {0};
		/* One that was recalled goes on. */
		if (j->begun_ns == 0 && (j->state == RD_JOB_RUNNING || j->state == RD_JOB_FINISHING))
			j->begun_ns = b->now_ns;
		if (!is_timed(j) || rd_job_spent_ns(b, j) < j->submit->seconds * RD_SECOND_NS)
			continue;
		rd_fail(&why, RD_LIMIT, "the job was not done after %" PRIu32 " s", j->submit->seconds);
		rd_job_fail(b, j, &why);
	}
}

uint64_t rd_jobs_next_ns(const struct rd_broker *b)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < b->jobs.n; i++) {
		const struct rd_job *j = b->jobs.at[i];
		if (!is_timed(j) || j->begun_ns == 0)
			continue;
		uint64_t all = j->submit->seconds * RD_SECOND_NS;
		uint64_t at = j->begun_ns + (all > j->spent_ns ? all - j->spent_ns : 0);
		next = at < next ? at : next;
	}
	return next;
}

void rd_jobs_forget(struct rd_broker *b)
{
	size_t ended = 0, oldest = SIZE_MAX;

	for (size_t i = 0; i < b->jobs.n; i++) {
		ended += rd_job_ended(b->jobs.at[i]);
		if (oldest == SIZE_MAX && rd_job_ended(b->jobs.at[i]))
			oldest = i;
	}
	if (ended <= RD_JOBS_KEPT)
		return;
	for (size_t i = 0; i < b->members.n; i++)
		if (b->members.at[i]->watches == b->jobs.at[oldest])
			b->members.at[i]->watches = NULL;
	rd_keep_less(b, b->jobs.at[oldest], true);
	rd_job_free(b->jobs.at[oldest]);
	b->jobs.n--;
	memmove(b->jobs.at + oldest, b->jobs.at + oldest + 1, (b->jobs.n - oldest) * sizeof *b->jobs.at);
}
