/*
 * indexer - an index in the making, for formats whose files are walked from block to block.
 *
 * A format gives a step that looks at the head of a block and adds it; all
 * that is the same in every such format (looking at the file, cuts, progress,
 * the digest) is here.
 */
#ifndef RD_TRACE_INDEXER_H
#define RD_TRACE_INDEXER_H

#include "trace/trace.h"

/* Small blocks stand several to a window; 4 KiB is what the page cache copies for the price of 512 bytes. */
#define RD_INDEXER_WINDOW_BYTES 4096

/* Where a block's payload lies in it, by the head of the block. */
struct rd_frame {
	uint64_t size_bytes; /* of the whole block in the file */
	uint32_t payload_at; /* bytes from the block's first one */
	uint32_t payload_bytes;
	uint8_t kind; /* rd_block.kind */
};

struct rd_indexer {
	const struct rd_source *source;
	const void *ctx; /* the step's own */
	struct rd_index index;
	uint64_t offset; /* of the next block; a step moves it on */
	uint64_t window_offset;
	size_t window_bytes;
	uint8_t window[RD_INDEXER_WINDOW_BYTES];
};

/*
 * One block at x->offset. 1: it is in the index, x->offset stands behind it.
 * 0: the file's blocks end here, the info says how. Negative: no index.
 */
typedef int (*rd_indexer_step_fn)(struct rd_indexer *x, struct rd_error *err);

/* An empty index of this file: the info has format, size and time, and is neither complete nor cut. */
void rd_indexer_init(struct rd_indexer *x, const struct rd_source *s, enum rd_format_id format);

/*
 * The bytes at offset, borrowed until the next look: at least `need` of them, if
 * the file has them; need is not above RD_INDEXER_WINDOW_BYTES. How many, or a negative code.
 */
int64_t rd_indexer_look(struct rd_indexer *x, uint64_t offset, size_t need, const uint8_t **at, struct rd_error *err);

/* The file ends here, before it should. */
void rd_indexer_cut(struct rd_indexer *x, uint64_t offset, const char *what);

/* Add a block, with the next ordinal. 0, RD_NOMEM, RD_LIMIT. */
int rd_indexer_add(struct rd_indexer *x, struct rd_block block, struct rd_error *err);

/* Step to the end; the index moves to *out. On failure nothing is left of it. */
int rd_indexer_run(struct rd_indexer *x, rd_indexer_step_fn step, struct rd_index *out,
		   void (*progress)(void *ctx, uint64_t bytes), void *ctx, struct rd_error *err);

#endif
