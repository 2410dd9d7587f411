/*
 * archive - is it packed, and the plain trace out of it.
 *
 * gzip, zstd (windows of up to 2^27 bytes), xz, bzip2, each by its own library;
 * zip and 7z, which may hold several traces, by libarchive. Every check that a
 * format has is made. An archive that was cut gives what came of it, with a
 * word on that; one that is damaged gives only what is certain to be whole, or
 * nothing (docs/formats/packed.md). Names inside archives never become paths: each
 * member that looks like a trace by its first bytes is written as NN.trace
 * into the scratch folder.
 *
 * Caps against archives made to fill a disk or a night: plain bytes, plain :
 * packed, members, traces. Links and folders are passed over; an archive with
 * an absolute name, a name with "..", a name twice, or members that overlap is
 * refused as a whole.
 */
#ifndef RD_TRACE_ARCHIVE_H
#define RD_TRACE_ARCHIVE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/memory.h"
#include "trace/source.h"
#include "trace/trace.h"

struct rd_unpacked {
	char path[4096]; /* of the plain file */
	char name[256];  /* the member's own, with its folders, for display only; "" for a single stream */
	uint64_t size_bytes;
	char damage[256]; /* why the trace may go on where this file ends, one line; "" it does not */
};
typedef RD_VEC(struct rd_unpacked) rd_unpacked_vec;

struct rd_unpack_limits {
	uint64_t plain_bytes; /* 0: 1 TiB */
	/*
	 * plain : packed, beyond the first 64 MiB; 0: by the kind. DEFLATE ends at 1032 : 1, so gzip and zip have
	 * 1,100. LZMA ends near 7,000 : 1; zstd and bzip2 pack long runs of one byte still denser, which no trace is
	 * made of: 10,000.
	 */
	uint32_t ratio;
	uint32_t members; /* of any kind: PerfView packs a program's symbol files too; 0: 65,536 */
	uint32_t traces;  /* 0: 256 */
};

/* Whether these are the first bytes of an archive. */
bool rd_archive_begins(const uint8_t *head, size_t size_bytes);
/* By the first bytes of the file, not its name. */
int rd_archive_is(const struct rd_source *s, bool *packed, struct rd_error *err);

/*
 * Whether it holds a trace, by its first bytes, or something that has a trace's
 * name and must have been one: a member, or itself without its ending. Stops at the first one. Fails like
 * rd_archive_unpack, but for RD_NOT_FOUND.
 */
int rd_archive_holds(const struct rd_source *s, bool *trace, struct rd_error *err);

/*
 * Write every trace in it to folder. progress (may be NULL) hears the packed
 * bytes read so far. RD_NOT_FOUND when it holds no trace, RD_LIMIT at a cap,
 * RD_CORRUPT or RD_TRUNCATED for a broken archive of which nothing can be
 * kept; what was written before a failure is removed.
 */
int rd_archive_unpack(const struct rd_source *s, const char *folder, const struct rd_unpack_limits *limits,
		      rd_unpacked_vec *out, void (*progress)(void *ctx, uint64_t packed_bytes), void *ctx,
		      struct rd_error *err);

/* Let a trace's info say what is known of its archive: the damage of its rd_unpacked, "" none. */
void rd_archive_mark(struct rd_trace_info *info, const char *damage);

#endif
