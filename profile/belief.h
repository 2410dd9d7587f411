/*
 * belief - what the shards believed, and how much of it the finish changed.
 *
 * The preliminary histograms of all shards, summed by method; then, by the
 * final rows, the samples whose innermost method is another.
 */
#ifndef RD_PROFILE_BELIEF_H
#define RD_PROFILE_BELIEF_H

#include "profile/group.h"

struct rd_belief {
	struct rd_records methods; /* by pid, CLR instance and names */
	uint64_t samples;          /* exclusive ones of all methods */
};

void rd_belief_init(struct rd_belief *b);
/* Add the preliminary tables of a group's shards. */
int rd_belief_add_group(struct rd_belief *b, const struct rd_group *g, struct rd_error *err);
/* Samples of the content's rows that the belief gave to another method. */
int rd_belief_changed(struct rd_belief *b, const struct rd_content *c, uint64_t *changed, struct rd_error *err);
void rd_belief_release(struct rd_belief *b);

#endif
