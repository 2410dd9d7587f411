/*
 * view_take - what was made becomes the view: each stack once, and no call or method that none of them has.
 */
#include <string.h>

#include "report/view_make.h"

/* Stacks may have become one where they were cut. */
static int merge(struct rd_view_making *g, struct rd_records *stacks, uint32_t *now)
{
	struct rd_view *v = g->v;

	for (size_t i = 0; i < v->stacks.n; i++) {
		const struct rd_view_stack *s = &v->stacks.at[i];
		now[i] = rd_records_id(stacks, s, NULL);
		if (now[i] == RD_NONE)
			return RD_NOMEM;
		struct rd_view_stack *one = rd_records_at(stacks, now[i]);
		one->count += s->count;
		one->weight += s->weight;
	}
	memcpy(v->stacks.at, stacks->at, stacks->n * sizeof *v->stacks.at);
	v->stacks.n = stacks->n;
	for (size_t i = 0; i < v->row_stack.n; i++)
		if (v->row_stack.at[i] != RD_NONE)
			v->row_stack.at[i] = now[v->row_stack.at[i]];
	return 0;
}

int rd_view_merge_stacks(struct rd_view_making *g)
{
	struct rd_records stacks;
	RD_VEC(uint32_t) now = {0};
	int code = RD_NOMEM;

	if (g->v->stacks.n == 0)
		return 0;
	rd_records_init(&stacks, sizeof(struct rd_view_stack), RD_VIEW_STACK_KEY_BYTES);
	if (RD_ZEROS(&now, g->v->stacks.n) == 0)
		code = merge(g, &stacks, now.at);
	rd_records_release(&stacks);
	rd_vec_release(&now);
	return code;
}

struct used {
	RD_VEC(uint32_t) call, method; /* 1 used, 0 not; then the number in the view */
};

static void mark(const struct rd_view_making *g, struct used *u)
{
	for (size_t i = 0; i < g->v->stacks.n; i++)
		u->call.at[g->v->stacks.at[i].call - 1] = 1;
	for (size_t i = g->calls.n; i-- > 0;) {
		const struct rd_view_call *c = rd_records_at(&g->calls, (uint32_t)i);
		if (u->call.at[i] == 0)
			continue;
		u->method.at[c->method] = 1;
		if (c->caller)
			u->call.at[c->caller - 1] = 1;
	}
	for (size_t i = 0; i < g->v->rows.n; i++)
		u->method.at[g->v->rows.at[i].method] = 1;
}

static void number_anew(const struct rd_view_making *g, struct used *u)
{
	struct rd_view *v = g->v;

	for (size_t i = 0; i < g->methods.n; i++) {
		if (u->method.at[i] == 0)
			continue;
		u->method.at[i] = (uint32_t)v->methods.n;
		memcpy(&v->methods.at[v->methods.n++], rd_records_at(&g->methods, (uint32_t)i), sizeof *v->methods.at);
	}
	for (size_t i = 0; i < g->calls.n; i++) {
		const struct rd_view_call *c = rd_records_at(&g->calls, (uint32_t)i);
		if (u->call.at[i] == 0)
			continue;
		v->calls.at[v->calls.n++] = (struct rd_view_call){.caller = c->caller ? u->call.at[c->caller - 1] : 0,
								  .method = u->method.at[c->method]};
		u->call.at[i] = (uint32_t)v->calls.n;
	}
	for (size_t i = 0; i < v->stacks.n; i++)
		v->stacks.at[i].call = u->call.at[v->stacks.at[i].call - 1];
	for (size_t i = 0; i < v->rows.n; i++)
		v->rows.at[i].method = u->method.at[v->rows.at[i].method];
}

int rd_view_take(struct rd_view_making *g)
{
	struct used u = {0};
	int code = RD_NOMEM;

	if (RD_ZEROS(&u.call, g->calls.n) == 0 && RD_ZEROS(&u.method, g->methods.n) == 0 &&
	    rd_vec_reserve(&g->v->methods, g->methods.n) == 0 && rd_vec_reserve(&g->v->calls, g->calls.n) == 0) {
		mark(g, &u);
		number_anew(g, &u);
		code = 0;
	}
	rd_vec_release(&u.call);
	rd_vec_release(&u.method);
	return code;
}
