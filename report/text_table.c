#include "report/text_table.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "report/label.h"
#include "report/people.h"

/* Where nothing is cut, longer names of processes and modules stick out of their columns. */
#define NAME_COLUMNS         28
/* Less than these of a name tell nothing; on a terminal too narrow for them lines may wrap. */
#define METHOD_COLUMNS_LEAST 16
#define NAME_COLUMNS_LEAST   8

struct table {
	const struct rd_view *v;
	size_t rows;
	int number_columns;   /* of "1,234  12.3 %" */
	size_t numbers;       /* such columns */
	int thread_columns;   /* 0: nothing to show */
	size_t trace_columns; /* 0: nothing to show */
	size_t process_columns, module_columns;
	size_t process_cut, module_cut, method_cut; /* names are cut to it; 0: they are not */
	struct rd_out name;                         /* one name in the making */
};

static size_t begin_name(struct table *t)
{
	t->name.buffer.n = 0;
	return 0;
}

static const struct rd_view_method *method_of(const struct table *t, const struct rd_view_row *row)
{
	return &t->v->methods.at[row->method];
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
	size_t room = t->process_cut > (size_t)digits ? t->process_cut - (size_t)digits : t->process_cut ? 1 : 0;
	size_t n = rd_out_name(&t->name, name, room);
	rd_out_text(&t->name, pid);
	return n + (size_t)digits;
}

static size_t make_module(struct table *t, const struct rd_view_method *m)
{
	begin_name(t);
	return rd_out_name(&t->name, m->module, t->module_cut);
}

