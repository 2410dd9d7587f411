/*
 * One read of a few thousand bytes per block or per group of small ones: what
 * lies between the heads is not read.
 */
#include "trace/indexer.h"

#include <stdio.h>
#include <string.h>

#define PROGRESS_BYTES (UINT64_C(4) << 20)

void rd_indexer_init(struct rd_indexer *x, const struct rd_source *s, enum rd_format_id format)
{
	x->source = s;
	x->ctx = NULL;
	x->index = (struct rd_index){
		.info =
			{
				.format = format,
				.size_bytes = s->size_bytes,
				.mtime_ns = s->mtime_ns,
				.cut_at = RD_NO_OFFSET,
			},
	};
	x->offset = 0;
	x->window_offset = 0;
	x->window_bytes = 0;
}

int64_t rd_indexer_look(struct rd_indexer *x, uint64_t offset, size_t need, const uint8_t **at, struct rd_error *err)
{
	if (offset < x->window_offset || offset + need > x->window_offset + x->window_bytes) {
		int64_t n = rd_source_some(x->source, x->window, sizeof x->window, offset, err);
		if (n < 0)
			return n;
		x->window_offset = offset;
		x->window_bytes = (size_t)n;
	}
	*at = x->window + (offset - x->window_offset);
	return (int64_t)(x->window_bytes - (size_t)(offset - x->window_offset));
}

void rd_indexer_cut(struct rd_indexer *x, uint64_t offset, const char *what)
{
	struct rd_trace_info *info = &x->index.info;
	info->complete = false;
	info->cut_at = offset;
	snprintf(info->damage, sizeof info->damage, "%s", what);
}

int rd_indexer_add(struct rd_indexer *x, struct rd_block block, struct rd_error *err)
{
	if (x->index.blocks.n >= UINT32_MAX)
		return rd_fail(err, RD_LIMIT, "more than %u blocks", UINT32_MAX);
	struct rd_block *b = rd_vec_add(&x->index.blocks);
	if (b == NULL)
		return rd_fail_nomem(err);
	*b = block;
	b->ordinal = (uint32_t)(x->index.blocks.n - 1);
	return 0;
}

int rd_indexer_run(struct rd_indexer *x, rd_indexer_step_fn step, struct rd_index *out,
		   void (*progress)(void *ctx, uint64_t bytes), void *ctx, struct rd_error *err)
{
	uint64_t told = 0;
	int rc;
	while ((rc = step(x, err)) > 0) {
		if (progress != NULL && x->offset - told >= PROGRESS_BYTES) {
			told = x->offset;
			progress(ctx, x->offset);
		}
	}
	if (rc != 0) {
		rd_index_release(&x->index);
		return rd_error_at(err, rc, x->source->path, x->offset);
	}
	x->index.info.digest = rd_index_digest(&x->index);
	if (progress != NULL)
		progress(ctx, x->source->size_bytes);
	*out = x->index;
	return 0;
}
