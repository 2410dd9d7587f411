/*
 * An index is frames, each a u32 length and a message: an Index, then Blocks
 * of a few thousand rows each, so that neither side needs memory for all
 * columns at once. A list of blocks is the latter frames alone.
 */
#include "profile/index_codec.h"

#include <string.h>

#include "base/cursor.h"
#include "profile/columns.h"
#include "profile/partial_tables.h"
#include "proto/budget.h"
#include "proto/partial.pb-c.h"

#define VERSION         1
#define ROWS_OF_FRAME   8192u
#define FRAME_BYTES_MAX (1u << 20)
#define BUDGET_BYTES(n) (16384 + UINT64_C(12) * (n))

#define CONTEXT_BITS (RD_CONTEXT_METADATA | RD_CONTEXT_THREADS | RD_CONTEXT_STACKS)

static const struct rd_column columns[] = {
	RD_COLUMN(struct rd_block, Rd__Blocks, offset, DELTA, 0),
	RD_COLUMN(struct rd_block, Rd__Blocks, size_bytes, PLAIN, 0),
	RD_COLUMN(struct rd_block, Rd__Blocks, time, DELTA, 0),
	RD_COLUMN(struct rd_block, Rd__Blocks, ordinal, DELTA, 0),
	RD_COLUMN(struct rd_block, Rd__Blocks, cpu, PLAIN, 0),
	RD_COLUMN(struct rd_block, Rd__Blocks, kind, PLAIN, 0),
	RD_COLUMN(struct rd_block, Rd__Blocks, provides, PLAIN, CONTEXT_BITS),
	RD_COLUMN(struct rd_block, Rd__Blocks, resets, PLAIN, CONTEXT_BITS),
};
#define COLUMNS (sizeof columns / sizeof *columns)

/* ---- trace info */

static ProtobufCBinaryData text_field(const char *text)
{
	return (ProtobufCBinaryData){strlen(text), (uint8_t *)(uintptr_t)text};
}

/* The texts are borrowed from info. */
static Rd__TraceInfo info_message(const struct rd_trace_info *info)
{
	Rd__TraceInfo m = RD__TRACE_INFO__INIT;

	m.version = VERSION;
	m.format = info->format;
	m.version_major = info->version_major;
	m.version_minor = info->version_minor;
	m.pointer_bytes = info->pointer_bytes;
	m.cpus = info->cpus;
	m.pid = info->pid;
	m.compression = info->compression;
	m.log_file_mode = info->log_file_mode;
	m.size_bytes = info->size_bytes;
	m.mtime_ns = info->mtime_ns;
	m.clock_kind = info->clock.kind;
	m.clock_frequency_hz = info->clock.frequency_hz;
	m.clock_start_ticks = info->clock.start_ticks;
	m.clock_start_utc_ns = info->clock.start_utc_ns;
	m.end_ticks = info->end_ticks;
	m.sampling_ns = info->sampling_ns;
	m.lost_events = info->lost_events;
	m.lost_buffers = info->lost_buffers;
	m.digest = info->digest;
	m.complete = info->complete;
	m.has_cut = info->cut_at != RD_NO_OFFSET;
	m.cut_at = m.has_cut ? info->cut_at : 0;
	m.damage = text_field(info->damage);
	m.recorder = text_field(info->recorder);
	return m;
}

static int get_text(const ProtobufCBinaryData *in, char *out, size_t size, struct rd_error *err)
{
	if (in->len >= size || (in->len && memchr(in->data, 0, in->len)))
		return rd_fail(err, RD_CORRUPT, "a trace's info has a text of %zu bytes", in->len);
	if (in->len)
		memcpy(out, in->data, in->len);
	out[in->len] = 0;
	return 0;
}

static int check_info(const Rd__TraceInfo *m, struct rd_error *err)
{
	if (m->version != VERSION)
		return rd_fail(err, RD_UNSUPPORTED, "a trace's info has version %u; this build reads %u", m->version,
			       VERSION);
	if (m->format > RD_FORMAT_NETPERF)
		return rd_fail(err, RD_CORRUPT, "a trace's info names format %u", m->format);
	if (m->format == RD_FORMAT_NONE && (m->complete || m->damage.len == 0))
		return rd_fail(err, RD_CORRUPT, "a trace is left out, and not said why");
	if (m->pointer_bytes != 4 && m->pointer_bytes != 8)
		return rd_fail(err, RD_CORRUPT, "a trace's info has pointers of %u bytes", m->pointer_bytes);
	if (m->clock_kind < RD_CLOCK_QPC || m->clock_kind > RD_CLOCK_CYCLES || m->clock_frequency_hz == 0)
		return rd_fail(err, RD_CORRUPT, "a trace's info has clock %u of %llu Hz", m->clock_kind,
			       (unsigned long long)m->clock_frequency_hz);
	if (m->has_cut && (m->complete || m->cut_at > m->size_bytes))
		return rd_fail(err, RD_CORRUPT, "a trace's info is cut at %llu of %llu bytes%s",
			       (unsigned long long)m->cut_at, (unsigned long long)m->size_bytes,
			       m->complete ? " and complete" : "");
	return 0;
}

