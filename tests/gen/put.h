/*
 * put - numbers and names into a payload in the making, little-endian.
 */
#ifndef RD_TESTS_GEN_PUT_H
#define RD_TESTS_GEN_PUT_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/cursor.h"
#include "base/memory.h"

#define GEN_PUT_BYTES 65536u

struct gen_put {
	size_t n;
	uint8_t at[GEN_PUT_BYTES];
};

static inline void put_bytes(struct gen_put *p, const void *bytes, size_t n)
{
	assert(n <= GEN_PUT_BYTES - p->n);
	memcpy(p->at + p->n, bytes, n);
	p->n += n;
}

static inline void put_u8(struct gen_put *p, uint8_t v)
{
	put_bytes(p, &v, 1);
}

static inline void put_u16(struct gen_put *p, uint16_t v)
{
	put_bytes(p, &v, 2);
}

static inline void put_u32(struct gen_put *p, uint32_t v)
{
	put_bytes(p, &v, 4);
}

static inline void put_u64(struct gen_put *p, uint64_t v)
{
	put_bytes(p, &v, 8);
}

static inline void put_pointer(struct gen_put *p, uint64_t v, uint32_t pointer_bytes)
{
	put_bytes(p, &v, pointer_bytes);
}

static inline void put_varint(struct gen_put *p, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		put_u8(p, (uint8_t)(v | 0x80));
	put_u8(p, (uint8_t)v);
}

/* UTF-8 that is well-formed, as UTF-16 with its NUL. */
void gen_put_text16(struct gen_put *p, const char *utf8);

/* What the runtime's events carry. */
struct gen_method;
struct gen_module;
struct gen_act;
/* Names as UTF-16, by their number: made once. */
struct gen_texts {
	RD_VEC(struct rd_span) methods;
	struct rd_arena arena;
};
void gen_texts_release(struct gen_texts *t);
void gen_put_method(struct gen_put *p, struct gen_texts *t, const struct gen_method *m, unsigned version);
void gen_put_module(struct gen_put *p, const struct gen_module *m, unsigned version);

/* Which event says it. */
struct gen_event_id {
	const char *provider; /* its name */
	const uint8_t *guid;
	uint16_t id;
	uint8_t version;
	bool rundown;
};
struct gen_cue;
/* Of methods, modules and markers. */
struct gen_event_id gen_clr_event(const struct gen_act *a, const struct gen_cue *c);
void gen_put_clr_payload(struct gen_put *p, struct gen_texts *t, const struct gen_act *a, const struct gen_cue *c);

#endif
