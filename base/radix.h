/*
 * radix - sort by numbers: stable, without comparisons.
 *
 * Byte by byte from the lowest; bytes that are equal in all keys cost nothing
 * but a look. For a key of several parts sort by the last part first.
 */
#ifndef RD_BASE_RADIX_H
#define RD_BASE_RADIX_H

#include <stddef.h>
#include <stdint.h>

struct rd_radix_item {
	uint64_t key;
	uint32_t index; /* what the key belongs to */
};

/* Ascending by key; items of equal keys keep their order. 0 or RD_NOMEM, with the items as they were. */
int rd_radix_sort(struct rd_radix_item *items, size_t n);

#endif
