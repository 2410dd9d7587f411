/*
 * content - what a result will hold, interned while samples are counted.
 *
 * Processes (lives), names, methods, frames, calls and rows get ids in the
 * order of their first coming; profile/canonical.c sorts them by content in
 * the end, so no answer hangs on these ids. Stacks share what is outside
 * equal, as a tree of calls: a stack that differs from another inside only
 * costs what differs.
 */
#ifndef RD_PROFILE_CONTENT_H
#define RD_PROFILE_CONTENT_H

#include "base/records.h"
#include "profile/result.h"

/* One life of a pid (docs/address-history.md). */
struct rd_life {
	uint32_t trace; /* index; stands when its group is counted */
	uint16_t file;  /* of its group, the first that tells of it; UINT16_MAX: none has yet */
	bool recorded;  /* process records tell of it, and only their files count */
	uint32_t pid;
	uint64_t begin;              /* ticks; 0 when it is there from the start */
	bool started;                /* begin is its start, not only its first record */
	int64_t start_utc_ns;        /* INT64_MIN unknown */
	uint32_t name, command_line; /* strings */
	uint32_t namespace_pid;      /* 0 unknown */
	uint64_t samples;
};

/* What makes two frames one row of a report. */
struct rd_method_key {
	uint32_t life, clr;
	uint32_t module, ns, name, signature; /* strings */
};

struct rd_frame_key {
	uint32_t method;
	uint32_t tier;
	uint32_t flags; /* enum rd_frame_flags */
};

/*
 * A node of the caller tree. Most calls are the only ones of their callers:
 * these are found by them, and only the others need a table.
 */
struct rd_content_call {
	struct rd_result_call call; /* of ids of this content */
	uint32_t first;             /* the first call that it made, as a number; 0 none */
};

struct rd_content {
	RD_VEC(struct rd_life) lives;
	struct rd_strings strings; /* 0 is "" */
	struct rd_records methods; /* struct rd_method_key */
	struct rd_records frames;  /* struct rd_frame_key */
	RD_VEC(struct rd_content_call) calls;
	struct rd_table calls_table; /* calls that are not the first of their caller */
	struct rd_records rows;      /* struct rd_result_row, process being the life */
};

/* The key of a row is all before its counts. */
_Static_assert(offsetof(struct rd_result_row, count) == 24, "the key of a row has no padding");

int rd_content_init(struct rd_content *c, struct rd_error *err);
void rd_content_release(struct rd_content *c);

/* The frame's id; RD_NONE when out of memory. */
uint32_t rd_content_frame(struct rd_content *c, const struct rd_method_key *method, uint32_t tier, uint32_t flags);
/*
 * A stack is the number of its innermost call, 0 being the empty one: this is
 * the stack of a caller and one more frame, inside. RD_NONE when out of memory.
 */
uint32_t rd_content_call(struct rd_content *c, uint32_t caller, uint32_t frame);
/* `module!?`: code that nobody names, in a module (a string; 0 none). */
uint32_t rd_content_unnamed(struct rd_content *c, uint32_t life, uint32_t clr, uint32_t module, uint32_t tier);

/* Give a life a command line (a string) unless it has one, and a name by it unless it has one. 0 or RD_NOMEM. */
int rd_content_name_life(struct rd_content *c, uint32_t life, uint32_t command_line);

static inline const struct rd_frame_key *rd_content_frame_at(const struct rd_content *c, uint32_t frame)
{
	return rd_records_at(&c->frames, frame);
}
/* The innermost call of a stack, which says what is outside it; NULL for the empty stack. Borrowed until a call is
 * added. */
static inline const struct rd_result_call *rd_content_call_at(const struct rd_content *c, uint32_t stack)
{
	return stack ? &c->calls.at[stack - 1].call : NULL;
}
/* Whether two frames are one row of a report. */
static inline bool rd_content_same_method(const struct rd_content *c, uint32_t a, uint32_t b)
{
	return rd_content_frame_at(c, a)->method == rd_content_frame_at(c, b)->method;
}

#endif
