/*
 * Open addressing with linear probing, at most 3/5 full. A slot is 8 bytes:
 * the upper half of the hash and the index. The home of an entry is a run of
 * the upper hash bits, so that growing needs no key and no full hash: it reads
 * the old slots in order. Above 2^32 slots the 32 bits would not spread, but
 * indices end there too.
 */
#include "base/table.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

struct rd_slot {
	uint32_t tag;   /* the upper 32 bits of the hash */
	uint32_t index; /* RD_NONE: free */
};

_Static_assert(sizeof(struct rd_slot) == 8, "eight slots a cache line");

#define FIRST_CAP 16

uint64_t rd_hash(const void *bytes, size_t size_bytes)
{
	return XXH3_64bits(bytes, size_bytes);
}

uint64_t rd_hash_u64(uint64_t v)
{
	/* A bijection whose every output bit hangs on every input bit. */
	v ^= v >> 32;
	v *= 0xd6e8feb86659fd93u;
	v ^= v >> 32;
	v *= 0xd6e8feb86659fd93u;
	v ^= v >> 32;
	return v;
}

static inline uint32_t tag_of(uint64_t hash)
{
	return (uint32_t)(hash >> 32);
}

/* The upper bits of the tag, spread over cap slots, a power of two. */
static inline size_t home_of(uint32_t tag, size_t cap)
{
	return (size_t)(((uint64_t)tag * cap) >> 32);
}

uint32_t rd_table_find(const struct rd_table *t, uint64_t hash, rd_equal_fn equal, const void *ctx, const void *key)
{
	if (t->n == 0)
		return RD_NONE;
	uint32_t tag = tag_of(hash);
	size_t mask = t->cap - 1;

	for (size_t i = home_of(tag, t->cap);; i = (i + 1) & mask) {
		const struct rd_slot *slot = &t->slots[i];
		if (slot->index == RD_NONE)
			return RD_NONE;
		if (slot->tag == tag && equal(ctx, slot->index, key))
			return slot->index;
	}
}

static void place(struct rd_slot *slots, size_t cap, struct rd_slot slot)
{
	size_t i = home_of(slot.tag, cap);

	while (slots[i].index != RD_NONE)
		i = (i + 1) & (cap - 1);
	slots[i] = slot;
}

static int grow(struct rd_table *t)
{
	size_t cap = t->cap ? t->cap * 2 : FIRST_CAP;
	size_t bytes;

	if (cap < t->cap || __builtin_mul_overflow(cap, sizeof *t->slots, &bytes))
		return RD_NOMEM;
	struct rd_slot *slots = rd_realloc(NULL, bytes);
	if (slots == NULL)
		return RD_NOMEM;
	memset(slots, 0xff, bytes);
	for (size_t i = 0; i < t->cap; i++)
		if (t->slots[i].index != RD_NONE)
			place(slots, cap, t->slots[i]);
	rd_free(t->slots);
	t->slots = slots;
	t->cap = cap;
	return RD_OK;
}

int rd_table_put(struct rd_table *t, uint64_t hash, uint32_t index)
{
	/* It would look like a free slot. */
	if (index == RD_NONE)
		return RD_LIMIT;
	if (t->n + 1 > t->cap / 5 * 3) {
		int code = grow(t);
		if (code)
			return code;
	}
	place(t->slots, t->cap, (struct rd_slot){tag_of(hash), index});
	t->n++;
	return RD_OK;
}

void rd_table_clear(struct rd_table *t)
{
	if (t->cap > FIRST_CAP && t->n < t->cap / 16) {
		rd_table_release(t);
		return;
	}
	if (t->n > 0)
		memset(t->slots, 0xff, t->cap * sizeof *t->slots);
	t->n = 0;
}

void rd_table_release(struct rd_table *t)
{
	rd_free(t->slots);
	*t = (struct rd_table){0};
}

static bool same_string(const void *ctx, uint32_t index, const void *key)
{
	const struct rd_strings *s = ctx;
	const struct rd_span *a = &s->at.at[index], *b = key;

	return a->size_bytes == b->size_bytes && (a->size_bytes == 0 || memcmp(a->at, b->at, a->size_bytes) == 0);
}

uint32_t rd_strings_find(const struct rd_strings *s, const void *bytes, size_t size_bytes)
{
	struct rd_span key = {bytes, size_bytes};
	return rd_table_find(&s->table, rd_hash(bytes, size_bytes), same_string, s, &key);
}

uint32_t rd_strings_id(struct rd_strings *s, const void *bytes, size_t size_bytes)
{
	struct rd_span key = {bytes, size_bytes};
	uint64_t hash = rd_hash(bytes, size_bytes);
	uint32_t id = rd_table_find(&s->table, hash, same_string, s, &key);

	if (id != RD_NONE)
		return id;
	if (s->at.n >= RD_NONE || rd_vec_reserve(&s->at, 1) != 0)
		return RD_NONE;
	key.at = rd_arena_copy(&s->arena, bytes, size_bytes);
	id = (uint32_t)s->at.n;
	/* The table last: until then nothing points at the new string. */
	if (key.at == NULL || rd_table_put(&s->table, hash, id) != 0)
		return RD_NONE;
	s->at.at[s->at.n++] = key;
	return id;
}

void rd_strings_release(struct rd_strings *s)
{
	rd_vec_release(&s->at);
	rd_arena_release(&s->arena);
	rd_table_release(&s->table);
}
