#include "profile/group.h"

void rd_group_init(struct rd_group *g, struct rd_content *content)
{
	*g = (struct rd_group){.content = content};
	rd_modules_init(&g->modules);
	rd_evidence_init(&g->evidence);
}

int rd_group_add_file(struct rd_group *g, uint32_t trace, const struct rd_trace_info *info, struct rd_tables tables,
		      struct rd_error *err)
{
	if (g->files.n >= UINT16_MAX)
		return rd_fail(err, RD_LIMIT, "more than %d traces joined", UINT16_MAX);
	if (g->files.n > 0) {
		const struct rd_clock *clock = rd_group_clock(g);
		if (clock->kind != info->clock.kind || clock->frequency_hz != info->clock.frequency_hz)
			return rd_fail(err, RD_UNSUPPORTED, "traces with different clocks cannot be joined");
	}
	struct rd_group_file *file = rd_vec_add(&g->files);
	if (file == NULL)
		return rd_fail_nomem(err);
	*file = (struct rd_group_file){
		.trace = trace,
		.info = info,
		.tables = tables,
		.damage_at = RD_NO_OFFSET,
	};
	return 0;
}

/* A shard without a summary has no rows: its blocks held nothing. */
static int load_summary(struct rd_shard_ref *shard, struct rd_error *err)
{
	struct rd_table_reader reader;
	const struct rd_partial *rows;

	shard->summary = (struct rd_partial_summary){.first_sample = UINT64_MAX, .first_stack_record = UINT64_MAX};
	rd_table_open(&reader, shard->tables, shard->shard, RD_TABLE_SUMMARY);
	int rc = rd_table_next(&reader, &rows, err);
	if (rc > 0)
		shard->summary = rows->summary;
	rd_table_close(&reader);
	return rc < 0 ? rc : 0;
}

static int add_shard(struct rd_group *g, uint16_t index, size_t number, struct rd_error *err)
{
	struct rd_group_file *file = &g->files.at[index];
	struct rd_shard_ref *shard = rd_vec_add(&g->shards);

	if (shard == NULL)
		return rd_fail_nomem(err);
	*shard = (struct rd_shard_ref){.tables = &file->tables, .shard = number, .file = index};
	int rc = load_summary(shard, err);
	if (rc < 0)
		return rc;
	file->malformed_events += shard->summary.malformed_events;
	file->providers_seen |= shard->summary.providers_seen;
	return 0;
}

int rd_group_load_summaries(struct rd_group *g, struct rd_error *err)
{
	int rc = 0;

	for (uint16_t f = 0; rc == 0 && f < g->files.n; f++)
		for (size_t i = 0; rc == 0 && i < g->files.at[f].tables.shards; i++)
			rc = add_shard(g, f, i, err);
	return rc;
}

void rd_group_release(struct rd_group *g)
{
	for (size_t i = 0; i < g->shards.n; i++)
		rd_stack_map_release(&g->shards.at[i].stacks);
	rd_vec_release(&g->shards);
	rd_vec_release(&g->files);
	rd_strings_release(&g->raw_stacks);
	rd_addresses_release(&g->addresses);
	rd_lives_release(&g->lives);
	rd_timeline_release(&g->command_lines);
	rd_modules_release(&g->modules);
	rd_methods_release(&g->methods);
	rd_images_release(&g->images);
	rd_timeline_release(&g->keys);
	rd_evidence_release(&g->evidence);
}
