/*
 * symbols - which name a mapping's symbols give an address. They have no lives.
 *
 * Symbols come in sets, one a mapping's id. Of those that cover an address a
 * name of compiled code beats all others: the last written holds, and is
 * ambiguous if another one says another method. Else it is the one with the
 * highest start, then the fewest leading underscores, then the shortest, then
 * the first in byte order (docs/address-history.md, "Symbols").
 */
#ifndef RD_PROFILE_SYMBOLS_H
#define RD_PROFILE_SYMBOLS_H

#include <stdbool.h>

#include "base/records.h"
#include "profile/addresses.h"
#include "profile/content.h"

struct rd_symbol {
	uint64_t start;
	uint64_t place;     /* where it was written */
	uint32_t low, high; /* ranks covered: [low, high) */
	uint32_t set;
	uint32_t what; /* compiled code: an index into compiled; else a string, its name */
	uint32_t tier; /* enum rd_tier; RD_TIER_NATIVE: no compiled code */
};

/* What a name says; the same for every symbol that has it. */
struct rd_symbol_name {
	bool known;
	uint32_t what, tier;
};

struct rd_symbols {
	struct rd_content *content;
	const struct rd_addresses *addresses;
	RD_VEC(struct rd_symbol) at;
	RD_VEC(struct rd_symbol_name) names; /* by string */
	struct rd_records compiled;          /* what names of compiled code say, but for their tiers */
	struct rd_records nodes; /* sealed: by set and node of a tree over the ranks, what its symbols say */
	struct rd_bytes scratch;
};

void rd_symbols_init(struct rd_symbols *s, struct rd_content *content, const struct rd_addresses *sealed);
/* A symbol of a set over the ranks [low, high). name: a string of the content. */
int rd_symbols_add(struct rd_symbols *s, uint32_t set, uint32_t name, uint64_t start, uint64_t place, uint32_t low,
		   uint32_t high, struct rd_error *err);
/* also: by set, another one that has its symbols too; RD_NONE none. */
int rd_symbols_seal(struct rd_symbols *s, const uint32_t *also, struct rd_error *err);

/*
 * The frame of an address, in a life, by the symbols of a set; module is for
 * names that bring none. *frame is RD_NONE when no symbol covers it.
 */
int rd_symbols_ask(const struct rd_symbols *s, uint32_t set, uint32_t rank, uint32_t life, uint32_t module,
		   uint32_t *frame, bool *ambiguous, struct rd_error *err);

void rd_symbols_release(struct rd_symbols *s);

#endif
