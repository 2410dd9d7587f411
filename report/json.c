/*
 * json - the report for programs. docs/report-json.md describes every field; names, once there, stay.
 */
#include "report/format.h"
#include "report/json_parts.h"
#include "report/label.h"
#include "report/people.h"
#include "report/stats.h"
#include "trace/trace.h"
#include "report/words.h"

static struct rd_span string(const struct rd_view *v, uint32_t id)
{
	return rd_strings_at(&v->result->strings, id);
}

static void put_utc(struct rd_json *j, const char *key, int64_t utc_ns)
{
	char text[RD_NUMBER_TEXT];

	if (utc_ns == INT64_MIN)
		rd_json_null(j, key);
	else
		rd_json_text(j, key, rd_utc_text(utc_ns, text));
}

static void put_traces(struct rd_json *j, const struct rd_result *r)
{
	char version[RD_VERSION_TEXT];

	rd_json_array(j, "traces");
	for (size_t i = 0; i < r->traces.n; i++) {
		const struct rd_result_trace *t = &r->traces.at[i];
		rd_json_object(j, NULL);
		rd_json_u64(j, "id", i);
		rd_json_u64(j, "joined_with", t->group);
		rd_json_text(j, "path", t->path);
		if (t->member[0])
			rd_json_text(j, "member", t->member);
		rd_json_text(j, "format", rd_format_word(&t->info));
		rd_json_text(j, "version", rd_version_word(&t->info, version));
		rd_json_u64(j, "bytes", t->info.size_bytes);
		put_utc(j, "start", t->start_utc_ns);
		rd_json_u64(j, "duration_ns", t->duration_ns);
		rd_json_u64(j, "pointer_size", t->info.pointer_bytes);
		rd_json_u64(j, "cpus", t->info.cpus);
		rd_json_bool(j, "complete", t->complete);
		rd_json_offset(j, "cut_at", t->cut_at);
		if (t->info.damage[0])
			rd_json_text(j, "damage", t->info.damage);
		else
			rd_json_null(j, "damage");
		rd_json_u64(j, "lost_events", t->lost_events);
		rd_json_u64(j, "lost_buffers", t->lost_buffers);
		rd_json_object_end(j);
	}
	rd_json_array_end(j);
}

void rd_json_filter(struct rd_json *j, const struct rd_result_filter *f)
{
	rd_json_object(j, "filter");
	if (f->process[0])
		rd_json_text(j, "process", f->process);
	if (f->kind)
		rd_json_text(j, "kind", rd_sample_kind_name(f->kind - 1));
	if (f->has_from)
		rd_json_i64(j, "from_ns", f->from_ns);
	if (f->has_to)
		rd_json_i64(j, "to_ns", f->to_ns);
	rd_json_object_end(j);
}

static void put_counts(struct rd_json *j, const struct rd_view *v)
{
	static const char *const other[RD_OTHER_COUNTS] = {[RD_OTHER_PMC] = "pmc", [RD_OTHER_CSWITCH] = "cswitch"};

	rd_json_u64(j, "samples", v->samples);
	rd_json_u64(j, "weight", v->weight);
	rd_json_u64(j, "discarded", v->discarded);
	rd_json_object(j, "kinds");
	for (uint32_t kind = 0; kind < RD_SAMPLE_KINDS; kind++)
		if (v->kinds[kind])
			rd_json_u64(j, rd_sample_kind_name(kind), v->kinds[kind]);
	rd_json_object_end(j);
	rd_json_object(j, "other_events");
	for (uint32_t what = 0; what < RD_OTHER_COUNTS; what++)
		rd_json_u64(j, other[what], v->result->other[what]);
	rd_json_object_end(j);
	rd_json_bool(j, "thread_time", v->result->thread_time);
}

