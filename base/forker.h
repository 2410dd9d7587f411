/*
 * forker - a process that forks children for one that must not fork itself.
 *
 * A daemon that has a ZeroMQ context or a database open must not fork. It
 * starts a forker first, as its first act. The forker holds nothing but a
 * control socket; for each order it forks one child, hands it the descriptors
 * that came with the order, and tells how the child ended.
 *
 * All die with the daemon, however it dies: the forker by its parent-death
 * signal and by the end of the control socket, the children by the death of
 * the forker. The forker and its children ignore SIGINT, SIGTERM and SIGHUP:
 * the daemon decides when they end.
 * Threads: one thread of the owner uses it, the one that started it.
 */
#ifndef RD_BASE_FORKER_H
#define RD_BASE_FORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/pipe.h"

#define RD_FORKER_FDS 4

struct rd_forker {
	int fd; /* readable when an end is to be told; the owner polls it */
	pid_t pid;
};

/* A start returns in three kinds of process; the last two end by returning from main soon. */
enum rd_forker_role {
	RD_FORKER_OWNER = 0, /* the caller */
	RD_FORKER_CHILD = 1, /* a child that was ordered: do the work of child->fds, then end */
	RD_FORKER_ENDED = 2, /* the forker itself, whose owner is gone */
};

struct rd_forker_child {
	uint64_t id;
	int fds[RD_FORKER_FDS]; /* the child's to close */
	size_t fds_n;
};

/* How a child ended. */
struct rd_forker_exit {
	uint64_t id;
	int spawn_errno;     /* not 0: it was never forked, and why; the rest is 0 */
	int status;          /* as wait(2) gives it */
	uint64_t peak_bytes; /* largest resident size */
	uint64_t cpu_ns;     /* user and system */
};

/*
 * Fork the forker. The role, or RD_IO in the owner. `name` (at most 15 bytes)
 * is what ps shows. Nothing may be open yet that must not be shared.
 */
int rd_forker_start(struct rd_forker *f, const char *name, struct rd_forker_child *child, struct rd_error *err);

/*
 * Order a child. `id` is the caller's, new for each child. The descriptors are
 * duplicated: the caller closes its own. RD_IO: the forker is gone, or too
 * many orders wait.
 */
int rd_forker_spawn(struct rd_forker *f, uint64_t id, const int *fds, size_t n, struct rd_error *err);
/* What a child that was ordered with a task and a pipe finds in fds. */
enum { RD_FORKER_TASK_FD = 0, RD_FORKER_PIPE_FD = 1 };
/* Order a child with the file of its task, which the caller closes, and a pipe that it answers by: *p is its reader. */
int rd_forker_spawn_task(struct rd_forker *f, uint64_t id, int task_fd, uint32_t body_max_bytes, struct rd_pipe *p,
			 struct rd_error *err);
/* SIGKILL; its end is told like any other. A child that is gone already is no error. */
int rd_forker_kill(struct rd_forker *f, uint64_t id, struct rd_error *err);
/* 1 and *out, 0 nothing to tell now, RD_IO: the forker is gone, and with it all children. */
int rd_forker_next(struct rd_forker *f, struct rd_forker_exit *out, struct rd_error *err);
/* End the forker and its children, and wait for it. */
void rd_forker_stop(struct rd_forker *f);

/* "was killed by SIGSEGV (Segmentation fault)", "ended with code 3": for error texts. buf is returned. */
const char *rd_exit_text(const struct rd_forker_exit *e, char *buf, unsigned size);

/* An unnamed file in memory with these bytes one after the other, to hand to a child; the descriptor, or RD_IO. */
int rd_memory_file(const struct rd_span *parts, size_t n, struct rd_error *err);

#endif
