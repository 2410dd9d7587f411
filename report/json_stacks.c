/*
 * json_stacks - the stacks of a view, and its samples over time, as columns: a number a row, each table an object of
 * arrays.
 */
#include "report/json_parts.h"
#include "report/label.h"

void rd_json_names(struct rd_json *j, const struct rd_view_method *m, bool tiers)
{
	char tier[32];

	rd_json_span(j, "module", m->module);
	rd_json_span(j, "namespace", m->ns);
	rd_json_span(j, "name", m->name);
	rd_json_span(j, "signature", m->signature);
	if (tiers)
		rd_json_text(j, "tier", rd_tier_name(m->tier, tier));
}

void rd_json_method(struct rd_json *j, const struct rd_view *v, const struct rd_view_method *m)
{
	rd_json_u64(j, "process", m->process);
	rd_json_i64(j, "pid", rd_pid_number(v->result->processes.at[m->process].pid));
	rd_json_u64(j, "clr", m->clr);
	rd_json_names(j, m, v->filter.tiers);
}

/* One column: member MEMBER of each of n items. */
#define COLUMN(key, n, value)                                                                                          \
	do {                                                                                                           \
		rd_json_array(j, key);                                                                                 \
		for (size_t i = 0; i < (n); i++)                                                                       \
			rd_json_u64(j, NULL, (value));                                                                 \
		rd_json_array_end(j);                                                                                  \
	} while (0)

static void put_frames(struct rd_json *j, const struct rd_view *v)
{
	rd_json_array(j, "frames");
	for (size_t i = 0; i < v->methods.n; i++) {
		rd_json_object(j, NULL);
		rd_json_method(j, v, &v->methods.at[i]);
		rd_json_object_end(j);
	}
	rd_json_array_end(j);
}

static void put_calls(struct rd_json *j, const struct rd_view *v)
{
	rd_json_object(j, "calls");
	COLUMN("caller", v->calls.n, v->calls.at[i].caller);
	COLUMN("frame", v->calls.n, v->calls.at[i].method);
	rd_json_object_end(j);
}

static void put_stacks(struct rd_json *j, const struct rd_view *v)
{
	rd_json_object(j, "stacks");
	COLUMN("process", v->stacks.n, v->stacks.at[i].process);
	if (v->filter.by_thread)
		COLUMN("thread", v->stacks.n, v->stacks.at[i].thread);
	COLUMN("call", v->stacks.n, v->stacks.at[i].call);
	COLUMN("samples", v->stacks.n, v->stacks.at[i].count);
	COLUMN("weight", v->stacks.n, v->stacks.at[i].weight);
	rd_json_object_end(j);
}

/* One column of the result's rows that pass. */
#define PASSING(key, put)                                                                                              \
	do {                                                                                                           \
		rd_json_array(j, key);                                                                                 \
		for (size_t i = 0; i < v->row_stack.n; i++) {                                                          \
			const struct rd_result_row *row = &v->result->rows.at[i];                                      \
			uint32_t stack = v->row_stack.at[i];                                                           \
			(void)row;                                                                                     \
			if (stack != RD_NONE)                                                                          \
				put;                                                                                   \
		}                                                                                                      \
		rd_json_array_end(j);                                                                                  \
	} while (0)

static void put_rows(struct rd_json *j, const struct rd_view *v)
{
	rd_json_object(j, "rows");
	PASSING("stack", rd_json_u64(j, NULL, stack));
	PASSING("thread", rd_json_u64(j, NULL, row->thread));
	PASSING("kind", rd_json_text(j, NULL, rd_sample_kind_name(row->kind)));
	PASSING("bucket", rd_json_u64(j, NULL, row->bucket));
	PASSING("samples", rd_json_u64(j, NULL, row->count));
	PASSING("weight", rd_json_u64(j, NULL, row->weight));
	rd_json_object_end(j);
}

void rd_json_stacks(struct rd_json *j, const struct rd_view *v)
{
	put_frames(j, v);
	put_calls(j, v);
	put_stacks(j, v);
	put_rows(j, v);
}

/* ---- the filter's words */

static void text_if(struct rd_json *j, const char *key, const char *text)
{
	if (text)
		rd_json_text(j, key, text);
}

void rd_json_view(struct rd_json *j, const struct rd_view *v)
{
	const struct rd_view_filter *f = &v->filter;

	rd_json_object(j, "view");
	text_if(j, "process", f->process);
	if (f->has_thread)
		rd_json_u64(j, "thread", f->thread);
	if (f->trace)
		rd_json_u64(j, "trace", f->trace - 1);
	text_if(j, "kind", f->kind >= 0 ? rd_sample_kind_name((uint32_t)f->kind) : NULL);
	text_if(j, "module", f->module);
	if (v->has_from)
		rd_json_i64(j, "from_ns", v->from_ns);
	if (v->has_to)
		rd_json_i64(j, "to_ns", v->to_ns);
	text_if(j, "focus", f->focus);
	text_if(j, "ignore", f->ignore);
	text_if(j, "hide", f->hide);
	text_if(j, "callers", f->callers);
	text_if(j, "callees", f->callees);
	text_if(j, "group", f->group ? rd_group_name(f->group) : NULL);
	text_if(j, "by", f->by_thread ? "thread" : NULL);
	if (f->tiers)
		rd_json_bool(j, "tiers", true);
	if (f->inverted)
		rd_json_bool(j, "inverted", true);
	if (f->min_samples || f->min_millionths)
		rd_json_u64(j, "min_samples", rd_view_least(v));
	rd_json_object_end(j);
}
