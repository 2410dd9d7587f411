#include "report/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"
#include "report/format.h"
#include "report/people.h"

/* Processes and modules with longer names are cut on a terminal, and left to stick out elsewhere. */
#define NAME_COLUMNS         28
/* Less than this of a method's name tells nothing; then the line may wrap. */
#define METHOD_COLUMNS_LEAST 24

unsigned rd_terminal_columns(int fd)
{
	struct winsize size;

	if (!isatty(fd))
		return 0;
	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col)
		return size.ws_col;
	const char *columns = getenv("COLUMNS");
	int n = columns ? atoi(columns) : 0;
	return n > 0 && n < 10000 ? (unsigned)n : 80;
}

/* ---- the heading */

static struct rd_span span_of(const char *text)
{
	return (struct rd_span){(const uint8_t *)text, strlen(text)};
}

static void put_trace(const struct rd_result_trace *t, struct rd_out *o)
{
	const struct rd_format *format = rd_format_by_id(t->info.format);
	char number[RD_NUMBER_TEXT];

	rd_out_name(o, span_of(t->path), 0);
	if (t->member[0]) {
		rd_out_text(o, ", ");
		rd_out_name(o, span_of(t->member), 0);
	}
	rd_out_printf(o, ": %s ", format ? format->name : "unknown format");
	if (t->info.format == RD_FORMAT_ETL || t->info.version_minor)
		rd_out_printf(o, "%u.%u", t->info.version_major, t->info.version_minor);
	else
		rd_out_printf(o, "%u", t->info.version_major);
	rd_out_printf(o, ", %s", rd_size_text(t->info.size_bytes, number, sizeof number));
	rd_out_printf(o, ", %s", rd_duration_text(t->duration_ns, number));
	rd_out_printf(o, " from %s\n", rd_utc_text(t->start_utc_ns, number));
}

static bool is_thread_time(uint32_t kind)
{
	return kind == RD_SAMPLE_MANAGED || kind == RD_SAMPLE_EXTERNAL;
}

/* "9,065 samples of thread time, not CPU time: 5,405 external, 3,660 managed" */
static void put_samples(const struct rd_view *v, struct rd_out *o)
{
	char number[RD_NUMBER_TEXT];
	bool thread = false, cpu = false;
	const char *before = ": ";

	for (uint32_t kind = 0; kind < RD_SAMPLE_KINDS; kind++) {
		thread |= v->kinds[kind] && is_thread_time(kind);
		cpu |= v->kinds[kind] && !is_thread_time(kind);
	}
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
	rd_out_text(o, "\n");
}

static void put_filter(const struct rd_view *v, struct rd_out *o)
{
	char from[RD_NUMBER_TEXT], to[RD_NUMBER_TEXT], width[RD_NUMBER_TEXT], number[RD_NUMBER_TEXT];

	if (v->cut_in_time)
		rd_out_printf(o, "from %s s to %s s%s%s%s\n", rd_seconds_text(v->from_ns, from),
			      rd_seconds_text(v->to_ns, to), v->widened ? ", widened to time buckets of " : "",
			      v->widened ? rd_seconds_text((int64_t)v->result->bucket_width_ns, width) : "",
			      v->widened ? " s" : "");
	if (v->discarded)
		rd_out_printf(o, "%s sample%s outside the filter\n", rd_count_text(v->discarded, number),
			      v->discarded == 1 ? " is" : "s are");
}

/* ---- the table */

struct table {
	const struct rd_view *v;
	size_t rows;
	int exclusive_columns, inclusive_columns; /* of the numbers */
	size_t process_columns, module_columns;   /* 0: nothing to show */
	size_t method_columns;                    /* 0: no limit */
	size_t cut_columns;                       /* names are cut to it; 0: they are not */
	struct rd_out name;                       /* one name in the making */
};

static size_t begin_name(struct table *t)
{
	t->name.buffer.n = 0;
	return 0;
}

static struct rd_span made_name(const struct table *t)
{
	return (struct rd_span){t->name.buffer.at, t->name.buffer.n};
}

