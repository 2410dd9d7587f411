/*
 * verdict - what is said of one address in one life at one moment.
 */
#ifndef RD_PROFILE_VERDICT_H
#define RD_PROFILE_VERDICT_H

#include "profile/content.h"
#include "profile/history.h"

struct rd_verdict {
	uint32_t frame; /* of the content; RD_NONE: nobody owns the address */
	bool ambiguous;
	uint64_t until; /* ticks: from then on it must be asked again */
};

/* From the events that speak to the frames they name. frame_of: an event's frame, RD_NONE when out of memory. */
int rd_verdict_give(struct rd_verdict *v, const struct rd_ownership *o, const struct rd_content *content,
		    uint32_t (*frame_of)(void *ctx, uint32_t event), void *ctx, struct rd_error *err);

#endif
