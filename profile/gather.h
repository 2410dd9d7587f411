/*
 * gather - the passes over the shards of a group that bring its facts together. Inside the group only.
 *
 * Each reads all shards, one after the other, table by table; what it adds to
 * is sealed by the caller.
 */
#ifndef RD_PROFILE_GATHER_H
#define RD_PROFILE_GATHER_H

#include "profile/group.h"

/* Processes into g->lives, stacks into g->raw_stacks, the pointers of samples into g->addresses. */
int rd_gather_lives_and_addresses(struct rd_group *g, struct rd_error *err);
/* All other facts. Lives and addresses are sealed. */
int rd_gather_facts(struct rd_group *g, struct rd_error *err);
/* The names that g->methods.namer wants. */
int rd_gather_missing_names(struct rd_group *g, struct rd_error *err);

#endif
