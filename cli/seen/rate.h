/*
 * rate - how often samples come: the usual gap between neighbours.
 *
 * Neighbours are samples of one processor (ETL) or one thread (EventPipe),
 * whose clock is the sampler's; gaps are sorted into buckets of an eighth of
 * an octave, so memory does not grow with the trace.
 */
#ifndef RD_CLI_SEEN_RATE_H
#define RD_CLI_SEEN_RATE_H

#include "base/records.h"
#include "trace/event.h"
#include "trace/trace.h"

#define RD_RATE_BUCKETS (61 * 8)

struct rd_rate {
	struct rd_records streams;
	uint32_t era; /* gaps are not taken across a block that was forgotten */
	struct rd_rate_bucket {
		uint64_t n, sum; /* of gaps, ticks */
	} buckets[RD_RATE_BUCKETS], before[RD_RATE_BUCKETS];
	bool changed;
	/* By the trace's own events, 100 ns; 0 none. */
	uint64_t interval_100ns;
};

void rd_rate_init(struct rd_rate *r);
void rd_rate_release(struct rd_rate *r);
/* A sample, or an interval that the trace names. 0 or RD_NOMEM. */
int rd_rate_take(struct rd_rate *r, const struct rd_event *ev, const struct rd_record *record);
void rd_rate_end(struct rd_rate *r, bool undo);
/* The middle gap in nanoseconds; 0 when there is none. */
uint64_t rd_rate_middle_ns(const struct rd_rate *r, const struct rd_clock *clock);

#endif
