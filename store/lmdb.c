#include "store/lmdb.h"

#include <errno.h>

#include <xxhash.h>

void rd_store_key(uint8_t key[RD_KEY_BYTES], uint32_t table, uint32_t chunk)
{
	for (int i = 0; i < 4; i++) {
		key[i] = (uint8_t)(table >> (24 - 8 * i));
		key[4 + i] = (uint8_t)(chunk >> (24 - 8 * i));
	}
}

uint64_t rd_store_checksum(uint32_t table, uint32_t chunk, struct rd_span body)
{
	return XXH3_64bits_withSeed(body.at, body.size_bytes, (uint64_t)table << 32 | chunk);
}

int rd_fail_lmdb(struct rd_error *err, int rc, const char *what)
{
	if (rc == ENOMEM)
		return rd_fail_nomem(err);
	if (rc > 0) {
		errno = rc;
		return rd_fail_errno(err, "%s", what);
	}
	int code = rc == MDB_MAP_FULL ? RD_LIMIT : RD_CORRUPT;
	return rd_fail(err, code, "%s: %s", what, mdb_strerror(rc));
}
