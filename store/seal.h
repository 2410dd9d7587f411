/*
 * seal - the small text file beside data.mdb that says whether its bytes are those that were written.
 *
 *   rundown result 1
 *   size 45056
 *   xxh3-128 5f3c…
 *
 * Checksums inside values say whether a value is what was written, and not that
 * all are there. The seal says it of the file. The first line is the same in every
 * version, which is how an older reader names a newer result.
 */
#ifndef RD_STORE_SEAL_H
#define RD_STORE_SEAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cursor.h"
#include "base/error.h"

#define RD_SEAL_NAME "seal"
#define RD_DATA_NAME "data.mdb"

struct rd_seal {
	uint32_t version;
	uint64_t size_bytes;
	uint64_t hash[2]; /* XXH3-128, high half first */
};

/* The seal of these bytes. */
void rd_seal_of(struct rd_span bytes, struct rd_seal *out);
/* The seal of an open file, from offset 0 to its end. */
int rd_seal_measure(int fd, struct rd_seal *out, struct rd_error *err);

/* A new file in the folder, synced. */
int rd_seal_write(const char *folder, const struct rd_seal *seal, struct rd_error *err);

/* RD_NOT_FOUND: no result here. RD_UNSUPPORTED: of another version, which is in out->version. RD_CORRUPT, RD_IO. */
int rd_seal_read(const char *folder, struct rd_seal *out, struct rd_error *err);

/* Whether the open file begins as the seal of any version does. */
bool rd_seal_is(int fd);

#endif
