/*
 * LZNT1 (docs/formats/etl.md, "LZNT1"): chunks of at most 4,096 plain bytes,
 * each behind a 16-bit head: size - 1 in the low 12 bits, bit 15 set when it
 * is compressed. Inside, a byte of eight flags, lowest first; 0 a literal, 1 a
 * 16-bit token whose split into distance and length moves with the position.
 */
#include "base/cursor.h"
#include "trace/etl/match.h"
#include "trace/etl/unpack.h"

enum { CHUNK = 4096, SIZE_MASK = 0x0fff, COMPRESSED = 0x8000 };

/* One compressed chunk into [out, end); how many bytes it gave, or -1. */
static ptrdiff_t chunk(const uint8_t *in, const uint8_t *in_end, uint8_t *out, uint8_t *end)
{
	uint8_t *at = out;

	while (in < in_end) {
		unsigned flags = *in++;
		for (int i = 0; i < 8 && in < in_end; i++, flags >>= 1) {
			if (!(flags & 1)) {
				if (at == end)
					return -1;
				*at++ = *in++;
				continue;
			}
			size_t place = (size_t)(at - out);
			if (in_end - in < 2 || place == 0)
				return -1;
			/* As many bits of distance as the place needs, at least 4. */
			unsigned distance_bits = place <= 16 ? 4 : 32 - (unsigned)__builtin_clz((unsigned)place - 1);
			unsigned token = rd_le16(in), length_bits = 16 - distance_bits;
			size_t distance = (token >> length_bits) + 1;
			size_t length = (token & ((1u << length_bits) - 1)) + 3;
			in += 2;
			if (distance > place || length > (size_t)(end - at))
				return -1;
			rd_match_copy(at, distance, length, end);
			at += length;
		}
	}
	return at - out;
}

int rd_lznt1_unpack(const uint8_t *in, size_t in_bytes, uint8_t *out, size_t out_bytes)
{
	const uint8_t *in_end = in + in_bytes;
	uint8_t *out_end = out + out_bytes;

	while (out < out_end) {
		if (in_end - in < 2)
			return RD_CORRUPT;
		unsigned head = rd_le16(in);
		size_t size = (head & SIZE_MASK) + 1u;
		size_t room = (size_t)(out_end - out) < CHUNK ? (size_t)(out_end - out) : CHUNK;
		ptrdiff_t got;
		in += 2;
		/* A head of zero ends the stream, here too early. */
		if (head == 0 || size > (size_t)(in_end - in))
			return RD_CORRUPT;
		if (head & COMPRESSED) {
			got = chunk(in, in + size, out, out + room);
		} else {
			got = size <= room ? (ptrdiff_t)size : -1;
			if (got > 0)
				memcpy(out, in, size);
		}
		if (got <= 0)
			return RD_CORRUPT;
		in += size;
		/* Only the last chunk may give less than 4,096 bytes; behind another one zeros fill the place. */
		if ((size_t)got < room) {
			if (room < CHUNK || in_end - in < 2 || rd_le16(in) == 0)
				return RD_CORRUPT;
			memset(out + got, 0, room - (size_t)got);
		}
		out += room;
	}
	return 0;
}
