#include "cli/inspect_show.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "profile/result.h"
#include "report/people.h"

static struct rd_span span_of(const char *text)
{
	return (struct rd_span){(const uint8_t *)text, strlen(text)};
}

static void version_text(const struct rd_trace_info *info, char *buf, size_t size)
{
	if (info->format == RD_FORMAT_ETL || info->version_minor)
		snprintf(buf, size, "%u.%u", info->version_major, info->version_minor);
	else
		snprintf(buf, size, "%u", info->version_major);
}

static const char *clock_name(uint32_t kind)
{
	return kind == RD_CLOCK_QPC      ? "qpc"
	       : kind == RD_CLOCK_SYSTEM ? "system"
	       : kind == RD_CLOCK_CYCLES ? "cycles"
					 : "unknown";
}

static uint64_t duration_ns(const struct rd_inspection *in)
{
	int64_t ns = rd_clock_ns(&in->index.info.clock, in->last_ticks);
	return ns > 0 ? (uint64_t)ns : 0;
}

static uint64_t method_events(const struct rd_inspection *in)
{
	return in->by_kind[RD_EVENT_METHOD];
}

/* ---- text */

static void put_line(struct rd_out *o, const char *label)
{
	rd_out_printf(o, "%-14s", label);
}

static void put_what(const struct rd_inspection *in, const char *path, const char *member, struct rd_out *o)
{
	const struct rd_trace_info *info = &in->index.info;
	char number[RD_NUMBER_TEXT], version[32];

	put_line(o, "file");
	rd_out_name(o, span_of(path), 0);
	if (*member) {
		rd_out_text(o, ", ");
		rd_out_name(o, span_of(member), 0);
	}
	version_text(info, version, sizeof version);
	rd_out_printf(o, "\n%-14s%s %s", "format", in->format->name, version);
	if (info->compression)
		rd_out_text(o, ", compressed buffers");
	rd_out_printf(o, "\n%-14s%s in %zu blocks\n", "size", rd_size_text(info->size_bytes, number, sizeof number),
		      in->index.blocks.n);
	if (info->recorder[0]) {
		put_line(o, "recorder");
		rd_out_name(o, span_of(info->recorder), 0);
		rd_out_text(o, "\n");
	}
	if (info->pid)
		rd_out_printf(o, "%-14s%u\n", "process", info->pid);
	rd_out_printf(o, "%-14s%u CPU%s, pointers of %u bytes\n", "machine", info->cpus, info->cpus == 1 ? "" : "s",
		      info->pointer_bytes);
}

static void put_time(const struct rd_inspection *in, struct rd_out *o)
{
	const struct rd_trace_info *info = &in->index.info;
	char number[RD_NUMBER_TEXT];

	rd_out_printf(o, "%-14s%s, %s Hz\n", "clock", clock_name(info->clock.kind),
		      rd_count_text(info->clock.frequency_hz, number));
	rd_out_printf(o, "%-14s%s\n", "start", rd_utc_text(info->clock.start_utc_ns, number));
	rd_out_printf(o, "%-14s%s\n", "duration", rd_duration_text(duration_ns(in), number));
}

static void put_samples(const struct rd_inspection *in, struct rd_out *o)
{
	char number[RD_NUMBER_TEXT];
	const char *before = " (";

	rd_out_printf(o, "%-14s%s", "samples", rd_count_text(in->samples, number));
	for (uint32_t kind = 0; kind < RD_SAMPLE_KINDS; kind++) {
		if (in->kinds[kind] == 0)
			continue;
		rd_out_printf(o, "%s%s %s", before, rd_count_text(in->kinds[kind], number), rd_sample_kind_name(kind));
		before = ", ";
	}
	rd_out_text(o, in->samples ? ")\n" : "\n");
	if (in->index.info.sampling_ns)
		rd_out_printf(o, "%-14severy %s\n", "sampled", rd_duration_text(in->index.info.sampling_ns, number));
	rd_out_printf(o, "%-14s%s\n", "methods", rd_count_text(method_events(in), number));
	rd_out_printf(o, "%-14s%s event%s", "lost", rd_count_text(in->lost_events, number),
		      in->lost_events == 1 ? "" : "s");
	rd_out_printf(o, ", %s buffer%s\n", rd_count_text(in->lost_buffers, number), in->lost_buffers == 1 ? "" : "s");
	if (in->malformed)
		rd_out_printf(o, "%-14s%s event%s\n", "malformed", rd_count_text(in->malformed, number),
			      in->malformed == 1 ? "" : "s");
}

