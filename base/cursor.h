/*
 * cursor - the one checked way to read bytes of an input.
 *
 * A cursor stands in [begin, end); a read past the end returns 0 (or NULL),
 * moves to the end and sets `failed`, which is sticky: read a whole record,
 * then ask once. Multi-byte numbers are little-endian and need no alignment.
 * The bytes are borrowed.
 */
#ifndef RD_BASE_CURSOR_H
#define RD_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct rd_cursor {
	const uint8_t *begin;
	const uint8_t *at;
	const uint8_t *end;
	bool failed;
};

/* A borrowed run of bytes. */
struct rd_span {
	const uint8_t *at;
	size_t size_bytes;
};
/* A text's bytes, without its NUL. */
static inline struct rd_span rd_text_span(const char *text)
{
	return (struct rd_span){(const uint8_t *)text, strlen(text)};
}

static inline struct rd_cursor rd_cursor_of(const void *bytes, size_t size_bytes)
{
	/* Nothing may well be NULL, to which not even 0 may be added. */
	const uint8_t *p = bytes ? bytes : (const uint8_t *)"";
	return (struct rd_cursor){p, p, p + size_bytes, false};
}

static inline size_t rd_left(const struct rd_cursor *c)
{
	return (size_t)(c->end - c->at);
}

static inline size_t rd_tell(const struct rd_cursor *c)
{
	return (size_t)(c->at - c->begin);
}

/* Take n bytes; NULL and failed when fewer are left. */
static inline const uint8_t *rd_take(struct rd_cursor *c, size_t n)
{
	if (n > rd_left(c)) {
		c->failed = true;
		c->at = c->end;
		return NULL;
	}
	const uint8_t *p = c->at;
	c->at += n;
	return p;
}

static inline void rd_skip(struct rd_cursor *c, size_t n)
{
	(void)rd_take(c, n);
}

/* Move to an absolute place in [begin, end]; failed when it lies outside. */
static inline void rd_seek(struct rd_cursor *c, size_t place)
{
	if (place > (size_t)(c->end - c->begin)) {
		c->failed = true;
		c->at = c->end;
		return;
	}
	c->at = c->begin + place;
}

/* Peeks at a fixed place of bytes known to be there; for hot loops that checked the length once. */
static inline uint16_t rd_le16(const uint8_t *p)
{
	uint16_t v;
	memcpy(&v, p, sizeof v);
	return v;
}

static inline uint32_t rd_le32(const uint8_t *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof v);
	return v;
}

static inline uint64_t rd_le64(const uint8_t *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof v);
	return v;
}

static inline uint8_t rd_u8(struct rd_cursor *c)
{
	const uint8_t *p = rd_take(c, 1);
	return p ? *p : 0;
}

static inline uint16_t rd_u16(struct rd_cursor *c)
{
	const uint8_t *p = rd_take(c, 2);
	return p ? rd_le16(p) : 0;
}

static inline uint32_t rd_u24(struct rd_cursor *c)
{
	const uint8_t *p = rd_take(c, 3);
	return p ? (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 : 0;
}

static inline uint32_t rd_u32(struct rd_cursor *c)
{
	const uint8_t *p = rd_take(c, 4);
	return p ? rd_le32(p) : 0;
}

static inline int32_t rd_i32(struct rd_cursor *c)
{
	return (int32_t)rd_u32(c);
}

static inline uint64_t rd_u64(struct rd_cursor *c)
{
	const uint8_t *p = rd_take(c, 8);
	return p ? rd_le64(p) : 0;
}

/* A pointer of 4 or 8 bytes. */
static inline uint64_t rd_pointer(struct rd_cursor *c, unsigned pointer_bytes)
{
	return pointer_bytes == 4 ? rd_u32(c) : rd_u64(c);
}

/* LEB128; failed when longer than the type allows (5 and 10 bytes) or when it overflows. */
uint32_t rd_varu32(struct rd_cursor *c);
uint64_t rd_varu64(struct rd_cursor *c);

/*
 * A NUL-ended UTF-16 string: the span of its code units without the NUL; the
 * cursor stands behind the NUL. failed when there is no terminator.
 */
struct rd_span rd_utf16z(struct rd_cursor *c);

/* A NUL-ended 8-bit string, likewise. */
struct rd_span rd_strz(struct rd_cursor *c);

/* The next n bytes as a cursor of their own; empty and failed when they are not there. */
static inline struct rd_cursor rd_sub(struct rd_cursor *c, size_t n)
{
	const uint8_t *p = rd_take(c, n);
	struct rd_cursor s = rd_cursor_of(p ? p : c->end, p ? n : 0);
	s.failed = p == NULL;
	return s;
}

#endif
