/*
 * run_folder - the private folder of a run, locked as long as the run lives.
 *
 * A run that is killed with SIGKILL cannot remove its folder, in which whole
 * unpacked traces may lie. So each run first removes those of ours whose lock
 * nobody holds. A folder without a lock is never touched.
 */
#ifndef RD_CLI_RUN_FOLDER_H
#define RD_CLI_RUN_FOLDER_H

#include <stddef.h>

#include "base/error.h"

/*
 * Make it, in $TMPDIR or /tmp (always there when the name would be too long
 * for a socket in it). Fills path, absolute; *lock is the descriptor that
 * holds the lock. On failure nothing is left.
 */
int rd_run_folder_make(char *path, size_t size, int *lock, struct rd_error *err);

#endif
