/*
 * Plain XPRESS (docs/formats/etl.md, "XPRESS"): 32 flags at a time, highest
 * first; 0 a literal byte, 1 a match of 16 bits: offset - 1 in the upper 13,
 * length - 3 in the lower 3, a full 7 continued in a nibble, then a byte, 16
 * and 32 bits. Two matches share one byte for their nibbles.
 *
 * Two loops over the same state: the fast one, whose state is in registers, runs
 * as long as a whole group of 32 flags cannot leave the input and wide copies
 * cannot leave the output, the careful one takes what remains.
 */
#include "base/cursor.h"
#include "trace/etl/match.h"
#include "trace/etl/unpack.h"

struct stream {
	const uint8_t *in, *in_end;
	uint8_t *out, *out_begin, *out_end;
	const uint8_t *nibble; /* the byte whose upper half is still unused, NULL none */
	uint64_t flags;        /* those that are left, highest first, and a one behind them */
};

#define NO_FLAGS (UINT64_C(1) << 63)

static inline uint64_t read_flags(const uint8_t *in)
{
	return (uint64_t)rd_le32(in) << 32 | UINT64_C(1) << 31;
}

/* The length of a match whose three bits are full; false when the stream ends or contradicts itself. */
static bool long_length(struct stream *s, size_t *length)
{
	size_t n;

	if (s->nibble) {
		n = *s->nibble >> 4;
		s->nibble = NULL;
	} else {
		if (s->in == s->in_end)
			return false;
		s->nibble = s->in;
		n = *s->in++ & 15;
	}
	if (n < 15) {
		*length = n + 7 + 3;
		return true;
	}
	if (s->in == s->in_end)
		return false;
	n = *s->in++;
	if (n < 255) {
		*length = n + 15 + 7 + 3;
		return true;
	}
	if (s->in_end - s->in < 2)
		return false;
	n = rd_le16(s->in);
	s->in += 2;
	if (n == 0) {
		if (s->in_end - s->in < 4)
			return false;
		n = rd_le32(s->in);
		s->in += 4;
	}
	if (n < 15 + 7)
		return false;
	*length = n + 3;
	return true;
}

/* One match; the caller knows that two bytes are left. */
static bool match(struct stream *s)
{
	uint32_t v = rd_le16(s->in);
	size_t distance = (v >> 3) + 1, length = (v & 7) + 3;

	s->in += 2;
	if (length == 7 + 3 && !long_length(s, &length))
		return false;
	if (distance > (size_t)(s->out - s->out_begin) || length > (size_t)(s->out_end - s->out))
		return false;
	rd_match_copy(s->out, distance, length, s->out_end);
	s->out += length;
	return true;
}

/*
 * A group takes its flags and 32 items of at most 2 + 1 + 1 + 2 + 4 bytes; RUN more may be looked at.
 * Before an item there is room for the longest run of literals and a short match copied wide.
 */
enum { RUN = 32, GROUP_IN = 4 + 32 * 10 + RUN, ITEM_OUT = RUN + 16 };

/* The items of one group, until there is not that much room; the flags that are left are in s. */
static inline __attribute__((always_inline)) bool fast_group(struct stream *s, const uint8_t **in_at, uint8_t **out_at)
{
	const uint8_t *in = *in_at;
	uint8_t *out = *out_at, *const begin = s->out_begin, *const end = s->out_end;
	uint64_t flags = read_flags(in);

	in += 4;
	while (end - out >= ITEM_OUT) {
		/* Literals up to the next match or the end; copying more than that is harmless. */
		int run = __builtin_clzll(flags);
		memcpy(out, in, 16);
		if (run > 16)
			memcpy(out + 16, in + 16, 16);
		out += run;
		in += run;
		flags <<= run;
		if (flags == NO_FLAGS)
			break;
		flags <<= 1;
		uint32_t v = rd_le16(in);
		size_t distance = (v >> 3) + 1, length = (v & 7) + 3;
		in += 2;
		if (length == 7 + 3) {
			s->in = in;
			if (!long_length(s, &length))
				return false;
			in = s->in;
		}
		if (distance > (size_t)(out - begin) || length > (size_t)(end - out))
			return false;
		if (distance >= 8 && length <= 16) {
			memcpy(out, out - distance, 8);
			memcpy(out + 8, out + 8 - distance, 8);
		} else {
			rd_match_copy(out, distance, length, end);
		}
		out += length;
	}
	*in_at = in;
	*out_at = out;
	s->flags = flags;
	return true;
}

static bool fast(struct stream *s)
{
	const uint8_t *in = s->in;
	uint8_t *out = s->out;

	while (s->in_end - in >= GROUP_IN && s->out_end - out >= ITEM_OUT)
		if (!fast_group(s, &in, &out))
			return false;
	s->in = in;
	s->out = out;
	return true;
}

static bool careful(struct stream *s)
{
	while (s->out < s->out_end) {
		if (s->flags == NO_FLAGS) {
			if (s->in_end - s->in < 4)
				return false;
			s->flags = read_flags(s->in);
			s->in += 4;
		}
		if (s->flags >> 63) {
			if (s->in_end - s->in < 2 || !match(s))
				return false;
		} else {
			if (s->in == s->in_end)
				return false;
			*s->out++ = *s->in++;
		}
		s->flags <<= 1;
	}
	return true;
}

int rd_xpress_unpack(const uint8_t *in, size_t in_bytes, uint8_t *out, size_t out_bytes)
{
	struct stream s = {in, in + in_bytes, out, out, out + out_bytes, NULL, NO_FLAGS};

	if (!fast(&s) || !careful(&s))
		return RD_CORRUPT;
	return 0;
}
