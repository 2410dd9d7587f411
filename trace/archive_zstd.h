/*
 * archive_zstd - one large zstd frame, unpacked straight into its file.
 *
 * A zstd decoder keeps the last `window` plain bytes at hand, 128 MiB of them
 * in a frame packed with --long=27, and would have them in memory of its own.
 * Here the mapped output file is the window.
 */
#ifndef RD_TRACE_ARCHIVE_ZSTD_H
#define RD_TRACE_ARCHIVE_ZSTD_H

#include "trace/archive_output.h"

/* Nothing was done: not one frame that names its size, too small to bother, or no trace. */
#define RD_ZSTD_NOT_MINE 1

/* 0 unpacked (up to where the file ends), RD_ZSTD_NOT_MINE, or a failure; the caller undoes. */
int rd_archive_zstd(const struct rd_source *s, struct rd_archive_output *o,
		    void (*progress)(void *ctx, uint64_t packed_bytes), void *ctx, struct rd_error *err);

#endif
