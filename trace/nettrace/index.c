/* The index of a nettrace file: from block head to block head, without reading what lies between. */
#include "trace/nettrace/index.h"

#include "trace/nettrace/frame.h"

int rd_nettrace_index(const struct rd_source *s, struct rd_index *out, void (*progress)(void *ctx, uint64_t bytes),
		      void *ctx, struct rd_error *err)
{
	struct rd_indexer x;
	const uint8_t *at;
	rd_indexer_init(&x, s, RD_FORMAT_NETTRACE);
	int64_t have = rd_indexer_look(&x, 0, RD_FASTSERIAL_HEAD_BYTES, &at, err);
	if (have < 0)
		return (int)have;
	int rc = rd_nettrace_head(at, (size_t)have, &x.index.info, &x.offset, err);
	if (rc != 0)
		return rd_error_at(err, s->path, RD_NO_OFFSET), rc;
	x.ctx = &rd_nettrace_blocks;
	return rd_indexer_run(&x, rd_fastserial_step, out, progress, ctx, err);
}
