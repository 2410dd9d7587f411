/*
 * decoder - the state of one decode of a nettrace file, shared by its two halves:
 * decoder.c makes and frees it, block.c decodes a block that lies in memory.
 */
#ifndef RD_TRACE_NETTRACE_DECODER_H
#define RD_TRACE_NETTRACE_DECODER_H

#include "trace/nettrace/frame.h"
#include "trace/nettrace/stacks.h"
#include "trace/nettrace/types.h"
#include "trace/runs.h"
#include "trace/trace.h"

/* Events of one capture thread, numbered first … first + count - 1, not yet told to the sink. */
struct rd_nettrace_run {
	uint64_t thread;
	uint32_t first;
	uint32_t count;
};

#define RD_NETTRACE_RUNS 64 /* a power of two */

struct rd_decoder {
	struct rd_runs reader;
	struct rd_sink sink;
	uint32_t pointer_bytes;
	uint32_t pid;
	struct rd_nettrace_types types;
	struct rd_nettrace_stacks stacks;
	struct rd_nettrace_run runs[RD_NETTRACE_RUNS]; /* by hash of the thread; count 0: free */
};

/* rd_run_block_fn. */
int rd_nettrace_block(struct rd_decoder *d, const struct rd_block *b, const uint8_t *block, bool counted,
		      struct rd_fault *fault);

#endif
