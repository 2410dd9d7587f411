#include "report/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/records.h"
#include "base/text.h"
#include "profile/filter.h"

/* What making a view needs besides the view: by stack and by frame. */
struct folding {
	struct rd_view *v;
	const struct rd_result *r;
	const struct rd_view_filter *f;
	RD_VEC(uint32_t) stack_head;     /* by stack: number of its newest entry in v->stacks + 1 */
	RD_VEC(uint32_t) frame_method;   /* by frame: record */
	RD_VEC(uint32_t) seen;           /* by record: the last entry that counted it, + 1 */
	struct rd_records methods;       /* of struct rd_view_method, keyed by all in front of its counts */
	uint64_t from_bucket, to_bucket; /* [from, to) */
};

#define METHOD_KEY_BYTES offsetof(struct rd_view_method, exclusive)
_Static_assert(METHOD_KEY_BYTES == 32, "the key of a method has no padding");

/* n zeros. */
#define ZEROS(vec, count)                                                                                              \
	(rd_vec_reserve((vec), (count)) == 0                                                                           \
		 ? ((count) ? memset((vec)->at, 0, (count) * sizeof *(vec)->at) : NULL, (vec)->n = (count), 0)         \
		 : RD_NOMEM)

/* ---- the filter */

static int64_t since_origin(const struct rd_result *r, int64_t ns, bool is_utc)
{
	int64_t since;

	if (!is_utc)
		return ns;
	if (__builtin_sub_overflow(ns, r->origin_utc_ns, &since))
		return ns < 0 ? INT64_MIN : INT64_MAX;
	return since;
}

/* From times to whole buckets: those that hold any of [from, to). */
static int choose_buckets(struct folding *g, struct rd_error *err)
{
	const struct rd_view_filter *f = g->f;
	const struct rd_result *r = g->r;
	uint64_t width = r->bucket_width_ns ? r->bucket_width_ns : 1;
	int64_t from = since_origin(r, f->from_ns, f->from_is_utc), to = since_origin(r, f->to_ns, f->to_is_utc);

	g->from_bucket = 0;
	g->to_bucket = (uint64_t)UINT32_MAX + 1;
	if (f->has_from && f->has_to && from >= to)
		return rd_fail(err, RD_USAGE, "--from is not before --to");
	if (f->has_from && from > 0)
		g->from_bucket = (uint64_t)from / width;
	if (f->has_to)
		g->to_bucket = to <= 0 ? 0 : (uint64_t)to / width + ((uint64_t)to % width != 0);
	g->v->cut_in_time = f->has_from || f->has_to;
	g->v->has_from = f->has_from;
	g->v->has_to = f->has_to;
	g->v->from_ns = (int64_t)(g->from_bucket * width);
	uint64_t end = g->to_bucket <= UINT32_MAX ? g->to_bucket : (uint64_t)r->last_bucket + 1;
	if (__builtin_mul_overflow(end, width, &end) || end > INT64_MAX)
		end = INT64_MAX;
	g->v->to_ns = (int64_t)end;
	g->v->widened =
		(f->has_from && from > 0 && g->v->from_ns != from) || (f->has_to && to > 0 && g->v->to_ns != to);
	return 0;
}

#define PROCESSES_NAMED 4

static int no_such_process(const struct rd_result *r, const char *wanted, struct rd_error *err)
{
	char list[150] = "", more[32] = "";
	size_t used = 0, named = 0;

	/* Those with the most samples would be better, and the first are cheaper: a typo shows either way. */
	for (; named < r->processes.n && named < PROCESSES_NAMED && used + 60 < sizeof list; named++) {
		const struct rd_result_process *p = &r->processes.at[named];
		struct rd_span name = rd_base_name(rd_strings_at(&r->strings, p->name));
		used += (size_t)snprintf(list + used, sizeof list - used, "%s", named ? ", " : "");
		used += rd_process_text(name, p->pid, p->samples, list + used, sizeof list - used);
	}
	if (r->processes.n > named)
		snprintf(more, sizeof more, " and %zu more", r->processes.n - named);
	return rd_fail(err, RD_NOT_FOUND, "no samples of process '%.40s'; there are %s%s", wanted,
		       *list ? list : "none", more);
}

/* By the rule of the finish, so that --process means the same to run and report. */
static bool is_wanted(const struct folding *g, const struct rd_result_process *p)
{
	struct rd_span name = rd_strings_at(&g->r->strings, p->name);

	return rd_process_is(g->f->process, p->pid, p->namespace_pid, name);
}

