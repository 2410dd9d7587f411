#include "broker/state.h"

#include <string.h>

#include "net/task.h"

/*
 * What the merger needs to make a result of a job's partials. Arrays of the
 * message are taken from one arena and freed with it.
 */

static int fill_traces(struct rd_job *j, struct rd_arena *room, Rd__Finish *f, struct rd_bytes *infos)
{
	size_t n = j->traces.n;
	struct rd_bytes info = {0};

	f->path = rd_arena_take(room, n * sizeof *f->path);
	f->member = rd_arena_take(room, n * sizeof *f->member);
	f->group = rd_arena_take(room, n * sizeof *f->group);
	f->shards = rd_arena_take(room, n * sizeof *f->shards);
	if (!f->path || !f->member || !f->group || !f->shards)
		return RD_NOMEM;
	f->n_path = f->n_member = f->n_group = f->n_shards = n;
	int rc = 0;
	for (size_t i = 0; i < n && rc == 0; i++) {
		const struct rd_trace *t = j->traces.at[i];
		f->path[i] = j->submit->path[t->input];
		f->member[i] = t->member;
		f->group[i] = t->group;
		f->shards[i] = (uint32_t)t->plan.shards.n;
		info.n = 0;
		rc = rd_info_pack(&t->index.info, &info, NULL);
		if (rc == 0)
			rc = rd_infos_pack(infos, (struct rd_span){info.at, info.n}, NULL);
	}
	rd_bytes_release(&info);
	return rc;
}

/* A row a run of bytes: a shard that was cut by time may be several. */
static int fill_quarantined(struct rd_job *j, struct rd_arena *room, Rd__Finish *f)
{
	struct row {
		uint32_t trace, shard;
		struct rd_plan_range range;
	};
	RD_VEC(struct row) rows = {0};
	rd_plan_range_vec ranges = {0};
	int rc = 0;

	for (size_t i = 0; i < j->tasks.n && rc == 0; i++) {
		const struct rd_task *t = &j->tasks.at[i];
		if (t->state != RD_TASK_QUARANTINED)
			continue;
		ranges.n = 0;
		rc = rd_plan_shard_ranges(&t->trace->index, &t->trace->plan, t->shard, &ranges, NULL);
		for (size_t k = 0; k < ranges.n && rc == 0; k++) {
			struct row *r = rd_vec_add(&rows);
			if (r)
				*r = (struct row){t->trace->number, t->shard, ranges.at[k]};
			else
				rc = RD_NOMEM;
		}
	}
	size_t n = rows.n;
	f->quarantined_trace = rd_arena_take(room, n * sizeof *f->quarantined_trace + 1);
	f->quarantined_shard = rd_arena_take(room, n * sizeof *f->quarantined_shard + 1);
	f->quarantined_from = rd_arena_take(room, n * sizeof *f->quarantined_from + 1);
	f->quarantined_to = rd_arena_take(room, n * sizeof *f->quarantined_to + 1);
	if (!f->quarantined_trace || !f->quarantined_shard || !f->quarantined_from || !f->quarantined_to)
		rc = RD_NOMEM;
	for (size_t i = 0; i < n && rc == 0; i++) {
		f->quarantined_trace[i] = rows.at[i].trace;
		f->quarantined_shard[i] = rows.at[i].shard;
		f->quarantined_from[i] = rows.at[i].range.from;
		f->quarantined_to[i] = rows.at[i].range.to;
	}
	f->n_quarantined_trace = f->n_quarantined_shard = f->n_quarantined_from = f->n_quarantined_to = n;
	rd_vec_release(&rows);
	rd_vec_release(&ranges);
	return rc;
}

/* What a row of the message needs beside its names, at most. */
#define ROW_BYTES  24
#define HEAD_BYTES 16384

int rd_finish_fits(const struct rd_job *j, struct rd_error *err)
{
	uint64_t bytes = HEAD_BYTES;

	for (size_t i = 0; i < j->traces.n; i++) {
		const struct rd_trace *t = j->traces.at[i];
		bytes += j->submit->path[t->input].len + t->member.len + ROW_BYTES;
	}
	if (bytes > RD_ENVELOPE_BYTES)
		return rd_fail(err, RD_LIMIT,
			       "%zu traces have too many names for one result: submit them as several jobs",
			       j->traces.n);
	return 0;
}

static void ask(struct rd_broker *b, struct rd_job *j, Rd__Kind kind, uint64_t count)
{
	Rd__Envelope e = rd_envelope(kind);
	Rd__Finish f = RD__FINISH__INIT;
	struct rd_error err = {0};
	struct rd_arena room = {0};
	struct rd_bytes infos = {0};
	struct rd_blob blob = {0};

	f.output = j->submit->output;
	f.replace = j->submit->replace;
	f.filter = j->submit->filter;
	int rc = fill_traces(j, &room, &f, &infos);
	if (rc == 0)
		rc = fill_quarantined(j, &room, &f);
	if (rc == 0)
		rc = rd_blob_add(&blob, infos.at, infos.n, &err);
	if (rc == 0) {
		e.job = rd_field(j->id);
		e.finish = &f;
		e.count = count;
		rc = rd_say(b, b->merger->id, &e, &blob, &err);
	}
	if (rc == RD_LIMIT)
		rd_job_fail(b, j, &err);
	else if (rc < 0)
		b->failed = true;
	rd_blob_release(&blob);
	rd_bytes_release(&infos);
	rd_arena_release(&room);
}

void rd_finish_ask(struct rd_broker *b, struct rd_job *j)
{
	ask(b, j, RD__KIND__FINISH, 0);
}

void rd_finish_ask_top(struct rd_broker *b, struct rd_job *j, uint64_t count)
{
	ask(b, j, RD__KIND__TOP, count);
}