static int get_info(const Rd__TraceInfo *m, struct rd_trace_info *info, struct rd_error *err)
{
	int code = check_info(m, err);

	if (code < 0)
		return code;
	*info = (struct rd_trace_info){
		.format = m->format,
		.version_major = m->version_major,
		.version_minor = m->version_minor,
		.pointer_bytes = m->pointer_bytes,
		.cpus = m->cpus,
		.pid = m->pid,
		.compression = m->compression,
		.log_file_mode = m->log_file_mode,
		.size_bytes = m->size_bytes,
		.mtime_ns = m->mtime_ns,
		.clock = {m->clock_kind, m->clock_frequency_hz, m->clock_start_ticks, m->clock_start_utc_ns},
		.end_ticks = m->end_ticks,
		.sampling_ns = m->sampling_ns,
		.lost_events = m->lost_events,
		.lost_buffers = m->lost_buffers,
		.digest = m->digest,
		.complete = m->complete,
		.cut_at = m->has_cut ? m->cut_at : RD_NO_OFFSET,
	};
	code = get_text(&m->damage, info->damage, sizeof info->damage, err);
	return code < 0 ? code : get_text(&m->recorder, info->recorder, sizeof info->recorder, err);
}

int rd_info_pack(const struct rd_trace_info *info, struct rd_bytes *out, struct rd_error *err)
{
	Rd__TraceInfo m = info_message(info);
	uint8_t *at = rd_bytes_extend(out, rd__trace_info__get_packed_size(&m));

	if (at == NULL)
		return rd_fail_nomem(err);
	rd__trace_info__pack(&m, at);
	return 0;
}

int rd_info_unpack(struct rd_trace_info *info, struct rd_span bytes, struct rd_error *err)
{
	struct rd_trace_info got;
	struct rd_budget budget;

	if (bytes.size_bytes > FRAME_BYTES_MAX)
		return rd_fail(err, RD_LIMIT, "a trace's info has %zu bytes", bytes.size_bytes);
	rd_budget_init(&budget, BUDGET_BYTES(bytes.size_bytes));
	Rd__TraceInfo *m = rd__trace_info__unpack(&budget.allocator, bytes.size_bytes, bytes.at);
	if (m == NULL)
		return rd_budget_fail(&budget, err, "a trace's info");
	int code = get_info(m, &got, err);
	rd__trace_info__free_unpacked(m, &budget.allocator);
	if (code == 0)
		*info = got;
	return code;
}

/* ---- frames */

static int put_frame(const ProtobufCMessage *m, struct rd_bytes *out, struct rd_error *err)
{
	size_t n = protobuf_c_message_get_packed_size(m);
	uint32_t n32 = (uint32_t)n;
	uint8_t *at = rd_bytes_extend(out, sizeof n32 + n);

	if (at == NULL)
		return rd_fail_nomem(err);
	memcpy(at, &n32, sizeof n32);
	protobuf_c_message_pack(m, at + sizeof n32);
	return 0;
}

/* The next frame's message; free it with the budget's allocator. */
static int take_frame(struct rd_cursor *c, const ProtobufCMessageDescriptor *type, struct rd_budget *budget,
		      ProtobufCMessage **out, struct rd_error *err)
{
	uint32_t n = rd_u32(c);
	const uint8_t *at = rd_take(c, n);

	if (at == NULL || n > FRAME_BYTES_MAX)
		return rd_fail(err, RD_CORRUPT, "an index has a frame of %u bytes", n);
	rd_budget_init(budget, BUDGET_BYTES(n));
	*out = protobuf_c_message_unpack(type, &budget->allocator, n, at);
	return *out ? 0 : rd_budget_fail(budget, err, "a frame of an index");
}

/* ---- blocks */

static int put_blocks(const struct rd_block *blocks, size_t n, uint64_t *values, struct rd_bytes *out,
		      struct rd_error *err)
{
	int code = 0;

	for (size_t at = 0; at < n && code == 0; at += ROWS_OF_FRAME) {
		Rd__Blocks m = RD__BLOCKS__INIT;
		size_t rows = n - at < ROWS_OF_FRAME ? n - at : ROWS_OF_FRAME;
		m.rows = (uint32_t)rows;
		rd_columns_set(columns, COLUMNS, blocks + at, sizeof *blocks, rows, &m.base, values);
		code = put_frame(&m.base, out, err);
	}
	return code;
}

int rd_blocks_pack(const struct rd_block *blocks, size_t n, struct rd_bytes *out, struct rd_error *err)
{
	size_t rows = n < ROWS_OF_FRAME ? n : ROWS_OF_FRAME;
	uint64_t *values = rows ? rd_realloc(NULL, rows * COLUMNS * sizeof *values) : NULL;

	if (rows && values == NULL)
		return rd_fail_nomem(err);
	int code = put_blocks(blocks, n, values, out, err);
	rd_free(values);
	return code;
}

