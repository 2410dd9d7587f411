#include "profile/partial_tables.h"

#include "trace/record.h"
#include "trace/trace.h"

/*
 * Differences suit what stands near its neighbour (times, places, addresses,
 * ids, processes); values suit what comes again and again in no order (sizes,
 * the stacks of samples): zstd finds it then.
 *
 * A new column: a line in proto/partial.proto and a row here. A new table: its columns, and a row in `layouts`.
 */

/* clang-format off: a row a column, a row a table */
#define COLUMN(field, CODING)       RD_COLUMN(ROW, MESSAGE, field, CODING, 0)
#define BOUNDED(field, CODING, MAX) RD_COLUMN(ROW, MESSAGE, field, CODING, MAX)
#define ENTRY(i)                    RD_COLUMN_AS(ROW, other[i], MESSAGE, other_##i, PLAIN, 0)

#define ROW     struct rd_partial_summary
#define MESSAGE Rd__Summary
static const struct rd_column summary[] = {
	COLUMN(blocks, PLAIN),
	COLUMN(block_bytes, PLAIN),
	COLUMN(events, PLAIN),
	COLUMN(malformed_events, PLAIN),
	COLUMN(samples, PLAIN),
	COLUMN(stack_records, PLAIN),
	COLUMN(first_sample, PLAIN),
	COLUMN(last_sample, PLAIN),
	COLUMN(first_stack_record, PLAIN),
	COLUMN(last_stack_record, PLAIN),
	ENTRY(0),
	ENTRY(1),
	ENTRY(2),
	ENTRY(3),
	COLUMN(providers_seen, PLAIN),
	COLUMN(latest, PLAIN),
	COLUMN(pointerless_samples, PLAIN),
};
#undef ROW
#undef MESSAGE

#define ROW     struct rd_fact_method
#define MESSAGE Rd__Methods
static const struct rd_column methods[] = {
	COLUMN(time, DELTA),      COLUMN(place, DELTA), COLUMN(method_id, DELTA),  COLUMN(rejit_id, DELTA),
	COLUMN(module_id, DELTA), COLUMN(start, DELTA), COLUMN(size_bytes, PLAIN), COLUMN(token, DELTA),
	COLUMN(flags, DELTA),     COLUMN(pid, DELTA),   COLUMN(clr, PLAIN),        BOUNDED(op, PLAIN, RD_OP_DCEND),
	COLUMN(ns, DELTA),        COLUMN(name, DELTA),  COLUMN(signature, DELTA),
};
#undef ROW
#undef MESSAGE

#define ROW     struct rd_fact_module
#define MESSAGE Rd__Modules
static const struct rd_column modules[] = {
	COLUMN(time, DELTA),     COLUMN(place, DELTA),    COLUMN(module_id, DELTA),
	COLUMN(pid, DELTA),      COLUMN(clr, PLAIN),      BOUNDED(op, PLAIN, RD_OP_DCEND),
	COLUMN(flags, PLAIN),    COLUMN(il_path, DELTA),  COLUMN(native_path, DELTA),
	COLUMN(pdb_path, DELTA), COLUMN(pdb_guid, DELTA), COLUMN(pdb_age, PLAIN),
};
#undef ROW
#undef MESSAGE

#define ROW     struct rd_fact_image
#define MESSAGE Rd__Images
static const struct rd_column images[] = {
	COLUMN(time, DELTA),
	COLUMN(place, DELTA),
	RD_COLUMN_AS(ROW, base, MESSAGE, start, DELTA, 0), /* protobuf-c takes the word base */
	COLUMN(size_bytes, PLAIN),
	COLUMN(pid, DELTA),
	BOUNDED(op, PLAIN, RD_OP_DCEND),
	COLUMN(time_stamp, PLAIN),
	COLUMN(checksum, PLAIN),
	COLUMN(path, DELTA),
};
#undef ROW
#undef MESSAGE

