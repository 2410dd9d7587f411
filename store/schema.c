#include "store/schema.h"

#include <string.h>

#define COLUMN(type, field, ...)                                                                                       \
	{                                                                                                              \
		.name = #field, .offset = (uint32_t)offsetof(type, field),                                             \
		.bytes = (uint32_t)sizeof(((type *)0)->field), __VA_ARGS__                                             \
	}
#define NUMBER(type, field)           COLUMN(type, field, .kind = RD_COLUMN_NUMBER)
#define DELTA(type, field)            COLUMN(type, field, .kind = RD_COLUMN_DELTA)
#define TEXT(type, field)             COLUMN(type, field, .kind = RD_COLUMN_TEXT)
#define AT_MOST(type, field, largest) COLUMN(type, field, .kind = RD_COLUMN_NUMBER, .max = (largest))
#define BOOL(type, field)             AT_MOST(type, field, 1)
/* A row number; neighbours tend to be equal or near. */
#define REFERS(type, field, table)    COLUMN(type, field, .kind = RD_COLUMN_DELTA, .refers = (table))

/*
 * The schema follows these structs. When one of them changes, so does the schema, and then the version: see
 * "A new version" in docs/formats/result.md.
 */
_Static_assert(RD_SAMPLE_KINDS <= 8 && RD_OTHER_COUNTS <= 4, "kinds[] and other[] have room for all");
_Static_assert(sizeof(struct rd_clock) == 32, "columns of traces: clock");
_Static_assert(sizeof(struct rd_result_process) == 40, "columns of processes");
_Static_assert(sizeof(struct rd_result_frame) == 32, "columns of frames");
_Static_assert(sizeof(struct rd_result_row) == 40, "columns of rows");
_Static_assert(sizeof(struct rd_byte_range) == 24, "columns of quarantined ranges");
_Static_assert(sizeof(struct rd_trust) == 136, "columns of the summary: trust");
_Static_assert(sizeof(struct rd_result_filter) == 1048, "columns of the summary: filter");
_Static_assert(sizeof(struct rd_finish_stats) == 136, "columns of the summary: stats");

#define T struct rd_result_trace
static const struct rd_column trace_columns[] = {
	TEXT(T, path),
	TEXT(T, member),
	NUMBER(T, info.format),
	NUMBER(T, info.version_major),
	NUMBER(T, info.version_minor),
	NUMBER(T, info.pointer_bytes),
	NUMBER(T, info.cpus),
	NUMBER(T, info.pid),
	NUMBER(T, info.compression),
	NUMBER(T, info.log_file_mode),
	NUMBER(T, info.size_bytes),
	NUMBER(T, info.mtime_ns),
	NUMBER(T, info.clock.kind),
	NUMBER(T, info.clock.frequency_hz),
	NUMBER(T, info.clock.start_ticks),
	NUMBER(T, info.clock.start_utc_ns),
	NUMBER(T, info.end_ticks),
	NUMBER(T, info.sampling_ns),
	NUMBER(T, info.lost_events),
	NUMBER(T, info.lost_buffers),
	NUMBER(T, info.digest),
	BOOL(T, info.complete),
	NUMBER(T, info.cut_at),
	TEXT(T, info.damage),
	TEXT(T, info.recorder),
	NUMBER(T, start_utc_ns),
	NUMBER(T, duration_ns),
	NUMBER(T, lost_events),
	NUMBER(T, lost_buffers),
	BOOL(T, complete),
	NUMBER(T, cut_at),
	NUMBER(T, group),
};
#undef T

#define T struct rd_result_process
static const struct rd_column process_columns[] = {
	REFERS(T, trace, RD_STORE_TRACES),
	NUMBER(T, pid),
	NUMBER(T, namespace_pid),
	REFERS(T, name, RD_STORE_STRINGS),
	REFERS(T, command_line, RD_STORE_STRINGS),
	DELTA(T, start_utc_ns),
	NUMBER(T, samples),
};
#undef T

#define T struct rd_result_frame
static const struct rd_column frame_columns[] = {
	REFERS(T, process, RD_STORE_PROCESSES),
	NUMBER(T, clr),
	REFERS(T, module, RD_STORE_STRINGS),
	REFERS(T, ns, RD_STORE_STRINGS),
	REFERS(T, name, RD_STORE_STRINGS),
	REFERS(T, signature, RD_STORE_STRINGS),
	NUMBER(T, tier),
	NUMBER(T, flags),
};
#undef T

/* That callers come first, and that stacks have calls which are there, is checked when all is read. */
#define T struct rd_result_call
/* clang-format off */
static const struct rd_column call_columns[] = {
	DELTA(T, caller),
	{.name = "frame", .offset = offsetof(T, frame), .bytes = 4, .kind = RD_COLUMN_NUMBER, .refers = RD_STORE_FRAMES},
};
/* clang-format on */
#undef T

static const struct rd_column stack_columns[] = {
	{.name = "call", .bytes = 4, .kind = RD_COLUMN_DELTA},
};

#define T struct rd_result_row
/* clang-format off */
static const struct rd_column row_columns[] = {
	REFERS(T, process, RD_STORE_PROCESSES),
	AT_MOST(T, kind, 7),
	DELTA(T, thread),
	DELTA(T, bucket),
	REFERS(T, stack, RD_STORE_STACKS),
	NUMBER(T, count),
	NUMBER(T, weight),
};
/* clang-format on */
#undef T

#define T struct rd_byte_range
static const struct rd_column quarantined_columns[] = {
	REFERS(T, trace, RD_STORE_TRACES),
	NUMBER(T, from),
	NUMBER(T, to),
};
#undef T