/* Where room is short the arguments go first, and only then the middle of the name. A group is all of its name. */
static void put_method(struct table *t, const struct rd_view_method *m, struct rd_out *o)
{
	bool group = t->v->filter.group != 0;

	begin_name(t);
	rd_label_within(&t->name.buffer, m, t->v->filter.tiers && !group, group, t->method_cut);
	rd_out_name(o, made_name(t), t->method_cut);
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

/* The columns that names need, whole. */
static void measure(struct table *t)
{
	char number[RD_NUMBER_TEXT];
	size_t digits = 0, thread = 0, process = 0, module = 0;

	for (size_t i = 0; i < t->rows; i++) {
		const struct rd_view_row *row = &t->v->rows.at[i];
		digits = most(digits, strlen(rd_count_text(row->inclusive, number)));
		thread = most(thread, (size_t)snprintf(number, sizeof number, "%llu", (unsigned long long)row->thread));
		process = most(process, make_process(t, method_of(t, row)->process));
		module = most(module, make_module(t, method_of(t, row)));
	}
	t->numbers = rd_view_has_direct(t->v) ? 3 : 2;
	t->number_columns = (int)most(digits + 1 + strlen("100.0 %"), strlen("exclusive"));
	t->thread_columns = t->v->filter.by_thread ? (int)most(thread, strlen("thread")) : 0;
	t->trace_columns = t->v->result->traces.n > 1 ? strlen("trace") : 0;
	t->process_columns = process ? most(process, strlen("process")) : 0;
	t->module_columns = module ? most(module, strlen("module")) : 0;
	/* A group's name is all there is to tell. */
	if (t->v->filter.group)
		t->module_columns = 0;
	if (t->v->filter.group == RD_GROUP_PROCESS)
		t->process_columns = 0;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Whether all samples are of one process: then its name is said once, where room is short. */
static bool one_process(const struct rd_result *r)
{
	return r->processes.n == 1;
}

/* Process and module get what they need up to their part of the room; the method has the rest. */
static void fit(struct table *t, size_t columns)
{
	if (columns == 0) {
		t->process_columns = least(t->process_columns, NAME_COLUMNS);
		t->module_columns = least(t->module_columns, NAME_COLUMNS);
		return;
	}
	size_t used = t->numbers * ((size_t)t->number_columns + 2) + (t->trace_columns ? t->trace_columns + 2 : 0) +
		      (t->thread_columns ? (size_t)t->thread_columns + 2 : 0);
	size_t room = columns > used ? columns - used : 0;

	if (one_process(t->v->result))
		t->process_columns = 0;
	t->process_columns = least(t->process_columns, most(room * 3 / 10, NAME_COLUMNS_LEAST));
	t->module_columns =
		least(t->module_columns, most(t->process_columns ? room / 4 : room / 3, NAME_COLUMNS_LEAST));
	t->process_cut = t->process_columns;
	t->module_cut = t->module_columns;
	used = (t->process_columns ? t->process_columns + 2 : 0) + (t->module_columns ? t->module_columns + 2 : 0);
	t->method_cut = most(room > used ? room - used : 0, METHOD_COLUMNS_LEAST);
}

static void put_number(const struct table *t, uint64_t n, struct rd_out *o)
{
	char number[RD_NUMBER_TEXT], percent[RD_NUMBER_TEXT];

	rd_out_printf(o, "%*s %7s  ", t->number_columns - 8, rd_count_text(n, number),
		      rd_percent_text(n, t->v->samples, percent));
}

static void put_head(const struct table *t, struct rd_out *o)
{
	rd_out_style(o, RD_STYLE_HEAD);
	if (t->numbers > 2)
		rd_out_printf(o, "%*s  ", t->number_columns, "direct");
	rd_out_printf(o, "%*s  %*s  ", t->number_columns, "exclusive", t->number_columns, "inclusive");
	if (t->trace_columns)
		rd_out_text(o, "trace  ");
	if (t->process_columns)
		rd_out_printf(o, "%-*s  ", (int)t->process_columns, "process");
	if (t->thread_columns)
		rd_out_printf(o, "%*s  ", t->thread_columns, "thread");
	if (t->module_columns)
		rd_out_printf(o, "%-*s  ", (int)t->module_columns, "module");
	rd_out_text(o, rd_group_name(t->v->filter.group));
	rd_out_style(o, RD_STYLE_PLAIN);
	rd_out_text(o, "\n");
}

static void put_table(struct table *t, struct rd_out *o)
{
	put_head(t, o);
	for (size_t i = 0; i < t->rows; i++) {
		const struct rd_view_row *row = &t->v->rows.at[i];
		const struct rd_view_method *m = method_of(t, row);
		if (t->numbers > 2)
			put_number(t, row->direct, o);
		put_number(t, row->exclusive, o);
		put_number(t, row->inclusive, o);
		if (t->trace_columns)
			rd_out_printf(o, "%5u  ", t->v->result->processes.at[m->process].trace + 1);
		rd_out_style(o, RD_STYLE_SOFT);
		put_padded(t, make_process(t, m->process), t->process_columns, o);
		if (t->thread_columns)
			rd_out_printf(o, "%*llu  ", t->thread_columns, (unsigned long long)row->thread);
		put_padded(t, make_module(t, m), t->module_columns, o);
		rd_out_style(o, RD_STYLE_PLAIN);
		put_method(t, m, o);
	}
}

/* "12 of 749 methods, 700 have less than 10 samples; percentages are of the 9,065 samples that pass the filter" */
static void put_foot(const struct table *t, struct rd_out *o)
{
	static const char *const plurals[] = {"methods", "modules", "namespaces", "types", "tiers", "processes"};
	const struct rd_view *v = t->v;
	char number[RD_NUMBER_TEXT], of[RD_NUMBER_TEXT], all[RD_NUMBER_TEXT];

	rd_out_printf(o, "\n%s of %s %s", rd_count_text(t->rows, number),
		      rd_count_text(v->rows.n + v->rows_left_out, of),
		      v->filter.by_thread ? "rows" : plurals[v->filter.group]);
	if (v->rows_left_out)
		rd_out_printf(o, ", %s of them below %s sample%s", rd_count_text(v->rows_left_out, number),
			      rd_count_text(rd_view_least(v), of), rd_view_least(v) == 1 ? "" : "s");
	rd_out_printf(o, "; percentages are of the %s samples%s\n", rd_count_text(v->samples, all),
		      v->filtered ? " that pass the filter" : "");
}

void rd_text_table(const struct rd_view *v, const struct rd_report_options *opt, struct rd_out *o)
{
	struct table t = {.v = v, .rows = rd_report_rows(v, opt)};

	if (v->samples == 0) {
		rd_out_text(o, v->filtered ? "no sample passes the filter\n" : "no samples were recorded\n");
		return;
	}
	rd_out_init(&t.name, -1);
	measure(&t);
	fit(&t, opt->columns);
	if (opt->columns && one_process(v->result)) {
		make_process(&t, 0);
		rd_out_text(o, "all of process ");
		rd_out_name(o, made_name(&t), 0);
		rd_out_text(o, "\n");
	}
	rd_out_text(o, "\n");
	put_table(&t, o);
	put_foot(&t, o);
	if (t.name.buffer.failed)
		o->buffer.failed = 1;
	rd_out_close(&t.name, NULL);
}
