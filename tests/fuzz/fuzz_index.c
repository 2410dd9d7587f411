/*
 * Any bytes as a trace's info, a list of blocks or an index, by the first
 * byte. What unpacks packs again, and unpacks to the same.
 */
#include <stdlib.h>
#include <string.h>

#include "profile/index_codec.h"

int rd_fuzz_one(const uint8_t *bytes, size_t size_bytes);

static struct rd_span span_of(const struct rd_bytes *b)
{
	return (struct rd_span){b->at, b->n};
}

static void info(struct rd_span in)
{
	struct rd_trace_info info, back;
	struct rd_bytes out = {0};
	struct rd_error err;

	if (rd_info_unpack(&info, in, &err) != 0)
		return;
	if (rd_info_pack(&info, &out, &err) != 0 || rd_info_unpack(&back, span_of(&out), &err) != 0 ||
	    strcmp(info.damage, back.damage) != 0 || info.clock.frequency_hz != back.clock.frequency_hz)
		abort();
	rd_bytes_release(&out);
}

static void same_blocks(const rd_block_vec *a, const rd_block_vec *b)
{
	if (a->n != b->n)
		abort();
	for (size_t i = 0; i < a->n; i++)
		if (a->at[i].offset != b->at[i].offset || a->at[i].size_bytes != b->at[i].size_bytes ||
		    a->at[i].ordinal != b->at[i].ordinal || a->at[i].resets != b->at[i].resets)
			abort();
}

static void blocks(struct rd_span in)
{
	rd_block_vec v = {0}, back = {0};
	struct rd_bytes out = {0};
	struct rd_error err;

	if (rd_blocks_unpack(&v, in, &err) == 0) {
		if (rd_blocks_pack(v.at, v.n, &out, &err) != 0 || rd_blocks_unpack(&back, span_of(&out), &err) != 0)
			abort();
		same_blocks(&v, &back);
	}
	rd_vec_release(&v);
	rd_vec_release(&back);
	rd_bytes_release(&out);
}

static void whole(struct rd_span in)
{
	struct rd_index ix, back;
	struct rd_bytes out = {0};
	struct rd_error err;

	if (rd_index_unpack(&ix, in, &err) != 0)
		return;
	if (rd_index_pack(&ix, &out, &err) != 0 || rd_index_unpack(&back, span_of(&out), &err) != 0)
		abort();
	same_blocks(&ix.blocks, &back.blocks);
	rd_vec_release(&ix.blocks);
	rd_vec_release(&back.blocks);
	rd_bytes_release(&out);
}

int rd_fuzz_one(const uint8_t *bytes, size_t size_bytes)
{
	if (size_bytes == 0)
		return 0;
	struct rd_span in = {bytes + 1, size_bytes - 1};
	if (bytes[0] == 0)
		info(in);
	else if (bytes[0] == 1)
		blocks(in);
	else
		whole(in);
	return 0;
}
