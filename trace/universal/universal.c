/*
 * What record-trace and dotnet-trace collect-linux write of a machine:
 * docs/formats/universal.md. An event's name says what it is, its file's field
 * list how to read it; ids are other ones in every file, and here only an order.
 */
#include "base/error.h"
#include "trace/catalogue.h"
#include "trace/fields.h"

#define NUMBER(TYPE, FIELD, NAME, NEEDED) RD_FIELD_WANTED(TYPE, FIELD, NAME, false, NEEDED)
#define TEXT(TYPE, FIELD, NAME, NEEDED)   RD_FIELD_WANTED(TYPE, FIELD, NAME, true, NEEDED)
#define READ(ev, wanted, out)             rd_fields_read((ev), (wanted), RD_ROW_COUNT(wanted), (out))

static uint32_t pid_of(uint64_t number)
{
	return number < RD_NO_PID ? (uint32_t)number : RD_NO_PID;
}

struct process {
	uint64_t namespace_id;
	struct rd_name name;
};

static int read_process(const struct rd_event *ev, struct rd_record *out)
{
	static const struct rd_field_wanted wanted[] = {
		NUMBER(struct process, namespace_id, "NamespaceId", false),
		TEXT(struct process, name, "Name", false),
	};
	struct process p = {0};
	rd_record_begin(out, ev);
	if (READ(ev, wanted, &p) != 0)
		return RD_CORRUPT;
	out->process.pid = ev->pid;
	out->process.namespace_pid = p.namespace_id < RD_NO_PID ? (uint32_t)p.namespace_id : 0;
	out->process.name = p.name;
	return 0;
}

struct mapping {
	uint64_t id, process_id, start, end;
	struct rd_name path;
};

static int read_mapping(const struct rd_event *ev, struct rd_record *out)
{
	static const struct rd_field_wanted wanted[] = {
		NUMBER(struct mapping, id, "Id", true),
		NUMBER(struct mapping, process_id, "ProcessId", false),
		NUMBER(struct mapping, start, "StartAddress", true),
		NUMBER(struct mapping, end, "EndAddress", true),
		TEXT(struct mapping, path, "FileName", false),
	};
	struct mapping m = {.process_id = ev->pid};
	rd_record_begin(out, ev);
	if (READ(ev, wanted, &m) != 0)
		return RD_CORRUPT;
	out->mapping = (struct rd_mapping_record){
		.pid = pid_of(m.process_id),
		.id = m.id,
		.start = m.start,
		.end = m.end,
		.path = m.path,
	};
	return 0;
}

struct symbol {
	uint64_t mapping, start, last;
	struct rd_name name;
};

static int read_symbol(const struct rd_event *ev, struct rd_record *out)
{
	static const struct rd_field_wanted wanted[] = {
		NUMBER(struct symbol, mapping, "MappingId", true),
		NUMBER(struct symbol, start, "StartAddress", true),
		NUMBER(struct symbol, last, "EndAddress", true),
		TEXT(struct symbol, name, "Name", true),
	};
	struct symbol s = {0};
	rd_record_begin(out, ev);
	if (READ(ev, wanted, &s) != 0)
		return RD_CORRUPT;
	out->symbol = (struct rd_symbol_record){
		.mapping = s.mapping,
		.start = s.start,
		.last = s.last,
		.name = s.name,
	};
	return 0;
}

struct value {
	uint64_t number;
};

/* The value is how much the sample counts for. */
static int read_cpu(const struct rd_event *ev, struct rd_record *out)
{
	static const struct rd_field_wanted wanted[] = {NUMBER(struct value, number, "Value", false)};
	struct value weight = {1};
	rd_record_begin(out, ev);
	if (READ(ev, wanted, &weight) != 0)
		return RD_CORRUPT;
	out->sample.thread = ev->thread;
	out->sample.kind = RD_SAMPLE_CPU;
	out->sample.weight = weight.number;
	return 0;
}

static int read_switch(const struct rd_event *ev, struct rd_record *out)
{
	rd_record_begin(out, ev);
	out->other.what = RD_OTHER_CSWITCH;
	return 0;
}

#define SYSTEM "Universal.System"
#define EVENTS "Universal.Events"

static const struct rd_event_type system_rows[] = {
	RD_ROW(SYSTEM, 0, 0, "ExistingProcess", PROCESS, DCSTART, read_process),
	RD_ROW(SYSTEM, 1, 0, "ProcessCreate", PROCESS, LOAD, read_process),
	RD_ROW(SYSTEM, 2, 0, "ProcessExit", PROCESS, UNLOAD, read_process),
	RD_ROW(SYSTEM, 3, 0, "ProcessMapping", MAPPING, NONE, read_mapping),
	RD_ROW(SYSTEM, 4, 0, "ProcessSymbol", SYMBOL, NONE, read_symbol),
	RD_ROW(SYSTEM, 5, 0, "ProcessMappingMetadata", OTHER, NONE, NULL),
};

static const struct rd_event_type events_rows[] = {
	RD_ROW(EVENTS, 1, 0, "cpu", SAMPLE, NONE, read_cpu),
	RD_ROW(EVENTS, 2, 0, "cswitch", OTHER_COUNT, NONE, read_switch),
};

const struct rd_event_table rd_table_universal_system = {
	.identity = RD_IDENTITY_NAMED,
	.provider = SYSTEM,
	.by_name = true,
	.rows = system_rows,
	.n = RD_ROW_COUNT(system_rows),
};

const struct rd_event_table rd_table_universal_events = {
	.identity = RD_IDENTITY_NAMED,
	.provider = EVENTS,
	.by_name = true,
	.rows = events_rows,
	.n = RD_ROW_COUNT(events_rows),
};