static int choose_processes(struct folding *g, struct rd_error *err)
{
	bool any = g->f->process == NULL;

	if (ZEROS(&g->v->process_passes, g->r->processes.n) != 0 ||
	    ZEROS(&g->v->process_samples, g->r->processes.n) != 0)
		return rd_fail_nomem(err);
	for (size_t i = 0; i < g->r->processes.n; i++) {
		const struct rd_result_process *p = &g->r->processes.at[i];
		bool in = g->f->process == NULL || is_wanted(g, p);
		g->v->process_passes.at[i] = in;
		any |= in;
	}
	return any ? 0 : no_such_process(g->r, g->f->process, err);
}

static bool passes(const struct folding *g, const struct rd_result_row *row)
{
	return g->v->process_passes.at[row->process] && (g->f->kind < 0 || (uint32_t)g->f->kind == row->kind) &&
	       row->bucket >= g->from_bucket && row->bucket < g->to_bucket;
}

/* ---- rows to stacks */

/* The entry of a stack in a process. Rows come by process, so an older entry is none of this one's. */
static struct rd_view_stack *entry_of(struct folding *g, const struct rd_result_row *row)
{
	uint32_t at = g->stack_head.at[row->stack];

	if (at && g->v->stacks.at[at - 1].process == row->process)
		return &g->v->stacks.at[at - 1];
	struct rd_view_stack *entry = rd_vec_add(&g->v->stacks);
	if (entry == NULL)
		return NULL;
	*entry = (struct rd_view_stack){.process = row->process, .stack = row->stack};
	g->stack_head.at[row->stack] = (uint32_t)g->v->stacks.n;
	return entry;
}

static int make_buckets(struct folding *g)
{
	const struct rd_result *r = g->r;
	uint64_t first = r->first_bucket, last = r->last_bucket;

	if (first < g->from_bucket)
		first = g->from_bucket;
	if (last >= g->to_bucket && g->to_bucket)
		last = g->to_bucket - 1;
	if (r->rows.n == 0 || first > last || g->to_bucket == 0)
		return 0;
	g->v->first_bucket = (uint32_t)first;
	return ZEROS(&g->v->buckets, (size_t)(last - first + 1));
}

static int fold_rows(struct folding *g)
{
	struct rd_view *v = g->v;

	if (ZEROS(&g->stack_head, g->r->stacks.n) != 0 || make_buckets(g) != 0)
		return RD_NOMEM;
	v->discarded = g->r->discarded;
	for (size_t i = 0; i < g->r->rows.n; i++) {
		const struct rd_result_row *row = &g->r->rows.at[i];
		if (!passes(g, row)) {
			v->discarded += row->count;
			continue;
		}
		struct rd_view_stack *entry = entry_of(g, row);
		if (entry == NULL)
			return RD_NOMEM;
		entry->count += row->count;
		entry->weight += row->weight;
		v->samples += row->count;
		v->weight += row->weight;
		v->kinds[row->kind] += row->count;
		v->process_samples.at[row->process] += row->count;
		v->buckets.at[row->bucket - v->first_bucket] += row->count;
	}
	return 0;
}

/* ---- stacks to methods */

static uint32_t method_of(struct folding *g, const struct rd_view_method *key)
{
	uint32_t id = rd_records_id(&g->methods, key, NULL);

	if (id == RD_NONE)
		return RD_NONE;
	while (g->seen.n <= id) {
		uint32_t *seen = rd_vec_add(&g->seen);
		if (seen == NULL)
			return RD_NONE;
		*seen = 0;
	}
	return id;
}

static int name_frames(struct folding *g)
{
	if (ZEROS(&g->frame_method, g->r->frames.n) != 0)
		return RD_NOMEM;
	for (size_t i = 0; i < g->r->frames.n; i++) {
		const struct rd_result_frame *f = &g->r->frames.at[i];
		struct rd_view_method key = {.process = f->process,
					     .clr = f->clr,
					     .module = f->module,
					     .ns = f->ns,
					     .name = f->name,
					     .signature = f->signature,
					     .tier = g->f->tiers ? f->tier : 0};
		g->frame_method.at[i] = method_of(g, &key);
		if (g->frame_method.at[i] == RD_NONE)
			return RD_NOMEM;
	}
	return 0;
}

static void count_inclusive(struct folding *g, uint32_t method, uint32_t entry)
{
	struct rd_view_method *m = rd_records_at(&g->methods, method);

	if (g->seen.at[method] == entry + 1)
		return;
	g->seen.at[method] = entry + 1;
	m->inclusive += g->v->stacks.at[entry].count;
	m->inclusive_weight += g->v->stacks.at[entry].weight;
}

