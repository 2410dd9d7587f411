/*
 * row_sort - the rows of a table in the order of a time and, where times are equal, of all else.
 *
 * For rows that come in runs which are sorted already, as a trace's do: a
 * natural merge sort of (time, index), then one move of the rows. n log n
 * comparisons at the worst, none but n - 1 when all is sorted.
 */
#ifndef RD_PROFILE_ROW_SORT_H
#define RD_PROFILE_ROW_SORT_H

#include <stddef.h>

/* Negative, 0, positive, as a comes before, with or after b; begins with the time. */
typedef int (*rd_row_compare_fn)(const void *a, const void *b);

/*
 * Sort n rows of row_bytes; the time is the u64 at time_at in a row. The rows
 * may move to new memory: *rows is from rd_realloc. 0 or RD_NOMEM, with the rows as they were.
 */
int rd_sort_rows(void **rows, size_t *cap, size_t n, size_t row_bytes, size_t time_at, rd_row_compare_fn compare);

#endif
