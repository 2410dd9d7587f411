#include "report/trend.h"

#include <stdlib.h>
#include <string.h>

void rd_trend_init(struct rd_trend *t, bool inclusive)
{
	*t = (struct rd_trend){.inclusive = inclusive};
	rd_method_names_init(&t->names);
}

void rd_trend_release(struct rd_trend *t)
{
	for (size_t i = 0; i < t->results.n; i++)
		free(t->results.at[i].path);
	rd_vec_release(&t->results);
	rd_vec_release(&t->cells);
	rd_vec_release(&t->rows);
	rd_method_names_release(&t->names);
}

static int add_cells(struct rd_trend *t, const struct rd_view *v, uint32_t result)
{
	rd_method_numbers numbers = {0};
	rd_method_counts counts = {0};
	int rc = rd_method_names_add(&t->names, v, &numbers);

	if (rc == 0)
		rc = rd_method_names_count(&t->names, v, &numbers, &counts);
	for (uint32_t i = 0; rc == 0 && i < counts.n; i++) {
		if (counts.at[i].inclusive == 0)
			continue;
		struct rd_trend_cell *cell = rd_vec_add(&t->cells);
		if (cell)
			*cell = (struct rd_trend_cell){i, result, counts.at[i]};
		rc = cell ? 0 : RD_NOMEM;
	}
	rd_vec_release(&counts);
	rd_vec_release(&numbers);
	return rc;
}

int rd_trend_add(struct rd_trend *t, const char *path, const struct rd_view *v, struct rd_error *err)
{
	struct rd_trend_result *r = rd_vec_add(&t->results);

	if (r == NULL)
		return rd_fail_nomem(err);
	*r = (struct rd_trend_result){
		.path = strdup(path),
		.samples = v->samples,
		.start_utc_ns = v->result->origin_utc_ns,
		.complete = v->result->trust.complete,
		.thread_time = rd_view_has_thread_time(v),
	};
	t->tiers = v->filter.tiers;
	t->group = v->filter.group;
	if (r->path == NULL || add_cells(t, v, (uint32_t)t->results.n - 1) < 0)
		return rd_fail_nomem(err);
	return 0;
}

/* ---- order */

struct place {
	struct rd_trend_result result;
	uint32_t was;
};

static int compare_places(const void *x, const void *y)
{
	const struct place *a = x, *b = y;
	int c = (a->result.start_utc_ns > b->result.start_utc_ns) - (a->result.start_utc_ns < b->result.start_utc_ns);

	c = c ? c : strcmp(a->result.path, b->result.path);
	return c ? c : (a->was > b->was) - (a->was < b->was);
}

/* The earliest result first; cells follow. */
static int order_results(struct rd_trend *t)
{
	RD_VEC(struct place) places = {0};
	RD_VEC(uint32_t) now = {0}; /* by the number that it had */
	size_t n = t->results.n;

	if (rd_vec_reserve(&places, n + 1) < 0 || rd_vec_reserve(&now, n + 1) < 0) {
		rd_vec_release(&places);
		return RD_NOMEM;
	}
	for (uint32_t i = 0; i < n; i++)
		places.at[places.n++] = (struct place){t->results.at[i], i};
	qsort(places.at, n, sizeof *places.at, compare_places);
	for (uint32_t i = 0; i < n; i++) {
		t->results.at[i] = places.at[i].result;
		now.at[places.at[i].was] = i;
	}
	for (size_t i = 0; i < t->cells.n; i++)
		t->cells.at[i].result = now.at[t->cells.at[i].result];
	rd_vec_release(&places);
	rd_vec_release(&now);
	return 0;
}

static int compare_cells(const void *x, const void *y)
{
	const struct rd_trend_cell *a = x, *b = y;
	int c = (a->method > b->method) - (a->method < b->method);

	return c ? c : (a->result > b->result) - (a->result < b->result);
}

static int compare_rows(const void *x, const void *y, void *ctx)
{
	const struct rd_trend *t = ctx;
	const struct rd_trend_row *a = x, *b = y;
	int c = (a->shares < b->shares) - (a->shares > b->shares);

	return c ? c : rd_method_names_compare(&t->names, a->method, b->method);
}

static int make_rows(struct rd_trend *t)
{
	for (size_t i = 0; i < t->cells.n; i++) {
		const struct rd_trend_cell *c = &t->cells.at[i];
		struct rd_trend_row *row = t->rows.n ? &t->rows.at[t->rows.n - 1] : NULL;
		if (row == NULL || row->method != c->method) {
			row = rd_vec_add(&t->rows);
			if (row == NULL)
				return RD_NOMEM;
			*row = (struct rd_trend_row){.method = c->method, .first = i};
		}
		row->n++;
		row->shares += (double)rd_trend_count(t, c) / (double)t->results.at[c->result].samples;
	}
	return 0;
}

int rd_trend_seal(struct rd_trend *t, struct rd_error *err)
{
	if (order_results(t) < 0)
		return rd_fail_nomem(err);
	if (t->cells.n > 1)
		qsort(t->cells.at, t->cells.n, sizeof *t->cells.at, compare_cells);
	if (make_rows(t) < 0)
		return rd_fail_nomem(err);
	if (t->rows.n > 1)
		qsort_r(t->rows.at, t->rows.n, sizeof *t->rows.at, compare_rows, t);
	return 0;
}
