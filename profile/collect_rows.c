/*
 * One function a kind of event: its record, as a row. What stands in several
 * rows (time, place, pid) is the event's; for processes, threads and images the
 * pid is the record's, because the header names who wrote it.
 */
#include "profile/collect_rows.h"

#include <stdio.h>
#include <string.h>

typedef int (*collect_fn)(struct rd_collector *c, const struct rd_event *ev, const struct rd_record *r);

/* A name that is too long makes its event malformed. */
static int verdict(int code)
{
	return code == RD_LIMIT ? RD_COLLECT_MALFORMED : code;
}

static int name(struct rd_collector *c, const struct rd_name *in, uint32_t *out)
{
	return verdict(rd_intern_name(&c->intern, in, out));
}

static int stack(struct rd_collector *c, struct rd_span frames, unsigned pointer_bytes, uint32_t *out)
{
	return rd_intern_stack(&c->intern, frames.at, frames.size_bytes, pointer_bytes, c->stack_depth, out);
}

#define PUSH(vec, row) (rd_vec_reserve(&(vec), 1) < 0 ? RD_NOMEM : ((vec).at[(vec).n++] = (row), 0))

static int collect_sample(struct rd_collector *c, const struct rd_event *ev, const struct rd_record *r)
{
	struct rd_sample s = {
		.time = ev->time,
		.thread = r->sample.thread,
		.pointer = r->sample.pointer,
		.weight = r->sample.weight,
		.cpu = ev->cpu,
		.kind = r->sample.kind,
		.pid = ev->pid,
	};
	if (s.kind >= RD_SAMPLE_KINDS)
		return RD_COLLECT_MALFORMED;
	int code = stack(c, (struct rd_span){ev->stack, ev->stack_bytes}, ev->stack_pointer_bytes, &s.stack);
	if (code < 0)
		return code;
	c->out->summary.providers_seen |= s.stack ? RD_SEEN_SAMPLES | RD_SEEN_STACKS : RD_SEEN_SAMPLES;
	return PUSH(c->out->samples, s);
}

static int collect_stack(struct rd_collector *c, const struct rd_event *ev, const struct rd_record *r)
{
	struct rd_stack_row s = {
		.sample_time = r->stack.sample_time,
		.thread = r->stack.thread,
		.time = ev->time,
		.place = ev->place,
		.key = r->stack.key,
		.cpu = ev->cpu,
		.pid = r->stack.pid,
		.part = r->stack.part,
	};
	if (s.part > RD_STACK_USER_KEY)
		return RD_COLLECT_MALFORMED;
	int code = stack(c, r->stack.frames, r->stack.pointer_bytes, &s.stack);
	if (code < 0)
		return code;
	c->out->summary.providers_seen |= RD_SEEN_STACKS;
	return PUSH(c->out->stack_records, s);
}

static int collect_stack_key(struct rd_collector *c, const struct rd_event *ev, const struct rd_record *r)
{
	struct rd_fact_stack_key k = {.time = ev->time, .place = ev->place, .key = r->stack_key.key};
	int code = stack(c, r->stack_key.frames, r->stack_key.pointer_bytes, &k.stack);

	return code < 0 ? code : PUSH(c->out->stack_keys, k);
}

static int collect_method(struct rd_collector *c, const struct rd_event *ev, const struct rd_record *r)
{
	const struct rd_method_record *m = &r->method;
	struct rd_interned_names names = {0};

	if (m->named) {
		int code = verdict(rd_intern_method_names(&c->intern, m, &names));
		if (code != 0)
			return code;
	}
	struct rd_fact_method f = {
		.time = ev->time,
		.place = ev->place,
		.method_id = m->method_id,
		.rejit_id = m->rejit_id,
		.module_id = m->module_id,
		.start = m->start,
		.size_bytes = m->size_bytes,
		.token = m->token,
		.flags = m->flags,
		.pid = ev->pid,
		.clr = m->clr,
		.op = r->op,
		.ns = names.ns,
		.name = names.name,
		.signature = names.signature,
	};
	return PUSH(c->out->methods, f);
}

static int collect_module(struct rd_collector *c, const struct rd_event *ev, const struct rd_record *r)
{
	static const uint8_t no_guid[16];
	const struct rd_module_record *m = &r->module;
	struct rd_fact_module f = {
		.time = ev->time,
		.place = ev->place,
		.module_id = m->module_id,
		.pid = ev->pid,
		.clr = m->clr,
		.op = r->op,
		.flags = m->flags,
		.pdb_age = m->pdb_age,
	};
	int code = name(c, &m->il_path, &f.il_path);
	if (code == 0)
		code = name(c, &m->native_path, &f.native_path);
	if (code == 0)
		code = name(c, &m->pdb_path, &f.pdb_path);
	if (code == 0 && memcmp(m->pdb_guid, no_guid, sizeof no_guid) != 0)
		code = rd_intern_text(&c->intern, m->pdb_guid, sizeof m->pdb_guid, &f.pdb_guid);
	return code != 0 ? code : PUSH(c->out->modules, f);
}

static int collect_image(struct rd_collector *c, const struct rd_event *ev, const struct rd_record *r)
{
	struct rd_fact_image f = {
		.time = ev->time,
		.place = ev->place,
		.base = r->image.base,
		.size_bytes = r->image.size_bytes,
		.pid = r->image.pid,
		.op = r->op,
		.time_stamp = r->image.time_stamp,
		.checksum = r->image.checksum,
	};
	int code = name(c, &r->image.path, &f.path);
	if (code != 0)
		return code;
	c->out->summary.providers_seen |= RD_SEEN_IMAGES;
	return PUSH(c->out->images, f);
}

