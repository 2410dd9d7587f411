/*
 * header - step through the event headers of an event or metadata block.
 *
 * Both shapes: compressed ones, where a field that is absent is as in the
 * event before (docs/formats/nettrace.md, "Compressed headers"), and plain
 * ones of a fixed size; each as version 4 and as version 6 has it. All inline:
 * this is the inner loop of a decode.
 */
#ifndef RD_TRACE_NETTRACE_HEADER_H
#define RD_TRACE_NETTRACE_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"

struct rd_nettrace_header {
	uint32_t metadata_id;
	uint32_t sequence;       /* of the capture thread, modulo 2^32 */
	uint64_t capture_thread; /* version 6: this and the next are indices of thread rows */
	uint64_t thread;
	uint32_t processor; /* UINT32_MAX unknown */
	uint32_t stack_id;
	uint64_t time;       /* ticks */
	uint32_t label_list; /* version 6; 0 none */
	uint32_t payload_bytes;
	const uint8_t *payload;
};

enum rd_nettrace_shape {
	RD_NETTRACE_PLAIN,
	RD_NETTRACE_COMPRESSED,
	RD_NETTRACE_PLAIN_6,
	RD_NETTRACE_COMPRESSED_6,
};

struct rd_nettrace_headers {
	const uint8_t *begin; /* of the block's payload, which alignment counts from */
	const uint8_t *at;    /* the next event */
	const uint8_t *end;
	enum rd_nettrace_shape shape;
	struct rd_nettrace_header h; /* the latest event; zeros at first */
};

enum {
	RD_NETTRACE_HAS_METADATA_ID = 1,
	RD_NETTRACE_HAS_SEQUENCE = 2, /* and capture thread, and processor */
	RD_NETTRACE_HAS_THREAD = 4,
	RD_NETTRACE_HAS_STACK_ID = 8,
	RD_NETTRACE_HAS_ACTIVITY = 16, /* version 6: the label list; 32 is nothing there */
	RD_NETTRACE_HAS_RELATED_ACTIVITY = 32,
	RD_NETTRACE_IS_SORTED = 64, /* says nothing that a profile needs */
	RD_NETTRACE_HAS_PAYLOAD_BYTES = 128,
};

#define RD_NETTRACE_BLOCK_HEADER_BYTES 20 /* size u16, flags u16, two times */
#define RD_NETTRACE_PLAIN_BYTES        80
#define RD_NETTRACE_PLAIN_6_BYTES      52

/* A number and the byte behind it; at is NULL when there is no number. */
struct rd_nettrace_number {
	uint64_t value;
	const uint8_t *at;
};

/* The longer numbers, and those that are none, go the long way round. */
struct rd_nettrace_number rd_nettrace_long_u32(const uint8_t *at, const uint8_t *end);
struct rd_nettrace_number rd_nettrace_long_u64(const uint8_t *at, const uint8_t *end);

/*
 * Most numbers have one to three bytes. False when the bytes are no number.
 * `room`: a whole header fits before the end, so that the short ways need not ask.
 */
static inline __attribute__((always_inline)) bool rd_nettrace_u32(const uint8_t **at, const uint8_t *end, bool room,
								  uint32_t *v)
{
	const uint8_t *p = *at;
	if (room && p[0] < 0x80) {
		*v = p[0];
		*at = p + 1;
		return true;
	}
	if (room && p[1] < 0x80) {
		*v = (p[0] & 0x7fu) | (uint32_t)p[1] << 7;
		*at = p + 2;
		return true;
	}
	struct rd_nettrace_number n = rd_nettrace_long_u32(p, end);
	*v = (uint32_t)n.value;
	*at = n.at;
	return n.at != NULL;
}

static inline __attribute__((always_inline)) bool rd_nettrace_u64(const uint8_t **at, const uint8_t *end, bool room,
								  uint64_t *v)
{
	const uint8_t *p = *at;
	if (room && p[0] < 0x80) {
		*v = p[0];
		*at = p + 1;
		return true;
	}
	if (room && p[1] < 0x80) {
		*v = (p[0] & 0x7fu) | (uint32_t)p[1] << 7;
		*at = p + 2;
		return true;
	}
	if (room && p[2] < 0x80) {
		*v = (p[0] & 0x7fu) | (p[1] & 0x7fu) << 7 | (uint32_t)p[2] << 14;
		*at = p + 3;
		return true;
	}
	struct rd_nettrace_number n = rd_nettrace_long_u64(p, end);
	*v = n.value;
	*at = n.at;
	return n.at != NULL;
}

