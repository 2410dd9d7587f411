#include "report/text_table.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
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
	if (m->no_stack)
		return 0;
	return rd_out_name(&t->name, rd_strings_at(&t->v->result->strings, m->module), t->module_cut);
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
	if (t->method_cut && rd_name_columns(made_name(t)) > t->method_cut)
		make_method(t, m, true);
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
	size_t digits = 0, process = 0, module = 0;

	for (size_t i = 0; i < t->rows; i++) {
		const struct rd_view_method *m = &t->v->methods.at[i];
		digits = most(digits, strlen(rd_count_text(m->exclusive, number)));
		digits = most(digits, strlen(rd_count_text(m->inclusive, number)));
		process = most(process, make_process(t, m->process));
		module = most(module, make_module(t, m));
	}
	t->number_columns = (int)most(digits + 1 + strlen("100.0 %"), strlen("exclusive"));
	t->trace_columns = t->v->result->traces.n > 1 ? strlen("trace") : 0;
	t->process_columns = process ? most(process, strlen("process")) : 0;
	t->module_columns = module ? most(module, strlen("module")) : 0;
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
	size_t used = 2 * ((size_t)t->number_columns + 2) + (t->trace_columns ? t->trace_columns + 2 : 0);
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
	rd_out_printf(o, "%*s  %*s  ", t->number_columns, "exclusive", t->number_columns, "inclusive");
	if (t->trace_columns)
		rd_out_text(o, "trace  ");
	if (t->process_columns)
		rd_out_printf(o, "%-*s  ", (int)t->process_columns, "process");
	if (t->module_columns)
		rd_out_printf(o, "%-*s  ", (int)t->module_columns, "module");
	rd_out_text(o, "method\n");
}

static void put_table(struct table *t, struct rd_out *o)
{
	put_head(t, o);
	for (size_t i = 0; i < t->rows; i++) {
		const struct rd_view_method *m = &t->v->methods.at[i];
		put_number(t, m->exclusive, o);
		put_number(t, m->inclusive, o);
		if (t->trace_columns)
			rd_out_printf(o, "%5u  ", t->v->result->processes.at[m->process].trace + 1);
		put_padded(t, make_process(t, m->process), t->process_columns, o);
		put_padded(t, make_module(t, m), t->module_columns, o);
		put_method(t, m, o);
	}
}

void rd_text_table(const struct rd_view *v, const struct rd_report_options *opt, struct rd_out *o)
{
	struct table t = {.v = v, .rows = opt->top && opt->top < v->methods.n ? opt->top : v->methods.n};
	char number[RD_NUMBER_TEXT], of[RD_NUMBER_TEXT], all[RD_NUMBER_TEXT];

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
	rd_out_printf(o, "\n%s of %s methods; percentages are of the %s samples%s\n", rd_count_text(t.rows, number),
		      rd_count_text(v->methods.n, of), rd_count_text(v->samples, all),
		      v->filtered ? " that pass the filter" : "");
	if (t.name.buffer.failed)
		o->buffer.failed = 1;
	rd_out_close(&t.name, NULL);
}
