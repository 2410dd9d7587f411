/*
 * frame - the head of a nettrace file and the framing of its blocks.
 *
 * Knows where a block begins, ends and of which kind it is; nothing of what
 * is inside. Version 4 wraps each block into an object with a typed head and
 * a closing tag (docs/formats/nettrace.md, "Objects").
 */
#ifndef RD_TRACE_NETTRACE_FRAME_H
#define RD_TRACE_NETTRACE_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "trace/trace.h"

/* rd_block.kind. Numbered as version 6 numbers its blocks; version 4 names them. */
enum rd_nettrace_kind {
	RD_NETTRACE_END = 0,
	RD_NETTRACE_TRACE = 1,
	RD_NETTRACE_EVENT = 2,
	RD_NETTRACE_METADATA = 3,
	RD_NETTRACE_SEQUENCE_POINT = 4,
	RD_NETTRACE_STACK = 5,
	RD_NETTRACE_UNKNOWN = 255, /* skipped, as the format asks of readers */
};

/* Bytes that hold any head of a file, and any head of a block. */
#define RD_NETTRACE_HEAD_BYTES 512

struct rd_nettrace_frame {
	uint64_t size_bytes; /* of the whole block in the file */
	uint32_t payload_at; /* bytes from the block's first one */
	uint32_t payload_bytes;
	uint8_t kind; /* enum rd_nettrace_kind */
};

/*
 * Read the head of a file into the fields of *info that it speaks of;
 * *first_block is where its blocks begin. RD_UNSUPPORTED (names the version),
 * RD_TRUNCATED, RD_CORRUPT.
 */
int rd_nettrace_head(const uint8_t *bytes, size_t size_bytes, struct rd_trace_info *info, uint64_t *first_block,
		     struct rd_error *err);

/*
 * Read the head of the block at file_offset from `bytes`. END: the end mark
 * stands there, size_bytes says how long it is. The closing tag lies at the
 * block's last byte and is the caller's to check (rd_nettrace_closed).
 * RD_TRUNCATED when more bytes than given are needed, RD_CORRUPT when this is
 * no block, RD_UNSUPPORTED when it wants a newer reader; *what says why.
 */
int rd_nettrace_frame(const uint8_t *bytes, size_t size_bytes, uint64_t file_offset, struct rd_nettrace_frame *out,
		      const char **what);

/* Whether this is the byte that a whole block ends with. */
static inline bool rd_nettrace_closed(uint8_t last_byte)
{
	return last_byte == 6;
}

#endif
