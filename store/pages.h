/*
 * pages - the values of an LMDB file, found without believing a byte of it.
 *
 * LMDB itself trusts the file that it maps: offsets, page numbers and sizes in
 * it lead wherever they say. That is right for a file that one's own processes
 * wrote, and wrong for a result, which may come from anywhere. This reads what
 * LMDB 0.9 writes (data format 1, 64 bits, little-endian), the one unnamed
 * database, by key, and checks each place before it goes there.
 *
 * Whatever the bytes: nothing outside of them is read, and all values together
 * are no longer than the file, so neither time nor memory grows beyond it.
 */
#ifndef RD_STORE_PAGES_H
#define RD_STORE_PAGES_H

#include <stdint.h>

#include "base/cursor.h"
#include "base/error.h"

struct rd_pages {
	struct rd_span file; /* borrowed */
	uint32_t page_bytes;
	uint64_t pages;
	uint64_t root;       /* page number; UINT64_MAX: no values */
	uint64_t left_bytes; /* of values that may still be handed out */
};

/* Find the newer of the two states that the file holds. RD_CORRUPT, RD_UNSUPPORTED: of another LMDB. */
int rd_pages_open(struct rd_pages *p, struct rd_span file, struct rd_error *err);

/* The value of a key, borrowed from the file: 1, 0 there is none, RD_CORRUPT. Each key is to be asked for once. */
int rd_pages_get(struct rd_pages *p, struct rd_span key, struct rd_span *value, struct rd_error *err);

#endif
