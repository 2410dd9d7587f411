/*
 * view_rows - which rows of a result a filter takes: by process, thread, kind and time.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "profile/filter.h"
#include "report/view_make.h"

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
static int choose_buckets(struct rd_view_making *g)
{
	const struct rd_view_filter *f = g->f;
	const struct rd_result *r = g->r;
	uint64_t width = r->bucket_width_ns ? r->bucket_width_ns : 1;
	int64_t from = since_origin(r, f->from_ns, f->from_is_utc), to = since_origin(r, f->to_ns, f->to_is_utc);

	g->from_bucket = 0;
	g->to_bucket = (uint64_t)UINT32_MAX + 1;
	if (f->has_from && f->has_to && from >= to)
		return rd_fail(g->err, RD_USAGE, "--from is not before --to");
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

#define NAMED_MOST 4

static int no_such_process(const struct rd_result *r, const char *wanted, struct rd_error *err)
{
	char list[150] = "", more[32] = "";
	size_t used = 0, named = 0;

	/* Those with the most samples would be better, and the first are cheaper: a typo shows either way. */
	for (; named < r->processes.n && named < NAMED_MOST && used + 60 < sizeof list; named++) {
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
static bool is_wanted(const struct rd_view_making *g, const struct rd_result_process *p)
{
	struct rd_span name = rd_strings_at(&g->r->strings, p->name);

	return rd_process_is(g->f->process, p->pid, p->namespace_pid, name);
}

static int choose_processes(struct rd_view_making *g)
{
	bool any = g->f->process == NULL;

	if (g->f->trace > g->r->traces.n)
		return rd_fail(g->err, RD_NOT_FOUND, "no trace %llu; the result is of %zu",
			       (unsigned long long)g->f->trace, g->r->traces.n);
	if (RD_ZEROS(&g->v->process_passes, g->r->processes.n) != 0 ||
	    RD_ZEROS(&g->v->process_samples, g->r->processes.n) != 0)
		return rd_fail_nomem(g->err);
	for (size_t i = 0; i < g->r->processes.n; i++) {
		const struct rd_result_process *p = &g->r->processes.at[i];
		bool in = g->f->process == NULL || is_wanted(g, p);
		g->v->process_passes.at[i] = in && (g->f->trace == 0 || g->f->trace == p->trace + UINT64_C(1));
		any |= in;
	}
	return any ? 0 : no_such_process(g->r, g->f->process, g->err);
}

static bool is_among(uint64_t thread, const uint64_t *named, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (named[i] == thread)
			return true;
	return false;
}

static int choose_thread(struct rd_view_making *g)
{
	const struct rd_result *r = g->r;
	uint64_t named[NAMED_MOST];
	char list[120] = "";
	size_t used = 0, n = 0;
	bool more = false;

	for (size_t i = 0; i < r->rows.n && g->f->has_thread; i++) {
		const struct rd_result_row *row = &r->rows.at[i];
		if (!g->v->process_passes.at[row->process] || is_among(row->thread, named, n))
			continue;
		if (row->thread == g->f->thread)
			return 0;
		if (n == NAMED_MOST) {
			more = true;
			continue;
		}
		used += (size_t)snprintf(list + used, sizeof list - used, "%s%llu", n ? ", " : "",
					 (unsigned long long)row->thread);
		named[n++] = row->thread;
	}
	if (!g->f->has_thread)
		return 0;
	return rd_fail(g->err, RD_NOT_FOUND, "no samples of thread %llu; there are %s%s",
		       (unsigned long long)g->f->thread, n ? list : "none", more ? ", …" : "");
}

int rd_view_choose_rows(struct rd_view_making *g)
{
	int code = choose_buckets(g);

	if (code == 0)
		code = choose_processes(g);
	return code == 0 ? choose_thread(g) : code;
}

bool rd_view_row_passes(const struct rd_view_making *g, const struct rd_result_row *row)
{
	return g->v->process_passes.at[row->process] && (g->f->kind < 0 || (uint32_t)g->f->kind == row->kind) &&
	       row->bucket >= g->from_bucket && row->bucket < g->to_bucket &&
	       (!g->f->has_thread || g->f->thread == row->thread);
}
