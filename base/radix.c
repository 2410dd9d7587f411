#include "base/radix.h"

#include <string.h>

#include "base/memory.h"

static void count(const struct rd_radix_item *items, size_t n, size_t counts[8][256])
{
	memset(counts, 0, 8 * sizeof *counts);
	for (size_t i = 0; i < n; i++)
		for (unsigned byte = 0; byte < 8; byte++)
			counts[byte][items[i].key >> 8 * byte & 0xff]++;
}

/* Move the items to where their byte belongs. */
static void move(const struct rd_radix_item *from, struct rd_radix_item *to, size_t n, unsigned byte,
		 size_t counts[256])
{
	size_t at = 0;

	for (unsigned v = 0; v < 256; v++) {
		size_t these = counts[v];
		counts[v] = at;
		at += these;
	}
	for (size_t i = 0; i < n; i++)
		to[counts[from[i].key >> 8 * byte & 0xff]++] = from[i];
}

int rd_radix_sort(struct rd_radix_item *items, size_t n)
{
	size_t counts[8][256], bytes;
	struct rd_radix_item *from = items, *to;

	if (n < 2)
		return RD_OK;
	if (__builtin_mul_overflow(n, sizeof *items, &bytes) || (to = rd_realloc(NULL, bytes)) == NULL)
		return RD_NOMEM;
	struct rd_radix_item *scratch = to;
	count(items, n, counts);
	for (unsigned byte = 0; byte < 8; byte++) {
		if (counts[byte][items[0].key >> 8 * byte & 0xff] == n)
			continue;
		move(from, to, n, byte, counts[byte]);
		struct rd_radix_item *swap = from;
		from = to;
		to = swap;
	}
	if (from != items)
		memcpy(items, from, bytes);
	rd_free(scratch);
	return RD_OK;
}