/* "shop (23405)", or what is known of it; the characters. */
static size_t make_process(struct table *t, uint32_t process)
{
	const struct rd_result_process *p = &t->v->result->processes.at[process];
	struct rd_span name = rd_base_name(rd_strings_at(&t->v->result->strings, p->name));
	char pid[16];

	begin_name(t);
	if (p->pid == RD_PID_UNOWNED) {
		rd_out_text(&t->name, "no owner");
		return 8;
	}
	int digits = snprintf(pid, sizeof pid, name.size_bytes ? " (%u)" : "%u", p->pid);
	size_t room = t->cut_columns > (size_t)digits ? t->cut_columns - (size_t)digits : t->cut_columns;
	size_t n = rd_out_name(&t->name, name, room);
	rd_out_text(&t->name, pid);
	return n + (size_t)digits;
}

static size_t make_module(struct table *t, const struct rd_view_method *m)
{
	begin_name(t);
	if (m->no_stack)
		return 0;
	return rd_out_name(&t->name, rd_strings_at(&t->v->result->strings, m->module), t->cut_columns);
}

/* "Namespace.Name(arguments)"; brief: "(…)" stands for the arguments. */
static void make_method(struct table *t, const struct rd_view_method *m, bool brief)
{
	const struct rd_strings *s = &t->v->result->strings;
	struct rd_span ns = rd_strings_at(s, m->ns), name = rd_strings_at(s, m->name);
	struct rd_span arguments = rd_signature_arguments(rd_strings_at(s, m->signature));
	char tier[32];

	begin_name(t);
	if (m->no_stack) {
		rd_out_text(&t->name, "[no stack]");
		return;
	}
	rd_out_bytes(&t->name, ns.at, ns.size_bytes);
	rd_out_bytes(&t->name, ".", ns.size_bytes != 0);
	rd_out_bytes(&t->name, name.at, name.size_bytes);
	if (!brief)
		rd_out_bytes(&t->name, arguments.at, arguments.size_bytes);
	else if (arguments.size_bytes)
		rd_out_text(&t->name, arguments.size_bytes == 2 ? "()" : "(\xe2\x80\xa6)");
	if (t->v->tiers)
		rd_out_printf(&t->name, " [%s]", rd_tier_name(m->tier, tier));
}

static void put_method(struct table *t, const struct rd_view_method *m, struct rd_out *o)
{
	make_method(t, m, false);
	/* Where room is short the arguments go first, and only then the middle of the name. */
	if (t->method_columns && t->name.buffer.n > t->method_columns)
		make_method(t, m, true);
	rd_out_name(o, made_name(t), t->method_columns);
	rd_out_text(o, "\n");
}

static void put_padded(struct table *t, size_t characters, size_t columns, struct rd_out *o)
{
	if (columns == 0)
		return;
	rd_out_bytes(o, t->name.buffer.at, t->name.buffer.n);
	rd_out_printf(o, "%*s", (int)(columns > characters ? columns - characters : 0) + 2, "");
}

static size_t most(size_t a, size_t b)
{
	return a > b ? a : b;
}

static void measure(struct table *t, unsigned columns)
{
	char number[RD_NUMBER_TEXT];
	size_t exclusive = strlen("exclusive"), inclusive = strlen("inclusive");

	t->cut_columns = columns ? NAME_COLUMNS : 0;
	for (size_t i = 0; i < t->rows; i++) {
		const struct rd_view_method *m = &t->v->methods.at[i];
		exclusive = most(exclusive, strlen(rd_count_text(m->exclusive, number)));
		inclusive = most(inclusive, strlen(rd_count_text(m->inclusive, number)));
		t->process_columns = most(t->process_columns, make_process(t, m->process));
		t->module_columns = most(t->module_columns, make_module(t, m));
	}
	t->process_columns = t->process_columns ? most(t->process_columns, strlen("process")) : 0;
	t->module_columns = t->module_columns ? most(t->module_columns, strlen("module")) : 0;
	t->exclusive_columns = (int)exclusive;
	t->inclusive_columns = (int)inclusive;
	/* Two numbers with their percentages and the blanks behind; then process and module with theirs. */
	size_t used = exclusive + inclusive + 2 * (1 + strlen("100.0 %") + 2) +
		      (t->process_columns ? t->process_columns + 2 : 0) +
		      (t->module_columns ? t->module_columns + 2 : 0);
	if (columns)
		t->method_columns = most(columns > used ? columns - used : 0, METHOD_COLUMNS_LEAST);
}

