/*
 * stack_map - a shard's stack numbers as ids of the distinct raw stacks of a group.
 */
#ifndef RD_PROFILE_STACK_MAP_H
#define RD_PROFILE_STACK_MAP_H

#include "profile/tables.h"

struct rd_stack_map {
	RD_VEC(uint32_t) ids;
};

/* raw_stacks: addresses as bytes, innermost first; new ones are added. */
int rd_stack_map_load(struct rd_stack_map *m, struct rd_strings *raw_stacks, const struct rd_tables *t, size_t shard,
		      struct rd_error *err);
/* Of a stack number + 1: *id, RD_NONE for 0 and for a stack without frames; RD_CORRUPT when the shard has no such stack. */
int rd_stack_map_id(const struct rd_stack_map *m, uint32_t number, uint32_t *id, struct rd_error *err);
void rd_stack_map_release(struct rd_stack_map *m);

#endif