static void put_damage(const struct rd_inspection *in, struct rd_out *o)
{
	char number[RD_NUMBER_TEXT];

	if (in->complete)
		rd_out_printf(o, "%-14sno: complete\n", "damage");
	else if (in->cut_at != RD_NO_OFFSET)
		rd_out_printf(o, "%-14sincomplete from byte %s on\n", "damage", rd_count_text(in->cut_at, number));
	else
		rd_out_printf(o, "%-14sincomplete\n", "damage");
	for (size_t i = 0; i < in->damage.n; i++) {
		rd_out_printf(o, "%-14s", "");
		if (in->damage.at[i].offset != RD_NO_OFFSET)
			rd_out_printf(o, "at byte %s: ", rd_count_text(in->damage.at[i].offset, number));
		rd_out_name(o, span_of(in->damage.at[i].what), 0);
		rd_out_text(o, "\n");
	}
	if (in->damage_n > in->damage.n)
		rd_out_printf(o, "%-14sand %s places more\n", "", rd_count_text(in->damage_n - in->damage.n, number));
}

static void put_events(const struct rd_inspection *in, struct rd_out *o)
{
	char number[RD_NUMBER_TEXT];

	rd_out_printf(o, "%-14s%s of ", "events", rd_count_text(in->events, number));
	rd_out_printf(o, "%s kinds\n", rd_count_text(in->order.n, number));
	for (size_t i = 0; i < in->order.n; i++) {
		uint32_t key = in->order.at[i];
		const struct rd_event_type *type = in->types.at[key];
		rd_out_printf(o, "%14s  ", rd_count_text(in->counts.at[key], number));
		rd_out_name(o, rd_strings_at(&in->keys, key), 0);
		if (type && type->name)
			rd_out_printf(o, "  %s", type->name);
		rd_out_text(o, "\n");
	}
}

void rd_inspect_text(const struct rd_inspection *in, const char *path, const char *member, struct rd_out *o)
{
	put_what(in, path, member, o);
	put_time(in, o);
	put_samples(in, o);
	put_damage(in, o);
	put_events(in, o);
}

/* ---- JSON */

static void json_what(const struct rd_inspection *in, const char *path, const char *member, struct rd_json *j)
{
	const struct rd_trace_info *info = &in->index.info;
	char text[RD_NUMBER_TEXT];

	rd_json_text(j, "path", path);
	if (*member)
		rd_json_text(j, "member", member);
	rd_json_text(j, "format", in->format->name);
	version_text(info, text, sizeof text);
	rd_json_text(j, "version", text);
	rd_json_u64(j, "bytes", info->size_bytes);
	rd_json_u64(j, "blocks", in->index.blocks.n);
	rd_json_text(j, "recorder", info->recorder);
	rd_json_bool(j, "compressed", info->compression != 0);
	rd_json_text(j, "start", rd_utc_text(info->clock.start_utc_ns, text));
	rd_json_u64(j, "duration_ns", duration_ns(in));
	rd_json_object(j, "clock");
	rd_json_text(j, "kind", clock_name(info->clock.kind));
	rd_json_u64(j, "frequency_hz", info->clock.frequency_hz);
	rd_json_object_end(j);
	rd_json_u64(j, "pointer_size", info->pointer_bytes);
	rd_json_u64(j, "cpus", info->cpus);
	if (info->pid)
		rd_json_u64(j, "pid", info->pid);
	else
		rd_json_null(j, "pid");
}

static void json_damage(const struct rd_inspection *in, struct rd_json *j)
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

void rd_inspect_json(const struct rd_inspection *in, const char *path, const char *member, struct rd_json *j)
{
	json_what(in, path, member, j);
	json_damage(in, j);
	rd_json_u64(j, "sampling_ns", in->index.info.sampling_ns);
	rd_json_u64(j, "samples", in->samples);
	rd_json_object(j, "kinds");
	for (uint32_t kind = 0; kind < RD_SAMPLE_KINDS; kind++)
		if (in->kinds[kind])
			rd_json_u64(j, rd_sample_kind_name(kind), in->kinds[kind]);
	rd_json_object_end(j);
	rd_json_u64(j, "method_events", method_events(in));
	rd_json_u64(j, "events_total", in->events);
	rd_json_object(j, "events");
	for (size_t i = 0; i < in->order.n; i++)
		rd_json_u64_at(j, rd_strings_at(&in->keys, in->order.at[i]), in->counts.at[in->order.at[i]]);
	rd_json_object_end(j);
}
