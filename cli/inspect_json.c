/* Fields in the order of docs/report-json.md, "Inspect"; lists are whole. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/inspect_show.h"
#include "profile/result.h"
#include "report/people.h"

void rd_json_hex(struct rd_json *j, const char *key, uint64_t v)
{
	char text[24];
	snprintf(text, sizeof text, "0x%llx", (unsigned long long)v);
	rd_json_text(j, key, text);
}

static void span_or_null(struct rd_json *j, const char *key, struct rd_span text)
{
	if (text.size_bytes)
		rd_json_span(j, key, text);
	else
		rd_json_null(j, key);
}

static void u64_or_null(struct rd_json *j, const char *key, uint64_t v, bool known)
{
	if (known)
		rd_json_u64(j, key, v);
	else
		rd_json_null(j, key);
}

static void version_or_null(struct rd_json *j, const char *key, const uint16_t version[4])
{
	char text[48];

	if ((version[0] | version[1] | version[2] | version[3]) == 0) {
		rd_json_null(j, key);
		return;
	}
	snprintf(text, sizeof text, "%u.%u.%u.%u", version[0], version[1], version[2], version[3]);
	rd_json_text(j, key, text);
}

void rd_json_kind_names(struct rd_json *j, const struct rd_kind *kind, const struct rd_kind_words *words)
{
	char guid[37];

	rd_json_span(j, "key", kind->key_text);
	span_or_null(j, "provider", words->provider);
	if (words->has_guid) {
		rd_guid_text(words->guid, guid);
		rd_json_text(j, "guid", guid);
	} else {
		rd_json_null(j, "guid");
	}
	span_or_null(j, "name", words->name);
}

/* ---- what it is */

static void put_what(const struct rd_shown *s, struct rd_json *j)
{
	const struct rd_trace_info *info = &s->in->index.info;
	char text[RD_NUMBER_TEXT];

	rd_json_text(j, "path", s->path);
	if (*s->member)
		rd_json_text(j, "member", s->member);
	rd_json_text(j, "format", s->in->format->name);
	rd_json_text(j, "version", rd_version_text(info, text, sizeof text));
	rd_json_u64(j, "bytes", info->size_bytes);
	rd_json_u64(j, "blocks", s->in->index.blocks.n);
	rd_json_text(j, "recorded_by", rd_recorder_name(info));
	rd_json_text(j, "recorder", info->recorder);
	rd_json_bool(j, "compressed", info->compression != 0);
	rd_json_text(j, "start", rd_utc_text(info->clock.start_utc_ns, text));
	rd_json_text(j, "end", rd_utc_text(rd_inspect_end_utc_ns(s->in), text));
	rd_json_u64(j, "duration_ns", rd_inspect_duration_ns(s->in));
	rd_json_object(j, "clock");
	rd_json_text(j, "kind", rd_clock_name(info->clock.kind));
	rd_json_u64(j, "frequency_hz", info->clock.frequency_hz);
	rd_json_object_end(j);
	rd_json_u64(j, "pointer_size", info->pointer_bytes);
	rd_json_u64(j, "cpus", info->cpus);
	u64_or_null(j, "pid", info->pid, info->pid != 0);
	rd_json_array(j, "header");
	for (size_t i = 0; i < s->in->facts.at.n; i++) {
		rd_json_object(j, NULL);
		rd_json_span(j, "key", s->in->facts.at.at[i].key);
		rd_json_span(j, "value", s->in->facts.at.at[i].value);
		rd_json_object_end(j);
	}
	rd_json_array_end(j);
}

static struct rd_span string_of(const struct rd_sessions *s, uint32_t string)
{
	return string ? rd_strings_at(&s->strings, string - 1) : (struct rd_span){NULL, 0};
}

