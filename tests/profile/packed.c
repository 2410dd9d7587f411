#include "tests/profile/packed.h"

#include "tests/support.h"

int packed_keep(void *ctx, enum rd_partial_table table, uint32_t seq, struct rd_span block, struct rd_error *err)
{
	struct packed *k = ctx;
	enum rd_partial_table told;
	uint32_t next = 0;

	if (k->blocks.n > 0) {
		const struct packed_block *last = &k->blocks.at[k->blocks.n - 1];
		assert_true(table >= last->table);
		next = table == last->table ? last->seq + 1 : 0;
	}
	assert_int_equal(seq, next);
	assert_true(block.size_bytes <= RD_PARTIAL_BLOCK_BYTES);
	assert_ok(rd_partial_block_check(block, &told, err), err);
	assert_int_equal(told, table);
	struct packed_block *b = rd_vec_add(&k->blocks);
	assert_non_null(b);
	*b = (struct packed_block){table, seq, malloc(block.size_bytes), block.size_bytes};
	assert_non_null(b->at);
	memcpy(b->at, block.at, block.size_bytes);
	return 0;
}

int packed_unpack(const struct packed *k, struct rd_partial *out, struct rd_error *err)
{
	for (size_t i = 0; i < k->blocks.n; i++) {
		int code = rd_partial_unpack(out, (struct rd_span){k->blocks.at[i].at, k->blocks.at[i].n}, err);
		if (code < 0)
			return code;
	}
	return 0;
}

size_t packed_bytes(const struct packed *k)
{
	size_t bytes = 0;

	for (size_t i = 0; i < k->blocks.n; i++)
		bytes += k->blocks.at[i].n;
	return bytes;
}

void packed_release(struct packed *k)
{
	for (size_t i = 0; i < k->blocks.n; i++)
		free(k->blocks.at[i].at);
	rd_vec_release(&k->blocks);
}
