/*
 * history - which events covered an address around a moment.
 *
 * Events cover ranges of the ranks of a given set of addresses and belong to
 * an owner (a process's life). Whoever adds them leaves out those that cover
 * none; the others take 32 bytes each. Add in any order, seal once, then ask. docs/address-history.md has the
 * rule and says why the structure is what it is.
 */
#ifndef RD_PROFILE_HISTORY_H
#define RD_PROFILE_HISTORY_H

#include "base/records.h"
#include "profile/addresses.h"
#include "profile/order.h"

struct rd_history_event {
	struct rd_when when;
	uint32_t low, high; /* ranks covered: [low, high) */
};

struct rd_history {
	const struct rd_addresses *addresses;
	RD_VEC(struct rd_history_event) events; /* sealed: in the order of facts */
	struct rd_records lists;                /* by (owner, node): where its entries are */
	RD_VEC(uint32_t) entries;               /* events by list, ascending */
	uint8_t *occupied;                      /* a bit a node: some owner has a list there */
};

void rd_history_init(struct rd_history *h, const struct rd_addresses *sealed);
/* The event of a range of ranks, as rd_addresses_in gives it. */
int rd_history_add(struct rd_history *h, struct rd_when when, uint32_t low, uint32_t high, struct rd_error *err);
/* owner says whose event it is, by its id. */
int rd_history_seal(struct rd_history *h, uint32_t (*owner)(const void *ctx, uint32_t id), const void *ctx,
		    struct rd_error *err);

/* The events of the owner that cover the address of this rank, around a moment. */
struct rd_near rd_history_near(const struct rd_history *h, uint32_t owner, uint32_t rank, uint64_t time);

/*
 * Who owned an address at a moment, by the rule of lives. `owner` is the event
 * that holds and `rival` the one that would say otherwise if it names another;
 * RD_NONE none. The answer is the same until `until`, UINT64_MAX for ever.
 */
struct rd_ownership {
	uint32_t owner, rival;
	uint64_t until;
};
/*
 * speaks (may be NULL) may silence an event that says "alive until here"; it
 * lowers *until to the moment when its answer may change.
 */
typedef bool (*rd_history_speaks_fn)(void *ctx, const struct rd_history_event *after, uint64_t time, uint64_t *until);
struct rd_ownership rd_history_owner(const struct rd_history *h, uint32_t owner, uint32_t rank, uint64_t time,
				     rd_history_speaks_fn speaks, void *ctx);

void rd_history_release(struct rd_history *h);

#endif
