#include "profile/stack_map.h"

static int add_rows(struct rd_stack_map *m, struct rd_strings *raw_stacks, const struct rd_partial *rows,
		    struct rd_error *err)
{
	uint64_t begin = 0;

	if (rd_vec_reserve(&m->ids, rows->stack_ends.n) < 0)
		return rd_fail_nomem(err);
	for (size_t i = 0; i < rows->stack_ends.n; i++) {
		uint64_t end = rows->stack_ends.at[i];
		uint32_t id = RD_NONE;
		if (end > begin) {
			id = rd_strings_id(raw_stacks, &rows->stack_frames.at[begin], (end - begin) * sizeof(uint64_t));
			if (id == RD_NONE)
				return rd_fail_nomem(err);
		}
		m->ids.at[m->ids.n++] = id;
		begin = end;
	}
	return 0;
}

int rd_stack_map_load(struct rd_stack_map *m, struct rd_strings *raw_stacks, const struct rd_tables *t, size_t shard,
		      struct rd_error *err)
{
	struct rd_table_reader reader;
	const struct rd_partial *rows;
	int rc;

	m->ids.n = 0;
	rd_table_open(&reader, t, shard, RD_TABLE_STACKS);
	while ((rc = rd_table_next(&reader, &rows, err)) > 0)
		if ((rc = add_rows(m, raw_stacks, rows, err)) < 0)
			break;
	rd_table_close(&reader);
	return rc;
}

int rd_stack_map_id(const struct rd_stack_map *m, uint32_t number, uint32_t *id, struct rd_error *err)
{
	if (number > m->ids.n)
		return rd_fail(err, RD_CORRUPT, "a row refers to stack %u of %zu", number - 1, m->ids.n);
	*id = number ? m->ids.at[number - 1] : RD_NONE;
	return 0;
}

void rd_stack_map_release(struct rd_stack_map *m)
{
	rd_vec_release(&m->ids);
}
