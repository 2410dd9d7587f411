/*
 * event - step through events that lie side by side: docs/formats/netperf.md, "Events".
 */
#ifndef RD_TRACE_NETPERF_EVENT_H
#define RD_TRACE_NETPERF_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"

#define RD_NETPERF_EVENT_BYTES 56 /* in front of the payload */

struct rd_netperf_event {
	uint32_t metadata_id; /* 0: the payload is a metadata record */
	uint32_t thread;
	uint64_t time; /* ticks */
	uint32_t payload_bytes;
	uint32_t stack_bytes;
	const uint8_t *payload;
	const uint8_t *stack;
};

/* The bytes of an event in the file, by its first four. */
static inline uint64_t rd_netperf_event_size(const uint8_t *event)
{
	return UINT64_C(4) + rd_le32(event);
}

/* Where the size of the stack stands, by an event's head; whether it and what follows fit is another question. */
static inline uint64_t rd_netperf_stack_at(const uint8_t *event)
{
	return (uint64_t)RD_NETPERF_EVENT_BYTES + rd_le32(event + 52);
}

/* Whether an event of this size ends with its stack, and with nothing behind it but what aligns the next one. */
static inline bool rd_netperf_event_closes(uint64_t size, uint64_t stack_at, uint32_t stack_bytes)
{
	uint64_t end = stack_at + 4 + stack_bytes;
	return end <= size && size - end < 4;
}

/* The event at *at, which moves behind it; false when there is none. */
static inline bool rd_netperf_event_next(const uint8_t **at, const uint8_t *end, uint32_t pointer_bytes,
					 struct rd_netperf_event *out)
{
	const uint8_t *p = *at;
	size_t left = (size_t)(end - p);
	if (left < RD_NETPERF_EVENT_BYTES)
		return false;
	uint64_t size = rd_netperf_event_size(p), stack_at = rd_netperf_stack_at(p);
	if (size > left || stack_at + 4 > size)
		return false;
	uint32_t stack_bytes = rd_le32(p + stack_at);
	if (!rd_netperf_event_closes(size, stack_at, stack_bytes) || stack_bytes % pointer_bytes != 0)
		return false;
	*out = (struct rd_netperf_event){
		.metadata_id = rd_le32(p + 4),
		.thread = rd_le32(p + 8),
		.time = rd_le64(p + 12),
		.payload_bytes = rd_le32(p + 52),
		.stack_bytes = stack_bytes,
		.payload = p + RD_NETPERF_EVENT_BYTES,
		.stack = p + stack_at + 4,
	};
	*at = p + size;
	return true;
}

#endif
