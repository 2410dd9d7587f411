/*
 * runs - decode planned blocks: neighbours in the file are read together, each is told to the sink.
 *
 * A format gives a function that decodes one block in memory; reading, the
 * calls around a block and what a fault means for it are here.
 */
#ifndef RD_TRACE_RUNS_H
#define RD_TRACE_RUNS_H

#include "trace/trace.h"

struct rd_runs {
	const struct rd_source *source; /* the caller's */
	uint8_t *window;
	size_t window_bytes;
};

/* Why a block does not decode, and at which of its bytes. */
struct rd_fault {
	const char *what; /* NULL: none */
	uint32_t at;      /* bytes from the block's first one */
};

/*
 * Decode the block whose b->size_bytes lie at `bytes`. counted: its events and
 * numbers go to the sink; else it is context. A block that does not decode
 * leaves nothing behind in d and fills *fault, which is empty at first; the
 * sink may have heard part of it. Negative for memory, for what the sink
 * returned, and RD_CHANGED when this is not the block that the index saw.
 */
typedef int (*rd_run_block_fn)(struct rd_decoder *d, const struct rd_block *b, const uint8_t *bytes, bool counted,
			       struct rd_fault *fault);

/* The file will be read from front to back. */
void rd_runs_init(struct rd_runs *r, const struct rd_source *s);
void rd_runs_release(struct rd_runs *r);

/* What rd_format.decoder_blocks and .decoder_context promise. */
int rd_runs_blocks(struct rd_runs *r, struct rd_decoder *d, const struct rd_sink *sink, rd_run_block_fn decode,
		   const struct rd_block *blocks, size_t n, struct rd_error *err);
int rd_runs_context(struct rd_runs *r, struct rd_decoder *d, rd_run_block_fn decode, const struct rd_block *b,
		    struct rd_error *err);

#endif
