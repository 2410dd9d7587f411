/*
 * frame - the head of a netperf file, and how its events are framed: in blocks (version 3) or not at all.
 */
#ifndef RD_TRACE_NETPERF_FRAME_H
#define RD_TRACE_NETPERF_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/fastserial.h"

/* rd_block.kind */
enum rd_netperf_kind {
	RD_NETPERF_BLOCK = 1, /* an EventBlock */
	RD_NETPERF_RUN = 2,   /* whole events side by side, as many as the index put together (versions 1 and 2) */
};

/* Versions whose events stand in blocks; the others' stand inside the one object that the file is. */
static inline bool rd_netperf_has_blocks(uint32_t version)
{
	return version >= 3;
}

/* Whether these first bytes are a netperf file's, of any version: other programs' files begin with the same word. */
bool rd_netperf_probe(const uint8_t *head, size_t size_bytes);

/*
 * Read the head of a file into the fields of *info that it speaks of; *first is
 * where its blocks or events begin, *reference (versions 1 and 2) the number
 * under which the file's end says where events end. RD_UNSUPPORTED (names the
 * version), RD_TRUNCATED, RD_CORRUPT.
 */
int rd_netperf_head(const uint8_t *bytes, size_t size_bytes, struct rd_trace_info *info, uint64_t *first,
		    uint32_t *reference, struct rd_error *err);

/* Version 3: what its blocks are. */
extern const struct rd_fastserial_blocks rd_netperf_blocks;

/*
 * Versions 1 and 2: where the events end, by the last bytes of a file that its
 * writer closed. RD_NO_OFFSET when they say nothing; negative when they cannot
 * be read.
 */
int rd_netperf_events_end(const struct rd_source *s, uint64_t first, uint32_t reference, uint64_t *end,
			  struct rd_error *err);

#endif
