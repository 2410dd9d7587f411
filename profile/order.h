/*
 * order - where a fact stands in the order of facts, and what it says of a life.
 *
 * The order is (time, unloads and ends before all others, file, place): total
 * within a trace, whatever shards the facts came from (docs/address-history.md).
 */
#ifndef RD_PROFILE_ORDER_H
#define RD_PROFILE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"
#include "trace/record.h"

/* The head of every fact that is kept. */
struct rd_when {
	uint64_t time;  /* ticks */
	uint64_t place; /* ordinal << 32 | offset in the block */
	uint16_t file;  /* of its group */
	uint16_t op;    /* enum rd_op */
	uint32_t id;    /* what it speaks of: its owner's number */
};

/* The facts around a moment: the latest at or before it and the earliest after it, as indices; RD_NONE none. */
struct rd_near {
	uint32_t before, after;
};

static inline bool rd_alive_from(uint32_t op)
{
	return op == RD_OP_LOAD || op == RD_OP_DCSTART || op == RD_OP_DCEND;
}

static inline bool rd_alive_until(uint32_t op)
{
	return op == RD_OP_UNLOAD || op == RD_OP_DCSTART || op == RD_OP_DCEND;
}

#define RD_COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* Negative, 0, positive, as a comes before, with or after b. */
static inline int rd_when_compare(const struct rd_when *a, const struct rd_when *b)
{
	int c = RD_COMPARE(a->time, b->time);
	if (c == 0)
		c = (a->op != RD_OP_UNLOAD) - (b->op != RD_OP_UNLOAD);
	if (c == 0)
		c = RD_COMPARE(a->file, b->file);
	return c ? c : RD_COMPARE(a->place, b->place);
}

#endif
