/*
 * mappings - what nettrace 6 says was mapped at an address, and the names that its symbols give.
 *
 * Mappings overlap and are never unmapped. The newest at or before a moment
 * holds, else the earliest after it; of those of one time the higher id
 * before it, the lower one after it. Every process has its own, the kernel's
 * too. A name out of a symbol holds for as long as its mapping does.
 */
#ifndef RD_PROFILE_MAPPINGS_H
#define RD_PROFILE_MAPPINGS_H

#include "profile/symbols.h"
#include "profile/verdict.h"

struct rd_mapping {
	struct rd_when when; /* id is not read */
	uint64_t id;
	uint32_t low, high; /* ranks covered: [low, high) */
	uint32_t life;
	uint32_t module; /* string */
	uint32_t set;    /* sealed: of the symbols */
};

struct rd_mappings {
	struct rd_content *content;
	const struct rd_addresses *addresses;
	RD_VEC(struct rd_mapping) at; /* sealed: in the order in which they hold */
	struct rd_history history;    /* id: an index into at */
	struct rd_records sets;       /* of symbols, by mapping id, life and file */
	struct rd_symbols symbols;
};

void rd_mappings_init(struct rd_mappings *m, struct rd_content *content, const struct rd_addresses *sealed);
/* A mapping over the ranks [low, high). set is not read. */
int rd_mappings_add(struct rd_mappings *m, const struct rd_mapping *mapping, struct rd_error *err);
/*
 * A symbol of the mapping `id` in a process; name: a string of the content. Tell those that cover no rank too
 * (low = high): where a process has symbols of its own those of others do not count.
 */
int rd_mappings_add_symbol(struct rd_mappings *m, uint32_t life, uint64_t id, uint64_t start, uint32_t name,
			   struct rd_when when, uint32_t low, uint32_t high, struct rd_error *err);
int rd_mappings_seal(struct rd_mappings *m, struct rd_error *err);

/* The frame of a symbol, or `module!?`. */
int rd_mappings_ask(struct rd_mappings *m, uint32_t life, uint32_t rank, uint64_t time, struct rd_verdict *out,
		    struct rd_error *err);

void rd_mappings_release(struct rd_mappings *m);

#endif
