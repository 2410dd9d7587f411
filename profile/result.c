#include "profile/result.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

void rd_result_release(struct rd_result *r)
{
	rd_vec_release(&r->traces);
	rd_vec_release(&r->processes);
	rd_strings_release(&r->strings);
	rd_vec_release(&r->frames);
	rd_vec_release(&r->calls);
	rd_vec_release(&r->stacks);
	rd_vec_release(&r->rows);
	rd_vec_release(&r->trust.quarantined);
	*r = (struct rd_result){0};
}

/*
 * The digest hashes numbers of 8 bytes, little-endian, in the order below;
 * texts with their length in front. Ids are places in canonical order, so they
 * are content too.
 */
struct digest {
	XXH3_state_t *state;
	uint64_t batch[256];
	size_t n;
};

static void flush(struct digest *d)
{
	XXH3_128bits_update(d->state, d->batch, d->n * sizeof *d->batch);
	d->n = 0;
}

static void put(struct digest *d, uint64_t v)
{
	d->batch[d->n++] = v;
	if (d->n == sizeof d->batch / sizeof *d->batch)
		flush(d);
}

static void put_text(struct digest *d, struct rd_span text)
{
	put(d, text.size_bytes);
	flush(d);
	if (text.size_bytes)
		XXH3_128bits_update(d->state, text.at, text.size_bytes);
}

static void put_traces(struct digest *d, const struct rd_result *r)
{
	put(d, r->traces.n);
	for (size_t i = 0; i < r->traces.n; i++) {
		const struct rd_result_trace *t = &r->traces.at[i];
		put(d, (uint64_t)t->start_utc_ns);
		put(d, t->duration_ns);
		put(d, t->lost_events);
		put(d, t->lost_buffers);
		put(d, t->complete);
		put(d, t->cut_at);
	}
}

static void put_processes(struct digest *d, const struct rd_result *r)
{
	put(d, r->processes.n);
	for (size_t i = 0; i < r->processes.n; i++) {
		const struct rd_result_process *p = &r->processes.at[i];
		put(d, p->trace);
		put(d, p->pid);
		put(d, p->namespace_pid);
		put(d, p->name);
		put(d, p->command_line);
		put(d, (uint64_t)p->start_utc_ns);
		put(d, p->samples);
	}
}

static void put_strings(struct digest *d, const struct rd_result *r)
{
	put(d, r->strings.at.n);
	for (size_t i = 0; i < r->strings.at.n; i++)
		put_text(d, r->strings.at.at[i]);
}

static void put_frames(struct digest *d, const struct rd_result *r)
{
	put(d, r->frames.n);
	for (size_t i = 0; i < r->frames.n; i++) {
		const struct rd_result_frame *f = &r->frames.at[i];
		put(d, (uint64_t)f->process << 32 | f->clr);
		put(d, (uint64_t)f->module << 32 | f->ns);
		put(d, (uint64_t)f->name << 32 | f->signature);
		put(d, (uint64_t)f->tier << 32 | f->flags);
	}
}

/* The frames of all stacks, one stack behind the other, innermost first, and before them where each stack ends. */
static void put_stacks(struct digest *d, const struct rd_result *r)
{
	uint64_t end = 0;

	put(d, r->stacks.n);
	for (uint32_t i = 0; i < r->stacks.n; i++) {
		for (const struct rd_result_call *c = rd_result_innermost(r, i); c; c = rd_result_call(r, c->caller))
			end++;
		put(d, end);
	}
	for (uint32_t i = 0; i < r->stacks.n; i++)
		for (const struct rd_result_call *c = rd_result_innermost(r, i); c; c = rd_result_call(r, c->caller))
			put(d, c->frame);
}

static void put_rows(struct digest *d, const struct rd_result *r)
{
	put(d, r->rows.n);
	for (size_t i = 0; i < r->rows.n; i++) {
		const struct rd_result_row *row = &r->rows.at[i];
		put(d, (uint64_t)row->process << 32 | row->kind);
		put(d, row->thread);
		put(d, (uint64_t)row->bucket << 32 | row->stack);
		put(d, row->count);
		put(d, row->weight);
	}
}