static int fold_stacks(struct folding *g)
{
	if (name_frames(g) != 0)
		return RD_NOMEM;
	for (uint32_t i = 0; i < g->v->stacks.n; i++) {
		const struct rd_view_stack *s = &g->v->stacks.at[i];
		const struct rd_result_call *call = rd_result_innermost(g->r, s->stack);
		uint32_t leaf;
		if (call == NULL) {
			leaf = method_of(g, &(struct rd_view_method){.process = s->process, .no_stack = 1});
			if (leaf == RD_NONE)
				return RD_NOMEM;
			count_inclusive(g, leaf, i);
		} else {
			leaf = g->frame_method.at[call->frame];
		}
		struct rd_view_method *m = rd_records_at(&g->methods, leaf);
		m->exclusive += s->count;
		m->exclusive_weight += s->weight;
		for (; call; call = rd_result_call(g->r, call->caller))
			count_inclusive(g, g->frame_method.at[call->frame], i);
	}
	return 0;
}

/* ---- order */

struct order {
	const struct rd_result *r;
	enum rd_sort by;
};

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_strings(const struct rd_result *r, uint32_t a, uint32_t b)
{
	if (a == b)
		return 0;
	struct rd_span x = rd_strings_at(&r->strings, a), y = rd_strings_at(&r->strings, b);
	size_t n = x.size_bytes < y.size_bytes ? x.size_bytes : y.size_bytes;
	int c = n ? memcmp(x.at, y.at, n) : 0;
	return c ? c : compare_u64(x.size_bytes, y.size_bytes);
}

/* By content and never by number, so that equal results read the same. */
static int compare_names(const struct rd_result *r, const struct rd_view_method *a, const struct rd_view_method *b)
{
	const struct rd_result_process *p = &r->processes.at[a->process], *q = &r->processes.at[b->process];
	int c = (int)a->no_stack - (int)b->no_stack;

	if (c == 0 && !a->no_stack) {
		c = compare_strings(r, a->module, b->module);
		c = c ? c : compare_strings(r, a->ns, b->ns);
		c = c ? c : compare_strings(r, a->name, b->name);
		c = c ? c : compare_strings(r, a->signature, b->signature);
	}
	c = c ? c : compare_u64(a->tier, b->tier);
	c = c ? c : compare_u64(p->pid, q->pid);
	c = c ? c : compare_u64(a->process, b->process);
	return c ? c : compare_u64(a->clr, b->clr);
}

static int compare_methods(const void *x, const void *y, void *ctx)
{
	const struct rd_view_method *a = x, *b = y;
	const struct order *o = ctx;
	int c = 0;

	if (o->by == RD_SORT_EXCLUSIVE)
		c = compare_u64(b->exclusive, a->exclusive);
	if (c == 0 && o->by != RD_SORT_NAME)
		c = compare_u64(b->inclusive, a->inclusive);
	if (c == 0 && o->by == RD_SORT_INCLUSIVE)
		c = compare_u64(b->exclusive, a->exclusive);
	return c ? c : compare_names(o->r, a, b);
}

static int take_methods(struct folding *g)
{
	struct rd_view *v = g->v;
	struct order order = {g->r, g->f->sort};

	if (rd_vec_reserve(&v->methods, g->methods.n) != 0)
		return RD_NOMEM;
	for (size_t i = 0; i < g->methods.n; i++) {
		const struct rd_view_method *m = rd_records_at(&g->methods, (uint32_t)i);
		if (m->inclusive)
			v->methods.at[v->methods.n++] = *m;
	}
	if (v->methods.n)
		qsort_r(v->methods.at, v->methods.n, sizeof *v->methods.at, compare_methods, &order);
	return 0;
}

int rd_view_make(struct rd_view *v, const struct rd_result *r, const struct rd_view_filter *f, struct rd_error *err)
{
	struct folding g = {.v = v, .r = r, .f = f};

	memset(v, 0, sizeof *v);
	v->result = r;
	v->filtered = f->process || f->kind >= 0 || f->has_from || f->has_to;
	v->tiers = f->tiers;
	rd_records_init(&g.methods, sizeof(struct rd_view_method), METHOD_KEY_BYTES);
	int code = choose_buckets(&g, err);
	if (code == 0)
		code = choose_processes(&g, err);
	if (code == 0 && (fold_rows(&g) != 0 || fold_stacks(&g) != 0 || take_methods(&g) != 0))
		code = rd_fail_nomem(err);
	rd_vec_release(&g.stack_head);
	rd_vec_release(&g.frame_method);
	rd_vec_release(&g.seen);
	rd_records_release(&g.methods);
	if (code < 0)
		rd_view_release(v);
	return code;
}

void rd_view_release(struct rd_view *v)
{
	rd_vec_release(&v->methods);
	rd_vec_release(&v->stacks);
	rd_vec_release(&v->process_samples);
	rd_vec_release(&v->process_passes);
	rd_vec_release(&v->buckets);
}
