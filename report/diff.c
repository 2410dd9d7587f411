#include "report/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct side {
	const struct rd_view *v;
	rd_method_numbers method; /* by method of the view: of the diff */
	RD_VEC(uint32_t) call;    /* by call of the view: its number in the diff */
};

/* ---- what is the same on both sides */

static int match(struct rd_diff *d, struct side *s)
{
	const struct rd_view *v = s->v;

	if (rd_method_names_add(&d->names, v, &s->method) != 0 || rd_vec_reserve(&s->call, v->calls.n) != 0)
		return RD_NOMEM;
	for (size_t i = 0; i < v->calls.n; i++) {
		const struct rd_view_call *c = &v->calls.at[i];
		struct rd_view_call key = {.caller = c->caller ? s->call.at[c->caller - 1] : 0,
					   .method = s->method.at[c->method]};
		uint32_t id = rd_records_id(&d->calls, &key, NULL);
		if (id >= RD_NONE - 1)
			return RD_NOMEM;
		s->call.at[s->call.n++] = id + 1;
	}
	return 0;
}

/* ---- counts */

static int count_methods(struct rd_diff *d, const struct side *s, int at)
{
	rd_method_counts counts = {0};
	int rc = rd_method_names_count(&d->names, s->v, &s->method, &counts);

	for (size_t i = 0; rc == 0 && i < counts.n; i++) {
		d->rows.at[i].exclusive[at] = counts.at[i].exclusive;
		d->rows.at[i].inclusive[at] = counts.at[i].inclusive;
	}
	rd_vec_release(&counts);
	return rc;
}

static void count_stacks(struct rd_diff *d, const struct side *s, int at)
{
	for (size_t i = 0; i < s->v->stacks.n; i++) {
		const struct rd_view_stack *stack = &s->v->stacks.at[i];
		d->rows.at[s->call.at[stack->call - 1] - 1].exclusive[at] += stack->count;
	}
	for (size_t i = d->calls.n; i-- > 0;) {
		const struct rd_view_call *c = rd_records_at(&d->calls, (uint32_t)i);
		d->rows.at[i].inclusive[at] += d->rows.at[i].exclusive[at];
		if (c->caller)
			d->rows.at[c->caller - 1].inclusive[at] += d->rows.at[i].inclusive[at];
	}
}

static int count(struct rd_diff *d, struct side sides[2])
{
	bool by_method = d->options.by == RD_DIFF_METHODS;
	size_t n = by_method ? d->names.methods.n : d->calls.n;

	if (rd_vec_reserve(&d->rows, n) != 0)
		return RD_NOMEM;
	for (size_t i = 0; i < n; i++)
		d->rows.at[i] = (struct rd_diff_row){.method = by_method ? (uint32_t)i : 0,
						     .call = by_method ? 0 : (uint32_t)i + 1};
	d->rows.n = n;
	for (int at = 0; at < 2; at++) {
		struct side *s = &sides[at];
		if (by_method && count_methods(d, s, at) < 0)
			return RD_NOMEM;
		if (!by_method)
			count_stacks(d, s, at);
		d->samples[at] = s->v->samples;
		d->all.exclusive[at] = d->all.inclusive[at] = s->v->samples;
	}
	return 0;
}

static bool has_enough(const struct rd_diff *d, const struct rd_diff_row *row, int at)
{
	double least = (double)d->samples[at] * d->options.min_millionths / 1e6;

	return row->inclusive[at] >= d->options.min_samples && (double)row->inclusive[at] >= least;
}

/* What has no samples of the compared kind on either side is no row, nor what has too few on both. */
static void drop_rows(struct rd_diff *d)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->rows.n; i++) {
		const struct rd_diff_row *row = &d->rows.at[i];
		uint64_t before = rd_diff_count(d, row, RD_BEFORE), after = rd_diff_count(d, row, RD_AFTER);
		if (before == 0 && after == 0)
			continue;
		if (!has_enough(d, row, RD_BEFORE) && !has_enough(d, row, RD_AFTER)) {
			d->too_few++;
			continue;
		}
		d->fresh += before == 0;
		d->gone += after == 0;
		d->rows.at[kept++] = *row;
	}
	d->rows.n = kept;
}

/* ---- denominators */

