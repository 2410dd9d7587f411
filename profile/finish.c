/*
 * The order of work is that of docs/reconciliation.md: all summaries first,
 * because buckets span all traces; then one group after the other, gathered,
 * counted and let go; then the content is put in canonical order.
 */
#include "profile/finish.h"

#include "base/clock.h"
#include "base/limits.h"
#include "profile/belief.h"
#include "profile/canonical.h"
#include "profile/count.h"
#include "profile/trust.h"

struct finish {
	const struct rd_finish_trace *traces;
	size_t traces_n;
	struct rd_result *out;
	struct rd_content content;
	RD_VEC(struct rd_group) groups;
	struct rd_moments moments;
	struct rd_filter filter;
	struct rd_belief belief;
	struct rd_count count;
	struct rd_progress progress;
};

/* The group with this number as its traces have it; a new one when it is the first. */
static struct rd_group *group_of(struct finish *f, size_t trace)
{
	for (size_t i = 0; i < f->groups.n; i++) {
		struct rd_group *g = &f->groups.at[i];
		if (f->traces[g->files.at[0].trace].group == f->traces[trace].group)
			return g;
	}
	struct rd_group *g = rd_vec_add(&f->groups);
	if (g)
		rd_group_init(g, &f->content, &f->progress);
	return g;
}

static int make_groups(struct finish *f, struct rd_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < f->traces_n; i++) {
		const struct rd_finish_trace *t = &f->traces[i];
		if (rd_trace_is_left_out(t->info))
			continue;
		struct rd_tables tables = {
			.shards = t->partials.shards,
			.packed = &t->partials,
			.bytes = &f->out->stats.partial_bytes,
		};
		struct rd_group *g = group_of(f, i);
		rc = g ? rd_group_add_file(g, (uint32_t)i, t->info, tables, err) : rd_fail_nomem(err);
		rd_moments_add_trace(&f->moments, t->info->clock.start_utc_ns);
	}
	return rc;
}

/* What summaries tell: when there are samples, how many, and what else was counted. */
static void add_summary(struct finish *f, const struct rd_group *g, const struct rd_partial_summary *s)
{
	if (s->first_sample <= s->last_sample) {
		rd_moments_add_sample(&f->moments, rd_utc_ns(rd_group_clock(g), s->first_sample));
		rd_moments_add_sample(&f->moments, rd_utc_ns(rd_group_clock(g), s->last_sample));
	}
	f->progress.total += s->samples;
	for (size_t i = 0; i < RD_OTHER_COUNTS; i++)
		f->out->other[i] += s->other[i];
}

static int load_summaries(struct finish *f, struct rd_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < f->groups.n; i++) {
		struct rd_group *g = &f->groups.at[i];
		rc = rd_group_load_summaries(g, err);
		for (size_t k = 0; rc == 0 && k < g->shards.n; k++)
			add_summary(f, g, &g->shards.at[k].summary);
		f->out->stats.shards += g->shards.n;
	}
	rd_moments_seal(&f->moments);
	return rc;
}

/* The traces of a group's lives, those from `first` on. */
static void place_lives(struct rd_content *c, size_t first, const struct rd_group *g)
{
	for (size_t i = first; i < c->lives.n; i++) {
		uint16_t file = c->lives.at[i].file;
		c->lives.at[i].trace = g->files.at[file < g->files.n ? file : 0].trace;
	}
}

static int run_group(struct finish *f, struct rd_group *g, struct rd_error *err)
{
	size_t first_life = f->content.lives.n;
	int rc = rd_group_gather(g, err);

	if (rc == 0 && f->count.belief)
		rc = rd_belief_add_group(&f->belief, g, err);
	for (size_t i = 0; i < g->files.n; i++)
		g->files.at[i].tables.bytes = NULL;
	if (rc == 0)
		rc = rd_count_group(&f->count, g, err);
	place_lives(&f->content, first_life, g);
	for (size_t i = 0; rc == 0 && i < g->files.n; i++) {
		const struct rd_group_file *file = &g->files.at[i];
		struct rd_result_trace *out = &f->out->traces.at[file->trace];
		rc = rd_trust_add_file(&f->out->trust, &f->traces[file->trace], file, out, err);
		out->group = g->files.at[0].trace;
	}
	rd_trust_add_group(&f->out->trust, g, g == f->groups.at);
	f->out->stats.facts += g->facts;
	f->out->stats.raw_stacks += g->raw_stacks.at.n;
	rd_group_release(g);
	return rc;
}

