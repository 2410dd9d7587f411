/*
 * signals - signals as a descriptor that a loop can poll.
 *
 * Call it before threads start: they inherit what is blocked.
 */
#ifndef RD_BASE_SIGNALS_H
#define RD_BASE_SIGNALS_H

#include <stddef.h>

#include "base/error.h"

/*
 * Take these signals from the process and tell them by a descriptor, which is
 * non-blocking and the caller's; or RD_IO. SIGPIPE is ignored from now on.
 */
int rd_signals_open(const int *numbers, size_t n, struct rd_error *err);
/* The next one that has come, or 0. */
int rd_signals_next(int fd);

#endif
