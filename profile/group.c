#include "profile/group.h"

#include "profile/gather.h"
#include "profile/losses.h"

void rd_group_init(struct rd_group *g, struct rd_content *content, struct rd_progress *progress)
{
	*g = (struct rd_group){.content = content, .progress = progress};
	rd_addresses_init(&g->addresses);
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

/* Every address of every stack may be asked for. */
static int seal_addresses(struct rd_group *g, struct rd_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < g->raw_stacks.at.n; i++) {
		struct rd_span stack = g->raw_stacks.at.at[i];
		for (size_t at = 0; rc == 0 && at < stack.size_bytes; at += sizeof(uint64_t))
			rc = rd_addresses_add(&g->addresses, rd_le64(stack.at + at), err);
		if (rc == 0)
			rc = rd_progress_step(g->progress, stack.size_bytes / sizeof(uint64_t), err);
	}
	return rc < 0 ? rc : rd_addresses_seal(&g->addresses, err);
}

/* Sequence numbers of one file: all its runs, in any order. */
static int merge_losses(struct rd_group *g, struct rd_group_file *file, struct rd_error *err)
{
	RD_VEC(struct rd_sequence_row) all = {0};
	const struct rd_partial *rows;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < g->shards.n; i++) {
		struct rd_table_reader reader;
		if (g->shards.at[i].tables != &file->tables)
			continue;
		rd_table_open(&reader, &file->tables, g->shards.at[i].shard, RD_TABLE_SEQUENCES);
		while (rc == 0 && (rc = rd_table_next(&reader, &rows, err)) > 0) {
			rc = rd_vec_reserve(&all, rows->sequences.n) < 0 ? rd_fail_nomem(err) : 0;
			for (size_t k = 0; rc == 0 && k < rows->sequences.n; k++)
				all.at[all.n++] = rows->sequences.at[k];
			if (rc == 0)
				rc = rd_progress_step(g->progress, rows->sequences.n, err);
		}
		rd_table_close(&reader);
	}
	if (rc == 0)
		rc = rd_losses_merge(all.at, all.n, &file->lost_events, err);
	rd_vec_release(&all);
	return rc;
}

/* Processes that no process record names are called by their command lines. */
static int name_lives(struct rd_group *g, struct rd_error *err)
{
	rd_timeline_seal(&g->command_lines);
	for (size_t i = 0; i < g->command_lines.facts.n; i++) {
		const struct rd_timeline_fact *fact = &g->command_lines.facts.at[i];
		uint32_t life = rd_lives_of(&g->lives, (uint32_t)fact->key, fact->when.time, fact->when.file);
		if (life == RD_NONE || rd_content_name_life(g->content, life, fact->when.id) < 0)
			return rd_fail_nomem(err);
	}
	return 0;
}

static int seal(struct rd_group *g, struct rd_error *err)
{
	rd_lives_seal_threads(&g->lives);
	rd_timeline_seal(&g->keys);
	int rc = rd_modules_seal(&g->modules, err);
	if (rc == 0)
		rc = name_lives(g, err);
	for (size_t i = 0; rc == 0 && i < g->files.n; i++)
		rc = merge_losses(g, &g->files.at[i], err);
	if (rc == 0 && g->methods.namer.keys.n > 0)
		rc = rd_gather_missing_names(g, err);
	if (rc == 0)
		rc = rd_methods_seal(&g->methods, err);
	if (rc == 0)
		rc = rd_images_seal(&g->images, err);
	return rc < 0 ? rc : rd_mappings_seal(&g->mappings, err);
}

int rd_group_gather(struct rd_group *g, struct rd_error *err)
{
	rd_lives_init(&g->lives, g->content, rd_group_clock(g));
	int rc = rd_gather_lives_and_addresses(g, err);
	if (rc == 0)
		rc = rd_lives_seal(&g->lives, err);
	if (rc == 0)
		rc = seal_addresses(g, err);
	if (rc < 0)
		return rc;
	rd_methods_init(&g->methods, g->content, &g->modules, &g->addresses);
	rd_images_init(&g->images, g->content, &g->addresses);
	rd_mappings_init(&g->mappings, g->content, &g->addresses);
	rc = rd_gather_facts(g, err);
	return rc < 0 ? rc : seal(g, err);
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
	rd_mappings_release(&g->mappings);
	rd_timeline_release(&g->keys);
	rd_evidence_release(&g->evidence);
}