static int collect_thread(struct rd_collector *c, const struct rd_event *ev, const struct rd_record *r)
{
	struct rd_fact_thread f = {
		.time = ev->time,
		.place = ev->place,
		.thread = r->thread.thread,
		.pid = r->thread.pid,
		.op = r->op,
	};

	c->out->summary.providers_seen |= RD_SEEN_THREADS;
	return PUSH(c->out->threads, f);
}

static int collect_process(struct rd_collector *c, const struct rd_event *ev, const struct rd_record *r)
{
	struct rd_fact_process f = {
		.time = ev->time,
		.place = ev->place,
		.pid = r->process.pid,
		.parent_pid = r->process.parent_pid,
		.op = r->op,
		.namespace_pid = r->process.namespace_pid,
	};
	int code = name(c, &r->process.name, &f.name);
	if (code == 0)
		code = name(c, &r->process.command_line, &f.command_line);
	return code != 0 ? code : PUSH(c->out->processes, f);
}

static int collect_marker(struct rd_collector *c, const struct rd_event *ev, const struct rd_record *r)
{
	struct rd_fact_marker f = {
		.time = ev->time,
		.place = ev->place,
		.pid = ev->pid,
		.clr = r->marker.clr,
		.marker = r->marker.marker,
	};

	if (f.marker < RD_MARKER_START_INIT || f.marker > RD_MARKER_END_COMPLETE)
		return RD_COLLECT_MALFORMED;
	return PUSH(c->out->markers, f);
}

static int collect_interval(struct rd_collector *c, const struct rd_event *ev, const struct rd_record *r)
{
	struct rd_fact_interval f = {
		.time = ev->time,
		.place = ev->place,
		.interval_100ns = r->interval.interval_100ns,
		.source = r->interval.source,
		.op = r->op,
	};

	return PUSH(c->out->intervals, f);
}

static int collect_runtime(struct rd_collector *c, const struct rd_event *ev, const struct rd_record *r)
{
	const uint16_t *v = r->runtime.version;
	struct rd_fact_runtime f = {.time = ev->time, .place = ev->place, .pid = ev->pid, .clr = r->runtime.clr};
	char text[32];
	int code = name(c, &r->runtime.command_line, &f.command_line);

	if (code == 0 && (v[0] | v[1] | v[2] | v[3]) != 0) {
		int n = snprintf(text, sizeof text, "%u.%u.%u.%u", v[0], v[1], v[2], v[3]);
		code = rd_intern_text(&c->intern, text, (size_t)n, &f.version_text);
	}
	return code != 0 ? code : PUSH(c->out->runtimes, f);
}

static int collect_mapping(struct rd_collector *c, const struct rd_event *ev, const struct rd_record *r)
{
	struct rd_fact_mapping f = {
		.time = ev->time,
		.place = ev->place,
		.id = r->mapping.id,
		.start = r->mapping.start,
		.end = r->mapping.end,
		.pid = r->mapping.pid,
	};
	int code = name(c, &r->mapping.path, &f.path);

	return code != 0 ? code : PUSH(c->out->mappings, f);
}

static int collect_symbol(struct rd_collector *c, const struct rd_event *ev, const struct rd_record *r)
{
	struct rd_fact_symbol f = {
		.time = ev->time,
		.place = ev->place,
		.mapping = r->symbol.mapping,
		.start = r->symbol.start,
		.last = r->symbol.last,
		.pid = ev->pid,
	};
	int code = name(c, &r->symbol.name, &f.name);

	return code != 0 ? code : PUSH(c->out->symbols, f);
}

static int collect_other(struct rd_collector *c, const struct rd_event *ev, const struct rd_record *r)
{
	(void)ev;
	if (r->other.what >= RD_OTHER_COUNTS)
		return RD_COLLECT_MALFORMED;
	c->out->summary.other[r->other.what]++;
	return 0;
}

/* clang-format off: a row a kind */
static const collect_fn collectors[RD_EVENT_KINDS] = {
	[RD_EVENT_SAMPLE] = collect_sample,       [RD_EVENT_STACK] = collect_stack,
	[RD_EVENT_STACK_KEY] = collect_stack_key, [RD_EVENT_METHOD] = collect_method,
	[RD_EVENT_MODULE] = collect_module,       [RD_EVENT_IMAGE] = collect_image,
	[RD_EVENT_THREAD] = collect_thread,       [RD_EVENT_PROCESS] = collect_process,
	[RD_EVENT_MARKER] = collect_marker,       [RD_EVENT_INTERVAL] = collect_interval,
	[RD_EVENT_RUNTIME] = collect_runtime,     [RD_EVENT_MAPPING] = collect_mapping,
	[RD_EVENT_SYMBOL] = collect_symbol,       [RD_EVENT_OTHER_COUNT] = collect_other,
};
/* clang-format on */

int rd_collect_row(struct rd_collector *c, const struct rd_event *ev, const struct rd_record *r)
{
	collect_fn collect = r->kind < RD_EVENT_KINDS ? collectors[r->kind] : NULL;

	return collect ? collect(c, ev, r) : 0;
}
