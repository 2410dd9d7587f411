#include "profile/tables.h"

#include <string.h>

#include "profile/partial_tables.h"

void rd_table_open(struct rd_table_reader *r, const struct rd_tables *t, size_t shard, enum rd_partial_table table)
{
	*r = (struct rd_table_reader){.tables = t, .shard = shard, .table = table};
}

/* Append the next packed block to *into: 1, or 0 at the end. */
static int unpack_next(struct rd_table_reader *r, struct rd_partial *into, struct rd_error *err)
{
	const struct rd_partial_source *source = r->tables->packed;
	enum rd_partial_table table;
	struct rd_span block;

	int rc = source->block(source->ctx, r->shard, r->table, r->seq, &block, err);
	if (rc <= 0)
		return rc;
	rc = rd_partial_block_check(block, &table, err);
	if (rc < 0)
		return rc;
	if (table != r->table)
		return rd_fail(err, RD_CORRUPT, "a block of table %d stands where table %d was asked for", (int)table,
			       (int)r->table);
	rc = rd_partial_unpack(into, block, err);
	if (rc < 0)
		return rc;
	if (r->tables->bytes)
		*r->tables->bytes += block.size_bytes;
	r->seq++;
	return 1;
}

/* Make room for the next block where the last one was. */
static void clear_block(struct rd_table_reader *r)
{
	uint8_t *field = (uint8_t *)&r->block + rd_partial_layout(r->table)->rows_at;
	struct rd_any_vec v;

	if (r->table == RD_TABLE_STRINGS) {
		rd_partial_release(&r->block);
		return;
	}
	r->block.stack_ends.n = r->block.stack_frames.n = 0;
	if (r->table == RD_TABLE_STACKS || r->table == RD_TABLE_SUMMARY)
		return;
	memcpy(&v, field, sizeof v);
	v.n = 0;
	memcpy(field, &v, sizeof v);
}

int rd_table_next(struct rd_table_reader *r, const struct rd_partial **rows, struct rd_error *err)
{
	if (r->tables->packed == NULL) {
		*rows = r->tables->in_memory[r->shard];
		return r->seq++ == 0;
	}
	clear_block(r);
	int rc = unpack_next(r, &r->block, err);
	if (rc < 0)
		return rd_error_in(err, rc, "shard %zu, table %d, block %u", r->shard, (int)r->table, r->seq);
	*rows = &r->block;
	return rc;
}

void rd_table_close(struct rd_table_reader *r)
{
	rd_partial_release(&r->block);
	r->block = (struct rd_partial){0};
}

int rd_tables_unpack_strings(const struct rd_tables *t, size_t shard, struct rd_partial *into, struct rd_error *err)
{
	struct rd_table_reader reader;
	int rc;

	if (t->packed == NULL)
		return 0;
	rd_table_open(&reader, t, shard, RD_TABLE_STRINGS);
	while ((rc = unpack_next(&reader, into, err)) > 0)
		;
	return rc < 0 ? rd_error_in(err, rc, "shard %zu, strings", shard) : 0;
}
