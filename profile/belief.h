/*
 * belief - what the shards believed, and how much of it the finish changed.
 *
 * The preliminary histograms of all shards, summed by method; then the methods
 * that the same samples have in the end.
 */
#ifndef RD_PROFILE_BELIEF_H
#define RD_PROFILE_BELIEF_H

#include "profile/group.h"

/* Of so many samples of a shard something is believed, at most. */
#define RD_BELIEF_SAMPLES 8192

/* How many samples of a shard of n it is: one of each run of equal length. */
static inline uint64_t rd_belief_run(uint64_t n)
{
	return n / RD_BELIEF_SAMPLES + (n % RD_BELIEF_SAMPLES > 0);
}
static inline uint64_t rd_belief_samples(uint64_t n)
{
	uint64_t run = rd_belief_run(n);
	return run ? (n - 1) / run + 1 : 0;
}
/*
 * How many samples the i-th of a shard's n stands for, 0 when another of its run stands for it. Which one is drawn: a
 * recorder samples its threads in turn, and one of every seven would be the same thread again and again.
 */
uint64_t rd_belief_weight(uint64_t i, uint64_t n);

struct rd_belief {
	struct rd_records methods; /* by pid, CLR instance and names */
	uint64_t samples;          /* exclusive ones of all methods */
};

void rd_belief_init(struct rd_belief *b);
/* Add the preliminary tables of a group's shards, and note which came with one. */
int rd_belief_add_group(struct rd_belief *b, struct rd_group *g, struct rd_error *err);
/* A sample of a shard that came with one, or so many, with this stack in the end. */
int rd_belief_find(struct rd_belief *b, const struct rd_content *c, uint32_t stack, uint64_t weight,
		   struct rd_error *err);
/* How many samples the belief gave to another method. */
uint64_t rd_belief_changed(const struct rd_belief *b);
void rd_belief_release(struct rd_belief *b);

#endif
