#include "profile/partial.h"

#include <string.h>
#include <xxhash.h>

#include "base/cursor.h"
#include "profile/partial_tables.h"

static void release_rows(struct rd_partial *p, const struct rd_partial_layout *t)
{
	struct rd_any_vec rows;
	uint8_t *field = (uint8_t *)p + t->rows_at;

	memcpy(&rows, field, sizeof rows);
	rd_free(rows.at);
	memset(field, 0, sizeof rows);
}

void rd_partial_release(struct rd_partial *p)
{
	rd_strings_release(&p->strings);
	rd_vec_release(&p->stack_frames);
	rd_vec_release(&p->stack_ends);
	for (uint32_t table = RD_TABLE_SUMMARY + 1; table < RD_TABLE_END; table++) {
		const struct rd_partial_layout *t = rd_partial_layout(table);
		if (t && t->columns_n)
			release_rows(p, t);
	}
	memset(&p->summary, 0, sizeof p->summary);
}

uint64_t rd_block_checksum(const uint8_t head[RD_BLOCK_HEAD_BYTES], const uint8_t *payload, size_t size_bytes)
{
	return XXH3_64bits_withSeed(payload, size_bytes, rd_le64(head));
}

int rd_block_open(struct rd_span block, struct rd_block_head *out, struct rd_error *err)
{
	struct rd_cursor c = rd_cursor_of(block.at, block.size_bytes);
	uint8_t version = rd_u8(&c);
	uint8_t codec = rd_u8(&c);
	uint16_t table = rd_u16(&c);
	uint32_t plain_bytes = rd_u32(&c);
	uint64_t checksum = rd_u64(&c);

	if (c.failed || block.size_bytes > RD_PARTIAL_BLOCK_BYTES)
		return rd_fail(err, RD_CORRUPT, "a block of a partial has %zu bytes", block.size_bytes);
	if (version != RD_BLOCK_VERSION)
		return rd_fail(err, RD_UNSUPPORTED, "a block of a partial has version %u; this build reads %u", version,
			       RD_BLOCK_VERSION);
	struct rd_span payload = {c.at, rd_left(&c)};
	if (rd_block_checksum(block.at, payload.at, payload.size_bytes) != checksum)
		return rd_fail(err, RD_CORRUPT, "a block of a partial does not match its checksum");
	if (codec > RD_BLOCK_ZSTD || rd_partial_layout(table) == NULL)
		return rd_fail(err, RD_CORRUPT, "a block of a partial names codec %u and table %u", codec, table);
	if (plain_bytes > RD_BLOCK_PLAIN_MAX || (codec == RD_BLOCK_PLAIN && plain_bytes != payload.size_bytes))
		return rd_fail(err, RD_CORRUPT, "a block of a partial claims %u plain bytes", plain_bytes);
	*out = (struct rd_block_head){table, codec, plain_bytes, payload};
	return 0;
}

int rd_partial_block_check(struct rd_span block, enum rd_partial_table *table, struct rd_error *err)
{
	struct rd_block_head head;
	int code = rd_block_open(block, &head, err);

	if (code == 0)
		*table = head.table;
	return code;
}

#define COMPARE(field)                                                                                                 \
	do {                                                                                                           \
		if (x->field != y->field)                                                                              \
			return x->field < y->field ? -1 : 1;                                                           \
	} while (0)

int rd_sample_order(const void *a, const void *b)
{
	const struct rd_sample *x = a, *y = b;

	COMPARE(time);
	COMPARE(thread);
	COMPARE(cpu);
	COMPARE(pointer);
	COMPARE(stack);
	COMPARE(kind);
	COMPARE(weight);
	COMPARE(pid);
	return 0;
}

int rd_stack_row_order(const void *a, const void *b)
{
	const struct rd_stack_row *x = a, *y = b;

	COMPARE(sample_time);
	COMPARE(thread);
	COMPARE(cpu);
	COMPARE(time);
	COMPARE(place);
	return 0;
}
