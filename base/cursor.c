#include "base/cursor.h"

/*
 * Both widths: read to the byte without the high bit, or until `limit` bytes
 * are read. The last byte that the limit allows may hold only the bits that
 * are left of the type: 4 of 32 (5 bytes), 1 of 64 (10 bytes).
 */
static uint64_t leb128(struct rd_cursor *c, unsigned limit, unsigned bits)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < limit; i++) {
		const uint8_t *p = rd_take(c, 1);
		if (p == NULL)
			return 0;
		unsigned shift = 7 * i;
		if (bits - shift < 7 && *p >> (bits - shift))
			break;
		value |= (uint64_t)(*p & 0x7f) << shift;
		if (*p < 0x80)
			return value;
	}
	c->failed = true;
	c->at = c->end;
	return 0;
}

uint32_t rd_varu32(struct rd_cursor *c)
{
	/* Most are one byte long. */
	if (c->at < c->end && *c->at < 0x80)
		return *c->at++;
	return (uint32_t)leb128(c, 5, 32);
}

uint64_t rd_varu64(struct rd_cursor *c)
{
	if (c->at < c->end && *c->at < 0x80)
		return *c->at++;
	return leb128(c, 10, 64);
}

static struct rd_span unterminated(struct rd_cursor *c)
{
	c->failed = true;
	c->at = c->end;
	return (struct rd_span){c->end, 0};
}

/* Eight code units at once, on any machine. */
typedef uint16_t units8 __attribute__((vector_size(16)));
typedef uint64_t words2 __attribute__((vector_size(16)));

/* Whether one of 16 code units is zero. */
static inline bool has_zero_unit(const uint8_t *p)
{
	units8 a, b;
	memcpy(&a, p, sizeof a);
	memcpy(&b, p + sizeof a, sizeof b);
	words2 zero = (words2)((a == 0) | (b == 0));
	return (zero[0] | zero[1]) != 0;
}

struct rd_span rd_utf16z(struct rd_cursor *c)
{
	const uint8_t *begin = c->at;
	const uint8_t *p = begin;

	while (c->end - p >= 32 && !has_zero_unit(p))
		p += 32;
	/* Four code units at a time: a zero lane is where subtracting borrows and the top bit was clear. */
	while (c->end - p >= 8) {
		uint64_t v = rd_le64(p);
		uint64_t zero = (v - 0x0001000100010001u) & ~v & 0x8000800080008000u;
		if (zero) {
			/* Lanes above a zero one may look like one; the lowest is. */
			p += (unsigned)__builtin_ctzll(zero) / 16 * 2;
			c->at = p + 2;
			return (struct rd_span){begin, (size_t)(p - begin)};
		}
		p += 8;
	}
	for (; c->end - p >= 2; p += 2) {
		if (p[0] == 0 && p[1] == 0) {
			c->at = p + 2;
			return (struct rd_span){begin, (size_t)(p - begin)};
		}
	}
	return unterminated(c);
}

struct rd_span rd_strz(struct rd_cursor *c)
{
	const uint8_t *begin = c->at;
	const uint8_t *nul = rd_left(c) ? memchr(begin, 0, rd_left(c)) : NULL;

	if (nul == NULL)
		return unterminated(c);
	c->at = nul + 1;
	return (struct rd_span){begin, (size_t)(nul - begin)};
}
