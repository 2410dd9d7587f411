/*
 * run_folder - the private folder of a command, locked as long as the command lives.
 *
 * A command that is killed with SIGKILL cannot remove its folder, in which
 * whole unpacked traces may lie. So each first removes those of ours whose
 * lock nobody holds (base/owned.h). A folder without a lock is never touched.
 */
#ifndef RD_CLI_RUN_FOLDER_H
#define RD_CLI_RUN_FOLDER_H

#include <stddef.h>

#include "base/error.h"

/* The address of a socket has room for 108 bytes only: a folder that is to hold one is no longer than this. */
#define RD_SOCKET_ROOT_MAX 60

/*
 * Make it, in $TMPDIR or /tmp; in /tmp, too, when $TMPDIR is longer than
 * root_max (0: as long as it likes). Fills path, absolute; *lock is the
 * descriptor that holds the lock. On failure nothing is left.
 */
int rd_run_folder_make(char *path, size_t size, size_t root_max, int *lock, struct rd_error *err);

#endif