static void put_trust(struct rd_json *j, const struct rd_trust *t)
{
	const char *missing[RD_MISSING_MOST + 1];

	rd_json_object(j, "trust");
	rd_json_bool(j, "complete", t->complete);
	rd_json_offset(j, "cut_at", t->cut_at);
	rd_json_u64(j, "lost_events", t->lost_events);
	rd_json_u64(j, "lost_buffers", t->lost_buffers);
	rd_json_u64(j, "frames", t->frames);
	rd_json_u64(j, "unresolved_frames", t->unresolved_frames);
	rd_json_u64(j, "ambiguous_frames", t->ambiguous_frames);
	rd_json_u64(j, "samples_without_stack", t->samples_without_stack);
	rd_json_u64(j, "stacks_unused", t->stacks_unused);
	rd_json_u64(j, "broken_stacks", t->broken_stacks);
	rd_json_u64(j, "unowned_samples", t->unowned_samples);
	rd_json_u64(j, "malformed_events", t->malformed_events);
	rd_json_u64(j, "samples_in_rundown", t->samples_in_rundown);
	rd_json_array(j, "quarantined");
	for (size_t i = 0; i < t->quarantined.n; i++) {
		rd_json_object(j, NULL);
		rd_json_u64(j, "trace", t->quarantined.at[i].trace);
		rd_json_u64(j, "from", t->quarantined.at[i].from);
		rd_json_u64(j, "to", t->quarantined.at[i].to);
		rd_json_object_end(j);
	}
	rd_json_array_end(j);
	rd_json_text(j, "rundown", rd_rundown_name(t->rundown));
	rd_json_array(j, "missing_providers");
	rd_missing_words(t, missing);
	for (size_t i = 0; missing[i]; i++)
		rd_json_text(j, NULL, missing[i]);
	rd_json_array_end(j);
	rd_json_object_end(j);
}

static void put_processes(struct rd_json *j, const struct rd_view *v)
{
	rd_json_array(j, "processes");
	for (size_t i = 0; i < v->result->processes.n; i++) {
		const struct rd_result_process *p = &v->result->processes.at[i];
		if (!v->process_passes.at[i])
			continue;
		rd_json_object(j, NULL);
		rd_json_u64(j, "id", i);
		rd_json_u64(j, "trace", p->trace);
		rd_json_i64(j, "pid", rd_pid_number(p->pid));
		if (p->namespace_pid)
			rd_json_u64(j, "namespace_pid", p->namespace_pid);
		else
			rd_json_null(j, "namespace_pid");
		rd_json_span(j, "name", string(v, p->name));
		rd_json_span(j, "command_line", string(v, p->command_line));
		put_utc(j, "start", p->start_utc_ns);
		rd_json_u64(j, "samples", v->process_samples.at[i]);
		rd_json_object_end(j);
	}
	rd_json_array_end(j);
}

static void put_row(struct rd_json *j, const struct rd_view *v, const struct rd_view_row *row)
{
	rd_json_object(j, NULL);
	rd_json_method(j, v, &v->methods.at[row->method]);
	if (v->filter.by_thread)
		rd_json_u64(j, "thread", row->thread);
	rd_json_u64(j, "exclusive", row->exclusive);
	rd_json_u64(j, "inclusive", row->inclusive);
	rd_json_u64(j, "exclusive_weight", row->exclusive_weight);
	rd_json_u64(j, "inclusive_weight", row->inclusive_weight);
	if (rd_view_has_direct(v)) {
		rd_json_u64(j, "direct", row->direct);
		rd_json_u64(j, "direct_weight", row->direct_weight);
	}
	rd_json_object_end(j);
}

static void put_buckets(struct rd_json *j, const struct rd_view *v)
{
	rd_json_object(j, "buckets");
	put_utc(j, "origin", v->result->origin_utc_ns);
	rd_json_u64(j, "width_ns", v->result->bucket_width_ns);
	rd_json_u64(j, "first", v->first_bucket);
	rd_json_array(j, "samples");
	for (size_t i = 0; i < v->buckets.n; i++)
		rd_json_u64(j, NULL, v->buckets.at[i]);
	rd_json_array_end(j);
	rd_json_object_end(j);
}

void rd_json_report(struct rd_json *j, const struct rd_view *v, const struct rd_report_options *o)
{
	rd_json_object(j, NULL);
	rd_json_u64(j, "rundown", 1);
	put_traces(j, v->result);
	rd_json_filter(j, &v->result->filter);
	rd_json_view(j, v);
	put_counts(j, v);
	put_trust(j, &v->result->trust);
	put_processes(j, v);
	rd_json_array(j, "methods");
	for (size_t i = 0; i < rd_report_rows(v, o); i++)
		put_row(j, v, &v->rows.at[i]);
	rd_json_array_end(j);
	rd_json_u64(j, "methods_left_out", v->rows_left_out + (v->rows.n - rd_report_rows(v, o)));
	if (o->stacks)
		rd_json_stacks(j, v);
	put_buckets(j, v);
	if (o->stats)
		rd_json_stats(j, v->result);
	rd_json_object_end(j);
}

int rd_report_json(const struct rd_view *v, const struct rd_report_options *o, struct rd_out *out, struct rd_error *err)
{
	struct rd_json j;

	(void)err;
	rd_json_init(&j, out, true);
	rd_json_report(&j, v, o);
	return 0;
}
