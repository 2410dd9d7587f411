#include "profile/shard_names.h"

#include <string.h>

void rd_shard_names_init(struct rd_shard_names *n, const struct rd_tables *t, size_t shard, struct rd_strings *to)
{
	*n = (struct rd_shard_names){.tables = t, .shard = shard, .to = to};
}

static int unpack(struct rd_shard_names *n, struct rd_error *err)
{
	int rc = rd_tables_unpack_strings(n->tables, n->shard, &n->unpacked, err);

	if (rc < 0)
		return rc;
	n->from = n->tables->packed ? &n->unpacked.strings : &n->tables->in_memory[n->shard]->strings;
	if (rd_vec_reserve(&n->ids, n->from->at.n) < 0)
		return rd_fail_nomem(err);
	n->ids.n = n->from->at.n;
	if (n->ids.n)
		memset(n->ids.at, 0xff, n->ids.n * sizeof *n->ids.at);
	return 0;
}

int rd_shard_name_span(struct rd_shard_names *n, uint32_t number, struct rd_span *span, struct rd_error *err)
{
	*span = (struct rd_span){(const uint8_t *)"", 0};
	if (number == 0)
		return 0;
	int rc = n->from ? 0 : unpack(n, err);
	if (rc < 0)
		return rc;
	if (number > n->ids.n)
		return rd_fail(err, RD_CORRUPT, "shard %zu: a row refers to string %u of %zu", n->shard, number - 1,
			       n->ids.n);
	*span = rd_strings_at(n->from, number - 1);
	return 0;
}

int rd_shard_name(struct rd_shard_names *n, uint32_t number, uint32_t *id, struct rd_error *err)
{
	struct rd_span span;

	if (number > 0 && number <= n->ids.n && n->ids.at[number - 1] != RD_NONE) {
		*id = n->ids.at[number - 1];
		return 0;
	}
	int rc = rd_shard_name_span(n, number, &span, err);
	if (rc < 0)
		return rc;
	*id = rd_strings_id(n->to, span.at, span.size_bytes);
	if (*id == RD_NONE)
		return rd_fail_nomem(err);
	if (number > 0)
		n->ids.at[number - 1] = *id;
	return 0;
}

void rd_shard_names_release(struct rd_shard_names *n)
{
	rd_partial_release(&n->unpacked);
	rd_vec_release(&n->ids);
}
