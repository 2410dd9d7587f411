/*
 * clock - monotonic time, replaceable in tests.
 */
#ifndef RD_BASE_CLOCK_H
#define RD_BASE_CLOCK_H

#include <stdint.h>

/* Nanoseconds of CLOCK_MONOTONIC, or of the test's clock. */
uint64_t rd_now_ns(void);
/* Tests only: NULL gives the real one back. */
void rd_clock_replace(uint64_t (*now_ns)(void));

#endif
