/*
 * match - copy a match of an LZ77 stream, which may overlap itself.
 *
 * Wide steps while there is slack behind the match, single bytes at the very
 * end of the output.
 */
#ifndef RD_TRACE_ETL_MATCH_H
#define RD_TRACE_ETL_MATCH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Copy `length` bytes from `distance` before out. The caller has checked that
 * 1 <= distance <= bytes written and length <= end - out. Bytes of [out +
 * length, end) may be overwritten: the output that follows comes later.
 */
static inline void rd_match_copy(uint8_t *out, size_t distance, size_t length, const uint8_t *end)
{
	const uint8_t *from = out - distance;
	uint8_t *stop = out + length;

	if ((size_t)(end - out) < length + 16) {
		while (out < stop)
			*out++ = *from++;
		return;
	}
	if (distance >= 16) {
		do {
			memcpy(out, from, 16);
			out += 16;
			from += 16;
		} while (out < stop);
		return;
	}
	if (distance < 8) {
		/* Eight bytes one by one; from then on the period may be taken several times at once. */
		for (int i = 0; i < 8; i++)
			out[i] = from[i];
		out += 8;
		from = out - (8 + distance - 1) / distance * distance;
	}
	while (out < stop) {
		memcpy(out, from, 8);
		out += 8;
		from += 8;
	}
}

#endif
