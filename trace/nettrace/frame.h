/*
 * frame - the head of a nettrace file and the framing of its blocks.
 *
 * Knows where a block begins, ends and of which kind it is; nothing of what
 * is inside. Version 4 wraps each block into an object with a typed head and
 * a closing tag (docs/formats/nettrace.md, "Objects"); version 6 is in frame6.h.
 */
#ifndef RD_TRACE_NETTRACE_FRAME_H
#define RD_TRACE_NETTRACE_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "trace/fastserial.h"

/* rd_block.kind. Numbered as version 6 numbers its blocks; version 4 names them, and has the first five only. */
enum rd_nettrace_kind {
	RD_NETTRACE_END = 0,
	RD_NETTRACE_TRACE = 1,
	RD_NETTRACE_EVENT = 2,
	RD_NETTRACE_METADATA = 3,
	RD_NETTRACE_SEQUENCE_POINT = 4,
	RD_NETTRACE_STACK = 5,
	RD_NETTRACE_THREAD = 6,
	RD_NETTRACE_REMOVE_THREAD = 7,
	RD_NETTRACE_LABEL_LIST = 8,
	RD_NETTRACE_UNKNOWN = 255, /* skipped, as the format asks of readers */
};

/*
 * Read the head of a file of version 4 into the fields of *info that it speaks of;
 * *first_block is where its blocks begin. RD_UNSUPPORTED (names the version),
 * RD_TRUNCATED, RD_CORRUPT.
 */
int rd_nettrace_head(const uint8_t *bytes, size_t size_bytes, struct rd_trace_info *info, uint64_t *first_block,
		     struct rd_error *err);

/*
 * Read the head of the block at file_offset from `bytes`. RD_TRUNCATED when
 * more bytes than given are needed, RD_CORRUPT when this is no block,
 * RD_UNSUPPORTED when it wants a newer reader; *what says why.
 */
int rd_nettrace_frame(const uint8_t *bytes, size_t size_bytes, uint64_t file_offset, struct rd_frame *out,
		      const char **what);

extern const struct rd_fastserial_blocks rd_nettrace_blocks;

#endif
