/*
 * row_sort - the rows of a table in the order of a time and, where times are equal, of all else.
 *
 * For rows that come nearly sorted, as a trace's do: n - 1 comparisons when they
 * are, else a radix sort of (time, index) and comparisons among rows of one
 * time, then one move of the rows, in place.
 */
#ifndef RD_PROFILE_ROW_SORT_H
#define RD_PROFILE_ROW_SORT_H

#include <stddef.h>

/* Negative, 0, positive, as a comes before, with or after b; begins with the time. */
typedef int (*rd_row_compare_fn)(const void *a, const void *b);

/*
 * Sort n rows of row_bytes; the time is the u64 at time_at in a row. 0 or RD_NOMEM, with the rows as they were.
 */
int rd_sort_rows(void *rows, size_t n, size_t row_bytes, size_t time_at, rd_row_compare_fn compare);

#endif
