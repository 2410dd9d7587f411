#include "broker/state.h"

/*
 * A recalled job put together: its tasks get the numbers that they had, what
 * was settled is settled again, and the rest waits, what was begun first.
 */

/* Tasks of members follow those of inputs, in the order in which they were made. */
static int add_index_tasks(struct rd_broker *b, struct rd_job *j, struct rd_error *err)
{
	for (size_t i = 0; i < b->recalled.n; i++) {
		const struct rd_task_record *r = &b->recalled.at[i];
		struct rd_trace *trace = rd_recall_trace(j, r->input, r->place);
		if (r->work != RD__WORK__INDEX)
			continue;
		struct rd_task *t = rd_job_add_task(b, j, RD__WORK__INDEX);
		if (t == NULL)
			return rd_fail_nomem(err);
		if (trace == NULL || r->number != j->tasks.n)
			return rd_recall_off(err, j, "a task");
		t->input = r->input;
		t->trace = trace;
		j->unopened++;
	}
	return 0;
}

static int add_shards(struct rd_broker *b, struct rd_job *j, struct rd_error *err)
{
	/* They are counted anew. */
	j->shards = j->shards_done = j->quarantined = 0;
	j->bytes_total = j->bytes_done = 0;
	if (!j->planned)
		return 0;
	for (size_t i = 0; i < j->inputs.n; i++)
		for (size_t k = 0; k < j->inputs.at[i].traces.n; k++)
			if (j->inputs.at[i].traces.at[k]->plan.shards.n == 0 &&
			    !rd_trace_is_left_out(&j->inputs.at[i].traces.at[k]->index.info))
				return rd_recall_off(err, j, "a plan that is missing");
	int rc = rd_job_number_traces(j, err);
	if (rc < 0)
		return rc == RD_NOMEM ? rc : rd_recall_off(err, j, "the order of traces");
	for (size_t i = 0; i < j->traces.n; i++)
		rd_job_add_shards(b, j, j->traces.at[i]);
	return b->failed ? rd_fail_nomem(err) : 0;
}

static int apply_tasks(struct rd_broker *b, struct rd_job *j, struct rd_error *err)
{
	uint32_t attempts = 0;

	for (size_t i = 0; i < b->recalled.n; i++) {
		const struct rd_task_record *r = &b->recalled.at[i];
		struct rd_task *t = r->number <= j->tasks.n ? &j->tasks.at[r->number - 1] : NULL;
		if (t == NULL || (uint32_t)t->work != r->work || t->input != r->input || t->shard != r->shard)
			return rd_recall_off(err, j, "a task");
		t->attempts = r->attempts;
		t->failures = r->failures;
		t->vanished = r->vanished;
		attempts += r->attempts;
		if (r->state != RD_TASK_WAITING)
			rd_job_settle(b, j, t, (enum rd_task_state)r->state);
	}
	j->attempts = attempts;
	j->fresh = (uint32_t)j->tasks.n;
	while (j->fresh > 0 && j->tasks.at[rd_job_in_turn(j, j->fresh - 1)].attempts == 0)
		j->fresh--;
	/* What was begun is gone on with first, the oldest first. */
	for (uint32_t turn = j->fresh; turn > 0; turn--) {
		struct rd_task *t = &j->tasks.at[rd_job_in_turn(j, turn - 1)];
		if (t->state == RD_TASK_WAITING)
			rd_job_requeue(j, t);
	}
	return 0;
}

/* What was written in one transaction with another record must not lack it. */
static int check_job(const struct rd_job *j, struct rd_error *err)
{
	for (size_t i = 0; i < j->tasks.n; i++) {
		const struct rd_task *t = &j->tasks.at[i];
		bool opened = j->inputs.at[t->input].traces.n > 0;
		if (t->work == RD__WORK__OPEN && t->state == RD_TASK_DONE && !opened)
			return rd_recall_off(err, j, "an input that is missing");
		if (t->work == RD__WORK__INDEX && (t->state == RD_TASK_DONE) != t->trace->indexed)
			return rd_recall_off(err, j, "an index that is missing");
	}
	if (j->planned && j->unopened > 0)
		return rd_recall_off(err, j, "a plan before its time");
	if (j->state == RD_JOB_FINISHING && (!j->planned || j->unsettled > 0))
		return rd_recall_off(err, j, "an end before its time");
	return 0;
}

int rd_recall_put_together(struct rd_broker *b, struct rd_error *err)
{
	struct rd_job *j = b->jobs.n ? b->jobs.at[b->jobs.n - 1] : NULL;
	int rc = 0;

	if (j && !rd_job_ended(j)) {
		rc = add_index_tasks(b, j, err);
		if (rc == 0)
			rc = add_shards(b, j, err);
		if (rc == 0)
			rc = apply_tasks(b, j, err);
		if (rc == 0)
			rc = check_job(j, err);
		/* Nothing of this is new. */
		for (size_t i = 0; i < j->dirty_tasks.n; i++)
			j->tasks.at[j->dirty_tasks.at[i]].dirty = false;
		j->dirty_tasks.n = 0;
		j->changed = j->changed_state = j->dirty = false;
	} else if (j) {
		rd_job_release_work(j);
	}
	b->recalled.n = 0;
	return rc;
}
