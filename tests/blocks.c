#include "tests/blocks.h"

#include "profile/partial.h"
#include "tests/support.h"

#define STRING_BYTES 300000

static int keep_block(void *ctx, enum rd_partial_table table, uint32_t seq, struct rd_span block, struct rd_error *err)
{
	test_block_vec *out = ctx;
	struct test_block *b = rd_vec_add(out);

	assert_non_null(b);
	uint8_t *copy = malloc(block.size_bytes);
	assert_non_null(copy);
	memcpy(copy, block.at, block.size_bytes);
	*b = (struct test_block){table, seq, {copy, block.size_bytes}};
	return 0;
}

void make_blocks(test_block_vec *out, uint64_t samples, unsigned strings)
{
	struct rd_partial p = {0};
	struct rd_error err;
	uint64_t random = samples * 2654435761u + 1;
	char *name = malloc(STRING_BYTES);

	assert_non_null(name);
	p.summary.samples = samples;
	p.summary.first_sample = p.summary.first_stack_record = 1;
	for (unsigned i = 0; i < strings; i++) {
		for (size_t j = 0; j < STRING_BYTES; j++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			name[j] = (char)('0' + (random >> 58));
		}
		assert_int_equal(rd_strings_id(&p.strings, name, STRING_BYTES), i);
	}
	free(name);
	assert_ok(rd_partial_pack(&p, keep_block, out, &err), &err);
	rd_partial_release(&p);
}

void release_blocks(test_block_vec *blocks)
{
	for (size_t i = 0; i < blocks->n; i++)
		free((void *)(uintptr_t)blocks->at[i].bytes.at);
	rd_vec_release(blocks);
}