#define ROW     struct rd_fact_thread
#define MESSAGE Rd__Threads
static const struct rd_column threads[] = {
	COLUMN(time, DELTA),
	COLUMN(place, DELTA),
	COLUMN(thread, DELTA),
	COLUMN(pid, DELTA),
	BOUNDED(op, PLAIN, RD_OP_DCEND),
};
#undef ROW
#undef MESSAGE

#define ROW     struct rd_fact_process
#define MESSAGE Rd__Processes
static const struct rd_column processes[] = {
	COLUMN(time, DELTA),
	COLUMN(place, DELTA),
	COLUMN(pid, DELTA),
	COLUMN(parent_pid, DELTA),
	BOUNDED(op, PLAIN, RD_OP_DCEND),
	COLUMN(name, DELTA),
	COLUMN(command_line, DELTA),
	COLUMN(namespace_pid, PLAIN),
};
#undef ROW
#undef MESSAGE

#define ROW     struct rd_fact_stack_key
#define MESSAGE Rd__StackKeys
static const struct rd_column stack_keys[] = {
	COLUMN(time, DELTA),
	COLUMN(place, DELTA),
	COLUMN(key, DELTA),
	COLUMN(stack, DELTA),
};
#undef ROW
#undef MESSAGE

#define ROW     struct rd_fact_marker
#define MESSAGE Rd__Markers
static const struct rd_column markers[] = {
	COLUMN(time, DELTA),
	COLUMN(place, DELTA),
	COLUMN(pid, DELTA),
	COLUMN(clr, PLAIN),
	BOUNDED(marker, PLAIN, RD_MARKER_END_COMPLETE),
};
#undef ROW
#undef MESSAGE

#define ROW     struct rd_fact_interval
#define MESSAGE Rd__Intervals
static const struct rd_column intervals[] = {
	COLUMN(time, DELTA),
	COLUMN(place, DELTA),
	COLUMN(interval_100ns, PLAIN),
	COLUMN(source, PLAIN),
	BOUNDED(op, PLAIN, RD_OP_DCEND),
};
#undef ROW
#undef MESSAGE

#define ROW     struct rd_fact_runtime
#define MESSAGE Rd__Runtimes
static const struct rd_column runtimes[] = {
	COLUMN(time, DELTA), COLUMN(place, DELTA),        COLUMN(pid, DELTA),
	COLUMN(clr, PLAIN),  COLUMN(version_text, DELTA), COLUMN(command_line, DELTA),
};
#undef ROW
#undef MESSAGE

#define ROW     struct rd_sample
#define MESSAGE Rd__Samples
static const struct rd_column samples[] = {
	COLUMN(time, DELTA),   COLUMN(thread, DELTA), COLUMN(pointer, DELTA),
	COLUMN(weight, PLAIN), COLUMN(cpu, PLAIN),    BOUNDED(kind, PLAIN, RD_SAMPLE_KINDS - 1),
	COLUMN(stack, PLAIN),  COLUMN(pid, DELTA),
};
#undef ROW
#undef MESSAGE

#define ROW     struct rd_stack_row
#define MESSAGE Rd__StackRecords
static const struct rd_column stack_records[] = {
	COLUMN(sample_time, DELTA), COLUMN(thread, DELTA), COLUMN(time, DELTA), COLUMN(place, DELTA),
	COLUMN(key, DELTA),         COLUMN(cpu, PLAIN),    COLUMN(pid, DELTA),  BOUNDED(part, PLAIN, RD_STACK_USER_KEY),
	COLUMN(stack, PLAIN),
};
#undef ROW
#undef MESSAGE

#define ROW     struct rd_sequence_row
#define MESSAGE Rd__Sequences
static const struct rd_column sequences[] = {
	COLUMN(run, DELTA),          COLUMN(run_blocks, PLAIN),
	COLUMN(thread, DELTA),       BOUNDED(first_op, PLAIN, RD_SEQ_FORGET_ALL),
	COLUMN(first_number, PLAIN), COLUMN(last_number, PLAIN),
	BOUNDED(known, PLAIN, 1),    BOUNDED(forgot_all, PLAIN, 1),
	COLUMN(lost, PLAIN),
};
#undef ROW
#undef MESSAGE

