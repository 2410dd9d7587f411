/*
 * A block takes as many rows as fit whatever their values are: the widths of
 * the columns bound a row's bytes, so nothing is measured before it is packed
 * and the buffers are allocated once. Strings and stacks have no such bound
 * and are measured one by one.
 */
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "profile/partial_tables.h"
#include "profile/shard.h"

#define ZSTD_LEVEL 1

struct packer {
	rd_partial_block_fn emit;
	void *ctx;
	ZSTD_CCtx *zstd;
	uint8_t *plain;  /* RD_PARTIAL_BLOCK_BYTES: head and payload */
	uint8_t *packed; /* the same after zstd; before it, room for the text of strings */
	size_t packed_cap;
	uint64_t *values; /* of all columns of a block */
};

static size_t rows_of_block(const struct rd_partial_layout *t)
{
	size_t rows = RD_BLOCK_VALUES_MAX / rd_columns_row_bytes(t->columns, t->columns_n);

	return rows < RD_BLOCK_ROWS_MAX ? rows : RD_BLOCK_ROWS_MAX;
}

static size_t most_values(void)
{
	/* Strings and stacks: a number takes a byte at least. */
	size_t most = RD_BLOCK_VALUES_MAX;

	for (uint32_t i = 0; i < RD_TABLE_END; i++) {
		const struct rd_partial_layout *t = rd_partial_layout(i);
		if (t && t->columns_n && rows_of_block(t) * t->columns_n > most)
			most = rows_of_block(t) * t->columns_n;
	}
	return most;
}

static void packer_release(struct packer *k)
{
	ZSTD_freeCCtx(k->zstd);
	rd_free(k->plain);
	rd_free(k->packed);
	rd_free(k->values);
}

static int packer_init(struct packer *k, rd_partial_block_fn emit, void *ctx, struct rd_error *err)
{
	size_t packed_cap = RD_BLOCK_HEAD_BYTES + ZSTD_compressBound(RD_PARTIAL_BLOCK_BYTES);

	*k = (struct packer){
		.emit = emit,
		.ctx = ctx,
		.zstd = ZSTD_createCCtx(),
		.plain = rd_realloc(NULL, RD_PARTIAL_BLOCK_BYTES),
		.packed = rd_realloc(NULL, packed_cap),
		.packed_cap = packed_cap,
		.values = rd_realloc(NULL, most_values() * sizeof *k->values),
	};
	if (k->zstd && k->plain && k->packed && k->values)
		return 0;
	packer_release(k);
	return rd_fail_nomem(err);
}

static void write_head(uint8_t *head, uint8_t codec, uint32_t table, uint32_t plain_bytes, size_t payload_bytes)
{
	uint16_t table16 = (uint16_t)table;

	head[0] = RD_BLOCK_VERSION;
	head[1] = codec;
	memcpy(head + 2, &table16, sizeof table16);
	memcpy(head + 4, &plain_bytes, sizeof plain_bytes);
	uint64_t checksum = rd_block_checksum(head, head + RD_BLOCK_HEAD_BYTES, payload_bytes);
	memcpy(head + 8, &checksum, sizeof checksum);
}

static int emit_block(struct packer *k, uint32_t table, uint32_t seq, size_t rows, ProtobufCMessage *columns,
		      struct rd_error *err)
{
	Rd__Block block = RD__BLOCK__INIT;

	block.version = RD_BLOCK_VERSION;
	block.rows = (uint32_t)rows;
	block.columns_case = RD_PARTIAL_FIELD(table);
	memcpy(&block.summary, &columns, sizeof columns); /* all members of the union are pointers */
	size_t plain_n = protobuf_c_message_pack(&block.base, k->plain + RD_BLOCK_HEAD_BYTES);

	size_t packed_n =
		ZSTD_compressCCtx(k->zstd, k->packed + RD_BLOCK_HEAD_BYTES, k->packed_cap - RD_BLOCK_HEAD_BYTES,
				  k->plain + RD_BLOCK_HEAD_BYTES, plain_n, ZSTD_LEVEL);
	if (ZSTD_isError(packed_n) && ZSTD_getErrorCode(packed_n) == ZSTD_error_memory_allocation)
		return rd_fail_nomem(err);
	if (ZSTD_isError(packed_n))
		return rd_fail(err, RD_INTERNAL, "zstd: %s", ZSTD_getErrorName(packed_n));

	struct rd_span out = {k->plain, RD_BLOCK_HEAD_BYTES + plain_n};
	if (packed_n <= plain_n - plain_n / 10) {
		write_head(k->packed, RD_BLOCK_ZSTD, table, (uint32_t)plain_n, packed_n);
		out = (struct rd_span){k->packed, RD_BLOCK_HEAD_BYTES + packed_n};
	} else {
		write_head(k->plain, RD_BLOCK_PLAIN, table, (uint32_t)plain_n, plain_n);
	}
	return k->emit(k->ctx, table, seq, out, err);
}