static void put_table(struct table *t, struct rd_out *o)
{
	char number[RD_NUMBER_TEXT], percent[RD_NUMBER_TEXT];
	uint64_t all = t->v->samples;

	rd_out_printf(o, "%*s %7s  %*s %7s  ", t->exclusive_columns, "exclusive", "", t->inclusive_columns, "inclusive",
		      "");
	if (t->process_columns)
		rd_out_printf(o, "%-*s  ", (int)t->process_columns, "process");
	if (t->module_columns)
		rd_out_printf(o, "%-*s  ", (int)t->module_columns, "module");
	rd_out_text(o, "method\n");
	for (size_t i = 0; i < t->rows; i++) {
		const struct rd_view_method *m = &t->v->methods.at[i];
		rd_out_printf(o, "%*s %7s  ", t->exclusive_columns, rd_count_text(m->exclusive, number),
			      rd_percent_text(m->exclusive, all, percent));
		rd_out_printf(o, "%*s %7s  ", t->inclusive_columns, rd_count_text(m->inclusive, number),
			      rd_percent_text(m->inclusive, all, percent));
		put_padded(t, make_process(t, m->process), t->process_columns, o);
		put_padded(t, make_module(t, m), t->module_columns, o);
		put_method(t, m, o);
	}
}

static void put_methods(const struct rd_view *v, size_t top, unsigned columns, struct rd_out *o)
{
	struct table t = {.v = v, .rows = top && top < v->methods.n ? top : v->methods.n};
	char number[RD_NUMBER_TEXT], of[RD_NUMBER_TEXT], all[RD_NUMBER_TEXT];

	if (v->samples == 0) {
		rd_out_text(o, v->filtered ? "no sample passes the filter\n" : "no samples were recorded\n");
		return;
	}
	rd_out_init(&t.name, -1);
	measure(&t, columns);
	rd_out_text(o, "\n");
	put_table(&t, o);
	rd_out_printf(o, "\n%s of %s methods; percentages are of the %s samples%s\n", rd_count_text(t.rows, number),
		      rd_count_text(v->methods.n, of), rd_count_text(v->samples, all),
		      v->filtered ? " that pass the filter" : "");
	if (t.name.buffer.failed)
		o->buffer.failed = 1;
	rd_out_close(&t.name, NULL);
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

void rd_text_trust(const struct rd_result *r, struct rd_out *o)
{
	const struct rd_trust *t = &r->trust;
	char number[RD_NUMBER_TEXT], of[RD_NUMBER_TEXT], percent[RD_NUMBER_TEXT];

	rd_out_text(o, "trust: ");
	if (t->complete)
		rd_out_text(o, "complete");
	else if (t->cut_at != RD_NO_OFFSET)
		rd_out_printf(o, "incomplete, cut at byte %s", rd_count_text(t->cut_at, number));
	else
		rd_out_text(o, "incomplete");
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
	rd_out_text(o, "\n");
}

/* ---- reports */

void rd_text_report(const struct rd_view *v, size_t top, unsigned columns, struct rd_out *o)
{
	for (size_t i = 0; i < v->result->traces.n; i++)
		put_trace(&v->result->traces.at[i], o);
	put_samples(v, o);
	put_filter(v, o);
	put_methods(v, top, columns, o);
	rd_text_trust(v->result, o);
}

int rd_text_hottest(const struct rd_result *r, size_t top, unsigned columns, struct rd_out *o, struct rd_error *err)
{
	struct rd_view v;
	struct rd_view_filter all = RD_VIEW_ALL;
	int code = rd_view_make(&v, r, &all, err);

	if (code < 0)
		return code;
	put_samples(&v, o);
	put_filter(&v, o);
	put_methods(&v, top, columns, o);
	rd_view_release(&v);
	return 0;
}
