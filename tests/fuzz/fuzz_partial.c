/*
 * Any bytes as a block of a partial: once as they are, and once as the payload
 * of a block whose head and checksum are right. What unpacks packs again to a
 * partial of the same rows.
 *
 * Input: u8 table, with bit 7 for zstd; zstd: u32 plain size; then the payload.
 */
#include <stdlib.h>
#include <string.h>

#include "profile/losses.h"
#include "profile/partial_tables.h"

int rd_fuzz_one(const uint8_t *bytes, size_t size_bytes);

static int unpack_again(void *ctx, enum rd_partial_table table, uint32_t seq, struct rd_span block,
			struct rd_error *err)
{
	(void)table, (void)seq;
	return rd_partial_unpack(ctx, block, err);
}

/* Strings and stacks are not interned here; of the rest the tables tell how many rows there are. */
static void check_counts(const struct rd_partial *a, const struct rd_partial *b)
{
	if (a->strings.at.n != b->strings.at.n || a->stack_ends.n != b->stack_ends.n ||
	    a->stack_frames.n != b->stack_frames.n || memcmp(&a->summary, &b->summary, sizeof a->summary) != 0)
		abort();
	for (uint32_t table = RD_TABLE_METHODS; table <= RD_TABLE_PRELIMINARY; table++) {
		const struct rd_partial_layout *t = rd_partial_layout(table);
		struct rd_any_vec x, y;
		memcpy(&x, (const uint8_t *)a + t->rows_at, sizeof x);
		memcpy(&y, (const uint8_t *)b + t->rows_at, sizeof y);
		if (x.n != y.n || (x.n && memcmp(x.at, y.at, x.n * t->row_bytes) != 0))
			abort();
	}
}

static void round_trip(struct rd_span block)
{
	struct rd_partial p = {0}, back = {0};
	struct rd_error err;
	uint64_t lost;

	if (rd_partial_unpack(&p, block, &err) == 0) {
		if (rd_partial_pack(&p, unpack_again, &back, &err) != 0)
			abort();
		check_counts(&p, &back);
		(void)rd_losses_merge(p.sequences.at, p.sequences.n, &lost, &err);
	}
	rd_partial_release(&p);
	rd_partial_release(&back);
}

static void sealed(const uint8_t *bytes, size_t size_bytes)
{
	struct rd_cursor c = rd_cursor_of(bytes, size_bytes);
	uint8_t table = rd_u8(&c);
	uint8_t codec = table & 0x80 ? RD_BLOCK_ZSTD : RD_BLOCK_PLAIN;
	uint32_t plain = codec == RD_BLOCK_ZSTD ? rd_u32(&c) : (uint32_t)rd_left(&c);
	size_t payload = rd_left(&c);
	uint8_t *block = malloc(RD_BLOCK_HEAD_BYTES + payload);

	if (block == NULL)
		return;
	memset(block, 0, RD_BLOCK_HEAD_BYTES);
	block[0] = RD_BLOCK_VERSION;
	block[1] = codec;
	block[2] = table & 0x7f;
	memcpy(block + 4, &plain, sizeof plain);
	if (payload)
		memcpy(block + RD_BLOCK_HEAD_BYTES, c.at, payload);
	uint64_t sum = rd_block_checksum(block, block + RD_BLOCK_HEAD_BYTES, payload);
	memcpy(block + 8, &sum, sizeof sum);
	round_trip((struct rd_span){block, RD_BLOCK_HEAD_BYTES + payload});
	free(block);
}

int rd_fuzz_one(const uint8_t *bytes, size_t size_bytes)
{
	round_trip((struct rd_span){bytes, size_bytes});
	sealed(bytes, size_bytes);
	return 0;
}
