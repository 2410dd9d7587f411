#include "broker/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"

/*
 * A job goes through two halves. First every input is opened: a worker finds
 * an archive's members or a plain trace's index. Only when all are indexed are
 * shards cut and decoded: so an input that is no trace fails the job with its
 * own error before any long work, and traces are numbered by the order of the
 * inputs, not by who was quicker.
 */

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
static void release_work(struct rd_job *j)
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
	rd_arena_release(&j->arena);
}

void rd_job_free(struct rd_job *j)
{
	if (j == NULL)
		return;
	release_work(j);
	rd_envelope_free(j->submitted);
	rd_envelope_free(j->finished);
	rd_free(j);
}

/* ---- tasks */

struct rd_task *rd_job_add_task(struct rd_broker *b, struct rd_job *j, Rd__Work work)
{
	/* Room for all at once: a requeue then never fails. */
	if (rd_vec_reserve(&j->waiting, j->tasks.n + 1 - j->waiting.n) < 0 || rd_vec_reserve(&j->tasks, 1) < 0) {
		b->failed = true;
		return NULL;
	}
	struct rd_task *t = &j->tasks.at[j->tasks.n];
	*t = (struct rd_task){.work = work};
	/* The end of the queue is the front of the stack. */
	memmove(j->waiting.at + 1, j->waiting.at, j->waiting.n * sizeof *j->waiting.at);
	j->waiting.at[0] = (uint32_t)j->tasks.n++;
	j->waiting.n++;
	return t;
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

/* ---- the first half: inputs */

static int submit_inputs(struct rd_broker *b, struct rd_job *j)
{
	for (uint32_t i = 0; i < j->submit->n_path; i++) {
		struct rd_input *in = rd_vec_add(&j->inputs);
		struct rd_task *t = in ? rd_job_add_task(b, j, RD__WORK__OPEN) : NULL;
		if (t == NULL)
			return RD_NOMEM;
		*in = (struct rd_input){0};
		t->input = i;
		j->unopened++;
	}
	return 0;
}

struct rd_job *rd_job_submit(struct rd_broker *b, struct rd_message *m)
{
	struct rd_job *j = rd_realloc(NULL, sizeof *j);

	if (j == NULL || rd_vec_reserve(&b->jobs, 1) < 0) {
		rd_free(j);
		b->failed = true;
		return NULL;
	}
	*j = (struct rd_job){.submitted = m->envelope};
	m->envelope = NULL;
	j->submit = j->submitted->submit;
	/* A merger may have kept partials of an earlier broker's jobs: ids must differ from theirs. */
	const uint8_t *e = b->opt.epoch;
	snprintf(j->id, sizeof j->id, "%02x%02x%02x%02x-%" PRIu64, e[0], e[1], e[2], e[3], ++b->jobs_so_far);
	rd_error_clear(&j->error);
	if (submit_inputs(b, j) < 0) {
		b->failed = true;
		rd_job_free(j);
		return NULL;
	}
	b->jobs.at[b->jobs.n++] = j;
	rd_log(RD_LOG_INFO, "job_submitted", "job=%s inputs=%zu", j->id, j->inputs.n);
	return j;
}

static struct rd_trace *add_trace(struct rd_broker *b, struct rd_job *j, uint32_t input)
{
	struct rd_trace **slot = rd_vec_add(&j->inputs.at[input].traces);
	struct rd_trace *t = slot ? rd_realloc(NULL, sizeof *t) : NULL;

