/*
 * archive_stream - one compressed file that is one trace: gzip, zstd, xz, bzip2.
 *
 * Part by part (archive_codec.h). Parts whose check held are kept whatever
 * comes behind them. A file that ends inside a part was cut: what came out of
 * that part is kept too, as of a plain trace that was cut. A part that
 * contradicts itself or its check is not kept, as no byte of it can be vouched
 * for; nor is anything behind it.
 */
#ifndef RD_TRACE_ARCHIVE_STREAM_H
#define RD_TRACE_ARCHIVE_STREAM_H

#include "trace/archive_codec.h"
#include "trace/archive_output.h"

struct rd_archive_stream {
	const struct rd_source *source;
	const struct rd_codec *codec;
	struct rd_archive_output *output; /* NULL: only look whether it is a trace */
	void (*progress)(void *ctx, uint64_t packed_bytes);
	void *ctx;
};

/*
 * 0: the trace is written, and its `damage` says what is missing at its end. RD_NOT_FOUND: it is no trace; RD_TRUNCATED
 * and RD_CORRUPT: nothing of it can be kept. The caller undoes the output.
 */
int rd_archive_stream(const struct rd_archive_stream *what, struct rd_error *err);

/* In the same words everywhere. */
#define RD_ARCHIVE_ENDS_EARLY "the compressed file ends early at byte %llu"
#define RD_ARCHIVE_CANNOT     "the archive cannot be unpacked"

#endif
