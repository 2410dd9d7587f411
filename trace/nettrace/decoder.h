/*
 * decoder - the state of one decode of a nettrace file, shared by its two halves:
 * decoder.c reads blocks in large batches, block.c decodes one that lies in memory.
 */
#ifndef RD_TRACE_NETTRACE_DECODER_H
#define RD_TRACE_NETTRACE_DECODER_H

#include "trace/nettrace/frame.h"
#include "trace/nettrace/stacks.h"
#include "trace/nettrace/types.h"
#include "trace/trace.h"

/* Events of one capture thread, numbered first … first + count - 1, not yet told to the sink. */
struct rd_nettrace_run {
	uint64_t thread;
	uint32_t first;
	uint32_t count;
};

#define RD_NETTRACE_RUNS 64 /* a power of two */

struct rd_decoder {
	const struct rd_source *source; /* the caller's */
	struct rd_sink sink;
	uint32_t pointer_bytes;
	uint32_t pid;
	struct rd_nettrace_types types;
	struct rd_nettrace_stacks stacks;
	struct rd_nettrace_run runs[RD_NETTRACE_RUNS]; /* by hash of the thread; count 0: free */
	uint8_t *window;
	size_t window_bytes;
};

/* Why a block does not decode, and at which of its bytes. */
struct rd_nettrace_fault {
	const char *what; /* NULL: none */
	uint32_t at;      /* bytes from the block's first one */
};

/*
 * Decode the block whose bytes lie at `block`, framed as *f says. counted: its
 * events and numbers go to the sink; else it is context. A block that does
 * not decode leaves nothing behind in d and fills *fault; the sink may have
 * heard part of it. Negative only for memory and for what the sink returned.
 */
int rd_nettrace_block(struct rd_decoder *d, const struct rd_block *b, const struct rd_nettrace_frame *f,
		      const uint8_t *block, bool counted, struct rd_nettrace_fault *fault);

#endif
