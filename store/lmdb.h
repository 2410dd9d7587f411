/*
 * lmdb - what all who use LMDB share: keys and values of a result, maps that fit a limit, errors.
 */
#ifndef RD_STORE_LMDB_H
#define RD_STORE_LMDB_H

#include <stdint.h>

#include <lmdb.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "store/schema.h"

/* The contents stand under a table number of their own, after all tables. */
#define RD_STORE_CONTENTS UINT32_MAX

/* Table and chunk, big-endian, so that LMDB's order of bytes is theirs. */
#define RD_KEY_BYTES 8
void rd_store_key(uint8_t key[RD_KEY_BYTES], uint32_t table, uint32_t chunk);

/* A value begins with XXH3-64 of what follows, seeded by its key, so that a value in another's place shows. */
#define RD_CHECKSUM_BYTES 8
uint64_t rd_store_checksum(uint32_t table, uint32_t chunk, struct rd_span body);

/* What the contents say: a record a table, after the version and the number of tables. */
#define RD_CONTENTS_HEAD_BYTES 8
struct rd_contents_row {
	uint32_t table;
	uint32_t chunks;
	uint64_t rows;
};
_Static_assert(sizeof(struct rd_contents_row) == 16, "stored as it is, little-endian");

/* The code for what LMDB returned (not 0), with its text. */
int rd_fail_lmdb(struct rd_error *err, int rc, const char *what);

/*
 * Address space is free, so a map is made as large as a file will ever be, and
 * the file grows only as it is filled. Where a limit stands (ulimit -v) the map
 * begins at a share of it, for there is other work to do, and grows.
 */
#define RD_MAP_BYTES_MIN ((uint64_t)1 << 20)

/* What to reserve at first, of `wish`. */
uint64_t rd_map_first(uint64_t wish);
/*
 * Make the map of an open environment twice as large, or as near to that as there is room; no transaction may be
 * open. RD_NOMEM: there is none, and the environment is as before. `whose` is "the journal", for the error.
 */
int rd_map_grow(MDB_env *env, uint64_t *map_bytes, const char *whose, struct rd_error *err);
/* RD_NOMEM: a limit of address space leaves none for a map of this size. */
int rd_fail_map(struct rd_error *err, const char *whose, uint64_t bytes);

#endif
