/*
 * damage - hold a cut or changed trace against the whole one.
 *
 * A trace is indexed, decoded and collected as a worker does it; of each block
 * stays a sum over its events. What came whole must come of the damaged file
 * too, event for event, and what a cut leaves is a beginning of the whole.
 * A check returns NULL, or a text that says what is wrong.
 */
#ifndef RD_TESTS_PROFILE_DAMAGE_H
#define RD_TESTS_PROFILE_DAMAGE_H

#include "base/memory.h"
#include "trace/trace.h"

/* The events of a block that count. */
struct damage_block {
	uint64_t offset, size_bytes, kind;
	uint64_t events, sum;
};

/* An event's place in the file, and the sum of all up to it. */
struct damage_event {
	uint64_t at, sum;
};

struct damage_reading {
	int indexed; /* what the index returned; nothing else is filled when it is negative */
	struct rd_index index;
	RD_VEC(struct damage_block) blocks; /* in the order of the file */
	RD_VEC(struct damage_event) events; /* in the order of the index, which is the file's but for circular ones */
	uint64_t samples;
};

struct damage {
	const struct rd_format *format;
	const struct rd_source *source;
	struct damage_reading whole, cut;
	uint64_t decoded; /* readings so far that were no repetition */
};

/* Read the whole file, which must succeed: NULL, or why it does not. The source stays the caller's. */
const char *damage_begin(struct damage *d, const struct rd_source *whole);
void damage_release(struct damage *d);

/* Where the first block ends, and with it what a file needs to be one. */
uint64_t damage_first_end(const struct damage *d);

/* Cut the file to size_bytes: nothing but the end is missing. */
const char *damage_check_cut(struct damage *d, uint64_t size_bytes);
/* A file of the same size whose bytes differ from `at` on: what lies before is whole. */
const char *damage_check_change(struct damage *d, const struct rd_source *changed, uint64_t at);

/* The most memory that this process ever had, in KiB. */
uint64_t damage_peak_kib(void);

#endif
