/*
 * stacks - what a stack id of a nettrace file stands for, until the next sequence point.
 *
 * Frames are copied: ids outlive the block that the window holds. Ids come in
 * order, so the entry of an id is found by its distance from the first one;
 * ids that do not (a damaged block is missing between) go through a table.
 */
#ifndef RD_TRACE_NETTRACE_STACKS_H
#define RD_TRACE_NETTRACE_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/table.h"

struct rd_nettrace_stack {
	uint32_t id;
	uint32_t size_bytes;
	size_t at; /* in frames */
};

struct rd_nettrace_stacks {
	RD_VEC(struct rd_nettrace_stack) entries;
	struct rd_table table; /* ids that do not stand at their distance */
	struct rd_bytes frames;
};

void rd_nettrace_stacks_release(struct rd_nettrace_stacks *s);
/* All ids are void from here on. */
void rd_nettrace_stacks_reset(struct rd_nettrace_stacks *s);

/* Whether a stack block's payload is one; frames have pointer_bytes each. */
bool rd_nettrace_stacks_valid(const uint8_t *payload, size_t size_bytes, uint32_t pointer_bytes);
/* Take the stacks of a valid payload; a second definition of an id takes the first one's place. 0 or RD_NOMEM. */
int rd_nettrace_stacks_add(struct rd_nettrace_stacks *s, const uint8_t *payload, size_t size_bytes);

/* The frames of an id, borrowed until the next add or reset; empty when nothing has defined it. */
struct rd_span rd_nettrace_stacks_find(const struct rd_nettrace_stacks *s, uint32_t id);

#endif
