/*
 * timeline - what the facts of one key say over time.
 *
 * Used for everything that is looked up by a name and a moment: a thread's
 * process, a module's path, the definition of a stack key. Add facts in any
 * order, seal once, then ask.
 */
#ifndef RD_PROFILE_TIMELINE_H
#define RD_PROFILE_TIMELINE_H

#include "base/error.h"
#include "base/memory.h"
#include "profile/order.h"

struct rd_timeline_fact {
	uint64_t key;
	struct rd_when when;
};

struct rd_timeline {
	RD_VEC(struct rd_timeline_fact) facts; /* sealed: sorted by key, then in the order of facts */
};

int rd_timeline_add(struct rd_timeline *t, uint64_t key, struct rd_when when, struct rd_error *err);
void rd_timeline_seal(struct rd_timeline *t);

/* Around a moment, as indices into facts. */
struct rd_near rd_timeline_near(const struct rd_timeline *t, uint64_t key, uint64_t time);
/* The latest fact at or before the time, else the earliest after; NULL when the key has none. */
const struct rd_when *rd_timeline_at(const struct rd_timeline *t, uint64_t key, uint64_t time);
/* The first fact at or after the time; NULL none. */
const struct rd_when *rd_timeline_from(const struct rd_timeline *t, uint64_t key, uint64_t time);
/* The index of the key's last fact that does not come after this moment and place; RD_NONE none. */
uint32_t rd_timeline_last(const struct rd_timeline *t, uint64_t key, const struct rd_when *when);

void rd_timeline_release(struct rd_timeline *t);

#endif