/* Stand before the first event of a block's payload, of version 6 or of an earlier one; false when it has no header. */
static inline bool rd_nettrace_headers_begin(struct rd_nettrace_headers *s, bool six, const uint8_t *payload,
					     size_t size_bytes)
{
	if (size_bytes < RD_NETTRACE_BLOCK_HEADER_BYTES)
		return false;
	uint16_t header_bytes = rd_le16(payload);
	if (header_bytes < RD_NETTRACE_BLOCK_HEADER_BYTES || header_bytes > size_bytes)
		return false;
	bool compressed = (rd_le16(payload + 2) & 1) != 0;
	*s = (struct rd_nettrace_headers){
		.begin = payload,
		.at = payload + header_bytes,
		.end = payload + size_bytes,
		.shape = (compressed ? RD_NETTRACE_COMPRESSED : RD_NETTRACE_PLAIN) + (six ? RD_NETTRACE_PLAIN_6 : 0),
	};
	return true;
}

/* The fields that flag 2 brings. The sequence number moves on by one more than the difference says. */
static inline __attribute__((always_inline)) bool rd_nettrace_capture(const uint8_t **at, const uint8_t *end, bool room,
								      struct rd_nettrace_header *h)
{
	uint32_t delta;
	if (!rd_nettrace_u32(at, end, room, &delta) || !rd_nettrace_u64(at, end, room, &h->capture_thread) ||
	    !rd_nettrace_u32(at, end, room, &h->processor))
		return false;
	h->sequence += delta + 1;
	return true;
}

/* What version 4 and version 6 each hang to an event: two GUIDs of which nothing is kept, the number of a label list.
 */
static inline __attribute__((always_inline)) bool rd_nettrace_extras(const uint8_t **at, const uint8_t *end, bool room,
								     bool six, uint8_t flags,
								     struct rd_nettrace_header *h)
{
	if (six)
		return (flags & RD_NETTRACE_HAS_ACTIVITY) == 0 || rd_nettrace_u32(at, end, room, &h->label_list);
	if ((flags & (RD_NETTRACE_HAS_ACTIVITY | RD_NETTRACE_HAS_RELATED_ACTIVITY)) == 0)
		return true;
	size_t guids = ((flags & RD_NETTRACE_HAS_ACTIVITY) != 0 ? 16u : 0u) +
		       ((flags & RD_NETTRACE_HAS_RELATED_ACTIVITY) != 0 ? 16u : 0u);
	if ((size_t)(end - *at) < guids)
		return false;
	*at += guids;
	return true;
}

static inline __attribute__((always_inline)) bool rd_nettrace_fields(struct rd_nettrace_headers *s, bool room, bool six)
{
	struct rd_nettrace_header *h = &s->h;
	const uint8_t *at = s->at, *end = s->end;
	uint64_t elapsed;
	uint8_t flags = *at++;
	if ((flags & RD_NETTRACE_HAS_METADATA_ID) != 0 && !rd_nettrace_u32(&at, end, room, &h->metadata_id))
		return false;
	if ((flags & RD_NETTRACE_HAS_SEQUENCE) == 0)
		h->sequence += h->metadata_id != 0;
	else if (!rd_nettrace_capture(&at, end, room, h))
		return false;
	if ((flags & RD_NETTRACE_HAS_THREAD) != 0 && !rd_nettrace_u64(&at, end, room, &h->thread))
		return false;
	if ((flags & RD_NETTRACE_HAS_STACK_ID) != 0 && !rd_nettrace_u32(&at, end, room, &h->stack_id))
		return false;
	if (!rd_nettrace_u64(&at, end, room, &elapsed))
		return false;
	h->time += elapsed;
	if (!rd_nettrace_extras(&at, end, room, six, flags, h))
		return false;
	if ((flags & RD_NETTRACE_HAS_PAYLOAD_BYTES) != 0 && !rd_nettrace_u32(&at, end, room, &h->payload_bytes))
		return false;
	if ((size_t)(end - at) < h->payload_bytes)
		return false;
	h->payload = at;
	s->at = at + h->payload_bytes;
	return true;
}

