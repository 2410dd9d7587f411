/*
 * scratch - a private folder that does not outlive the command, whatever signal ends it.
 *
 * One at a time. Signals that end a process (rd_signals_ending) are
 * waited for by a thread of their own, which removes the folder and then lets
 * the signal end the process. What SIGKILL leaves behind the next command
 * removes (cli/run_folder.h).
 */
#ifndef RD_CLI_SCRATCH_H
#define RD_CLI_SCRATCH_H

#include "base/error.h"

/* Make it, in $TMPDIR or /tmp; its path, until rd_scratch_close. NULL and *err on failure. */
const char *rd_scratch_open(struct rd_error *err);
/* Remove it; nothing when there is none. */
void rd_scratch_close(void);

#endif
