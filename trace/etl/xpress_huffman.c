/*
 * XPRESS Huffman (docs/formats/etl.md, "XPRESS Huffman"): for each 65,536
 * bytes of output a table of 512 code lengths, then codes as bits of 16-bit
 * words, highest first. A symbol below 256 is a literal; the others name a
 * match: the low four bits its length, the next four how many bits of distance
 * follow. Long lengths stand as whole bytes between the words. A match may run
 * over the end of its 65,536 bytes.
 */
#include "base/cursor.h"
#include "trace/etl/match.h"
#include "trace/etl/unpack.h"

enum { TABLE_BYTES = 256, SYMBOLS = 512, BLOCK = 65536, CODE_BITS = RD_XPRESS_CODE_BITS };

/*
 * Canonical codes: shorter first, equal lengths by symbol. As the codes are
 * left-justified in 15 bits, each fills the next run of the table.
 */
static bool build(struct rd_xpress_huffman *h, const uint8_t *lengths)
{
	unsigned count[16] = {0}, next[16], place = 0;

	for (int i = 0; i < TABLE_BYTES; i++) {
		count[lengths[i] & 15]++;
		count[lengths[i] >> 4]++;
	}
	for (int n = 1; n <= CODE_BITS; n++) {
		next[n] = place;
		place += count[n] << (CODE_BITS - n);
		if (place > 1u << CODE_BITS)
			return false;
	}
	for (unsigned symbol = 0; symbol < SYMBOLS; symbol++) {
		unsigned n = lengths[symbol / 2] >> (symbol & 1) * 4 & 15;
		if (n == 0)
			continue;
		unsigned run = 1u << (CODE_BITS - n);
		uint16_t value = (uint16_t)(symbol << 4 | n);
		for (unsigned i = 0; i < run; i++)
			h->entry[next[n] + i] = value;
		next[n] += run;
	}
	memset(h->entry + place, 0, ((1u << CODE_BITS) - place) * sizeof *h->entry);
	return true;
}

struct bits {
	const uint8_t *in, *in_end;
	uint32_t next; /* the coming bits, highest first */
	int extra;     /* how many of `next` there are beyond 16 */
	int beyond;    /* words taken behind the end of the input */
};

/* The next word. It is taken ahead of need, so that up to two may lie behind the end; they are zero. */
static inline uint32_t word(struct bits *b)
{
	if (b->in_end - b->in < 2) {
		b->in = b->in_end;
		b->beyond++;
		return 0;
	}
	uint32_t v = rd_le16(b->in);
	b->in += 2;
	return v;
}

/* Whether bits were used that are not in the input. */
static inline bool overdrawn(const struct bits *b)
{
	return b->beyond && 16 * b->beyond > 16 + b->extra;
}

static inline void drop(struct bits *b, int n)
{
	b->next <<= n;
	b->extra -= n;
	if (b->extra < 0) {
		b->next |= word(b) << -b->extra;
		b->extra += 16;
	}
}

/* The whole bytes of a length whose four bits are full; false when there are none or they are too small. */
static bool long_length(struct bits *b, size_t *length)
{
	size_t n;

	if (b->in == b->in_end)
		return false;
	n = *b->in++;
	if (n == 255) {
		if (b->in_end - b->in < 2)
			return false;
		n = rd_le16(b->in);
		b->in += 2;
		if (n == 0) {
			if (b->in_end - b->in < 4)
				return false;
			n = rd_le32(b->in);
			b->in += 4;
		}
		if (n < 15)
			return false;
		n -= 15;
	}
	*length = n + 15 + 3;
	return true;
}

/* One table and the up to 65,536 bytes behind it; *out advances. */
static bool block(struct rd_xpress_huffman *h, struct bits *b, uint8_t *begin, uint8_t **out, uint8_t *end)
{
	uint8_t *at = *out, *stop = end - at > BLOCK ? at + BLOCK : end;

	if (b->in_end - b->in < TABLE_BYTES + 4 || !build(h, b->in))
		return false;
	b->in += TABLE_BYTES;
	b->next = word(b) << 16;
	b->next |= word(b);
	b->extra = 16;
	b->beyond = 0;
	while (at < stop) {
		unsigned entry = h->entry[b->next >> (32 - CODE_BITS)], symbol = entry >> 4;
		if (entry == 0 || overdrawn(b))
			return false;
		drop(b, (int)(entry & 15));
		if (symbol < 256) {
			*at++ = (uint8_t)symbol;
			continue;
		}
		size_t length = (symbol & 15) + 3;
		int distance_bits = (int)(symbol >> 4 & 15);
		if (length == 15 + 3 && !long_length(b, &length))
			return false;
		size_t distance = (size_t)1 << distance_bits;
		if (distance_bits) {
			distance += b->next >> (32 - distance_bits);
			drop(b, distance_bits);
		}
		if (distance > (size_t)(at - begin) || length > (size_t)(end - at))
			return false;
		rd_match_copy(at, distance, length, end);
		at += length;
	}
	*out = at;
	return !overdrawn(b);
}

int rd_xpress_huffman_unpack(struct rd_xpress_huffman *h, const uint8_t *in, size_t in_bytes, uint8_t *out,
			     size_t out_bytes)
{
	struct bits b = {.in = in, .in_end = in + in_bytes};
	uint8_t *at = out, *end = out + out_bytes;

	while (at < end) {
		if (!block(h, &b, out, &at, end))
			return RD_CORRUPT;
	}
	return 0;
}
