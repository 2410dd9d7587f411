/*
 * view_tree - the calls of a result as a view shows them.
 *
 * Whatever hides, groups or cuts frames looks from a frame outward only, so
 * each call of the result becomes one of the view from its caller's, and no
 * stack is ever spelt out. Only turning stacks around needs them one by one.
 */
#include <string.h>

#include "report/view_make.h"

static uint32_t call_of(struct rd_records *calls, uint32_t caller, uint32_t method)
{
	struct rd_view_call key = {.caller = caller, .method = method};
	uint32_t id = rd_records_id(calls, &key, NULL);

	/* The number of a call is one more: no id may be the last. */
	return id >= RD_NONE - 1 ? RD_NONE : id + 1;
}

static const struct rd_view_call *call_at(const struct rd_records *calls, uint32_t number)
{
	return number ? rd_records_at(calls, number - 1) : NULL;
}

static bool is_shown(const struct rd_view_filter *f, uint32_t before, uint32_t own)
{
	if (own & RD_FRAME_HIDE)
		return false;
	if (f->callers)
		return (before & RD_FRAME_PIVOT) == 0;
	return f->callees == NULL || ((before | own) & RD_FRAME_PIVOT) != 0;
}

/* From the caller's state to that of whom it calls. */
static int step(struct rd_view_making *g, const struct rd_call_state *caller, uint32_t frame, struct rd_call_state *out)
{
	uint32_t own = g->frame_bits.at[frame], method = g->frame_method.at[frame];

	out->call = caller->call;
	out->bits = caller->bits | (own & (RD_FRAME_FOCUS | RD_FRAME_IGNORE | RD_FRAME_PIVOT));
	if (!is_shown(g->f, caller->bits, own))
		return 0;
	const struct rd_view_call *outside = call_at(&g->calls, caller->call);
	if (g->f->group && outside && outside->method == method)
		return 0;
	out->call = call_of(&g->calls, caller->call, method);
	return out->call == RD_NONE ? RD_NOMEM : 0;
}

int rd_view_make_tree(struct rd_view_making *g)
{
	static const struct rd_call_state root;
	size_t n = g->r->calls.n;

	if (rd_vec_reserve(&g->states, n) != 0)
		return RD_NOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct rd_result_call *c = &g->r->calls.at[i];
		const struct rd_call_state *caller = c->caller ? &g->states.at[c->caller - 1] : &root;
		if (step(g, caller, c->frame, &g->states.at[i]) != 0)
			return RD_NOMEM;
		g->states.n++;
	}
	return 0;
}

/* ---- rows to stacks */

static bool bits_pass(const struct rd_view_filter *f, uint32_t bits, uint32_t innermost)
{
	return (f->focus == NULL || bits & RD_FRAME_FOCUS) && (f->ignore == NULL || (bits & RD_FRAME_IGNORE) == 0) &&
	       ((f->callers == NULL && f->callees == NULL) || bits & RD_FRAME_PIVOT) &&
	       (f->module == NULL || innermost & RD_FRAME_MODULE);
}

/* The number of the call that a stack of the result ends with; 0 when it does not pass, RD_NONE out of memory. */
static uint32_t stack_call(struct rd_view_making *g, uint32_t stack, uint32_t process)
{
	uint32_t number = g->r->stacks.at[stack];

	if (number) {
		const struct rd_call_state *s = &g->states.at[number - 1];
		uint32_t innermost = g->frame_bits.at[g->r->calls.at[number - 1].frame];
		return bits_pass(g->f, s->bits, innermost) ? s->call : 0;
	}
	uint32_t bits = g->frame_bits.at[g->r->frames.n];
	if (!bits_pass(g->f, bits, bits) || bits & RD_FRAME_HIDE)
		return 0;
	struct rd_view_method none = rd_view_pseudo(RD_VIEW_NO_STACK, process);
	uint32_t method = rd_records_id(&g->methods, &none, NULL);
	return method == RD_NONE ? RD_NONE : call_of(&g->calls, 0, method);
}

