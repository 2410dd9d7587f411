#include "broker/state.h"

#include <inttypes.h>

#include "base/log.h"

/*
 * A job goes through two halves. First every input is opened: a worker finds
 * an archive's members or a plain trace's index. Only when all are indexed are
 * shards cut and decoded: so an input that is no trace fails the job with its
 * own error before any long work (or is left out, leave_out.c), and traces are
 * numbered by the order of the inputs, not by who was quicker.
 */

struct rd_trace *rd_job_add_trace(struct rd_broker *b, struct rd_job *j, uint32_t input)
{
	struct rd_trace **slot = rd_vec_add(&j->inputs.at[input].traces);
	struct rd_trace *t = slot ? rd_realloc(NULL, sizeof *t) : NULL;

	if (t == NULL) {
		if (slot)
			j->inputs.at[input].traces.n--;
		b->failed = true;
		return NULL;
	}
	*t = (struct rd_trace){.input = input, .place = (uint32_t)j->inputs.at[input].traces.n - 1};
	*slot = t;
	return t;
}

ProtobufCBinaryData rd_job_keep_text(struct rd_broker *b, struct rd_job *j, const ProtobufCBinaryData *text)
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

	rd_keep_opened(b, j, input, opened);
	rd_job_settle(b, j, t, RD_TASK_DONE);
	for (size_t i = 0; i < opened->n_path; i++) {
		struct rd_trace *trace = rd_job_add_trace(b, j, input);
		/* Moves the tasks: t is void from here on. */
		struct rd_task *task = trace ? rd_job_add_task(b, j, RD__WORK__INDEX) : NULL;
		if (task == NULL)
			return;
		trace->path = rd_job_keep_text(b, j, &opened->path[i]);
		trace->member = rd_job_keep_text(b, j, &opened->member[i]);
		trace->damage = rd_job_keep_text(b, j, &opened->damage[i]);
		task->input = input;
		task->trace = trace;
		rd_touch_task(b, j, task);
		j->unopened++;
	}
}

/* ---- the second half: shards */

void rd_job_add_shards(struct rd_broker *b, struct rd_job *j, struct rd_trace *trace)
{
	trace->first_task = (uint32_t)j->tasks.n;
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

void rd_job_indexed(struct rd_broker *b, struct rd_job *j, struct rd_task *t, struct rd_index *taken)
{
	struct rd_trace *trace = t->trace;

	if (trace == NULL) {
		/* The input is a plain trace itself. */
		trace = rd_job_add_trace(b, j, t->input);
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
	rd_keep_index(b, j, trace);
	rd_job_settle(b, j, t, RD_TASK_DONE);
}

/* All of a job's plan is kept in one turn: either no shard was handed out, or every number stands. */
static int plan_all(struct rd_broker *b, struct rd_job *j, struct rd_error *err)
{
	uint32_t workers = rd_members_workers(b);
	struct rd_plan_options opt = {j->submit->shard_bytes, j->submit->shards, workers};
	int rc = 0;

	if (j->submit->workers > workers)
		opt.workers = j->submit->workers;
	for (size_t i = 0; rc == 0 && i < j->traces.n; i++) {
		struct rd_trace *trace = j->traces.at[i];
		if (rd_trace_is_left_out(&trace->index.info))
			continue;
		rc = rd_plan_make(&trace->index, &opt, &trace->plan, err);
		if (rc == 0) {
			rd_keep_plan(b, j, trace);
			rd_job_add_shards(b, j, trace);
		}
	}
	return rc;
}

void rd_job_cut_shards(struct rd_broker *b, struct rd_job *j)
{
	struct rd_error err = {0};

	int rc = rd_job_number_traces(j, &err);
	if (rc == 0)
		rc = rd_job_check_left(j, &err);
	if (rc == 0)
		rc = rd_finish_fits(j, &err);
	if (rc == 0 && rd_job_is_done_already(b, j))
		return;
	if (rc == 0)
		rc = plan_all(b, j, &err);
	if (rc == RD_NOMEM)
		b->failed = true;
	else if (rc < 0)
		rd_job_fail(b, j, &err);
	if (rc < 0)
		return;
	j->planned = true;
	rd_touch_job(j);
	rd_log(RD_LOG_INFO, "job_planned", "job=%s traces=%zu shards=%" PRIu32 " bytes=%" PRIu64, j->id, j->traces.n,
	       j->shards, j->bytes_total);
}