/* No header is longer: flags, five bytes a u32, ten a u64, two GUIDs. */
#define RD_NETTRACE_HEADER_BYTES_MAX (1 + 4 * 5 + 5 + 3 * 10 + 2 * 16)

static inline __attribute__((always_inline)) bool rd_nettrace_compressed(struct rd_nettrace_headers *s, bool six)
{
	if (s->end - s->at >= RD_NETTRACE_HEADER_BYTES_MAX)
		return rd_nettrace_fields(s, true, six);
	return rd_nettrace_fields(s, false, six);
}

/* What both kinds of plain headers begin with, before GUIDs. */
static inline struct rd_nettrace_header rd_nettrace_plain_start(const uint8_t *p, uint32_t payload_bytes)
{
	return (struct rd_nettrace_header){
		.metadata_id = rd_le32(p + 4) & 0x7fffffff,
		.sequence = rd_le32(p + 8),
		.thread = rd_le64(p + 12),
		.capture_thread = rd_le64(p + 20),
		.processor = rd_le32(p + 28),
		.stack_id = rd_le32(p + 32),
		.time = rd_le64(p + 36),
		.payload_bytes = payload_bytes,
	};
}

/* Size u32 (of what follows it), then the fields at their places, the payload at 80; the next at a multiple of 4. */
static inline bool rd_nettrace_plain(struct rd_nettrace_headers *s)
{
	const uint8_t *p = s->at;
	size_t left = (size_t)(s->end - p);
	if (left < RD_NETTRACE_PLAIN_BYTES)
		return false;
	uint64_t size = UINT64_C(4) + rd_le32(p);
	uint32_t payload_bytes = rd_le32(p + 76);
	if (size > left || RD_NETTRACE_PLAIN_BYTES + (uint64_t)payload_bytes > size)
		return false;
	s->h = rd_nettrace_plain_start(p, payload_bytes);
	s->h.payload = p + RD_NETTRACE_PLAIN_BYTES;
	size += -((uint64_t)(p - s->begin) + size) & 3;
	s->at = size < left ? p + size : s->end;
	return true;
}

/* The same without GUIDs and with a label list at 44; nothing is padded. */
static inline bool rd_nettrace_plain_6(struct rd_nettrace_headers *s)
{
	const uint8_t *p = s->at;
	size_t left = (size_t)(s->end - p);
	if (left < RD_NETTRACE_PLAIN_6_BYTES)
		return false;
	uint64_t size = UINT64_C(4) + rd_le32(p);
	uint32_t payload_bytes = rd_le32(p + 48);
	if (size > left || RD_NETTRACE_PLAIN_6_BYTES + (uint64_t)payload_bytes > size)
		return false;
	s->h = rd_nettrace_plain_start(p, payload_bytes);
	s->h.label_list = rd_le32(p + 44);
	s->h.payload = p + RD_NETTRACE_PLAIN_6_BYTES;
	s->at = p + size;
	return true;
}

/* The next event of a block of this shape: for loops that know it. */
static inline __attribute__((always_inline)) bool rd_nettrace_headers_next_of(struct rd_nettrace_headers *s,
									      enum rd_nettrace_shape shape)
{
	if (shape == RD_NETTRACE_COMPRESSED || shape == RD_NETTRACE_COMPRESSED_6)
		return rd_nettrace_compressed(s, shape == RD_NETTRACE_COMPRESSED_6);
	return shape == RD_NETTRACE_PLAIN ? rd_nettrace_plain(s) : rd_nettrace_plain_6(s);
}

/* The next event into s->h, of which `at` was the place; false when the bytes are none. Ask only while at < end. */
static inline bool rd_nettrace_headers_next(struct rd_nettrace_headers *s)
{
	return rd_nettrace_headers_next_of(s, s->shape);
}

#endif
