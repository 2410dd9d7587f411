/*
 * count - the samples of a group: owned, joined, resolved, counted.
 */
#ifndef RD_PROFILE_COUNT_H
#define RD_PROFILE_COUNT_H

#include "profile/belief.h"
#include "profile/filter.h"
#include "profile/group.h"
#include "profile/moments.h"
#include "profile/progress.h"

struct rd_count {
	struct rd_content *content; /* rows and lives are counted here */
	const struct rd_moments *moments;
	struct rd_filter *filter;
	bool by_stack_only;           /* rows by process and stack: no thread, kind or bucket */
	bool once;                    /* an address is for ever what it was for the first sample that asks */
	struct rd_belief *belief;     /* what became of the samples that it knows is noted here; NULL none */
	struct rd_progress *progress; /* its `done` is counted here; NULL none */
	/* Counted: */
	uint64_t samples, weight, discarded;
	uint64_t kinds[RD_SAMPLE_KINDS];
	uint64_t stack_records;
	struct rd_trust *trust; /* its counts of frames, stacks and owners */
};

/* All samples of a gathered group. */
int rd_count_group(struct rd_count *c, struct rd_group *g, struct rd_error *err);

#endif