/* They are in the result to be told of, and in no group. */
static void add_left_out(struct finish *f)
{
	for (size_t i = 0; i < f->traces_n; i++) {
		struct rd_result_trace *out = &f->out->traces.at[i];
		if (!rd_trace_is_left_out(f->traces[i].info))
			continue;
		rd_trust_add_left_out(&f->out->trust, &f->traces[i], out);
		out->group = (uint32_t)i;
	}
}

static void fill_counts(struct finish *f)
{
	struct rd_result *r = f->out;

	r->samples = f->count.samples;
	r->weight = f->count.weight;
	r->discarded = f->count.discarded;
	for (size_t i = 0; i < RD_SAMPLE_KINDS; i++)
		r->kinds[i] = f->count.kinds[i];
	r->thread_time = r->kinds[RD_SAMPLE_MANAGED] + r->kinds[RD_SAMPLE_EXTERNAL] > 0;
	r->origin_utc_ns = f->moments.origin_utc_ns;
	r->bucket_width_ns = f->moments.width_ns;
	r->first_bucket = 1;
	r->last_bucket = 0;
	if (f->moments.first_utc_ns <= f->moments.last_utc_ns) {
		r->first_bucket = rd_moments_bucket(&f->moments, f->moments.first_utc_ns);
		r->last_bucket = rd_moments_bucket(&f->moments, f->moments.last_utc_ns);
	}
	r->stats.samples = f->progress.done;
	r->stats.stack_records = f->count.stack_records;
}

static int run(struct finish *f, const struct rd_finish_options *opt, struct rd_error *err)
{
	int rc = rd_content_init(&f->content, err);

	if (rc == 0)
		rc = make_groups(f, err);
	if (rc == 0)
		rc = load_summaries(f, err);
	if (rc < 0)
		return rc;
	rd_filter_init(&f->filter, opt, &f->moments);
	rd_filter_keep(&f->filter, &f->moments, &f->out->filter);
	/* What reconciliation changed can be told of all samples only. */
	f->count.belief = rd_filter_is_all(&f->filter) ? &f->belief : NULL;
	rd_trust_init(&f->out->trust);
	if (rd_vec_reserve(&f->out->traces, f->traces_n) < 0)
		return rd_fail_nomem(err);
	f->out->traces.n = f->traces_n;
	add_left_out(f);
	for (size_t i = 0; rc == 0 && i < f->groups.n; i++)
		rc = run_group(f, &f->groups.at[i], err);
	if (rc < 0)
		return rc;
	/* All is counted: nothing is looked for any more. */
	rd_table_release(&f->content.calls_table);
	rd_table_release(&f->content.rows.table);
	rd_trust_seal(&f->out->trust);
	fill_counts(f);
	if (opt && opt->not_nothing && f->out->samples == 0 && f->out->discarded > 0)
		return rd_filter_nothing(&f->filter, &f->content, &f->moments, f->out->discarded, err);
	f->out->stats.preliminary_samples = f->belief.samples;
	f->out->stats.preliminary_changed = rd_belief_changed(&f->belief);
	return rd_canonical(&f->content, f->out, &f->progress, err);
}

int rd_finish(const struct rd_finish_trace *traces, size_t n, const struct rd_finish_options *opt,
	      struct rd_result *out, struct rd_error *err)
{
	struct rd_result result = {0};
	struct finish f = {.traces = traces, .traces_n = n, .out = &result};
	uint64_t begin_ns = rd_now_ns();

	if (opt) {
		f.progress.tell = opt->progress;
		f.progress.ctx = opt->progress_ctx;
	}
	f.count = (struct rd_count){
		.content = &f.content,
		.moments = &f.moments,
		.filter = &f.filter,
		.trust = &result.trust,
		.progress = &f.progress,
	};
	rd_moments_init(&f.moments);
	rd_belief_init(&f.belief);
	int rc = run(&f, opt, err);
	for (size_t i = 0; i < f.groups.n; i++)
		rd_group_release(&f.groups.at[i]);
	rd_vec_release(&f.groups);
	rd_content_release(&f.content);
	rd_filter_release(&f.filter);
	rd_belief_release(&f.belief);
	if (rc < 0) {
		rd_result_release(&result);
		return rc;
	}
	result.stats.finish_ns = rd_now_ns() - begin_ns;
	result.stats.finish_peak_bytes = rd_peak_bytes();
	*out = result;
	return 0;
}
