#include "merger/compute.h"

#include <string.h>

#include "base/clock.h"
#include "net/task.h"
#include "profile/finish.h"
#include "profile/index_codec.h"

/* The shards of one trace that are there; a shard given up is left out, even if it was merged after all. */
struct shards {
	struct rd_work *work;
	struct rd_shard_id id; /* job and trace */
	RD_VEC(uint32_t) present;
};

struct job {
	struct rd_work *work;
	bool so_far; /* shards may be missing */
	const Rd__Finish *finish;
	char name[RD_JOB_ID_MAX + 1];
	struct rd_bytes room;
	struct rd_arena arena;
	struct shards *shards;          /* by trace */
	struct rd_trace_info *infos;    /* by trace */
	struct rd_finish_trace *traces; /* by trace */
	struct rd_byte_range *ranges;   /* given up, sorted by trace */
	struct rd_work_bytes bytes;     /* of all shards that are there */
	uint64_t partial_bytes, merge_ns, present;
};

static int read_block(void *ctx, size_t shard, enum rd_partial_table table, uint32_t seq, struct rd_span *block,
		      struct rd_error *err)
{
	const struct shards *s = ctx;
	struct rd_shard_id id = s->id;

	id.shard = s->present.at[shard];
	return rd_work_block(s->work, &id, table, seq, block, err);
}

static bool given_up(const Rd__Finish *f, uint32_t trace, uint32_t shard)
{
	for (size_t i = 0; i < f->n_quarantined_trace; i++)
		if (f->quarantined_trace[i] == trace && f->quarantined_shard[i] == shard)
			return true;
	return false;
}

static int find_shards(struct job *j, uint32_t trace, struct rd_error *err)
{
	struct shards *s = &j->shards[trace];
	struct rd_ledger_row row;

	s->work = j->work;
	strcpy(s->id.job, j->name);
	s->id.trace = trace;
	for (uint32_t shard = 0; shard < j->finish->shards[trace]; shard++) {
		struct rd_shard_id id = s->id;
		id.shard = shard;
		if (given_up(j->finish, trace, shard))
			continue;
		int code = rd_work_ledger(j->work, &id, &row, err);
		if (code == 0 && j->so_far)
			continue;
		if (code == 0)
			code = rd_fail(err, RD_NOT_FOUND, "shard %u of trace %u is not merged", shard, trace);
		if (code > 0 && !j->so_far)
			code = rd_work_check(j->work, &id, &row, &j->bytes, err);
		if (code < 0)
			return code;
		if (rd_vec_reserve(&s->present, 1) < 0)
			return rd_fail_nomem(err);
		s->present.at[s->present.n++] = shard;
		j->partial_bytes += row.bytes;
		j->merge_ns += row.merge_ns;
		j->present++;
	}
	return 0;
}

/* The byte ranges given up of one trace; they are the merger's to count once, by trace. */
static void find_ranges(struct job *j, uint32_t trace, size_t *next)
{
	const Rd__Finish *f = j->finish;

	j->traces[trace].quarantined = j->ranges + *next;
	for (size_t i = 0; i < f->n_quarantined_trace; i++) {
		if (f->quarantined_trace[i] != trace)
			continue;
		j->ranges[(*next)++] = (struct rd_byte_range){trace, f->quarantined_from[i], f->quarantined_to[i]};
		j->traces[trace].quarantined_n++;
	}
}

static const char *text_of(struct job *j, const ProtobufCBinaryData *field)
{
	char *text = rd_arena_take(&j->arena, field->len + 1);
	return text ? rd_field_text(field, text, field->len + 1) : NULL;
}

static int fill_traces(struct job *j, const struct rd_message *order, struct rd_error *err)
{
	const Rd__Finish *f = j->finish;
	size_t n = f->n_path, next = 0;
	rd_span_vec infos = {0};

	j->shards = rd_arena_take(&j->arena, n * sizeof *j->shards);
	j->infos = rd_arena_take(&j->arena, n * sizeof *j->infos);
	j->traces = rd_arena_take(&j->arena, n * sizeof *j->traces);
	j->ranges = rd_arena_take(&j->arena, f->n_quarantined_trace * sizeof *j->ranges + 1);
	if (!j->shards || !j->infos || !j->traces || !j->ranges) {
		j->shards = NULL;
		return rd_fail_nomem(err);
	}
	memset(j->shards, 0, n * sizeof *j->shards);
	memset(j->traces, 0, n * sizeof *j->traces);
	int code = rd_infos_split(&order->blob, &j->room, n, &infos, err);
	for (uint32_t i = 0; code == 0 && i < n; i++) {
		struct rd_finish_trace *t = &j->traces[i];
		if ((code = rd_info_unpack(&j->infos[i], infos.at[i], err)) < 0 || (code = find_shards(j, i, err)) < 0)
			break;
		find_ranges(j, i, &next);
		t->path = text_of(j, &f->path[i]);
		t->member = text_of(j, &f->member[i]);
		t->info = &j->infos[i];
		t->group = f->group[i];
		t->partials = (struct rd_partial_source){&j->shards[i], j->shards[i].present.n, read_block};
		if (t->path == NULL || t->member == NULL)
			code = rd_fail_nomem(err);
	}
	rd_vec_release(&infos);
	return code;
}

