/*
 * processes - who is in a trace: processes with names and samples.
 *
 * ETL samples name a thread only. Its owner is the process of the thread's
 * latest record before the sample in the file's order, else of the first after
 * it, else of a stack record: as in a profile, but for a thread id that was
 * reused within the time by which buffers of several processors overlap.
 */
#ifndef RD_CLI_SEEN_PROCESSES_H
#define RD_CLI_SEEN_PROCESSES_H

#include "cli/seen/undo.h"
#include "trace/event.h"

/* A process; a pid that was reused has several. */
struct rd_seen_process {
	uint32_t pid, nth; /* the key: the nth of this pid */
	rd_undo_mark mark;
	bool known; /* something was said of it, or sampled */
	bool has_start, has_end;
	uint32_t parent, namespace_pid;
	uint32_t name, command_line;   /* strings + 1; 0 not said */
	uint32_t system, architecture; /* likewise */
	uint64_t start, end;           /* ticks */
	uint64_t samples;
};

/* Which of a pid's processes is the present one. */
struct rd_seen_pid {
	uint32_t pid;
	rd_undo_mark mark;
	uint32_t nth; /* the latest; 0 when there is one or none */
};

/* A thread of an ETL file. */
struct rd_seen_thread {
	uint32_t thread;
	rd_undo_mark mark;
	bool owned, stacked;
	uint32_t pid;       /* by its latest record */
	uint32_t stack_pid; /* by its latest stack record */
	uint64_t waiting;   /* samples before its first record */
};

struct rd_processes {
	bool by_thread; /* samples name a thread only */
	struct rd_undo rows, pids, threads;
	struct rd_strings strings;
	uint64_t unowned;        /* samples of nobody */
	uint64_t unowned_before; /* of the blocks that ended */
};

void rd_processes_init(struct rd_processes *p, bool by_thread);
void rd_processes_release(struct rd_processes *p);

/* Whatever the event says of processes and threads. 0 or RD_NOMEM. */
int rd_processes_take(struct rd_processes *p, const struct rd_event *ev, const struct rd_record *r);
void rd_processes_end(struct rd_processes *p, bool undo);
/* All blocks are through: samples that waited for a record find their owner. 0 or RD_NOMEM. */
int rd_processes_finish(struct rd_processes *p);

/* The string, or an empty span. */
static inline struct rd_span rd_processes_text(const struct rd_processes *p, uint32_t string)
{
	return string ? rd_strings_at(&p->strings, string - 1) : (struct rd_span){NULL, 0};
}

#endif
