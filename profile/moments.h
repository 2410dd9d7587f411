/*
 * moments - ticks as UTC, the result's origin, and buckets of time.
 *
 * Buckets count from the origin and are as wide as it takes for all samples
 * of all traces, filtered or not, to lie in at most RD_BUCKETS_MAX of them.
 */
#ifndef RD_PROFILE_MOMENTS_H
#define RD_PROFILE_MOMENTS_H

#include "trace/trace.h"

#define RD_BUCKETS_MAX 256

/*
 * Nanoseconds since the clock's start, saturating. Never less for a greater
 * tick, as rd_clock_ns may be: facts and samples are ordered by ticks, and the
 * first and last of them must be so in UTC too, or buckets would hang on how
 * a trace is cut.
 */
int64_t rd_ticks_ns(const struct rd_clock *clock, uint64_t ticks);
/* UTC nanoseconds since 1970, likewise. */
int64_t rd_utc_ns(const struct rd_clock *clock, uint64_t ticks);

/* The first tick that is not before the time; UINT64_MAX when none is. */
uint64_t rd_ticks_from(const struct rd_clock *clock, int64_t utc_ns);

struct rd_moments {
	int64_t origin_utc_ns;             /* the earliest start of a trace, or the first sample if it is before */
	int64_t first_utc_ns, last_utc_ns; /* of the samples; first > last when none */
	bool any_trace;
	uint64_t width_ns;
};

void rd_moments_init(struct rd_moments *m);
void rd_moments_add_trace(struct rd_moments *m, int64_t start_utc_ns);
void rd_moments_add_sample(struct rd_moments *m, int64_t utc_ns);
/* Choose the width. */
void rd_moments_seal(struct rd_moments *m);

/* Nanoseconds since the origin. */
uint64_t rd_moments_since(const struct rd_moments *m, int64_t utc_ns);
/* Of a sample; a time outside those that were added counts as the nearest of them. */
uint32_t rd_moments_bucket(const struct rd_moments *m, int64_t utc_ns);
/* Where the next bucket begins; INT64_MAX when time ends before. */
int64_t rd_moments_bucket_end(const struct rd_moments *m, uint32_t bucket);

#endif