_Static_assert(RD_VIEW_STACK_KEY_BYTES == 16, "the key of a stack has no padding");

/* The view's stack of a row: RD_NONE when it does not pass. */
static int entry_of(struct rd_view_making *g, struct rd_records *stacks, const struct rd_result_row *row, uint32_t *id)
{
	uint32_t *last = &g->stack_entry.at[row->stack];
	struct rd_view_stack key = {.thread = g->f->by_thread ? row->thread : 0, .process = row->process};

	*id = RD_NONE;
	if (!rd_view_row_passes(g, row))
		return 0;
	/* Rows of one stack are most often of one process and thread, and come together. */
	if (*last) {
		const struct rd_view_stack *e = rd_records_at(stacks, *last - 1);
		if (e->thread == key.thread && e->process == key.process) {
			*id = *last - 1;
			return 0;
		}
	}
	key.call = stack_call(g, row->stack, row->process);
	if (key.call == 0)
		return 0;
	*id = key.call == RD_NONE ? RD_NONE : rd_records_id(stacks, &key, NULL);
	if (*id == RD_NONE)
		return RD_NOMEM;
	*last = *id + 1;
	return 0;
}

static int make_buckets(struct rd_view_making *g)
{
	uint64_t first = g->r->first_bucket, last = g->r->last_bucket;

	if (first < g->from_bucket)
		first = g->from_bucket;
	if (last >= g->to_bucket && g->to_bucket)
		last = g->to_bucket - 1;
	if (g->r->rows.n == 0 || first > last || g->to_bucket == 0)
		return 0;
	g->v->first_bucket = (uint32_t)first;
	return RD_ZEROS(&g->v->buckets, (size_t)(last - first + 1));
}

static void sum_row(struct rd_view *v, const struct rd_result_row *row)
{
	v->samples += row->count;
	v->weight += row->weight;
	v->kinds[row->kind] += row->count;
	v->process_samples.at[row->process] += row->count;
	v->buckets.at[row->bucket - v->first_bucket] += row->count;
}

static int fold(struct rd_view_making *g, struct rd_records *stacks)
{
	struct rd_view *v = g->v;
	uint32_t id;

	v->discarded = g->r->discarded;
	for (size_t i = 0; i < g->r->rows.n; i++) {
		const struct rd_result_row *row = &g->r->rows.at[i];
		if (entry_of(g, stacks, row, &id) != 0)
			return RD_NOMEM;
		v->row_stack.at[v->row_stack.n++] = id;
		if (id == RD_NONE) {
			v->discarded += row->count;
			continue;
		}
		struct rd_view_stack *e = rd_records_at(stacks, id);
		e->count += row->count;
		e->weight += row->weight;
		sum_row(v, row);
	}
	if (stacks->n == 0)
		return 0;
	if (rd_vec_reserve(&v->stacks, stacks->n) != 0)
		return RD_NOMEM;
	memcpy(v->stacks.at, stacks->at, stacks->n * sizeof *v->stacks.at);
	v->stacks.n = stacks->n;
	return 0;
}

int rd_view_fold_rows(struct rd_view_making *g)
{
	struct rd_records stacks;
	int code = RD_NOMEM;

	rd_records_init(&stacks, sizeof(struct rd_view_stack), RD_VIEW_STACK_KEY_BYTES);
	if (RD_ZEROS(&g->stack_entry, g->r->stacks.n) == 0 && make_buckets(g) == 0 &&
	    rd_vec_reserve(&g->v->row_stack, g->r->rows.n) == 0)
		code = fold(g, &stacks);
	rd_records_release(&stacks);
	return code;
}

/* ---- other trees of the same stacks */

static void take_tree(struct rd_view_making *g, struct rd_records *calls)
{
	rd_records_release(&g->calls);
	g->calls = *calls;
}

