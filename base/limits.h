/*
 * limits - what this process may take of the machine, for children that work on strangers' input.
 */
#ifndef RD_BASE_LIMITS_H
#define RD_BASE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/*
 * Set a limit of setrlimit(2), never above what the process came with; it
 * cannot be had back. `what` is a word for it. 0 or RD_IO.
 */
int rd_limit(int resource, uint64_t value, const char *what, struct rd_error *err);

/* Whether this build can limit memory: the sanitizers reserve terabytes of it. */
bool rd_limits_memory(void);

/* The most memory that this process had at a time, with what it mapped of files; 0 nobody knows. */
uint64_t rd_peak_bytes(void);

/*
 * When the machine runs out of memory, better this process than the daemon or
 * a neighbour. A host that does not let us is no reason to stop.
 */
void rd_limit_first_to_go(void);

#endif
