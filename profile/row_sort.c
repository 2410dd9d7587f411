#include "profile/row_sort.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

struct key {
	uint64_t time;
	size_t index;
};

struct sorter {
	const uint8_t *rows;
	size_t row_bytes;
	rd_row_compare_fn compare;
};

static bool after(const struct sorter *s, const struct key *a, const struct key *b)
{
	if (a->time != b->time)
		return a->time > b->time;
	return s->compare(s->rows + a->index * s->row_bytes, s->rows + b->index * s->row_bytes) > 0;
}

static size_t run_end(const struct sorter *s, const struct key *keys, size_t at, size_t n)
{
	while (++at < n && !after(s, &keys[at - 1], &keys[at]))
		;
	return at;
}

static void merge(const struct sorter *s, const struct key *a, const struct key *b, const struct key *end,
		  struct key *out)
{
	const struct key *middle = b;

	while (a < middle && b < end)
		*out++ = after(s, a, b) ? *b++ : *a++;
	size_t left = (size_t)(middle - a);
	memcpy(out, a, left * sizeof *a);
	memcpy(out + left, b, (size_t)(end - b) * sizeof *b);
}

/* Merge neighbouring runs until one is left; it ends in *from, the other is scratch. */
static void sort_keys(const struct sorter *s, struct key **from, struct key **to, size_t n)
{
	for (;;) {
		size_t runs = 0;
		for (size_t at = 0; at < n; runs++) {
			size_t middle = run_end(s, *from, at, n);
			if (at == 0 && middle == n)
				return;
			size_t end = middle < n ? run_end(s, *from, middle, n) : n;
			merge(s, *from + at, *from + middle, *from + end, *to + at);
			at = end;
		}
		struct key *swap = *from;
		*from = *to;
		*to = swap;
		if (runs == 1)
			return;
	}
}

static bool is_sorted(const struct sorter *s, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (s->compare(s->rows + (i - 1) * s->row_bytes, s->rows + i * s->row_bytes) > 0)
			return false;
	return true;
}

int rd_sort_rows(void **rows, size_t *cap, size_t n, size_t row_bytes, size_t time_at, rd_row_compare_fn compare)
{
	struct sorter s = {*rows, row_bytes, compare};

	if (is_sorted(&s, n))
		return 0;
	struct key *keys = NULL, *scratch = NULL;
	uint8_t *sorted = NULL;
	size_t keys_cap = 0, scratch_cap = 0, sorted_cap = 0;
	if (rd_grow((void **)&keys, 0, &keys_cap, n, sizeof *keys) < 0 ||
	    rd_grow((void **)&scratch, 0, &scratch_cap, n, sizeof *scratch) < 0 ||
	    rd_grow((void **)&sorted, 0, &sorted_cap, n, row_bytes) < 0) {
		rd_free(keys);
		rd_free(scratch);
		return RD_NOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		memcpy(&keys[i].time, s.rows + i * row_bytes + time_at, sizeof keys[i].time);
		keys[i].index = i;
	}
	sort_keys(&s, &keys, &scratch, n);
	for (size_t i = 0; i < n; i++)
		memcpy(sorted + i * row_bytes, s.rows + keys[i].index * row_bytes, row_bytes);
	rd_free(keys);
	rd_free(scratch);
	rd_free(*rows);
	*rows = sorted;
	*cap = sorted_cap;
	return 0;
}
