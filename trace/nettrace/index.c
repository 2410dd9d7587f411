/* The index of a nettrace file: from block head to block head, without reading what lies between. */
#include "trace/nettrace/index.h"

#include "trace/nettrace/frame.h"
#include "trace/nettrace/frame6.h"

/* The first block of a version 6 file, which may be of any size: it lists what its writer liked to say. */
static int first_block(struct rd_indexer *x, uint64_t offset, struct rd_error *err)
{
	struct rd_trace_info *info = &x->index.info;
	const uint8_t *at;
	int64_t have = rd_indexer_look(x, offset, RD_NETTRACE6_BLOCK_BYTES, &at, err);
	if (have < 0)
		return (int)have;
	if (have < RD_NETTRACE6_BLOCK_BYTES)
		return rd_fail(err, RD_TRUNCATED, "the file ends inside its head");
	struct rd_frame f = rd_nettrace6_frame(at);
	if (f.kind != RD_NETTRACE_TRACE)
		return rd_fail(err, RD_CORRUPT, "the first block is not the head");
	if (f.size_bytes > x->source->size_bytes - offset)
		return rd_fail(err, RD_TRUNCATED, "the file ends inside its head");
	x->offset = offset + f.size_bytes;
	uint8_t *payload = rd_realloc(NULL, f.payload_bytes + 1);
	if (payload == NULL)
		return rd_fail_nomem(err);
	int rc = rd_source_read(x->source, payload, f.payload_bytes, offset + f.payload_at, err);
	if (rc == 0)
		rc = rd_nettrace6_trace(payload, f.payload_bytes, info, err);
	rd_free(payload);
	return rc;
}

static int begin(struct rd_indexer *x, bool *six, struct rd_error *err)
{
	const uint8_t *at;
	int64_t have = rd_indexer_look(x, 0, RD_FASTSERIAL_HEAD_BYTES, &at, err);
	if (have < 0)
		return (int)have;
	*six = rd_nettrace6_is(at, (size_t)have);
	if (!*six)
		return rd_nettrace_head(at, (size_t)have, &x->index.info, &x->offset, err);
	int rc = rd_nettrace6_version(at, (size_t)have, &x->index.info, err);
	return rc != 0 ? rc : first_block(x, RD_NETTRACE6_MAGIC_BYTES, err);
}

int rd_nettrace_index(const struct rd_source *s, struct rd_index *out, void (*progress)(void *ctx, uint64_t bytes),
		      void *ctx, struct rd_error *err)
{
	struct rd_indexer x;
	bool six = false;
	rd_indexer_init(&x, s, RD_FORMAT_NETTRACE);
	int rc = begin(&x, &six, err);
	if (rc != 0)
		return rd_error_at(err, rc, s->path, RD_NO_OFFSET);
	x.ctx = &rd_nettrace_blocks;
	return rd_indexer_run(&x, six ? rd_nettrace6_step : rd_fastserial_step, out, progress, ctx, err);
}
