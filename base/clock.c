#include "base/clock.h"

#include <stddef.h>
#include <time.h>

static uint64_t (*replacement)(void);

uint64_t rd_now_ns(void)
{
	struct timespec now;

	if (replacement)
		return replacement();
	/* It cannot fail with this clock and a valid pointer. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int rd_wait_ms(uint64_t until_ns)
{
	const uint64_t ms_most = 60000;
	uint64_t now = rd_now_ns();

	if (until_ns == UINT64_MAX)
		return -1;
	if (until_ns <= now)
		return 0;
	/* Rounded up, so that the moment has come when the caller wakes. */
	uint64_t ms = (until_ns - now - 1) / 1000000 + 1;
	return (int)(ms < ms_most ? ms : ms_most);
}

void rd_clock_replace(uint64_t (*now_ns)(void))
{
	replacement = now_ns;
}