static enum rd_partial_part part_of(uint32_t table)
{
	switch (table) {
	case RD_TABLE_STRINGS:
		return RD_PART_NAMES;
	case RD_TABLE_STACKS:
		return RD_PART_STACKS;
	case RD_TABLE_SAMPLES:
	case RD_TABLE_STACK_RECORDS:
		return RD_PART_SAMPLES;
	case RD_TABLE_PRELIMINARY:
		return RD_PART_BELIEFS;
	default:
		return RD_PART_FACTS;
	}
}

static void fill_stats(const struct job *j, struct rd_finish_stats *s)
{
	s->shards = j->present;
	s->partial_bytes = j->partial_bytes;
	for (uint32_t table = 0; table < RD_TABLE_END; table++)
		s->part_bytes[part_of(table)] += j->bytes.of[table];
	s->merge_ns = j->merge_ns;
}

static int finish(struct job *j, int (*progress)(void *ctx, uint64_t done, uint64_t total), void *ctx,
		  struct rd_result *out, struct rd_error *err)
{
	const Rd__Filter *f = j->finish->filter;
	const char *process = text_of(j, &f->process);
	struct rd_finish_options opt = {
		.not_nothing = true,
		.process = f->process.len ? process : NULL,
		.has_from = f->has_from,
		.has_to = f->has_to,
		.from_ns = f->from_ns,
		.to_ns = f->to_ns,
		.from_is_utc = f->from_is_utc,
		.to_is_utc = f->to_is_utc,
		.kind = f->kind - 1,
		.progress = progress,
		.progress_ctx = ctx,
	};
	uint64_t start = rd_now_ns();

	if (process == NULL)
		return rd_fail_nomem(err);
	int code = rd_finish(j->traces, j->finish->n_path, &opt, out, err);
	if (code < 0)
		return code;
	fill_stats(j, &out->stats);
	out->stats.finish_ns = rd_now_ns() - start;
	return 0;
}

static int open_job(struct job *j, const struct rd_message *order, struct rd_error *err)
{
	rd_field_text(&order->envelope->job, j->name, sizeof j->name);
	return fill_traces(j, order, err);
}

static void close_job(struct job *j)
{
	for (size_t i = 0; j->shards && i < j->finish->n_path; i++)
		rd_vec_release(&j->shards[i].present);
	rd_arena_release(&j->arena);
	rd_bytes_release(&j->room);
}

int rd_compute(struct rd_work *work, const struct rd_message *order,
	       int (*progress)(void *ctx, uint64_t done, uint64_t total), void *ctx, struct rd_result *out,
	       struct rd_error *err)
{
	struct job j = {.work = work, .finish = order->envelope->finish};
	int code = open_job(&j, order, err);

	if (code == 0)
		code = finish(&j, progress, ctx, out, err);
	close_job(&j);
	return code;
}

/* ---- so far */

static int look_at_clock(void *ctx, uint64_t done, uint64_t total)
{
	(void)done, (void)total;
	return rd_now_ns() < *(const uint64_t *)ctx ? 0 : RD_LIMIT;
}

/* The traces of a group, named by its first one. */
static int add_group(const struct job *j, size_t first, struct rd_finish_trace *room, uint64_t *deadline_ns,
		     struct rd_top *top, struct rd_error *err)
{
	struct rd_progress progress = {.tell = look_at_clock, .ctx = deadline_ns};
	struct rd_partial belief = {0};
	const struct rd_partial *in_memory = &belief;
	struct rd_tables tables = {.shards = 1, .in_memory = &in_memory};
	size_t n = 0;

	for (size_t i = first; i < j->finish->n_path; i++)
		if (j->traces[i].group == j->traces[first].group)
			room[n++] = j->traces[i];
	int code = rd_finish_so_far(room, n, &belief, &progress, err);
	if (code == 0)
		code = rd_top_add(top, (uint32_t)first, &tables, 0, err);
	rd_partial_release(&belief);
	return code;
}

static bool is_first(const struct job *j, size_t trace)
{
	for (size_t i = 0; i < trace; i++)
		if (j->traces[i].group == j->traces[trace].group)
			return false;
	return true;
}

int rd_compute_so_far(struct rd_work *work, const struct rd_message *order, uint64_t deadline_ns, struct rd_top *top,
		      uint32_t *shards, struct rd_error *err)
{
	struct job j = {.work = work, .finish = order->envelope->finish, .so_far = true};
	int code = open_job(&j, order, err);
	struct rd_finish_trace *room =
		code == 0 ? rd_arena_take(&j.arena, j.finish->n_path * sizeof *room) : NULL;

	if (code == 0 && room == NULL)
		code = rd_fail_nomem(err);
	for (size_t i = 0; code == 0 && i < j.finish->n_path; i++)
		if (is_first(&j, i))
			code = add_group(&j, i, room, &deadline_ns, top, err);
	*shards = (uint32_t)j.present;
	close_job(&j);
	return code;
}
