/*
 * Rows come in the order of several buffers at once, so their times are sorted
 * by radix; the rest of their order decides among few, those of one time.
 */
#include "profile/row_sort.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/radix.h"

struct sorter {
	const uint8_t *rows;
	size_t row_bytes;
	rd_row_compare_fn compare;
};

static const uint8_t *row_of(const struct sorter *s, const struct rd_radix_item *item)
{
	return s->rows + item->index * s->row_bytes;
}

static bool is_sorted(const struct sorter *s, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (s->compare(s->rows + (i - 1) * s->row_bytes, s->rows + i * s->row_bytes) > 0)
			return false;
	return true;
}

static int compare_items(const void *a, const void *b, void *ctx)
{
	const struct rd_radix_item *x = a, *y = b;
	int c = ((const struct sorter *)ctx)->compare(row_of(ctx, x), row_of(ctx, y));

	return c ? c : (x->index > y->index) - (x->index < y->index);
}

/* Rows of one time: mostly two or three, but all rows may be. */
static void sort_equals(struct sorter *s, struct rd_radix_item *items, size_t n)
{
	if (n > 16) {
		qsort_r(items, n, sizeof *items, compare_items, s);
		return;
	}
	for (size_t i = 1; i < n; i++) {
		struct rd_radix_item item = items[i];
		size_t k = i;
		for (; k > 0 && compare_items(&items[k - 1], &item, s) > 0; k--)
			items[k] = items[k - 1];
		items[k] = item;
	}
}

static int sort_items(struct sorter *s, struct rd_radix_item *items, size_t n)
{
	int code = rd_radix_sort(items, n);

	for (size_t i = 0, end; code == 0 && i < n; i = end) {
		for (end = i + 1; end < n && items[end].key == items[i].key;)
			end++;
		sort_equals(s, items + i, end - i);
	}
	return code;
}

/* The rows' keys, in their order; NULL when there is no memory for them. */
static struct rd_radix_item *items_of(const struct sorter *s, size_t n, size_t time_at)
{
	struct rd_radix_item *items = NULL;
	size_t cap = 0;

	if (n > UINT32_MAX || rd_grow((void **)&items, 0, &cap, n, sizeof *items) < 0)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		memcpy(&items[i].key, s->rows + i * s->row_bytes + time_at, sizeof items[i].key);
		items[i].index = (uint32_t)i;
	}
	return items;
}

/* Row i becomes the one that item i names: along each cycle of them, with one row laid aside. */
static void move_rows(uint8_t *rows, size_t row_bytes, struct rd_radix_item *items, size_t n, uint8_t *aside)
{
	for (size_t i = 0; i < n; i++) {
		size_t to = i, from = items[i].index;
		if (from == i)
			continue;
		memcpy(aside, rows + i * row_bytes, row_bytes);
		for (; from != i; to = from, from = items[to].index) {
			memcpy(rows + to * row_bytes, rows + from * row_bytes, row_bytes);
			items[to].index = (uint32_t)to;
		}
		memcpy(rows + to * row_bytes, aside, row_bytes);
		items[to].index = (uint32_t)to;
	}
}

int rd_sort_rows(void *rows, size_t n, size_t row_bytes, size_t time_at, rd_row_compare_fn compare)
{
	struct sorter s = {rows, row_bytes, compare};

	if (is_sorted(&s, n))
		return 0;
	struct rd_radix_item *items = items_of(&s, n, time_at);
	uint8_t *aside = rd_realloc(NULL, row_bytes);
	int code = items && aside ? sort_items(&s, items, n) : RD_NOMEM;
	if (code == 0)
		move_rows(rows, row_bytes, items, n, aside);
	rd_free(aside);
	rd_free(items);
	return code;
}