static void put_machine(const struct rd_shown *s, struct rd_json *j)
{
	const struct rd_sessions *all = &s->in->sessions;
	uint32_t mhz = all->cpu_mhz;

	if (mhz == 0 && all->at.n)
		mhz = all->at.at[0].said.cpu_mhz;
	rd_json_object(j, "machine");
	u64_or_null(j, "cpu_mhz", mhz, mhz != 0);
	u64_or_null(j, "memory_bytes", all->memory_bytes, all->memory_bytes != 0);
	span_or_null(j, "host", string_of(all, all->host));
	span_or_null(j, "system_build", string_of(all, all->build));
	rd_json_object_end(j);
}

static void put_sessions(const struct rd_shown *s, struct rd_json *j)
{
	const struct rd_sessions *all = &s->in->sessions;
	char mode[160];

	rd_json_array(j, "sessions");
	for (size_t i = 0; i < all->at.n; i++) {
		const struct rd_session_record *r = &all->at.at[i].said;
		rd_json_object(j, NULL);
		rd_json_span(j, "name", rd_strings_at(&all->strings, all->at.at[i].name));
		rd_json_span(j, "file", rd_strings_at(&all->strings, all->at.at[i].file));
		rd_json_u64(j, "os_major", r->os_major);
		rd_json_u64(j, "os_minor", r->os_minor);
		rd_json_u64(j, "os_build", r->os_build);
		rd_json_u64(j, "cpus", r->cpus);
		rd_json_hex(j, "mode", r->log_file_mode);
		rd_json_text(j, "mode_words", rd_mode_text(r->log_file_mode, mode, sizeof mode));
		rd_json_u64(j, "buffer_bytes", r->buffer_bytes);
		rd_json_u64(j, "buffers_written", r->buffers_written);
		rd_json_u64(j, "most_mb", r->most_mb);
		rd_json_u64(j, "lost_events", r->lost_events);
		rd_json_u64(j, "lost_buffers", r->lost_buffers);
		rd_json_object_end(j);
	}
	rd_json_array_end(j);
}

static void put_damage(const struct rd_inspection *in, struct rd_json *j)
{
	rd_json_bool(j, "complete", in->complete);
	rd_json_offset(j, "cut_at", in->cut_at);
	rd_json_array(j, "damage");
	for (size_t i = 0; i < in->damage.n; i++) {
		rd_json_object(j, NULL);
		rd_json_offset(j, "at", in->damage.at[i].offset);
		rd_json_text(j, "what", in->damage.at[i].what);
		rd_json_object_end(j);
	}
	rd_json_array_end(j);
	rd_json_u64(j, "damaged_places", in->damage_n);
	rd_json_u64(j, "lost_events", in->lost_events);
	rd_json_u64(j, "lost_buffers", in->lost_buffers);
	rd_json_u64(j, "malformed_events", in->malformed);
}

/* ---- what a profile finds */

static void put_samples(const struct rd_inspection *in, struct rd_json *j)
{
	rd_json_u64(j, "sampling_ns", in->index.info.sampling_ns);
	rd_json_u64(j, "sampling_expected_ns", rd_inspect_expected_ns(in));
	rd_json_u64(j, "sampling_seen_ns", rd_rate_middle_ns(&in->rate, &in->index.info.clock));
	rd_json_u64(j, "samples", in->samples);
	rd_json_object(j, "kinds");
	for (uint32_t kind = 0; kind < RD_SAMPLE_KINDS; kind++)
		if (in->kinds[kind])
			rd_json_u64(j, rd_sample_kind_name(kind), in->kinds[kind]);
	rd_json_object_end(j);
	rd_json_u64(j, "unowned_samples", in->processes.unowned);
	rd_json_u64(j, "method_events", in->by_kind[RD_EVENT_METHOD]);
}

