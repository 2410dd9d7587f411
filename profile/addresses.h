/*
 * addresses - the distinct addresses that will be asked for, and the ranks they have.
 *
 * Only what a stack or a sample holds is ever asked for, so events that cover
 * none of these addresses can be forgotten at once, and all that remains is
 * held by rank. Add in any order, seal once, then ask.
 */
#ifndef RD_PROFILE_ADDRESSES_H
#define RD_PROFILE_ADDRESSES_H

#include <stdbool.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/records.h"

struct rd_addresses {
	struct rd_records seen;        /* until the seal: uint64_t, in the order of their coming */
	uint32_t recent[512];          /* of seen, by address, hashed: those that came again and again */
	RD_VEC(uint64_t) at;           /* sealed: ascending, distinct */
	struct rd_address_page *pages; /* sealed: those that hold addresses; a power of two of slots */
	size_t page_slots;
};

void rd_addresses_init(struct rd_addresses *a);
int rd_addresses_add(struct rd_addresses *a, uint64_t address, struct rd_error *err);
/* RD_LIMIT when there are too many for ranks of 31 bits. */
int rd_addresses_seal(struct rd_addresses *a, struct rd_error *err);

/* The rank of an address; RD_NONE when it is not one of them. */
uint32_t rd_addresses_rank(const struct rd_addresses *a, uint64_t address);
/* The ranks [*low, *high) of the addresses in [start, start + size_bytes); false when there is none. */
bool rd_addresses_in(const struct rd_addresses *a, uint64_t start, uint64_t size_bytes, uint32_t *low, uint32_t *high);
/* The same of the addresses in [start, last]. */
bool rd_addresses_between(const struct rd_addresses *a, uint64_t start, uint64_t last, uint32_t *low, uint32_t *high);

void rd_addresses_release(struct rd_addresses *a);

#endif