static int get_blocks(const Rd__Blocks *m, rd_block_vec *out, struct rd_error *err)
{
	if (m->rows == 0 || m->rows > RD_BLOCK_ROWS_MAX)
		return rd_fail(err, RD_LIMIT, "%u blocks in a frame", m->rows);
	if (rd_vec_reserve(out, m->rows) < 0)
		return rd_fail_nomem(err);
	struct rd_block *first = out->at + out->n;
	memset(first, 0, m->rows * sizeof *first);
	int code = rd_columns_get(columns, COLUMNS, &m->base, first, sizeof *first, m->rows, err);
	for (size_t i = 0; code == 0 && i < m->rows; i++) {
		uint64_t end;
		if (__builtin_add_overflow(first[i].offset, first[i].size_bytes, &end))
			code = rd_fail(err, RD_CORRUPT, "a block ends beyond 2^64");
	}
	if (code == 0)
		out->n += m->rows;
	return code;
}

static int take_blocks(struct rd_cursor *c, rd_block_vec *out, struct rd_error *err)
{
	struct rd_budget budget;
	ProtobufCMessage *m;
	int code = 0;

	while (code == 0 && rd_left(c) > 0) {
		code = take_frame(c, &rd__blocks__descriptor, &budget, &m, err);
		if (code == 0) {
			code = get_blocks((const Rd__Blocks *)m, out, err);
			protobuf_c_message_free_unpacked(m, &budget.allocator);
		}
	}
	return code;
}

int rd_blocks_unpack(rd_block_vec *out, struct rd_span bytes, struct rd_error *err)
{
	struct rd_cursor c = rd_cursor_of(bytes.at, bytes.size_bytes);
	size_t before = out->n;
	int code = take_blocks(&c, out, err);

	if (code < 0)
		out->n = before;
	return code;
}

/* ---- an index */

int rd_index_pack(const struct rd_index *ix, struct rd_bytes *out, struct rd_error *err)
{
	Rd__TraceInfo info = info_message(&ix->info);
	Rd__Index m = RD__INDEX__INIT;

	m.version = VERSION;
	m.info = &info;
	m.sort_by_time = ix->sort_by_time;
	m.whole = ix->whole;
	m.blocks = ix->blocks.n;
	int code = put_frame(&m.base, out, err);
	return code < 0 ? code : rd_blocks_pack(ix->blocks.at, ix->blocks.n, out, err);
}

static int get_head(const Rd__Index *m, struct rd_index *ix, uint64_t *blocks, struct rd_error *err)
{
	if (m->version != VERSION)
		return rd_fail(err, RD_UNSUPPORTED, "an index has version %u; this build reads %u", m->version,
			       VERSION);
	if (m->info == NULL)
		return rd_fail(err, RD_CORRUPT, "an index has no info");
	ix->sort_by_time = m->sort_by_time;
	ix->whole = m->whole;
	*blocks = m->blocks;
	return get_info(m->info, &ix->info, err);
}

static int check_blocks(const struct rd_index *ix, uint64_t due, struct rd_error *err)
{
	if (ix->blocks.n != due)
		return rd_fail(err, RD_CORRUPT, "an index of %llu blocks has %zu", (unsigned long long)due,
			       ix->blocks.n);
	if (rd_trace_is_left_out(&ix->info) && ix->blocks.n > 0)
		return rd_fail(err, RD_CORRUPT, "a trace that is left out has %zu blocks", ix->blocks.n);
	for (size_t i = 0; i < ix->blocks.n; i++) {
		const struct rd_block *b = &ix->blocks.at[i];
		if (b->offset + b->size_bytes > ix->info.size_bytes)
			return rd_fail(err, RD_CORRUPT, "block %zu lies outside its file", i);
		if (i && b->ordinal <= b[-1].ordinal)
			return rd_fail(err, RD_CORRUPT, "block %zu is out of order", i);
	}
	return 0;
}

int rd_index_unpack(struct rd_index *ix, struct rd_span bytes, struct rd_error *err)
{
	struct rd_cursor c = rd_cursor_of(bytes.at, bytes.size_bytes);
	struct rd_index got = {0};
	struct rd_budget budget;
	ProtobufCMessage *m;
	uint64_t blocks = 0;

	int code = take_frame(&c, &rd__index__descriptor, &budget, &m, err);
	if (code == 0) {
		code = get_head((const Rd__Index *)m, &got, &blocks, err);
		protobuf_c_message_free_unpacked(m, &budget.allocator);
	}
	if (code == 0)
		code = take_blocks(&c, &got.blocks, err);
	if (code == 0)
		code = check_blocks(&got, blocks, err);
	if (code == 0)
		*ix = got;
	else
		rd_vec_release(&got.blocks);
	return code;
}