#define T struct rd_result
static const struct rd_column summary_columns[] = {
	BOOL(T, trust.complete),
	NUMBER(T, trust.cut_at),
	NUMBER(T, trust.lost_events),
	NUMBER(T, trust.lost_buffers),
	NUMBER(T, trust.frames),
	NUMBER(T, trust.unresolved_frames),
	NUMBER(T, trust.ambiguous_frames),
	NUMBER(T, trust.samples_without_stack),
	NUMBER(T, trust.stacks_unused),
	NUMBER(T, trust.broken_stacks),
	NUMBER(T, trust.unowned_samples),
	NUMBER(T, trust.malformed_events),
	NUMBER(T, trust.samples_in_rundown),
	AT_MOST(T, trust.rundown, RD_RUNDOWN_COMPLETE),
	BOOL(T, trust.missing_runtime),
	BOOL(T, trust.missing_rundown),
	BOOL(T, trust.missing_stacks),
	NUMBER(T, samples),
	NUMBER(T, weight),
	NUMBER(T, discarded),
	NUMBER(T, kinds[0]),
	NUMBER(T, kinds[1]),
	NUMBER(T, kinds[2]),
	NUMBER(T, kinds[3]),
	NUMBER(T, kinds[4]),
	NUMBER(T, kinds[5]),
	NUMBER(T, kinds[6]),
	NUMBER(T, kinds[7]),
	NUMBER(T, other[0]),
	NUMBER(T, other[1]),
	NUMBER(T, other[2]),
	NUMBER(T, other[3]),
	NUMBER(T, origin_utc_ns),
	NUMBER(T, bucket_width_ns),
	NUMBER(T, first_bucket),
	NUMBER(T, last_bucket),
	BOOL(T, thread_time),
	TEXT(T, filter.process),
	AT_MOST(T, filter.kind, RD_SAMPLE_KINDS),
	BOOL(T, filter.has_from),
	BOOL(T, filter.has_to),
	NUMBER(T, filter.from_ns),
	NUMBER(T, filter.to_ns),
	NUMBER(T, stats.shards),
	NUMBER(T, stats.partial_bytes),
	NUMBER(T, stats.facts),
	NUMBER(T, stats.raw_stacks),
	NUMBER(T, stats.samples),
	NUMBER(T, stats.stack_records),
	NUMBER(T, stats.preliminary_samples),
	NUMBER(T, stats.preliminary_changed),
	NUMBER(T, stats.merge_ns),
	NUMBER(T, stats.finish_ns),
	NUMBER(T, stats.merge_peak_bytes),
	NUMBER(T, stats.finish_peak_bytes),
	NUMBER(T, stats.part_bytes[RD_PART_FACTS]),
	NUMBER(T, stats.part_bytes[RD_PART_NAMES]),
	NUMBER(T, stats.part_bytes[RD_PART_STACKS]),
	NUMBER(T, stats.part_bytes[RD_PART_SAMPLES]),
	NUMBER(T, stats.part_bytes[RD_PART_BELIEFS]),
};
#undef T

#define COLUMNS(list) .columns = (list), .columns_n = sizeof(list) / sizeof *(list)

/* clang-format off */
static const struct rd_store_table tables[] = {
	{.id = RD_STORE_STRINGS, .name = "strings", .rows_per_chunk = 4096},
	{.id = RD_STORE_TRACES, .name = "traces", .rows_per_chunk = 64, .row_bytes = sizeof(struct rd_result_trace),
	 .vec = offsetof(struct rd_result, traces), COLUMNS(trace_columns)},
	{.id = RD_STORE_PROCESSES, .name = "processes", .rows_per_chunk = 4096,
	 .row_bytes = sizeof(struct rd_result_process), .vec = offsetof(struct rd_result, processes),
	 COLUMNS(process_columns)},
	{.id = RD_STORE_FRAMES, .name = "frames", .rows_per_chunk = 4096, .row_bytes = sizeof(struct rd_result_frame),
	 .vec = offsetof(struct rd_result, frames), COLUMNS(frame_columns)},
	{.id = RD_STORE_CALLS, .name = "calls", .rows_per_chunk = 16384, .row_bytes = sizeof(struct rd_result_call),
	 .vec = offsetof(struct rd_result, calls), COLUMNS(call_columns)},
	{.id = RD_STORE_STACKS, .name = "stacks", .rows_per_chunk = 4096, .row_bytes = sizeof(uint32_t),
	 .vec = offsetof(struct rd_result, stacks), COLUMNS(stack_columns)},
	{.id = RD_STORE_ROWS, .name = "rows", .rows_per_chunk = 4096, .row_bytes = sizeof(struct rd_result_row),
	 .vec = offsetof(struct rd_result, rows), COLUMNS(row_columns)},
	{.id = RD_STORE_QUARANTINED, .name = "quarantined ranges", .rows_per_chunk = 4096,
	 .row_bytes = sizeof(struct rd_byte_range), .vec = offsetof(struct rd_result, trust.quarantined),
	 COLUMNS(quarantined_columns)},
	{.id = RD_STORE_SUMMARY, .name = "summary", .rows_per_chunk = 1, COLUMNS(summary_columns)},
};
/* clang-format on */

const struct rd_store_table *rd_store_table(size_t i)
{
	return i < sizeof tables / sizeof *tables ? &tables[i] : NULL;
}

uint64_t rd_store_rows(const struct rd_store_table *t, const struct rd_result *r)
{
	struct rd_any_vec v;

	if (t->id == RD_STORE_SUMMARY)
		return 1;
	if (t->id == RD_STORE_STRINGS)
		return r->strings.at.n;
	memcpy(&v, (const char *)r + t->vec, sizeof v);
	return v.n;
}
