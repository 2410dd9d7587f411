/*
 * lives - which process a pid was at a moment, and which a thread belonged to.
 *
 * The rule stands in docs/address-history.md. Add the process facts of a
 * group's traces, seal, then ask; the lives themselves are rows of the
 * content, those of a pid in order of time. A pid without process facts gets
 * its one life when it is asked for.
 */
#ifndef RD_PROFILE_LIVES_H
#define RD_PROFILE_LIVES_H

#include "profile/content.h"
#include "profile/timeline.h"

struct rd_lives {
	struct rd_content *content;
	const struct rd_clock *clock;
	struct rd_timeline facts; /* by pid; id: an index into names */
	RD_VEC(struct rd_life_names) names;
	struct rd_records pids;     /* by pid: its lives */
	uint32_t recent;            /* of pids: the one asked for last */
	struct rd_timeline threads; /* by thread; id: the pid */
};

struct rd_life_names {
	uint32_t name, command_line; /* strings of the content */
	uint32_t namespace_pid;      /* 0 unknown */
};

void rd_lives_init(struct rd_lives *l, struct rd_content *content, const struct rd_clock *clock);
/* when.id is not read. */
int rd_lives_add_process(struct rd_lives *l, uint32_t pid, struct rd_when when, struct rd_life_names names,
			 struct rd_error *err);
int rd_lives_add_thread(struct rd_lives *l, uint64_t thread, uint32_t pid, struct rd_when when, struct rd_error *err);
/* Make the lives. Only then may rd_lives_at be asked; threads may still come. */
int rd_lives_seal(struct rd_lives *l, struct rd_error *err);
void rd_lives_seal_threads(struct rd_lives *l);

/* The life, an index into content->lives; RD_NONE when out of memory. */
uint32_t rd_lives_at(struct rd_lives *l, uint32_t pid, uint64_t time);
/* The same for an event of a file of the group. A life without process records is of the first file that tells of it. */
uint32_t rd_lives_of(struct rd_lives *l, uint32_t pid, uint64_t time, uint16_t file);

/* The pid of a thread at a time, by its own records; RD_PID_UNOWNED when it has none. Thread 0 is pid 0. */
uint32_t rd_lives_owner(const struct rd_lives *l, uint64_t thread, uint64_t time);

void rd_lives_release(struct rd_lives *l);

#endif
