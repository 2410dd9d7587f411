/*
 * fuzz_capture - any bytes as a periodic capture state.
 * Holds: what has no fault is written again as the same bytes; faults stand in
 * the order of their places, inside the input; what has one is not written.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "capture/state.h"

int rd_fuzz_one(const uint8_t *bytes, size_t size_bytes);

static void holds(bool what)
{
	if (!what)
		abort();
}

int rd_fuzz_one(const uint8_t *bytes, size_t size_bytes)
{
	struct rd_capture_state s;
	struct rd_bytes again = {0};

	holds(rd_capture_read(&s, (struct rd_span){bytes, size_bytes}, NULL) == 0);
	holds(s.providers.n * RD_CAPTURE_GUID_BYTES <= size_bytes);
	for (size_t i = 0; i < s.faults.n; i++) {
		holds(s.faults.at[i].offset <= size_bytes && s.faults.at[i].text[0] != 0);
		holds(i == 0 || s.faults.at[i - 1].offset <= s.faults.at[i].offset);
	}
	holds((rd_capture_verdict(&s, NULL) == 0) == (s.faults.n == 0));
	if (s.faults.n == 0) {
		holds(rd_capture_write(&again, s.every_s, s.providers.at, s.providers.n, NULL) == 0);
		holds(again.n == size_bytes && (size_bytes == 0 || memcmp(again.at, bytes, size_bytes) == 0));
	}
	rd_bytes_release(&again);
	rd_capture_release(&s);
	return 0;
}
