/*
 * fastserial - the objects of which EventPipe's files consist, in netperf and in nettrace up to 5.
 *
 * Knows how an object begins and ends and what the first one, Trace, says
 * (docs/formats/nettrace.md, "Objects"); nothing of what blocks hold.
 */
#ifndef RD_TRACE_FASTSERIAL_H
#define RD_TRACE_FASTSERIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"
#include "base/error.h"
#include "trace/indexer.h"

/* What stands in front of the objects; a nettrace file has one word more before it. */
#define RD_FASTSERIAL_MAGIC       "\x14\0\0\0!FastSerialization.1"
#define RD_FASTSERIAL_MAGIC_BYTES 24

enum rd_fastserial_tag {
	RD_FASTSERIAL_NULL = 1,
	RD_FASTSERIAL_BEGIN = 4,         /* an object that may be referred to: netperf */
	RD_FASTSERIAL_BEGIN_PRIVATE = 5, /* one that is not: nettrace */
	RD_FASTSERIAL_END = 6,
};

struct rd_fastserial_object {
	int32_t version;
	int32_t oldest_reader;
	struct rd_span name; /* borrowed */
};

/*
 * Read the tags, versions and name in front of an object's payload; `begin` is
 * the least of the two tags that may begin it. RD_TRUNCATED when more bytes
 * than given are needed, RD_CORRUPT when this is no object; *what says why.
 */
int rd_fastserial_object(struct rd_cursor *c, enum rd_fastserial_tag begin, struct rd_fastserial_object *out,
			 const char **what);
bool rd_fastserial_is(const struct rd_fastserial_object *o, const char *name);

/* The SYSTEMTIME, ticks and frequency that every Trace object begins with; the cursor says whether they were there. */
void rd_fastserial_clock(struct rd_cursor *c, struct rd_trace_info *info);

/* A whole Trace object's payload and its closing tag. RD_TRUNCATED, RD_CORRUPT. */
int rd_fastserial_trace(struct rd_cursor *c, struct rd_trace_info *info, struct rd_error *err);

/*
 * The size in front of a block's payload and the zeros behind it, so that the
 * cursor stands at the payload; its first byte is the file's at file_offset.
 * RD_TRUNCATED, RD_CORRUPT; *what says why.
 */
int rd_fastserial_payload(struct rd_cursor *c, uint64_t file_offset, uint32_t *payload_bytes, const char **what);

/* Bytes that hold any head of a file, and any head of a block. */
#define RD_FASTSERIAL_HEAD_BYTES 512

/*
 * What a format knows of its blocks. frame: the head of the block at
 * file_offset; codes and *what as rd_fastserial_object. describe: what the index
 * says of a block, with the first `have` bytes of its payload. passed_over: the
 * kind that nobody need read and that is in no index.
 */
struct rd_fastserial_blocks {
	int (*frame)(const uint8_t *bytes, size_t size_bytes, uint64_t file_offset, struct rd_frame *out,
		     const char **what);
	void (*describe)(struct rd_block *b, const uint8_t *payload, size_t have);
	uint8_t passed_over; /* 0 none */
};

/* rd_indexer_step_fn with x->ctx a const struct rd_fastserial_blocks. */
int rd_fastserial_step(struct rd_indexer *x, struct rd_error *err);

/*
 * The frame of a block that lies in memory. 0, or RD_CHANGED (no *err filled in)
 * when it is not the one that the index saw.
 */
int rd_fastserial_reframe(const struct rd_fastserial_blocks *blocks, const struct rd_block *b, const uint8_t *bytes,
			  struct rd_frame *out);

#endif
