/*
 * Plain XPRESS (docs/formats/etl.md, "XPRESS"): 32 flags at a time, highest
 * first; 0 a literal byte, 1 a match of 16 bits: offset - 1 in the upper 13,
 * length - 3 in the lower 3, a full 7 continued in a nibble, then a byte, 16
 * and 32 bits. Two matches share one byte for their nibbles.
 *
 * Two loops over the same state: the fast one runs as long as a whole group of
 * 32 flags can neither leave the input nor the output unnoticed, the careful
 * one takes what remains.
 */
#include "base/cursor.h"
#include "trace/etl/match.h"
#include "trace/etl/unpack.h"

struct stream {
	const uint8_t *in, *in_end;
	uint8_t *out, *out_begin, *out_end;
	const uint8_t *nibble; /* the byte whose upper half is still unused, NULL none */
};

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
static inline bool match(struct stream *s)
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

/* A group takes its flags and 32 items of at most 2 + 1 + 1 + 2 + 4 bytes; RUN more may be looked at. */
enum { RUN = 32, GROUP_IN = 4 + 32 * 10 + RUN };

static bool fast(struct stream *s)
{
	while (s->in_end - s->in >= GROUP_IN && s->out_end - s->out >= RUN) {
		uint32_t flags = rd_le32(s->in);
		int left = 32;

		s->in += 4;
		while (left > 0) {
			/* Literals up to the next match; copying more than that is harmless. */
			int run = flags ? __builtin_clz(flags) : 32;
			if (run > left)
				run = left;
			if (run) {
				if (s->out_end - s->out < RUN) {
					if (s->out_end - s->out < run)
						run = (int)(s->out_end - s->out);
					memcpy(s->out, s->in, (size_t)run);
				} else {
					memcpy(s->out, s->in, 16);
					if (run > 16)
						memcpy(s->out + 16, s->in + 16, 16);
				}
				s->out += run;
				s->in += run;
				left -= run;
				if (left == 0)
					break;
				flags <<= run;
			}
			if (s->out == s->out_end)
				return true;
			if (!match(s))
				return false;
			flags <<= 1;
			left--;
		}
	}
	return true;
}

static bool careful(struct stream *s)
{
	uint32_t flags = 0;
	int left = 0;

	while (s->out < s->out_end) {
		if (left == 0) {
			if (s->in_end - s->in < 4)
				return false;
			flags = rd_le32(s->in);
			s->in += 4;
			left = 32;
		}
		if (flags >> 31) {
			if (s->in_end - s->in < 2 || !match(s))
				return false;
		} else {
			if (s->in == s->in_end)
				return false;
			*s->out++ = *s->in++;
		}
		flags <<= 1;
		left--;
	}
	return true;
}

int rd_xpress_unpack(const uint8_t *in, size_t in_bytes, uint8_t *out, size_t out_bytes)
{
	struct stream s = {in, in + in_bytes, out, out, out + out_bytes, NULL};

	if (!fast(&s) || !careful(&s))
		return RD_CORRUPT;
	return 0;
}