/* Seconds that a view looks at: of all of its traces, or the part of them that --from and --to leave. */
static double seconds_of(const struct rd_view *v)
{
	double ns = 0;

	for (size_t i = 0; i < v->result->traces.n; i++)
		ns += (double)v->result->traces.at[i].duration_ns;
	if (v->cut_in_time && v->to_ns > v->from_ns && (double)(v->to_ns - v->from_ns) < ns)
		ns = (double)(v->to_ns - v->from_ns);
	return ns / 1e9;
}

static int choose_denominators(struct rd_diff *d, struct rd_error *err)
{
	for (int at = 0; at < 2; at++) {
		d->denominator[at] = 1;
		if (d->options.norm == RD_NORM_SAMPLES)
			d->denominator[at] = (double)d->samples[at];
		if (d->options.norm == RD_NORM_TIME)
			d->denominator[at] = seconds_of(d->side[at]);
		if (d->options.norm == RD_NORM_TIME && d->denominator[at] <= 0)
			return rd_fail(err, RD_USAGE, "normalised by time, but the %s result lasted no time",
				       at == RD_BEFORE ? "first" : "second");
	}
	return 0;
}

/* ---- order */

/* From the last frame out: any order by content will do. */
static int compare_stacks(const struct rd_diff *d, uint32_t a, uint32_t b)
{
	int c = 0;

	while (c == 0 && a != b && a && b) {
		const struct rd_view_call *x = rd_records_at(&d->calls, a - 1), *y = rd_records_at(&d->calls, b - 1);
		c = x->method == y->method ? 0 : rd_method_names_compare(&d->names, x->method, y->method);
		a = x->caller;
		b = y->caller;
	}
	return c ? c : (a != 0) - (b != 0);
}

static int compare_rows(const void *x, const void *y, void *ctx)
{
	const struct rd_diff *d = ctx;
	const struct rd_diff_row *a = x, *b = y;
	double p = fabs(a->difference), q = fabs(b->difference);
	uint64_t m = rd_diff_count(d, a, RD_BEFORE) + rd_diff_count(d, a, RD_AFTER);
	uint64_t n = rd_diff_count(d, b, RD_BEFORE) + rd_diff_count(d, b, RD_AFTER);

	if (p > q || p < q)
		return p > q ? -1 : 1;
	if (m != n)
		return m > n ? -1 : 1;
	return d->options.by == RD_DIFF_METHODS ? rd_method_names_compare(&d->names, a->method, b->method)
						: compare_stacks(d, a->call, b->call);
}

bool rd_diff_is_worse(const struct rd_diff *d, uint32_t millionths, const struct rd_diff_row **what)
{
	double limit = (double)millionths / 1e6;
	const struct rd_diff_row *worst = NULL;

	for (size_t i = 0; i < d->rows.n; i++) {
		const struct rd_diff_row *row = &d->rows.at[i];
		if (row->significant && row->difference > limit &&
		    (worst == NULL || row->difference > worst->difference))
			worst = row;
	}
	if (worst == NULL && d->all.significant && d->all.difference > limit)
		worst = &d->all;
	if (what)
		*what = worst;
	return worst != NULL;
}

static int make(struct rd_diff *d, struct rd_error *err)
{
	struct side sides[2] = {{.v = d->side[RD_BEFORE]}, {.v = d->side[RD_AFTER]}};
	int code = RD_NOMEM;

	if (match(d, &sides[RD_BEFORE]) == 0 && match(d, &sides[RD_AFTER]) == 0 && count(d, sides) == 0)
		code = 0;
	for (int at = 0; at < 2; at++) {
		rd_vec_release(&sides[at].method);
		rd_vec_release(&sides[at].call);
	}
	if (code != 0)
		return rd_fail_nomem(err);
	if ((code = choose_denominators(d, err)) != 0)
		return code;
	drop_rows(d);
	rd_diff_judge(d);
	if (d->rows.n)
		qsort_r(d->rows.at, d->rows.n, sizeof *d->rows.at, compare_rows, d);
	return 0;
}

int rd_diff_make(struct rd_diff *d, const struct rd_view *before, const struct rd_view *after,
		 const struct rd_diff_options *o, struct rd_error *err)
{
	*d = (struct rd_diff){.side = {before, after}, .options = *o};
	rd_method_names_init(&d->names);
	rd_records_init(&d->calls, sizeof(struct rd_view_call), sizeof(struct rd_view_call));
	int code = make(d, err);
	if (code < 0)
		rd_diff_release(d);
	return code;
}

void rd_diff_release(struct rd_diff *d)
{
	rd_method_names_release(&d->names);
	rd_records_release(&d->calls);
	rd_vec_release(&d->rows);
}
