/*
 * shard - decode one shard of a trace into a packed partial.
 *
 * The whole of a worker's work, without daemons: replay the context, decode
 * the blocks, collect facts, samples and stacks, sort, add the preliminary
 * histogram, pack.
 */
#ifndef RD_PROFILE_SHARD_H
#define RD_PROFILE_SHARD_H

#include "profile/partial.h"
#include "trace/trace.h"

struct rd_shard {
	const struct rd_trace_info *info;
	const struct rd_block *context; /* replayed in this order, never counted */
	size_t context_n;
	const struct rd_block *blocks;  /* counted, file order */
	size_t blocks_n;
};

struct rd_shard_options {
	bool preliminary;        /* add the histogram, unless it would take far more than the shard */
	uint32_t stack_depth;    /* frames kept of a stack, innermost first; 0: RD_STACK_DEPTH_MAX */
	/*
	 * Told the bytes decoded so far, every few MiB, and behind the last one again and again while the histogram is
	 * made; may be NULL. A negative return ends the work.
	 */
	int (*progress)(void *ctx, uint64_t bytes);
	void *progress_ctx;
};

#define RD_STACK_DEPTH_MAX 65536u

int rd_shard_decode(const struct rd_source *s, const struct rd_shard *shard, const struct rd_shard_options *opt,
                    rd_partial_block_fn emit, void *ctx, struct rd_error *err);

#endif
