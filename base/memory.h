/*
 * memory - growing arrays, byte buffers and arenas over one replaceable allocator.
 *
 * All memory of the libraries comes through rd_realloc, so that a test can
 * make any allocation fail. Sizes are checked for overflow.
 */
#ifndef RD_BASE_MEMORY_H
#define RD_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* realloc semantics; p NULL allocates, size 0 frees. NULL when out of memory. */
void *rd_realloc(void *p, size_t size_bytes);
void rd_free(void *p);

/* Tests only: let the n-th allocation from now fail (1 is the next), 0 for never. Not for threads. */
void rd_fail_allocation(uint64_t nth);

/*
 * A growing array: declare `RD_VEC(struct x) v = {0};`, use v.at[i], v.n.
 * rd_vec_reserve makes room for `more` further items; 0 or RD_NOMEM. The
 * array may move: no pointer into it survives a reserve or a push.
 */
#define RD_VEC(type)                                                                                                   \
	struct {                                                                                                       \
		type *at;                                                                                              \
		size_t n;                                                                                              \
		size_t cap;                                                                                            \
	}

#define rd_vec_reserve(v, more) rd_grow((void **)&(v)->at, (v)->n, &(v)->cap, (more), sizeof *(v)->at)

/* A pointer to one new, uninitialised item at the end, NULL when out of memory. */
#define rd_vec_add(v) ((v)->n < (v)->cap || rd_vec_reserve((v), 1) == 0 ? &(v)->at[(v)->n++] : NULL)

/* Every RD_VEC looks like this: for those who follow a table of fields. Copied in and out, never cast to. */
struct rd_any_vec {
	void *at;
	size_t n;
	size_t cap;
};

#define rd_vec_release(v) (rd_free((v)->at), (v)->at = NULL, (v)->n = (v)->cap = 0)

int rd_grow(void **at, size_t n, size_t *cap, size_t more, size_t item_bytes);

/* Bytes that grow. A failed append keeps what was there, sets `failed` (sticky) and returns RD_NOMEM. */
struct rd_bytes {
	uint8_t *at;
	size_t n;
	size_t cap;
	int failed;
};

int rd_bytes_append(struct rd_bytes *b, const void *p, size_t size_bytes);
/* Room for size_bytes at the end, counted in; NULL when out of memory. */
uint8_t *rd_bytes_extend(struct rd_bytes *b, size_t size_bytes);
void rd_bytes_release(struct rd_bytes *b);

/* Memory that is freed at once; 8-byte aligned. */
struct rd_arena {
	struct rd_arena_block *block;
	size_t total_bytes; /* handed out */
};

void *rd_arena_take(struct rd_arena *a, size_t size_bytes); /* NULL when out of memory */
void *rd_arena_copy(struct rd_arena *a, const void *p, size_t size_bytes);
void rd_arena_release(struct rd_arena *a);

#endif
