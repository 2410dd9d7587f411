/*
 * records - records of one fixed size as dense ids, 0, 1, 2, … in the order of their first coming.
 *
 * The first key_bytes of a record say which it is; the rest is the owner's.
 * Keys are compared as bytes, so they must have no padding.
 */
#ifndef RD_BASE_RECORDS_H
#define RD_BASE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"

struct rd_records {
	uint8_t *at; /* n records; moves when one is added */
	size_t n;
	size_t cap;
	size_t record_bytes, key_bytes;
	struct rd_table table;
};

void rd_records_init(struct rd_records *r, size_t record_bytes, size_t key_bytes);
/*
 * The id of the record with this key; a fresh one is the key and zeros.
 * RD_NONE when out of memory. fresh may be NULL.
 */
uint32_t rd_records_id(struct rd_records *r, const void *key, bool *fresh);
/* The id if it is known, else RD_NONE. */
uint32_t rd_records_find(const struct rd_records *r, const void *key);
/*
 * Let the keys so far be found no more; the records stay. For keys that have a
 * part which only grows: a small table of the present ones is found in nearer
 * memory than one of all.
 */
void rd_records_forget(struct rd_records *r);
/* The record, until the next one is added. */
static inline void *rd_records_at(const struct rd_records *r, uint32_t id)
{
	return r->at + id * r->record_bytes;
}
void rd_records_release(struct rd_records *r);

#endif
