/*
 * decoder - the state of one decode of a nettrace file, shared by its parts:
 * decoder.c makes and frees it, block.c decodes a block that lies in memory,
 * block6.c the blocks that only version 6 has, or has in another shape.
 */
#ifndef RD_TRACE_NETTRACE_DECODER_H
#define RD_TRACE_NETTRACE_DECODER_H

#include "trace/nettrace/frame.h"
#include "trace/nettrace/labels.h"
#include "trace/nettrace/stacks.h"
#include "trace/nettrace/threads.h"
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
	bool six; /* the file's version is 6 */
	uint32_t pointer_bytes;
	uint32_t pid; /* of events whose thread names none; RD_NO_PID unknown */
	struct rd_nettrace_types types;
	struct rd_nettrace_stacks stacks;
	struct rd_nettrace_threads threads; /* version 6, and labels */
	struct rd_nettrace_labels labels;
	struct rd_nettrace_run runs[RD_NETTRACE_RUNS]; /* by hash of the thread; count 0: free */
};

/* rd_run_block_fn. */
int rd_nettrace_block(struct rd_decoder *d, const struct rd_block *b, const uint8_t *block, bool counted,
		      struct rd_fault *fault);

/* Blocks of version 6 by their payload, which lies at payload_at of its block. */
int rd_nettrace6_metadata(struct rd_decoder *d, struct rd_span payload, uint32_t payload_at, struct rd_fault *fault);
int rd_nettrace6_point(struct rd_decoder *d, struct rd_span payload, uint32_t payload_at, bool counted,
		       struct rd_fault *fault);
int rd_nettrace6_threads(struct rd_decoder *d, struct rd_span payload, uint32_t payload_at, struct rd_fault *fault);
int rd_nettrace6_removals(struct rd_decoder *d, struct rd_span payload, uint32_t payload_at, bool counted,
			  struct rd_fault *fault);
int rd_nettrace6_labels(struct rd_decoder *d, struct rd_span payload, uint32_t payload_at, struct rd_fault *fault);

#endif
