#include "profile/trust.h"

#include <stdio.h>
#include <stdlib.h>

#include "profile/moments.h"

void rd_trust_init(struct rd_trust *t)
{
	*t = (struct rd_trust){.complete = true, .cut_at = RD_NO_OFFSET};
}

static uint64_t duration_ns(const struct rd_group_file *file)
{
	const struct rd_clock *clock = &file->info->clock;
	int64_t used = file->any_time ? rd_ticks_ns(clock, file->last_time) : 0;
	int64_t all = rd_ticks_ns(clock, clock->start_ticks + file->latest);

	return used < 0 && all < 0 ? 0 : (uint64_t)(used > all ? used : all);
}

static int add_quarantined(struct rd_trust *t, const struct rd_finish_trace *trace, uint32_t index,
			   struct rd_error *err)
{
	if (rd_vec_reserve(&t->quarantined, trace->quarantined_n) < 0)
		return rd_fail_nomem(err);
	for (size_t i = 0; i < trace->quarantined_n; i++) {
		struct rd_byte_range range = trace->quarantined[i];
		range.trace = index;
		t->quarantined.at[t->quarantined.n++] = range;
	}
	return 0;
}

static void add_saturating(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

static void name_trace(struct rd_result_trace *out, const struct rd_finish_trace *trace)
{
	snprintf(out->path, sizeof out->path, "%s", trace->path ? trace->path : "");
	snprintf(out->member, sizeof out->member, "%s", trace->member ? trace->member : "");
}

void rd_trust_add_left_out(struct rd_trust *t, const struct rd_finish_trace *trace, struct rd_result_trace *out)
{
	*out = (struct rd_result_trace){.info = *trace->info, .start_utc_ns = INT64_MIN, .cut_at = RD_NO_OFFSET};
	name_trace(out, trace);
	t->complete = false;
}

int rd_trust_add_file(struct rd_trust *t, const struct rd_finish_trace *trace, const struct rd_group_file *file,
		      struct rd_result_trace *out, struct rd_error *err)
{
	*out = (struct rd_result_trace){
		.info = *file->info,
		.start_utc_ns = file->info->clock.start_utc_ns,
		.duration_ns = duration_ns(file),
		.lost_events = file->info->lost_events,
		.lost_buffers = file->info->lost_buffers,
		.complete = file->info->complete && file->damage_at == RD_NO_OFFSET && trace->quarantined_n == 0,
		.cut_at = file->info->cut_at < file->damage_at ? file->info->cut_at : file->damage_at,
	};
	name_trace(out, trace);
	add_saturating(&out->lost_events, file->lost_events);
	add_saturating(&t->lost_events, out->lost_events);
	add_saturating(&t->lost_buffers, out->lost_buffers);
	add_saturating(&t->malformed_events, file->malformed_events);
	t->complete = t->complete && out->complete;
	if (t->cut_at == RD_NO_OFFSET)
		t->cut_at = out->cut_at;
	return add_quarantined(t, trace, file->trace, err);
}

/* A trace that was cut lost its end, and the rundown with it: no provider is to blame. */
static bool is_whole(const struct rd_group *g)
{
	for (size_t i = 0; i < g->files.n; i++)
		if (!g->files.at[i].info->complete)
			return false;
	return true;
}

static bool has_samples(const struct rd_group *g)
{
	for (size_t i = 0; i < g->shards.n; i++)
		if (g->shards.at[i].summary.samples > 0)
			return true;
	return false;
}

static void add_rundown(struct rd_trust *t, enum rd_rundown rundown, bool first)
{
	/* Of several groups: some complete and some without any are together partial. */
	if (first)
		t->rundown = rundown;
	else if (rundown != t->rundown)
		t->rundown = RD_RUNDOWN_PARTIAL;
}

void rd_trust_add_group(struct rd_trust *t, const struct rd_group *g, bool first)
{
	const uint64_t runtime = RD_SEEN_RUNTIME | RD_SEEN_RUNTIME_METHODS;
	const uint64_t rundown = RD_SEEN_RUNDOWN | RD_SEEN_RUNDOWN_METHODS;
	uint64_t seen = 0;

	for (size_t i = 0; i < g->files.n; i++)
		seen |= g->files.at[i].providers_seen;
	/* Whoever samples managed code needs one of the two to name it. */
	bool managed = (seen & (runtime | rundown)) != 0 || g->thread_time;
	add_rundown(t, rd_evidence_rundown(&g->evidence), first);
	t->missing_rundown |= managed && (seen & rundown) == 0 && is_whole(g);
	t->missing_runtime |= managed && (seen & (RD_SEEN_RUNTIME | RD_SEEN_RUNDOWN_METHODS)) == 0;
	t->missing_stacks |= has_samples(g) && (seen & RD_SEEN_STACKS) == 0;
}

int rd_trust_merge(struct rd_trust *t, const struct rd_trust *more, uint32_t traces, struct rd_error *err)
{
	if (rd_vec_reserve(&t->quarantined, more->quarantined.n) < 0)
		return rd_fail_nomem(err);
	for (size_t i = 0; i < more->quarantined.n; i++) {
		struct rd_byte_range range = more->quarantined.at[i];
		range.trace += traces;
		t->quarantined.at[t->quarantined.n++] = range;
	}
	t->complete = t->complete && more->complete;
	if (t->cut_at == RD_NO_OFFSET)
		t->cut_at = more->cut_at;
	add_saturating(&t->lost_events, more->lost_events);
	add_saturating(&t->lost_buffers, more->lost_buffers);
	add_saturating(&t->malformed_events, more->malformed_events);
	t->frames += more->frames;
	t->unresolved_frames += more->unresolved_frames;
	t->ambiguous_frames += more->ambiguous_frames;
	t->samples_without_stack += more->samples_without_stack;
	t->stacks_unused += more->stacks_unused;
	t->broken_stacks += more->broken_stacks;
	t->unowned_samples += more->unowned_samples;
	t->samples_in_rundown += more->samples_in_rundown;
	add_rundown(t, more->rundown, traces == 0);
	t->missing_runtime |= more->missing_runtime;
	t->missing_rundown |= more->missing_rundown;
	t->missing_stacks |= more->missing_stacks;
	return 0;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct rd_byte_range *x = a, *y = b;
	int c = RD_COMPARE(x->trace, y->trace);
	if (c == 0)
		c = RD_COMPARE(x->from, y->from);
	return c ? c : RD_COMPARE(x->to, y->to);
}

void rd_trust_seal(struct rd_trust *t)
{
	if (t->quarantined.n > 1)
		qsort(t->quarantined.at, t->quarantined.n, sizeof *t->quarantined.at, compare_ranges);
}
