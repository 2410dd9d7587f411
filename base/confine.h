/*
 * confine - what a process may still ask of the kernel once it reads a stranger's bytes.
 *
 * Two fences, each there if the kernel offers it. seccomp: only calls that
 * computing, reading and writing need; what only an intruder asks for
 * (programs, sockets, processes, other processes' memory) ends the process by
 * SIGSYS, and any other call fails with EPERM. Landlock: no file but below some
 * folders, no TCP, no signals to others. Neither can be taken off again.
 * Sanitizers need more than that, so their builds have no fences.
 * Threads: for a process that has one.
 */
#ifndef RD_BASE_CONFINE_H
#define RD_BASE_CONFINE_H

#include <stdbool.h>

#include "base/error.h"

enum rd_confine_fences {
	RD_CONFINE_CALLS = 1, /* seccomp */
	RD_CONFINE_FILES = 2, /* Landlock */
	RD_CONFINE_ALL = 3,
};

/* What this kernel and build offer, as bits. */
unsigned rd_confine_offered(void);
/* Log it; `required`: RD_UNSUPPORTED when one is missing, `whom` it would have fenced in. */
int rd_confine_look(bool required, const char *whom, struct rd_error *err);

/*
 * Put up what is offered. Descriptors that are open stay as useful as they are. `folders`, up to a NULL: files below
 * them can be opened, made, renamed and removed; NULL: none can. The fences that stand, or RD_IO: then no stranger's
 * bytes.
 */
int rd_confine(const char *const *folders, struct rd_error *err);
/* After rd_confine with a folder: from now on only what is below this one of its folders. */
int rd_confine_narrow(const char *folder, struct rd_error *err);
/*
 * Only the fence of files, for who moves them between these folders, up to a NULL. It may be followed by a narrower
 * rd_confine. Landlock's first version cannot let files move, so there it is left out. 0 or RD_IO.
 */
int rd_confine_moves(const char *const *folders, struct rd_error *err);

#endif