#define ROW     struct rd_damage_row
#define MESSAGE Rd__Damage
static const struct rd_column damage[] = {
	COLUMN(offset, DELTA),
	COLUMN(what, DELTA),
};
#undef ROW
#undef MESSAGE

#define ROW     struct rd_preliminary_row
#define MESSAGE Rd__Preliminary
static const struct rd_column preliminary[] = {
	COLUMN(pid, DELTA),  COLUMN(clr, PLAIN),       COLUMN(module, DELTA),    COLUMN(ns, DELTA),
	COLUMN(name, DELTA), COLUMN(signature, DELTA), COLUMN(exclusive, PLAIN), COLUMN(inclusive, PLAIN),
};
#undef ROW
#undef MESSAGE

#define ROW     struct rd_fact_mapping
#define MESSAGE Rd__Mappings
static const struct rd_column mappings[] = {
	COLUMN(time, DELTA), COLUMN(place, DELTA), COLUMN(id, DELTA),   COLUMN(start, DELTA),
	COLUMN(end, DELTA),  COLUMN(pid, DELTA),   COLUMN(path, DELTA),
};
#undef ROW
#undef MESSAGE

#define ROW     struct rd_fact_symbol
#define MESSAGE Rd__Symbols
static const struct rd_column symbols[] = {
	COLUMN(time, DELTA), COLUMN(place, DELTA), COLUMN(mapping, DELTA), COLUMN(start, DELTA),
	COLUMN(last, DELTA), COLUMN(pid, DELTA),   COLUMN(name, DELTA),
};
#undef ROW
#undef MESSAGE

#define LAYOUT(TABLE, field, ROWTYPE)                                                                                  \
	[RD_TABLE_##TABLE] = {.name = #field,                                                                          \
			      .message = &rd__##field##__descriptor,                                                   \
			      .columns = field,                                                                        \
			      .columns_n = sizeof field / sizeof *field,                                               \
			      .row_bytes = sizeof(struct ROWTYPE),                                                     \
			      .rows_at = offsetof(struct rd_partial, field)}

static const struct rd_partial_layout layouts[] = {
	LAYOUT(SUMMARY, summary, rd_partial_summary),
	[RD_TABLE_STRINGS] = {.name = "strings", .message = &rd__strings__descriptor},
	[RD_TABLE_STACKS] = {.name = "stacks", .message = &rd__stacks__descriptor},
	LAYOUT(METHODS, methods, rd_fact_method),
	LAYOUT(MODULES, modules, rd_fact_module),
	LAYOUT(IMAGES, images, rd_fact_image),
	LAYOUT(THREADS, threads, rd_fact_thread),
	LAYOUT(PROCESSES, processes, rd_fact_process),
	LAYOUT(STACK_KEYS, stack_keys, rd_fact_stack_key),
	LAYOUT(MARKERS, markers, rd_fact_marker),
	LAYOUT(INTERVALS, intervals, rd_fact_interval),
	LAYOUT(RUNTIMES, runtimes, rd_fact_runtime),
	LAYOUT(SAMPLES, samples, rd_sample),
	LAYOUT(STACK_RECORDS, stack_records, rd_stack_row),
	LAYOUT(SEQUENCES, sequences, rd_sequence_row),
	LAYOUT(DAMAGE, damage, rd_damage_row),
	LAYOUT(PRELIMINARY, preliminary, rd_preliminary_row),
	LAYOUT(MAPPINGS, mappings, rd_fact_mapping),
	LAYOUT(SYMBOLS, symbols, rd_fact_symbol),
};
/* clang-format on */

_Static_assert(sizeof(Rd__Summary) <= sizeof(union rd_table_message), "the largest message has its room");
_Static_assert(sizeof(Rd__Methods) <= sizeof(union rd_table_message), "the largest message has its room");

const struct rd_partial_layout *rd_partial_layout(uint32_t table)
{
	if (table >= sizeof layouts / sizeof *layouts || layouts[table].name == NULL)
		return NULL;
	return &layouts[table];
}