static void put_process(const struct rd_inspection *in, const struct rd_seen_process *p, struct rd_json *j)
{
	const struct rd_processes *all = &in->processes;
	const struct rd_clock *clock = &in->index.info.clock;

	rd_json_object(j, NULL);
	rd_json_u64(j, "pid", p->pid);
	u64_or_null(j, "parent", p->parent, p->parent != 0);
	u64_or_null(j, "namespace_pid", p->namespace_pid, p->namespace_pid != 0);
	span_or_null(j, "name", rd_processes_text(all, p->name));
	span_or_null(j, "command_line", rd_processes_text(all, p->command_line));
	span_or_null(j, "system", rd_processes_text(all, p->system));
	span_or_null(j, "architecture", rd_processes_text(all, p->architecture));
	if (p->has_start)
		rd_json_i64(j, "start_ns", rd_clock_ns(clock, p->start));
	else
		rd_json_null(j, "start_ns");
	if (p->has_end)
		rd_json_i64(j, "end_ns", rd_clock_ns(clock, p->end));
	else
		rd_json_null(j, "end_ns");
	rd_json_u64(j, "samples", p->samples);
	rd_json_object_end(j);
}

static int put_processes(const struct rd_inspection *in, struct rd_json *j)
{
	size_t n;
	uint32_t *order = rd_sorted_processes(in, &n);

	if (order == NULL)
		return RD_NOMEM;
	rd_json_array(j, "processes");
	for (size_t i = 0; i < n; i++)
		put_process(in, rd_records_at(&in->processes.rows.rows, order[i]), j);
	rd_json_array_end(j);
	rd_free(order);
	return 0;
}

static void put_ops(struct rd_json *j, const char *key, const uint64_t ops[RD_OPS])
{
	rd_json_object(j, key);
	rd_json_u64(j, "load", ops[RD_OP_LOAD]);
	rd_json_u64(j, "unload", ops[RD_OP_UNLOAD]);
	rd_json_u64(j, "dcstart", ops[RD_OP_DCSTART]);
	rd_json_u64(j, "dcend", ops[RD_OP_DCEND]);
	rd_json_object_end(j);
}

static void put_runtime(const struct rd_seen_runtime *r, struct rd_json *j)
{
	rd_json_object(j, NULL);
	rd_json_u64(j, "pid", r->pid);
	rd_json_u64(j, "clr", r->clr);
	version_or_null(j, "version", r->version);
	put_ops(j, "methods", r->methods);
	put_ops(j, "modules", r->modules);
	rd_json_object(j, "markers");
	rd_json_u64(j, "start_init", r->markers[RD_MARKER_START_INIT]);
	rd_json_u64(j, "start_complete", r->markers[RD_MARKER_START_COMPLETE]);
	rd_json_u64(j, "end_init", r->markers[RD_MARKER_END_INIT]);
	rd_json_u64(j, "end_complete", r->markers[RD_MARKER_END_COMPLETE]);
	rd_json_object_end(j);
	rd_json_text(j, "start_rundown", rd_listed_name(rd_runtime_listed(r, false)));
	rd_json_text(j, "end_rundown", rd_listed_name(rd_runtime_listed(r, true)));
	rd_json_object_end(j);
}

static int put_runtimes(const struct rd_inspection *in, struct rd_json *j)
{
	size_t n;
	uint32_t *order = rd_sorted_runtimes(in, &n);

	if (order == NULL)
		return RD_NOMEM;
	rd_json_object(j, "rundown");
	rd_json_text(j, "start", rd_inspect_listed(in, false));
	rd_json_text(j, "end", rd_inspect_listed(in, true));
	rd_json_object_end(j);
	rd_json_array(j, "runtimes");
	for (size_t i = 0; i < n; i++)
		put_runtime(rd_records_at(&in->rundowns.runtimes.rows, order[i]), j);
	rd_json_array_end(j);
	rd_free(order);
	return 0;
}

