/*
 * family - the daemons that `rundown run` starts for itself, and takes down again.
 *
 * All of them and what they fork form one process group, and orphans come to
 * us (a subreaper), so that nothing is left when the family has stopped. Each
 * is killed by the kernel when we die, however we die.
 * The folder is locked while we live: what a killed run left behind is known by
 * its lock that nobody holds, and removed by the next one.
 * A program's words on stderr go to a file in memory, the last of which are
 * shown when it dies.
 */
#ifndef RD_CLI_FAMILY_H
#define RD_CLI_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

typedef int (*rd_program_fn)(int argc, char **argv);
/* The daemon of this name ("rundown-worker"), which the file of `rundown` is, too; NULL none. */
rd_program_fn rd_family_program(const char *name);

enum rd_family_role { RD_FAMILY_BROKER, RD_FAMILY_MERGER, RD_FAMILY_WORKER };
/* "the broker", "a worker". */
const char *rd_family_name(enum rd_family_role role);

struct rd_family_member {
	enum rd_family_role role;
	pid_t pid;           /* 0: not running */
	int status;          /* as wait(2) gives it, once it ended */
	uint64_t stopped_ns; /* since when a signal has it stopped; 0 not */
	int words;           /* its stderr; -1: it goes through */
};

struct rd_family {
	char folder[4096]; /* private; removed at the end. "" none yet */
	char nook[256]; /* another, of the socket alone, where the first one's path is too long for an address; "" none
			 */
	char log_level[8]; /* "" none: stderr is kept; else it goes through */
	char endpoint[128];
	uint64_t finish_memory_bytes;     /* for the merger; 0: its default */
	int lock, nook_lock;              /* of the folders; -1 none */
	int listener;                     /* the broker's socket: it listens before anybody runs; -1 handed over */
	pid_t group;                      /* 0: nobody runs */
	struct rd_family_member *members; /* broker, merger, workers */
	size_t n;
	unsigned restarts_left;
	bool threads; /* from now on a child must exec at once */
};

/* Make the private folder and the socket. Nobody runs yet. */
int rd_family_init(struct rd_family *f, unsigned workers, const char *log_level, struct rd_error *err);
/* Start all of them. Only while this process has one thread and nothing open that a fork must not meet. */
int rd_family_start(struct rd_family *f, struct rd_error *err);
/*
 * After SIGCHLD: take in who ended, was stopped or goes on. A worker is started again, a few times.
 * RD_IO when the broker, the merger or the last worker is gone: who and how.
 */
int rd_family_reap(struct rd_family *f, struct rd_error *err);
/* Kill all of them now. */
void rd_family_kill(struct rd_family *f);
/* Kill all but the merger, and ask that to end, stopped or not: it takes away what it was writing beside the result. */
void rd_family_wind_down(struct rd_family *f);
/* Take in who has ended; whether the merger is not there any more. */
bool rd_family_merger_gone(struct rd_family *f);
/* Kill, wait for the last, remove the folder. May be called in any state, also twice. */
int rd_family_release(struct rd_family *f, struct rd_error *err);

#endif
