/*
 * archive - is it packed, and the plain trace out of it (libarchive).
 *
 * gzip, zstd (windows of up to 2^27 bytes), zip. Names inside archives never become paths: each
 * member that looks like a trace by its first bytes is written as NN.trace
 * into the scratch folder. Caps: plain bytes, ratio, number of members.
 */
#ifndef RD_TRACE_ARCHIVE_H
#define RD_TRACE_ARCHIVE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/memory.h"
#include "trace/source.h"

struct rd_unpacked {
	char path[4096];  /* of the plain file */
	char name[256];   /* the member's own name, for display only; "" for a single stream */
	uint64_t size_bytes;
};
typedef RD_VEC(struct rd_unpacked) rd_unpacked_vec;

struct rd_unpack_limits {
	uint64_t plain_bytes; /* 0: 1 TiB */
	uint32_t ratio;       /* plain : packed, beyond the first 64 MiB; 0: 1100 */
	uint32_t members;     /* 0: 64 */
};

/* By the first bytes of the file, not its name. */
int rd_archive_is(const struct rd_source *s, bool *packed, struct rd_error *err);

/*
 * Write every trace in it to folder. progress (may be NULL) hears the packed
 * bytes read so far. RD_NOT_FOUND when it holds no trace, RD_LIMIT at a cap,
 * RD_CORRUPT or RD_TRUNCATED for a broken archive; what was written before a
 * failure is removed.
 */
int rd_archive_unpack(const struct rd_source *s, const char *folder, const struct rd_unpack_limits *limits,
                      rd_unpacked_vec *out, void (*progress)(void *ctx, uint64_t packed_bytes), void *ctx,
                      struct rd_error *err);

#endif