	if (t == NULL) {
		if (slot)
			j->inputs.at[input].traces.n--;
		b->failed = true;
		return NULL;
	}
	*t = (struct rd_trace){.input = input};
	*slot = t;
	return t;
}

static ProtobufCBinaryData keep_text(struct rd_broker *b, struct rd_job *j, const ProtobufCBinaryData *text)
{
	struct rd_span s = {text->len ? rd_arena_copy(&j->arena, text->data, text->len) : NULL, text->len};

	if (text->len && s.at == NULL) {
		b->failed = true;
		s.size_bytes = 0;
	}
	return rd_field_of(s);
}

void rd_job_opened(struct rd_broker *b, struct rd_job *j, struct rd_task *t, const Rd__Opened *opened)
{
	uint32_t input = t->input;

	rd_job_settle(j, t, RD_TASK_DONE);
	for (size_t i = 0; i < opened->n_path; i++) {
		struct rd_trace *trace = add_trace(b, j, input);
		/* Moves the tasks: t is void from here on. */
		struct rd_task *task = trace ? rd_job_add_task(b, j, RD__WORK__INDEX) : NULL;
		if (task == NULL)
			return;
		trace->path = keep_text(b, j, &opened->path[i]);
		trace->member = keep_text(b, j, &opened->member[i]);
		trace->damage = keep_text(b, j, &opened->damage[i]);
		task->input = input;
		task->trace = trace;
		j->unopened++;
	}
}

/* ---- the second half: shards */

static void add_shards(struct rd_broker *b, struct rd_job *j, struct rd_trace *trace)
{
	for (uint32_t s = 0; s < trace->plan.shards.n; s++) {
		struct rd_task *t = rd_job_add_task(b, j, RD__WORK__DECODE);
		if (t == NULL)
			return;
		t->input = trace->input;
		t->trace = trace;
		t->shard = s;
		t->bytes = trace->plan.shards.at[s].bytes;
		j->bytes_total += t->bytes;
		j->shards++;
		j->unsettled++;
	}
}

static void cut_shards(struct rd_broker *b, struct rd_job *j)
{
	uint32_t workers = rd_members_workers(b);
	struct rd_plan_options opt = {j->submit->shard_bytes, j->submit->shards, workers};
	struct rd_error err = {0};

	if (j->submit->workers > workers)
		opt.workers = j->submit->workers;
	int rc = rd_job_number_traces(j, &err);
	for (size_t i = 0; rc == 0 && i < j->traces.n; i++) {
		struct rd_trace *trace = j->traces.at[i];
		rc = rd_plan_make(&trace->index, &opt, &trace->plan, &err);
		if (rc == 0)
			add_shards(b, j, trace);
	}
	if (rc == RD_NOMEM)
		b->failed = true;
	else if (rc < 0)
		rd_job_fail(b, j, &err);
	if (rc < 0)
		return;
	rd_log(RD_LOG_INFO, "job_planned", "job=%s traces=%zu shards=%" PRIu32 " bytes=%" PRIu64, j->id, j->traces.n,
	       j->shards, j->bytes_total);
}

void rd_job_indexed(struct rd_broker *b, struct rd_job *j, struct rd_task *t, struct rd_index *taken)
{
	struct rd_trace *trace = t->trace;

	if (trace == NULL) {
		/* The input is a plain trace itself. */
		trace = add_trace(b, j, t->input);
		if (trace)
			trace->path = j->submit->path[t->input];
	}
	if (trace == NULL) {
		rd_index_release(taken);
		return;
	}
	trace->index = *taken;
	trace->indexed = true;
	*taken = (struct rd_index){0};
	rd_job_settle(j, t, RD_TASK_DONE);
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
	if (b->merger)
		rd_finish_ask(b, j);
}

void rd_job_settle(struct rd_job *j, struct rd_task *t, enum rd_task_state state)
{
	bool decode = t->work == RD__WORK__DECODE;

	if (t->state == RD_TASK_QUARANTINED) {
		/* Given up too early: a late attempt was merged after all. */
		j->quarantined--;
		j->unsettled++;
		j->bytes_done -= t->bytes;
	}
	t->state = state;
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
	if (j->traces.n == 0)
		cut_shards(b, j);
	if (j->state == RD_JOB_RUNNING && j->unsettled == 0 && !b->failed)
		shards_settled(b, j);
}

/* ---- its end */

void rd_job_end(struct rd_broker *b, struct rd_job *j, enum rd_job_state state)
{
	j->state = state;
	j->changed = j->changed_state = true;
	if (state != RD_JOB_DONE) {
		rd_attempts_abandon(b, j, NULL);
		if (b->merger) {
			Rd__Envelope e = rd_envelope(RD__KIND__DROP);
			e.job = rd_field(j->id);
			rd_say(b, b->merger->id, &e, NULL, NULL);
		}
	}
	release_work(j);
}

void rd_job_fail(struct rd_broker *b, struct rd_job *j, const struct rd_error *why)
{
	char line[800], quoted[900];

	j->error = *why;
	rd_log(RD_LOG_INFO, "job_failed", "job=%s error=%s", j->id,
	       rd_log_quote(rd_error_line(why, line, sizeof line), quoted, sizeof quoted));
	rd_job_end(b, j, RD_JOB_FAILED);
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
	rd_job_free(b->jobs.at[oldest]);
	b->jobs.n--;
	memmove(b->jobs.at + oldest, b->jobs.at + oldest + 1, (b->jobs.n - oldest) * sizeof *b->jobs.at);
}