int rd_view_invert(struct rd_view_making *g)
{
	struct rd_records calls;

	rd_records_init(&calls, sizeof(struct rd_view_call), sizeof(struct rd_view_call));
	for (size_t i = 0; i < g->v->stacks.n; i++) {
		struct rd_view_stack *s = &g->v->stacks.at[i];
		uint32_t turned = 0;
		for (const struct rd_view_call *c = call_at(&g->calls, s->call); c; c = call_at(&g->calls, c->caller)) {
			turned = call_of(&calls, turned, c->method);
			if (turned == RD_NONE) {
				rd_records_release(&calls);
				return RD_NOMEM;
			}
		}
		s->call = turned;
	}
	take_tree(g, &calls);
	return 0;
}

struct pruning {
	struct rd_records calls;
	RD_VEC(uint64_t) total; /* by call: samples on it and within */
	RD_VEC(uint32_t) now;   /* by call: what it is in the pruned tree */
	RD_VEC(uint8_t) cut;    /* by call: it, or one outside it, has too few */
	uint64_t least;
};

static void sum_calls(const struct rd_view_making *g, struct pruning *p)
{
	for (size_t i = 0; i < g->v->stacks.n; i++)
		p->total.at[g->v->stacks.at[i].call - 1] += g->v->stacks.at[i].count;
	for (size_t i = g->calls.n; i-- > 0;) {
		const struct rd_view_call *c = rd_records_at(&g->calls, (uint32_t)i);
		if (c->caller)
			p->total.at[c->caller - 1] += p->total.at[i];
	}
}

/* The call in the pruned tree: itself below what its caller became, or where the tree was cut. */
static uint32_t pruned_call(struct rd_view_making *g, struct pruning *p, uint32_t i)
{
	struct rd_view_call c = *(const struct rd_view_call *)rd_records_at(&g->calls, i);
	uint32_t outside = c.caller ? p->now.at[c.caller - 1] : 0;

	if (c.caller && p->cut.at[c.caller - 1]) {
		p->cut.at[i] = 1;
		return outside;
	}
	if (p->total.at[i] >= p->least)
		return call_of(&p->calls, outside, c.method);
	const struct rd_view_method *m = rd_records_at(&g->methods, c.method);
	struct rd_view_method pruned = rd_view_pseudo(RD_VIEW_PRUNED, m->process);
	uint32_t method = rd_records_id(&g->methods, &pruned, NULL);
	p->cut.at[i] = 1;
	return method == RD_NONE ? RD_NONE : call_of(&p->calls, outside, method);
}

static int prune(struct rd_view_making *g, struct pruning *p)
{
	if (RD_ZEROS(&p->total, g->calls.n) != 0 || RD_ZEROS(&p->now, g->calls.n) != 0 ||
	    RD_ZEROS(&p->cut, g->calls.n) != 0)
		return RD_NOMEM;
	sum_calls(g, p);
	for (uint32_t i = 0; i < g->calls.n; i++) {
		/* Calls of stacks that do not pass are nobody's. */
		p->now.at[i] = p->total.at[i] ? pruned_call(g, p, i) : 0;
		if (p->now.at[i] == RD_NONE)
			return RD_NOMEM;
	}
	for (size_t i = 0; i < g->v->stacks.n; i++) {
		struct rd_view_stack *s = &g->v->stacks.at[i];
		g->v->pruned += p->cut.at[s->call - 1] ? s->count : 0;
		s->call = p->now.at[s->call - 1];
	}
	return 0;
}

int rd_view_prune(struct rd_view_making *g)
{
	struct pruning p = {.least = rd_view_least(g->v)};

	rd_records_init(&p.calls, sizeof(struct rd_view_call), sizeof(struct rd_view_call));
	int code = prune(g, &p);
	if (code == 0) {
		take_tree(g, &p.calls);
		code = rd_view_merge_stacks(g);
	} else {
		rd_records_release(&p.calls);
	}
	rd_vec_release(&p.total);
	rd_vec_release(&p.now);
	rd_vec_release(&p.cut);
	return code;
}
