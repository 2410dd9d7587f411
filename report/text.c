#include "report/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/format.h"
#include "report/people.h"
#include "report/stats.h"
#include "report/text_table.h"
#include "report/words.h"

/* Less than this of a path tells nothing; on a narrower terminal the line may wrap. */
#define PATH_COLUMNS_LEAST 16
/* Of several damaged traces so many are named. */
#define CUTS_NAMED         3

/* ---- the heading */

/* As the user would write it where he is. */
static struct rd_span shown_path(const struct rd_result_trace *t, const char *folder)
{
	size_t n = folder ? strlen(folder) : 0;

	if (n > 1 && strncmp(t->path, folder, n) == 0 && t->path[n] == '/')
		return rd_text_span(t->path + n + 1);
	return rd_text_span(t->path);
}

static void put_format(const struct rd_result_trace *t, struct rd_out *o)
{
	char number[RD_NUMBER_TEXT], version[RD_VERSION_TEXT];

	if (rd_trace_is_left_out(&t->info)) {
		rd_out_text(o, ": left out: ");
		rd_out_name(o, rd_text_span(t->info.damage), 0);
		rd_out_text(o, "\n");
		return;
	}
	rd_out_printf(o, ": %s %s", rd_format_word(&t->info), rd_version_word(&t->info, version));
	rd_out_printf(o, ", %s", rd_size_text(t->info.size_bytes, number, sizeof number));
	rd_out_printf(o, ", %s", rd_duration_text(t->duration_ns, number));
	rd_out_printf(o, " from %s\n", rd_utc_text(t->start_utc_ns, number));
}

/* "shop.nettrace: nettrace 4, 1.5 MB, 3.0 s from 2026-…", on a terminal the path cut or on a line of its own. */
static void put_trace(const struct rd_result *r, size_t i, const struct rd_report_options *opt, struct rd_out *o)
{
	const struct rd_result_trace *t = &r->traces.at[i];
	struct rd_out rest;
	size_t columns = opt->columns, used = 0;
	char number[32] = "";

	if (r->traces.n > 1)
		snprintf(number, sizeof number, "trace %zu: ", i + 1);
	rd_out_init(&rest, -1);
	if (t->member[0]) {
		rd_out_text(&rest, ", ");
		rd_out_name(&rest, rd_text_span(t->member), columns / 3);
	}
	put_format(t, &rest);
	used = strlen(number) + rest.buffer.n;
	if (columns)
		columns = columns > used + PATH_COLUMNS_LEAST ? columns - used : PATH_COLUMNS_LEAST;
	rd_out_text(o, number);
	rd_out_name(o, shown_path(t, opt->folder), columns);
	rd_out_bytes(o, rest.buffer.at, rest.buffer.n);
	if (rest.buffer.failed)
		o->buffer.failed = 1;
	rd_out_close(&rest, NULL);
}

/* "traces 1, 2 and 3 are joined: one recording", for the first of them. */
static void put_joined(const struct rd_result *r, uint32_t first, struct rd_out *o)
{
	size_t last = first;

	for (size_t i = first; i < r->traces.n; i++)
		last = r->traces.at[i].group == first ? i : last;
	if (last == first)
		return;
	rd_out_printf(o, "traces %u", first + 1);
	for (size_t i = first + 1; i <= last; i++)
		if (r->traces.at[i].group == first)
			rd_out_printf(o, "%s%zu", i == last ? " and " : ", ", i + 1);
	rd_out_text(o, " are joined: one recording\n");
}

static void put_traces(const struct rd_result *r, const struct rd_report_options *opt, struct rd_out *o)
{
	for (size_t i = 0; i < r->traces.n; i++)
		put_trace(r, i, opt, o);
	for (size_t i = 0; i < r->traces.n; i++)
		put_joined(r, (uint32_t)i, o);
}

/* "9,065 samples of thread time, not CPU time: 5,405 external, 3,660 managed" */
static void put_samples(const struct rd_view *v, struct rd_out *o)
{
	char number[RD_NUMBER_TEXT];
	bool thread = rd_view_has_thread_time(v), cpu = false;
	const char *before = ": ";

	for (uint32_t kind = 0; kind < RD_SAMPLE_KINDS; kind++)
		cpu |= v->kinds[kind] && !rd_is_thread_time(kind);
	/* Waiting counts in samples of thread time: whoever reads on must know. */
	rd_out_printf(o, "%s sample%s", rd_count_text(v->samples, number), v->samples == 1 ? "" : "s");
	if (thread)
		rd_out_printf(o, " of thread time%s", cpu ? " and of CPU time" : ", not CPU time");
	else if (cpu)
		rd_out_text(o, " of CPU time");
	for (uint32_t kind = RD_SAMPLE_KINDS; thread && kind-- > 0;) {
		if (v->kinds[kind] == 0)
			continue;
		rd_out_printf(o, "%s%s %s", before, rd_count_text(v->kinds[kind], number), rd_sample_kind_name(kind));
		before = ", ";
	}
	if (v->weight != v->samples)
		rd_out_printf(o, "; weight %s", rd_count_text(v->weight, number));
}

