#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Counts down to the allocation that fails; 0 when none shall. */
static uint64_t fail_in;

void rd_fail_allocation(uint64_t nth)
{
	fail_in = nth;
}

void *rd_realloc(void *p, size_t size_bytes)
{
	if (size_bytes == 0) {
		free(p);
		return NULL;
	}
	if (fail_in != 0 && --fail_in == 0)
		return NULL;
	/* No object may be larger: pointers into it could not be subtracted. */
	if (size_bytes > PTRDIFF_MAX)
		return NULL;
	return realloc(p, size_bytes);
}

void rd_free(void *p)
{
	free(p);
}

int rd_grow(void **at, size_t n, size_t *cap, size_t more, size_t item_bytes)
{
	size_t need, bytes;

	if (__builtin_add_overflow(n, more, &need))
		return RD_NOMEM;
	if (need <= *cap)
		return RD_OK;
	/* Half as much again: growing stays linear, and at most a third lies idle. */
	size_t wish = *cap + *cap / 2;
	if (wish < 8)
		wish = 8;
	if (wish < need)
		wish = need;
	if (__builtin_mul_overflow(wish, item_bytes, &bytes))
		return RD_NOMEM;
	void *p = rd_realloc(*at, bytes);
	if (p == NULL && bytes != 0)
		return RD_NOMEM;
	*at = p;
	*cap = wish;
	return RD_OK;
}

uint8_t *rd_bytes_extend(struct rd_bytes *b, size_t size_bytes)
{
	/* One byte at least, so that room for nothing is no NULL either. */
	if (b->failed || rd_grow((void **)&b->at, b->n, &b->cap, size_bytes ? size_bytes : 1, 1) != 0) {
		b->failed = 1;
		return NULL;
	}
	uint8_t *p = b->at + b->n;
	b->n += size_bytes;
	return p;
}

int rd_bytes_append(struct rd_bytes *b, const void *p, size_t size_bytes)
{
	if (size_bytes == 0)
		return b->failed ? RD_NOMEM : RD_OK;
	uint8_t *to = rd_bytes_extend(b, size_bytes);
	if (to == NULL)
		return RD_NOMEM;
	memcpy(to, p, size_bytes);
	return RD_OK;
}

void rd_bytes_release(struct rd_bytes *b)
{
	rd_free(b->at);
	*b = (struct rd_bytes){0};
}

/*
 * The blocks of an arena are a list, the current one first. A request that is
 * large beside a block gets one of its own behind the current, whose rest
 * stays in use.
 */
struct rd_arena_block {
	struct rd_arena_block *next;
	size_t used_bytes;
	size_t size_bytes;
	_Alignas(8) uint8_t at[];
};

#define ARENA_FIRST_BYTES ((size_t)4096)
#define ARENA_MOST_BYTES  ((size_t)1 << 20)

static struct rd_arena_block *new_block(size_t size_bytes)
{
	size_t bytes;

	if (__builtin_add_overflow(size_bytes, sizeof(struct rd_arena_block), &bytes))
		return NULL;
	struct rd_arena_block *b = rd_realloc(NULL, bytes);
	if (b)
		*b = (struct rd_arena_block){.size_bytes = size_bytes};
	return b;
}

static void *take_in_new_block(struct rd_arena *a, size_t size_bytes)
{
	struct rd_arena_block *current = a->block;
	size_t next_bytes = ARENA_FIRST_BYTES - sizeof *current;

	/* Blocks double, so that many small arenas stay small and a large one is few blocks. */
	if (current && current->size_bytes >= next_bytes)
		next_bytes = current->size_bytes >= ARENA_MOST_BYTES / 2
				     ? ARENA_MOST_BYTES - sizeof *current
				     : 2 * (current->size_bytes + sizeof *current) - sizeof *current;
	if (size_bytes > next_bytes / 4) {
		struct rd_arena_block *own = new_block(size_bytes);
		if (own == NULL)
			return NULL;
		own->used_bytes = size_bytes;
		if (current) {
			own->next = current->next;
			current->next = own;
		} else {
			a->block = own;
		}
		return own->at;
	}
	struct rd_arena_block *b = new_block(next_bytes);
	if (b == NULL)
		return NULL;
	b->next = current;
	b->used_bytes = size_bytes;
	a->block = b;
	return b->at;
}

void *rd_arena_take(struct rd_arena *a, size_t size_bytes)
{
	struct rd_arena_block *b = a->block;
	void *p;

	if (size_bytes > PTRDIFF_MAX)
		return NULL;
	/* Even nothing has an address of its own. */
	size_t rounded = size_bytes ? (size_bytes + 7) & ~(size_t)7 : 8;
	if (b && b->size_bytes - b->used_bytes >= rounded) {
		p = b->at + b->used_bytes;
		b->used_bytes += rounded;
	} else {
		p = take_in_new_block(a, rounded);
		if (p == NULL)
			return NULL;
	}
	a->total_bytes += rounded;
	return p;
}

void *rd_arena_copy(struct rd_arena *a, const void *p, size_t size_bytes)
{
	void *copy = rd_arena_take(a, size_bytes);

	if (copy && size_bytes)
		memcpy(copy, p, size_bytes);
	return copy;
}

void rd_arena_release(struct rd_arena *a)
{
	struct rd_arena_block *b = a->block;

	while (b) {
		struct rd_arena_block *next = b->next;
		rd_free(b);
		b = next;
	}
	*a = (struct rd_arena){0};
}
