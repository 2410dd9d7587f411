/*
 * result - the final rows of a job, in canonical order, and what is said of their trust.
 *
 * Every array is sorted by content, so that the same traces give the same
 * bytes however they were sharded. Ids are indices into these arrays.
 * Bounded by facts' names, the calls of distinct resolved stacks, and rows.
 */
#ifndef RD_PROFILE_RESULT_H
#define RD_PROFILE_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/table.h"
#include "trace/record.h"
#include "trace/trace.h"

#define RD_PID_UNOWNED UINT32_MAX /* printed as -1 */

struct rd_result_trace {
	char path[4096];         /* as the user gave it; not in the digest */
	char member[256];        /* inside an archive; "" none */
	struct rd_trace_info info;
	int64_t start_utc_ns;    /* of the clock's start */
	uint64_t duration_ns;    /* from the clock's start to the last event */
	uint64_t lost_events, lost_buffers;
	bool complete;
	uint64_t cut_at;         /* RD_NO_OFFSET none */
	uint32_t group;          /* the first trace of those that it is joined with; itself when with none */
};

struct rd_result_process {
	uint32_t trace;          /* of joined ones the first whose events name it (docs/address-history.md) */
	uint32_t pid;            /* RD_PID_UNOWNED: samples without an owner */
	uint32_t namespace_pid;  /* 0 unknown */
	uint32_t name, command_line; /* strings; "" when unknown */
	int64_t start_utc_ns;    /* INT64_MIN unknown */
	uint64_t samples;
};

/* A frame is a method and a tier. Rows of reports are methods: equal but for the tier. */
struct rd_result_frame {
	uint32_t process;
	uint32_t clr;
	uint32_t module, ns, name, signature; /* strings */
	uint32_t tier;                        /* enum rd_tier or a larger number of a later runtime */
	uint32_t flags;                       /* enum rd_frame_flags */
};

enum rd_tier {
	RD_TIER_UNKNOWN = 0, RD_TIER_MIN_OPT = 1, RD_TIER_OPTIMIZED = 2, RD_TIER_QUICK = 3, RD_TIER_TIER1 = 4,
	RD_TIER_TIER1_OSR = 5, RD_TIER_QUICK_INSTRUMENTED = 6, RD_TIER_TIER1_INSTRUMENTED = 7,
	RD_TIER_PRECOMPILED = 100, RD_TIER_NATIVE = 101,
};
enum rd_frame_flags { RD_FRAME_UNRESOLVED = 1 };

/* A node of the caller tree. Stacks that are the same outside share their calls there. */
struct rd_result_call {
	uint32_t caller; /* a call's index + 1; 0: nobody, this is the outermost */
	uint32_t frame;
};

struct rd_result_row {
	uint32_t process;
	uint32_t kind;    /* enum rd_sample_kind */
	uint64_t thread;
	uint32_t bucket;  /* time since the result's origin / bucket_width_ns */
	uint32_t stack;
	uint64_t count, weight;
};

enum rd_rundown { RD_RUNDOWN_NONE, RD_RUNDOWN_PARTIAL, RD_RUNDOWN_COMPLETE };

struct rd_byte_range { uint32_t trace; uint64_t from, to; };

struct rd_trust {
	bool complete;
	uint64_t cut_at; /* of the first trace that is cut; RD_NO_OFFSET */
	uint64_t lost_events, lost_buffers;
	uint64_t frames, unresolved_frames, ambiguous_frames; /* once for each frame of each counted sample */
	uint64_t samples_without_stack, stacks_unused, broken_stacks, unowned_samples, malformed_events;
	uint64_t samples_in_rundown; /* after the end rundown of their process began: counted like all others */
	enum rd_rundown rundown;
	bool missing_runtime, missing_rundown, missing_stacks; /* providers that should have been on */
	RD_VEC(struct rd_byte_range) quarantined;
};

/* Which samples a run was asked for; the others are discarded. */
struct rd_result_filter {
	char process[1024];     /* the word of the user, its end cut when it is longer; "" all */
	uint32_t kind;          /* enum rd_sample_kind + 1; 0 all */
	bool has_from, has_to;
	int64_t from_ns, to_ns; /* since the origin; 0 when not asked for */
};

/* What travels in partials. */
enum rd_partial_part {
	RD_PART_FACTS,
	RD_PART_NAMES,
	RD_PART_STACKS,
	RD_PART_SAMPLES, /* and stack records */
	RD_PART_BELIEFS, /* the preliminary histograms */
	RD_PARTIAL_PARTS,
};

struct rd_result {
	RD_VEC(struct rd_result_trace) traces;
	RD_VEC(struct rd_result_process) processes;
	struct rd_strings strings;
	RD_VEC(struct rd_result_frame) frames;
	RD_VEC(struct rd_result_call) calls; /* callers before whom they call */
	RD_VEC(uint32_t) stacks;             /* a stack's innermost call, as a number; 0: the empty one, "[no stack]" */
	RD_VEC(struct rd_result_row) rows;
	struct rd_trust trust;
	uint64_t samples, weight, discarded;
	uint64_t kinds[8];             /* by enum rd_sample_kind */
	uint64_t other[4];             /* by enum rd_other_count */
	int64_t origin_utc_ns;         /* buckets and --from/--to count from here: the earliest trace's start */
	uint64_t bucket_width_ns;
	uint32_t first_bucket, last_bucket; /* of the samples; first > last when none */
	bool thread_time;              /* some samples are thread time, not CPU: reports say so */
	struct rd_result_filter filter; /* not in the digest, as what it left out is */
	/* The job's words, for display: what reconciliation changed. Not in the digest. */
	struct rd_finish_stats {
		uint64_t shards, partial_bytes, facts, raw_stacks, samples, stack_records;
		uint64_t preliminary_samples; /* that the shards believed to know a method of; 0 nothing to compare */
		uint64_t preliminary_changed; /* samples whose method the reconciliation changed */
		uint64_t merge_ns, finish_ns;
		uint64_t merge_peak_bytes, finish_peak_bytes; /* of the processes, what they mapped of files too */
		uint64_t part_bytes[RD_PARTIAL_PARTS];        /* of the partials */
	} stats;
};
void rd_result_release(struct rd_result *r);

static inline bool rd_result_is_filtered(const struct rd_result *r)
{
	return r->filter.process[0] || r->filter.kind || r->filter.has_from || r->filter.has_to;
}

/* A stack's frames from the innermost out: the call with a number, NULL for 0; then that of its caller, and so on. */
static inline const struct rd_result_call *rd_result_call(const struct rd_result *r, uint32_t number)
{
	return number ? &r->calls.at[number - 1] : NULL;
}
static inline const struct rd_result_call *rd_result_innermost(const struct rd_result *r, uint32_t stack)
{
	return rd_result_call(r, r->stacks.at[stack]);
}

/*
 * XXH3-128 over the canonical rows (processes, methods, stacks, counts, buckets, trust), as 32 hex
 * digits and a NUL; without paths, ids, shard counts, attempts or running times.
 */
int rd_result_digest(const struct rd_result *r, char out[33], struct rd_error *err);

const char *rd_tier_name(uint32_t tier, char buf[32]); /* "tier 1", "precompiled", "tier 9" for unknown ones */
const char *rd_sample_kind_name(uint32_t kind);        /* "cpu", "managed", "external" */
const char *rd_rundown_name(enum rd_rundown r);

#endif
