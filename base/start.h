/*
 * start - what a program makes sure of before anything else.
 */
#ifndef RD_BASE_START_H
#define RD_BASE_START_H

#include "base/error.h"

/* Fewer descriptors than this are not enough for any of the programs: libraries then abort in the middle of work. */
#define RD_DESCRIPTORS_LEAST 64

/*
 * Descriptors 0 to 2 are there afterwards, so that no file or socket ever gets
 * the number of a standard stream: a missing one becomes /dev/null, opened
 * the wrong way round for stdin and stdout, so that their use is an error and
 * not silently lost. As many descriptors may be open as the hard limit allows;
 * RD_LIMIT when these are fewer than RD_DESCRIPTORS_LEAST.
 */
int rd_start(struct rd_error *err);
/* How many descriptors may be open now. */
uint64_t rd_descriptors_max(void);

#endif
