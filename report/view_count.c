/*
 * view_count - the stacks of a view by method, and in which order the rows stand.
 */
#include <stdlib.h>
#include <string.h>

#include "report/label.h"
#include "report/view_make.h"

struct counting {
	struct rd_view_making *g;
	struct rd_records rows;
	RD_VEC(uint32_t) row;  /* by method: the row that it last was, + 1 */
	RD_VEC(uint32_t) seen; /* by row: the last stack that counted it, + 1 */
};

#define ROW_KEY_BYTES offsetof(struct rd_view_row, exclusive)
_Static_assert(ROW_KEY_BYTES == 16, "the key of a row has no padding");

static uint32_t row_of(struct counting *c, uint64_t thread, uint32_t method)
{
	struct rd_view_row key = {.thread = thread, .method = method};
	uint32_t last = c->row.at[method];

	if (last && ((const struct rd_view_row *)rd_records_at(&c->rows, last - 1))->thread == thread)
		return last - 1;
	uint32_t id = rd_records_id(&c->rows, &key, NULL);
	if (id == RD_NONE)
		return RD_NONE;
	if (id == c->seen.n) {
		uint32_t *seen = rd_vec_add(&c->seen);
		if (seen == NULL)
			return RD_NONE;
		*seen = 0;
	}
	c->row.at[method] = id + 1;
	return id;
}

static int count_inclusive(struct counting *c, uint32_t method, uint32_t stack)
{
	const struct rd_view_stack *s = &c->g->v->stacks.at[stack];
	uint32_t id = row_of(c, s->thread, method);

	if (id == RD_NONE)
		return RD_NOMEM;
	if (c->seen.at[id] == stack + 1)
		return 0;
	c->seen.at[id] = stack + 1;
	struct rd_view_row *row = rd_records_at(&c->rows, id);
	row->inclusive += s->count;
	row->inclusive_weight += s->weight;
	return 0;
}

/* The frame next to the one that --callers or --callees names, which is the stack's last or first. */
static const struct rd_view_call *neighbour(const struct rd_view_making *g, const struct rd_view_stack *s)
{
	const struct rd_view_call *calls = (const struct rd_view_call *)(const void *)g->calls.at, *inner = NULL;
	const struct rd_view_call *c = &calls[s->call - 1];

	if (g->f->callers)
		return c->caller ? &calls[c->caller - 1] : NULL;
	for (; g->f->callees && c->caller; c = &calls[c->caller - 1])
		inner = c;
	return inner;
}

static int count_stack(struct counting *c, uint32_t stack)
{
	struct rd_view_making *g = c->g;
	const struct rd_view_stack *s = &g->v->stacks.at[stack];
	const struct rd_view_call *calls = (const struct rd_view_call *)(const void *)g->calls.at;

	for (uint32_t at = s->call; at; at = calls[at - 1].caller)
		if (count_inclusive(c, calls[at - 1].method, stack) != 0)
			return RD_NOMEM;
	struct rd_view_row *leaf = rd_records_at(&c->rows, row_of(c, s->thread, calls[s->call - 1].method));
	leaf->exclusive += s->count;
	leaf->exclusive_weight += s->weight;
	const struct rd_view_call *next = neighbour(g, s);
	if (next) {
		struct rd_view_row *row = rd_records_at(&c->rows, row_of(c, s->thread, next->method));
		row->direct += s->count;
		row->direct_weight += s->weight;
	}
	return 0;
}

/* ---- order */

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* By content and never by number, so that equal results read the same. */
static int compare_names(const struct rd_view_making *g, const struct rd_view_row *a, const struct rd_view_row *b)
{
	const struct rd_view_method *m = rd_records_at(&g->methods, a->method);
	const struct rd_view_method *n = rd_records_at(&g->methods, b->method);
	uint32_t p = g->r->processes.at[m->process].pid, q = g->r->processes.at[n->process].pid;
	int c = (int)m->what - (int)n->what;

	c = c ? c : rd_compare_spans(m->module, n->module);
	c = c ? c : rd_compare_spans(m->ns, n->ns);
	c = c ? c : rd_compare_spans(m->name, n->name);
	c = c ? c : rd_compare_spans(m->signature, n->signature);
	c = c ? c : compare_u64(m->tier, n->tier);
	c = c ? c : compare_u64(p, q);
	c = c ? c : compare_u64(m->process, n->process);
	c = c ? c : compare_u64(m->clr, n->clr);
	return c ? c : compare_u64(a->thread, b->thread);
}

static int compare_rows(const void *x, const void *y, void *ctx)
{
	const struct rd_view_making *g = ctx;
	const struct rd_view_row *a = x, *b = y;
	enum rd_sort by = g->f->sort;
	int c = 0;

	if (by == RD_SORT_DIRECT)
		c = compare_u64(b->direct, a->direct);
	if (c == 0 && by == RD_SORT_EXCLUSIVE)
		c = compare_u64(b->exclusive, a->exclusive);
	if (c == 0 && by != RD_SORT_NAME)
		c = compare_u64(b->inclusive, a->inclusive);
	if (c == 0 && by != RD_SORT_NAME)
		c = compare_u64(b->exclusive, a->exclusive);
	return c ? c : compare_names(g, a, b);
}

uint64_t rd_view_least(const struct rd_view *v)
{
	unsigned __int128 part = (unsigned __int128)v->samples * v->filter.min_millionths;
	uint64_t least = (uint64_t)((part + 999999) / 1000000);

	return least > v->filter.min_samples ? least : v->filter.min_samples;
}

static int take_rows(struct counting *c)
{
	struct rd_view *v = c->g->v;
	uint64_t least = rd_view_least(v);

	if (rd_vec_reserve(&v->rows, c->rows.n) != 0)
		return RD_NOMEM;
	for (size_t i = 0; i < c->rows.n; i++) {
		const struct rd_view_row *row = rd_records_at(&c->rows, (uint32_t)i);
		if (row->inclusive >= least)
			v->rows.at[v->rows.n++] = *row;
		else
			v->rows_left_out++;
	}
	if (v->rows.n)
		qsort_r(v->rows.at, v->rows.n, sizeof *v->rows.at, compare_rows, c->g);
	return 0;
}

int rd_view_count(struct rd_view_making *g)
{
	struct counting c = {.g = g};
	int code;

	rd_records_init(&c.rows, sizeof(struct rd_view_row), ROW_KEY_BYTES);
	code = RD_ZEROS(&c.row, g->methods.n);
	for (uint32_t i = 0; i < g->v->stacks.n && code == 0; i++)
		code = count_stack(&c, i);
	if (code == 0)
		code = take_rows(&c);
	rd_records_release(&c.rows);
	rd_vec_release(&c.row);
	rd_vec_release(&c.seen);
	return code;
}