/* A line for what the stacks are asked for; the words of the user as he wrote them. */
static void put_asked(struct rd_out *o, const char *before, const char *word, const char *after)
{
	if (word == NULL)
		return;
	rd_out_text(o, before);
	rd_out_name(o, rd_text_span(word), 0);
	rd_out_text(o, after);
}

static void put_stack_filter(const struct rd_view_filter *f, struct rd_out *o)
{
	if (f->trace)
		rd_out_printf(o, "only processes of trace %llu\n", (unsigned long long)f->trace);
	put_asked(o, "only samples in module ", f->module, "\n");
	put_asked(o, "only stacks with a frame like '", f->focus, "'\n");
	put_asked(o, "no stacks with a frame like '", f->ignore, "'\n");
	put_asked(o, "without frames like '", f->hide, "'\n");
	put_asked(o, "only the callers of '", f->callers, "': direct ones call it themselves\n");
	put_asked(o, "only '", f->callees, "' and what it calls: direct ones are called by it\n");
}

/* "6,145 samples are outside the filter of the run (--process shop, from 1 s to 2 s)" */
static void put_run_filter(const struct rd_result *r, struct rd_out *o)
{
	const struct rd_result_filter *f = &r->filter;
	char number[RD_NUMBER_TEXT], range[RD_RANGE_TEXT];
	const char *before = "";

	if (!rd_result_is_filtered(r))
		return;
	rd_out_printf(o, "%s sample%s outside the filter of the run (", rd_count_text(r->discarded, number),
		      r->discarded == 1 ? " is" : "s are");
	if (f->process[0]) {
		put_asked(o, "--process ", f->process, "");
		before = ", ";
	}
	if (f->kind) {
		rd_out_printf(o, "%s--kind %s", before, rd_sample_kind_name(f->kind - 1));
		before = ", ";
	}
	if (f->has_from || f->has_to)
		rd_out_printf(o, "%s%s", before, rd_range_text(f->has_from, f->from_ns, f->has_to, f->to_ns, range));
	rd_out_text(o, ")\n");
}

static void put_filter(const struct rd_view *v, struct rd_out *o)
{
	char range[RD_RANGE_TEXT], width[RD_NUMBER_TEXT], number[RD_NUMBER_TEXT];

	if (v->cut_in_time)
		rd_out_printf(o, "%s%s%s%s\n", rd_range_text(v->has_from, v->from_ns, v->has_to, v->to_ns, range),
			      v->widened ? ", widened to time buckets of " : "",
			      v->widened ? rd_seconds_text((int64_t)v->result->bucket_width_ns, width) : "",
			      v->widened ? " s" : "");
	put_stack_filter(&v->filter, o);
	put_run_filter(v->result, o);
	uint64_t more = v->discarded - v->result->discarded;
	if (more)
		rd_out_printf(o, "%s sample%s outside the filter\n", rd_count_text(more, number),
			      more == 1 ? " is" : "s are");
}

/* ---- the line of trust */

static void put_if(struct rd_out *o, uint64_t n, const char *one, const char *many)
{
	char number[RD_NUMBER_TEXT];

	if (n)
		rd_out_printf(o, ", %s %s", rd_count_text(n, number), n == 1 ? one : many);
}

static void put_missing(const struct rd_trust *t, struct rd_out *o)
{
	if (t->missing_runtime)
		rd_out_text(o, ", the provider Microsoft-Windows-DotNETRuntime was off");
	if (t->missing_rundown)
		rd_out_text(o, ", the provider Microsoft-Windows-DotNETRuntimeRundown was off");
	if (t->missing_stacks)
		rd_out_text(o, ", stacks were off");
}

/* "cut at byte 1,234", of several traces which one. */
static void put_cuts(const struct rd_result *r, struct rd_out *o)
{
	char number[RD_NUMBER_TEXT];
	size_t named = 0, damaged = 0, left_out = 0;

	if (r->traces.n <= 1) {
		if (r->trust.cut_at != RD_NO_OFFSET)
			rd_out_printf(o, ", cut at byte %s", rd_count_text(r->trust.cut_at, number));
		return;
	}
	for (size_t i = 0; i < r->traces.n; i++) {
		const struct rd_result_trace *t = &r->traces.at[i];
		if (rd_trace_is_left_out(&t->info)) {
			left_out++;
			continue;
		}
		if (t->complete)
			continue;
		damaged++;
		if (named == CUTS_NAMED)
			continue;
		named++;
		rd_out_printf(o, ", trace %zu", i + 1);
		if (t->cut_at != RD_NO_OFFSET)
			rd_out_printf(o, " cut at byte %s", rd_count_text(t->cut_at, number));
	}
	if (damaged > named)
		rd_out_printf(o, ", and %zu traces more", damaged - named);
	put_if(o, left_out, "input left out", "inputs left out");
}

