/*
 * clock - monotonic time, replaceable in tests.
 */
#ifndef RD_BASE_CLOCK_H
#define RD_BASE_CLOCK_H

#include <stdint.h>

/* Nanoseconds of CLOCK_MONOTONIC, or of the test's clock. */
uint64_t rd_now_ns(void);
/* Milliseconds until this moment of rd_now_ns, for poll(2): rounded up, at most a minute; -1 for UINT64_MAX: never. */
int rd_wait_ms(uint64_t until_ns);
/* Tests only: NULL gives the real one back. */
void rd_clock_replace(uint64_t (*now_ns)(void));

#endif