static int pack_rows(struct packer *k, uint32_t table, const void *rows, size_t n, struct rd_error *err)
{
	const struct rd_partial_layout *t = rd_partial_layout(table);
	size_t most = rows_of_block(t);
	int code = 0;

	for (uint32_t seq = 0; n > 0 && code == 0; seq++) {
		size_t now = n < most ? n : most;
		union rd_table_message message;
		protobuf_c_message_init(t->message, &message);
		rd_columns_set(t->columns, t->columns_n, rows, t->row_bytes, now, &message.base, k->values);
		code = emit_block(k, table, seq, now, &message.base, err);
		rows = (const uint8_t *)rows + now * t->row_bytes;
		n -= now;
	}
	return code;
}

static int pack_strings(struct packer *k, const struct rd_strings *s, struct rd_error *err)
{
	size_t first = 0;
	int code = 0;

	for (uint32_t seq = 0; first < s->at.n && code == 0; seq++) {
		Rd__Strings message = RD__STRINGS__INIT;
		size_t rows = 0, text_n = 0;
		while (first + rows < s->at.n && rows < RD_BLOCK_ROWS_MAX) {
			struct rd_span text = s->at.at[first + rows];
			if (text.size_bytes > RD_NAME_BYTES_MAX ||
			    text_n + text.size_bytes + (rows + 1) * RD_SIZE_BYTES > RD_BLOCK_VALUES_MAX)
				break;
			if (text.size_bytes)
				memcpy(k->packed + text_n, text.at, text.size_bytes);
			text_n += text.size_bytes;
			k->values[rows++] = text.size_bytes;
		}
		if (rows == 0)
			return rd_fail(err, RD_LIMIT, "a name of %zu bytes is longer than %u",
				       s->at.at[first].size_bytes, RD_NAME_BYTES_MAX);
		message.n_size_bytes = rows;
		message.size_bytes = k->values;
		message.text = (ProtobufCBinaryData){text_n, k->packed};
		code = emit_block(k, RD_TABLE_STRINGS, seq, rows, &message.base, err);
		first += rows;
	}
	return code;
}

/* How many stacks from `first` on fit a block; their frames in *frames. */
static size_t stacks_of_block(const struct rd_partial *p, size_t first, size_t *frames)
{
	size_t begin = first ? p->stack_ends.at[first - 1] : 0;
	size_t rows = 0;

	*frames = 0;
	while (first + rows < p->stack_ends.n && rows < RD_BLOCK_ROWS_MAX) {
		size_t depth = p->stack_ends.at[first + rows] - begin - *frames;
		if (depth > RD_STACK_DEPTH_MAX ||
		    (*frames + depth) * RD_FRAME_BYTES + (rows + 1) * RD_SIZE_BYTES > RD_BLOCK_VALUES_MAX)
			break;
		*frames += depth;
		rows++;
	}
	return rows;
}

static int pack_stacks(struct packer *k, const struct rd_partial *p, struct rd_error *err)
{
	size_t first = 0, begin = 0;
	int code = 0;

	for (uint32_t seq = 0; first < p->stack_ends.n && code == 0; seq++) {
		Rd__Stacks message = RD__STACKS__INIT;
		size_t frames;
		size_t rows = stacks_of_block(p, first, &frames);
		if (rows == 0)
			return rd_fail(err, RD_LIMIT, "a stack of %llu frames is deeper than %u",
				       (unsigned long long)(p->stack_ends.at[first] - begin), RD_STACK_DEPTH_MAX);
		uint64_t *depth = k->values, *frame = k->values + rows;
		uint64_t end = begin, before = 0;
		for (size_t i = 0; i < rows; i++) {
			depth[i] = p->stack_ends.at[first + i] - end;
			end = p->stack_ends.at[first + i];
		}
		for (size_t i = 0; i < frames; i++) {
			frame[i] = p->stack_frames.at[begin + i] - before;
			before = p->stack_frames.at[begin + i];
		}
		message.n_depth = rows;
		message.depth = depth;
		message.n_frame = frames;
		message.frame = (int64_t *)frame;
		code = emit_block(k, RD_TABLE_STACKS, seq, rows, &message.base, err);
		first += rows;
		begin += frames;
	}
	return code;
}

int rd_partial_pack(const struct rd_partial *p, rd_partial_block_fn emit, void *ctx, struct rd_error *err)
{
	struct packer k;
	int code = packer_init(&k, emit, ctx, err);

	if (code < 0)
		return code;
	for (uint32_t table = 0; table < RD_TABLE_END && code == 0; table++) {
		const struct rd_partial_layout *t = rd_partial_layout(table);
		if (t == NULL)
			continue;
		if (table == RD_TABLE_STRINGS) {
			code = pack_strings(&k, &p->strings, err);
		} else if (table == RD_TABLE_STACKS) {
			code = pack_stacks(&k, p, err);
		} else if (table == RD_TABLE_SUMMARY) {
			code = pack_rows(&k, table, &p->summary, 1, err);
		} else {
			struct rd_any_vec rows;
			memcpy(&rows, (const uint8_t *)p + t->rows_at, sizeof rows);
			code = pack_rows(&k, table, rows.at, rows.n, err);
		}
	}
	packer_release(&k);
	return code;
}
