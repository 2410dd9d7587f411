/*
 * state - TRACE_PERIODIC_CAPTURE_STATE_INFO: which providers tell Windows again and again what is there.
 *
 * u32 seconds between two times, u16 number of providers, u16 reserved (0),
 * then their GUIDs as Windows stores them. No bytes at all switch it off.
 * docs/formats/capture-state.md has the rules; all of them are in
 * rd_capture_read, so that what is written and what is read cannot drift apart.
 */
#ifndef RD_CAPTURE_STATE_H
#define RD_CAPTURE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"

#define RD_CAPTURE_HEAD_BYTES     8
#define RD_CAPTURE_GUID_BYTES     16
#define RD_CAPTURE_PROVIDERS_MOST UINT16_MAX
#define RD_CAPTURE_BYTES_MOST     (RD_CAPTURE_HEAD_BYTES + RD_CAPTURE_PROVIDERS_MOST * RD_CAPTURE_GUID_BYTES)

struct rd_capture_guid {
	uint8_t bytes[RD_CAPTURE_GUID_BYTES];
};

struct rd_capture_fault {
	int code; /* RD_TRUNCATED, RD_CORRUPT or RD_EXISTS (a provider that is there twice) */
	uint64_t offset;
	char text[160];
};

struct rd_capture_state {
	bool on;          /* false: no bytes, which switch it off */
	uint32_t every_s; /* 0 when it is off */
	RD_VEC(struct rd_capture_guid) providers;
	RD_VEC(struct rd_capture_fault) faults; /* by offset */
};

/*
 * What the bytes say and all that is wrong with them, as far as they go.
 * RD_NOMEM only; faults are no failure. Release *s in any case.
 */
int rd_capture_read(struct rd_capture_state *s, struct rd_span bytes, struct rd_error *err);
void rd_capture_release(struct rd_capture_state *s);
/* The first fault as an error; 0 when there is none. */
int rd_capture_verdict(const struct rd_capture_state *s, struct rd_error *err);

/*
 * Append the bytes for these providers; n 0 and every_s 0 append none, which switches it off. RD_USAGE for what
 * rd_capture_read would find wrong, RD_LIMIT for too many; nothing is appended then.
 */
int rd_capture_write(struct rd_bytes *out, uint32_t every_s, const struct rd_capture_guid *providers, size_t n,
		     struct rd_error *err);

#endif