static void put_trust(struct digest *d, const struct rd_trust *t)
{
	const uint64_t numbers[] = {
		t->complete,
		t->cut_at,
		t->lost_events,
		t->lost_buffers,
		t->frames,
		t->unresolved_frames,
		t->ambiguous_frames,
		t->samples_without_stack,
		t->stacks_unused,
		t->broken_stacks,
		t->unowned_samples,
		t->malformed_events,
		t->samples_in_rundown,
		(uint64_t)t->rundown,
		t->missing_runtime,
		t->missing_rundown,
		t->missing_stacks,
		t->quarantined.n,
	};

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		put(d, numbers[i]);
	for (size_t i = 0; i < t->quarantined.n; i++) {
		put(d, t->quarantined.at[i].trace);
		put(d, t->quarantined.at[i].from);
		put(d, t->quarantined.at[i].to);
	}
}

static void put_counts(struct digest *d, const struct rd_result *r)
{
	put(d, r->samples);
	put(d, r->weight);
	put(d, r->discarded);
	for (size_t i = 0; i < sizeof r->kinds / sizeof *r->kinds; i++)
		put(d, r->kinds[i]);
	for (size_t i = 0; i < sizeof r->other / sizeof *r->other; i++)
		put(d, r->other[i]);
	put(d, (uint64_t)r->origin_utc_ns);
	put(d, r->bucket_width_ns);
	put(d, (uint64_t)r->first_bucket << 32 | r->last_bucket);
	put(d, r->thread_time);
}

int rd_result_digest(const struct rd_result *r, char out[33], struct rd_error *err)
{
	struct digest d = {.state = XXH3_createState()};

	if (d.state == NULL)
		return rd_fail_nomem(err);
	XXH3_128bits_reset(d.state);
	put_traces(&d, r);
	put_processes(&d, r);
	put_strings(&d, r);
	put_frames(&d, r);
	put_stacks(&d, r);
	put_rows(&d, r);
	put_trust(&d, &r->trust);
	put_counts(&d, r);
	flush(&d);
	XXH128_hash_t hash = XXH3_128bits_digest(d.state);
	XXH3_freeState(d.state);
	snprintf(out, 33, "%016llx%016llx", (unsigned long long)hash.high64, (unsigned long long)hash.low64);
	return 0;
}

const char *rd_tier_name(uint32_t tier, char buf[32])
{
	static const char *const names[] = {
		[RD_TIER_UNKNOWN] = "unknown",
		[RD_TIER_MIN_OPT] = "min opt",
		[RD_TIER_OPTIMIZED] = "optimized",
		[RD_TIER_QUICK] = "quick",
		[RD_TIER_TIER1] = "tier 1",
		[RD_TIER_TIER1_OSR] = "tier 1 OSR",
		[RD_TIER_QUICK_INSTRUMENTED] = "quick instrumented",
		[RD_TIER_TIER1_INSTRUMENTED] = "tier 1 instrumented",
		[RD_TIER_PRECOMPILED] = "precompiled",
		[RD_TIER_NATIVE] = "native",
	};

	if (tier < sizeof names / sizeof *names && names[tier])
		snprintf(buf, 32, "%s", names[tier]);
	else
		snprintf(buf, 32, "tier %u", tier);
	return buf;
}

const char *rd_sample_kind_name(uint32_t kind)
{
	static const char *const names[] = {
		[RD_SAMPLE_CPU] = "cpu",
		[RD_SAMPLE_MANAGED] = "managed",
		[RD_SAMPLE_EXTERNAL] = "external",
	};
	return kind < sizeof names / sizeof *names ? names[kind] : "unknown";
}

const char *rd_rundown_name(enum rd_rundown r)
{
	switch (r) {
	case RD_RUNDOWN_COMPLETE:
		return "complete";
	case RD_RUNDOWN_PARTIAL:
		return "partial";
	default:
		return "none";
	}
}
