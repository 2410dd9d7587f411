/*
 * table - the one hash table: from a caller's key to a dense index.
 *
 * It stores (hash, index) pairs only; the keys live with the caller, who
 * compares them. Interning (bytes -> id) is built on it here.
 * Hashes are XXH3 of the key's bytes; order of iteration is not offered,
 * because nothing of an answer may hang on it.
 */
#ifndef RD_BASE_TABLE_H
#define RD_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"

#define RD_NONE UINT32_MAX

struct rd_table {
	struct rd_slot *slots; /* cap entries, a power of two */
	size_t n;
	size_t cap;
};

uint64_t rd_hash(const void *bytes, size_t size_bytes);
uint64_t rd_hash_u64(uint64_t v);

/* Whether the caller's item `index` equals the key. */
typedef bool (*rd_equal_fn)(const void *ctx, uint32_t index, const void *key);

/* The index stored for a key, or RD_NONE. */
uint32_t rd_table_find(const struct rd_table *t, uint64_t hash, rd_equal_fn equal, const void *ctx, const void *key);

/* Store an index for a key that is not there (ask first). 0, RD_NOMEM, or RD_LIMIT for RD_NONE. */
int rd_table_put(struct rd_table *t, uint64_t hash, uint32_t index);

/* Forget all that was put. Room for about as much stays, so a table that is cleared often costs what it holds. */
void rd_table_clear(struct rd_table *t);

void rd_table_release(struct rd_table *t);

/*
 * Byte strings as dense ids, 0, 1, 2, … in the order of their first coming.
 * The empty string is an ordinary string. Ids end at RD_NONE - 1.
 */
struct rd_strings {
	RD_VEC(struct rd_span) at; /* by id; borrowed from the arena until release */
	struct rd_arena arena;
	struct rd_table table;
};

/* The id of these bytes; RD_NONE when out of memory. */
uint32_t rd_strings_id(struct rd_strings *s, const void *bytes, size_t size_bytes);
/* The id if it is known, else RD_NONE. */
uint32_t rd_strings_find(const struct rd_strings *s, const void *bytes, size_t size_bytes);
static inline struct rd_span rd_strings_at(const struct rd_strings *s, uint32_t id)
{
	return s->at.at[id];
}
void rd_strings_release(struct rd_strings *s);

#endif