static void put_keyframes(const struct rd_inspection *in, struct rd_json *j)
{
	uint64_t least_ns, most_ns;

	rd_json_array(j, "keyframes");
	for (size_t i = 0; i < rd_keyframes_n(&in->rundowns); i++) {
		const struct rd_keyframe *k = rd_records_at(&in->rundowns.keyframes.rows, (uint32_t)i);
		rd_json_object(j, NULL);
		rd_json_i64(j, "at_ns", rd_clock_ns(&in->index.info.clock, k->from));
		rd_json_u64(j, "duration_ns", rd_keyframe_ns(in, k));
		rd_json_text(j, "where", rd_keyframe_name(in, k));
		rd_json_u64(j, "dcstart", k->starts);
		rd_json_u64(j, "dcend", k->ends);
		rd_json_u64(j, "methods", k->methods);
		rd_json_u64(j, "runtimes", k->runtimes);
		rd_json_u64(j, "begun", k->begun);
		rd_json_u64(j, "complete", k->complete);
		rd_json_object_end(j);
	}
	rd_json_array_end(j);
	rd_json_u64(j, "keyframe_events_beyond", in->rundowns.beyond);
	if (rd_keyframe_spacing(in, &least_ns, &most_ns)) {
		rd_json_object(j, "keyframe_spacing");
		rd_json_u64(j, "least_ns", least_ns);
		rd_json_u64(j, "most_ns", most_ns);
		rd_json_object_end(j);
	} else {
		rd_json_null(j, "keyframe_spacing");
	}
}

static void put_lacks(const struct rd_inspection *in, struct rd_json *j)
{
	struct rd_lack lacks[RD_LACKS_MOST];
	size_t n = rd_inspect_lacks(in, lacks);

	rd_json_array(j, "lacks");
	for (size_t i = 0; i < n; i++) {
		rd_json_object(j, NULL);
		rd_json_text(j, "what", lacks[i].what);
		rd_json_text(j, "provider", lacks[i].provider);
		if (lacks[i].keywords)
			rd_json_text(j, "keywords", lacks[i].keywords);
		else
			rd_json_null(j, "keywords");
		rd_json_text(j, "so", lacks[i].so);
		rd_json_object_end(j);
	}
	rd_json_array_end(j);
}

/* ---- events */

static int put_providers(const struct rd_inspection *in, struct rd_json *j, struct rd_error *err)
{
	rd_provider_vec all = {0};
	int code = rd_inspect_providers(in, &all, err);

	rd_json_array(j, "providers");
	for (size_t i = 0; i < all.n && code == 0; i++) {
		rd_json_object(j, NULL);
		rd_json_span(j, "name", rd_provider_name(&all.at[i]));
		if (all.at[i].guid[0])
			rd_json_text(j, "guid", all.at[i].guid);
		else
			rd_json_null(j, "guid");
		rd_json_u64(j, "events", all.at[i].events);
		rd_json_u64(j, "bytes", all.at[i].bytes);
		rd_json_u64(j, "kinds", all.at[i].kinds);
		rd_json_object_end(j);
	}
	rd_json_array_end(j);
	rd_vec_release(&all);
	return code;
}

static void put_events(const struct rd_inspection *in, struct rd_json *j)
{
	rd_json_u64(j, "events_total", in->events);
	rd_json_u64(j, "payload_bytes", in->bytes);
	rd_json_object(j, "events");
	for (size_t i = 0; i < in->order.n; i++)
		rd_json_u64_at(j, rd_strings_at(&in->keys, in->order.at[i]), in->counts.at[in->order.at[i]]);
	rd_json_object_end(j);
}

int rd_inspect_json(const struct rd_shown *s, struct rd_json *j, struct rd_error *err)
{
	put_what(s, j);
	put_machine(s, j);
	put_sessions(s, j);
	put_damage(s->in, j);
	put_samples(s->in, j);
	if (put_processes(s->in, j) != 0 || put_runtimes(s->in, j) != 0)
		return rd_fail_nomem(err);
	put_keyframes(s->in, j);
	put_lacks(s->in, j);
	rd_json_object(j, "shards");
	rd_json_u64(j, "count", s->shards.n);
	rd_json_u64(j, "least_bytes", s->shards.least_bytes);
	rd_json_u64(j, "most_bytes", s->shards.most_bytes);
	rd_json_u64(j, "workers", s->shards.workers);
	rd_json_object_end(j);
	int code = put_providers(s->in, j, err);
	if (code == 0)
		put_events(s->in, j);
	return code;
}