/* What the framing of the traces, and of their archives, says of damage: the first one's. */
static void put_damage(const struct rd_result *r, struct rd_out *o)
{
	char number[RD_NUMBER_TEXT];
	size_t damaged = 0;

	for (size_t i = 0; i < r->traces.n; i++) {
		const char *damage = r->traces.at[i].info.damage;
		/* The heading says why an input was left out. */
		if (damage[0] == 0 || rd_trace_is_left_out(&r->traces.at[i].info) || damaged++ > 0)
			continue;
		rd_out_text(o, ", ");
		if (r->traces.n > 1)
			rd_out_printf(o, "trace %zu: ", i + 1);
		rd_out_name(o, rd_text_span(damage), 0);
	}
	if (damaged > 1)
		rd_out_printf(o, ", and %s more %s damaged", rd_count_text(damaged - 1, number),
			      damaged == 2 ? "is" : "are");
}

static void put_trust(const struct rd_result *r, struct rd_out *o)
{
	const struct rd_trust *t = &r->trust;
	char number[RD_NUMBER_TEXT], of[RD_NUMBER_TEXT], percent[RD_NUMBER_TEXT];

	rd_out_text(o, "trust: ");
	rd_out_text(o, t->complete ? "complete" : "incomplete");
	if (!t->complete)
		put_cuts(r, o);
	rd_out_printf(o, ", %s event%s lost", rd_count_text(t->lost_events, number), t->lost_events == 1 ? "" : "s");
	put_if(o, t->lost_buffers, "buffer lost", "buffers lost");
	rd_out_printf(o, ", %s of frames unresolved (%s of %s)",
		      rd_percent_text(t->unresolved_frames, t->frames, percent),
		      rd_count_text(t->unresolved_frames, number), rd_count_text(t->frames, of));
	rd_out_printf(o, ", rundown %s", rd_rundown_name(t->rundown));
	put_if(o, t->quarantined.n, "part of the input quarantined", "parts of the input quarantined");
	put_if(o, t->ambiguous_frames, "frame ambiguous", "frames ambiguous");
	put_if(o, t->samples_without_stack, "sample without a stack", "samples without a stack");
	put_if(o, t->broken_stacks, "stack without its user part", "stacks without their user part");
	put_if(o, t->unowned_samples, "sample without an owner", "samples without an owner");
	put_if(o, t->malformed_events, "malformed event", "malformed events");
	put_missing(t, o);
	put_damage(r, o);
}

void rd_text_wrapped(struct rd_out *line, unsigned columns, struct rd_out *o)
{
	rd_out_bytes(line, "", 1);
	if (line->buffer.failed)
		o->buffer.failed = 1;
	else
		rd_out_words(o, (const char *)line->buffer.at, 0, 2, columns);
	rd_out_text(o, "\n");
	rd_out_close(line, NULL);
}

void rd_text_trust(const struct rd_result *r, const struct rd_report_options *opt, struct rd_out *o)
{
	struct rd_out line;

	rd_out_init(&line, -1);
	put_trust(r, &line);
	if (!r->trust.complete)
		rd_out_style(o, RD_STYLE_BAD);
	rd_text_wrapped(&line, opt->columns, o);
	if (!r->trust.complete)
		rd_out_style(o, RD_STYLE_PLAIN);
}

/* ---- reports */

static void put_heading(const struct rd_view *v, const struct rd_report_options *opt, struct rd_out *o)
{
	struct rd_out line;

	rd_out_init(&line, -1);
	put_samples(v, &line);
	rd_text_wrapped(&line, opt->columns, o);
	put_filter(v, o);
}

void rd_text_report(const struct rd_view *v, const struct rd_report_options *opt, struct rd_out *o)
{
	put_traces(v->result, opt, o);
	put_heading(v, opt, o);
	rd_text_table(v, opt, o);
	rd_text_trust(v->result, opt, o);
	if (opt->stats)
		rd_text_stats(v->result, o);
}

int rd_text_hottest(const struct rd_result *r, const struct rd_report_options *opt, struct rd_out *o,
		    struct rd_error *err)
{
	struct rd_view_filter all = RD_VIEW_ALL;
	struct rd_view v;
	int code = rd_view_make(&v, r, &all, err);

	if (code < 0)
		return code;
	/* The numbers in the table need to be told whose they are; one trace the user knows. */
	if (r->traces.n > 1)
		put_traces(r, opt, o);
	put_heading(&v, opt, o);
	rd_text_table(&v, opt, o);
	rd_view_release(&v);
	return 0;
}
