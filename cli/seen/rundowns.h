/*
 * rundowns - the runtimes in a trace: what their methods' events can say, and when they were listed.
 *
 * A runtime is (pid, CLR instance). A keyframe is a group of rundown events
 * (DCStart, DCEnd, and their markers) of any processes that follow each other
 * within a second: the list at the start or end of a session, or one in the
 * middle, as a session makes them that is enabled anew.
 */
#ifndef RD_CLI_SEEN_RUNDOWNS_H
#define RD_CLI_SEEN_RUNDOWNS_H

#include "cli/seen/undo.h"
#include "trace/event.h"

#define RD_OPS     5 /* enum rd_op */
#define RD_MARKERS 5 /* enum rd_marker */

struct rd_seen_runtime {
	uint32_t pid, clr; /* the key */
	rd_undo_mark mark;
	uint32_t keyframe; /* the latest that it is in, + 1 */
	uint16_t version[4];
	uint64_t markers[RD_MARKERS];
	uint64_t methods[RD_OPS], modules[RD_OPS];
};

/* Of a hostile file no more are kept than this; all are counted. */
#define RD_KEYFRAMES_MOST 100000

struct rd_keyframe {
	uint32_t number; /* the key */
	rd_undo_mark mark;
	uint64_t from, to;     /* ticks */
	uint64_t starts, ends; /* methods and modules of DCStart and DCEnd */
	uint64_t methods;
	uint64_t begun, complete; /* markers */
	uint64_t runtimes;
};

struct rd_rundowns {
	uint64_t gap_ticks;
	struct rd_undo runtimes, keyframes;
	uint32_t current; /* keyframe + 1; 0 none yet */
	uint32_t current_before;
	uint64_t beyond; /* events of keyframes that were not kept */
};

void rd_rundowns_init(struct rd_rundowns *d, uint64_t second_ticks);
void rd_rundowns_release(struct rd_rundowns *d);
/* Whatever the event says of methods, modules, markers and runtimes. 0 or RD_NOMEM. */
int rd_rundowns_take(struct rd_rundowns *d, const struct rd_event *ev, const struct rd_record *r);
void rd_rundowns_end(struct rd_rundowns *d, bool undo);

/* Those that a forgotten block made and nothing filled again are not among them. */
static inline size_t rd_keyframes_n(const struct rd_rundowns *d)
{
	return d->current;
}

enum rd_listed {
	RD_LISTED_NONE,     /* no trace of it */
	RD_LISTED_BEGUN,    /* it began and did not end */
	RD_LISTED_UNMARKED, /* methods, and no marker */
	RD_LISTED_COMPLETE,
};
/* The rundown at the start, or at the end, of one runtime, and the word for it. */
enum rd_listed rd_runtime_listed(const struct rd_seen_runtime *r, bool end);
const char *rd_listed_name(enum rd_listed listed);
/* Whether anything was said of it: rows of forgotten blocks have nothing. */
bool rd_runtime_known(const struct rd_seen_runtime *r);

#endif
