#include "report/stats.h"

#include <inttypes.h>

#include "base/text.h"
#include "report/people.h"

static uint64_t trace_bytes(const struct rd_result *r)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < r->traces.n; i++)
		bytes += r->traces.at[i].info.size_bytes;
	return bytes;
}

static void put_count(struct rd_out *o, uint64_t n, const char *what)
{
	char number[RD_NUMBER_TEXT];

	rd_out_printf(o, "%s %s", rd_count_text(n, number), what);
}

static void put_bytes(struct rd_out *o, uint64_t bytes, const char *after)
{
	char size[32];

	rd_out_printf(o, " %s%s", rd_size_text(bytes, size, sizeof size), after);
}

static void put_parts(const struct rd_finish_stats *s, struct rd_out *o)
{
	rd_out_text(o, "      ");
	put_count(o, s->facts, "facts");
	put_bytes(o, s->part_bytes[RD_PART_FACTS], ", their names");
	put_bytes(o, s->part_bytes[RD_PART_NAMES], ", ");
	put_count(o, s->raw_stacks, "stacks");
	put_bytes(o, s->part_bytes[RD_PART_STACKS], ", ");
	put_count(o, s->samples, "samples and ");
	put_count(o, s->stack_records, "stack records");
	put_bytes(o, s->part_bytes[RD_PART_SAMPLES], ", preliminary histograms");
	put_bytes(o, s->part_bytes[RD_PART_BELIEFS], "\n");
}

static void put_process(struct rd_out *o, const char *name, uint64_t ns, uint64_t peak_bytes, const char *after)
{
	char time[RD_NUMBER_TEXT], size[32];

	rd_out_printf(o, "%s %s in %s%s", name, rd_duration_text(ns, time),
		      rd_size_text(peak_bytes, size, sizeof size), after);
}

void rd_text_stats(const struct rd_result *r, struct rd_out *o)
{
	const struct rd_finish_stats *s = &r->stats;
	char share[RD_NUMBER_TEXT];

	rd_out_text(o, "work: ");
	put_count(o, s->shards, "shards;");
	put_bytes(o, s->partial_bytes, " of partials, ");
	rd_out_printf(o, "%s of the bytes of the traces\n", rd_percent_text(s->partial_bytes, trace_bytes(r), share));
	put_parts(s, o);
	rd_out_text(o, "      ");
	if (s->preliminary_samples) {
		rd_out_text(o, "reconciliation changed the method of ");
		put_count(o, s->preliminary_changed, "samples of the ");
		put_count(o, s->preliminary_samples, "that shards spoke for, ");
		rd_out_printf(o, "%s\n      ",
			      rd_percent_text(s->preliminary_changed, s->preliminary_samples, share));
	}
	put_process(o, "merge", s->merge_ns, s->merge_peak_bytes, ", ");
	put_process(o, "finish", s->finish_ns, s->finish_peak_bytes, " of memory\n");
}

void rd_json_stats(struct rd_json *j, const struct rd_result *r)
{
	static const char *const parts[RD_PARTIAL_PARTS] = {"facts", "names", "stacks", "samples", "preliminary"};
	const struct rd_finish_stats *s = &r->stats;

	rd_json_object(j, "work");
	rd_json_u64(j, "shards", s->shards);
	rd_json_u64(j, "trace_bytes", trace_bytes(r));
	rd_json_u64(j, "partial_bytes", s->partial_bytes);
	rd_json_object(j, "bytes_of");
	for (size_t i = 0; i < RD_PARTIAL_PARTS; i++)
		rd_json_u64(j, parts[i], s->part_bytes[i]);
	rd_json_object_end(j);
	rd_json_u64(j, "facts", s->facts);
	rd_json_u64(j, "stacks", s->raw_stacks);
	rd_json_u64(j, "samples", s->samples);
	rd_json_u64(j, "stack_records", s->stack_records);
	rd_json_u64(j, "preliminary_samples", s->preliminary_samples);
	rd_json_u64(j, "preliminary_changed", s->preliminary_changed);
	rd_json_u64(j, "merge_ns", s->merge_ns);
	rd_json_u64(j, "finish_ns", s->finish_ns);
	rd_json_u64(j, "merge_peak_bytes", s->merge_peak_bytes);
	rd_json_u64(j, "finish_peak_bytes", s->finish_peak_bytes);
	rd_json_object_end(j);
}
