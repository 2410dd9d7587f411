/*
 * The index of a nettrace file: from block head to block head, without
 * reading what lies between.
 *
 * One read of a few hundred bytes per block: it begins at the closing tag of
 * the block before, so that the tag is checked and the next head read at once.
 */
#include "trace/nettrace/index.h"

#include <stdio.h>
#include <string.h>

#include "base/cursor.h"
#include "base/file.h"
#include "trace/nettrace/frame.h"

/* Small blocks stand several to a window; 4 KiB is what the page cache copies for the price of 512 bytes. */
#define WINDOW_BYTES   4096
#define PROGRESS_BYTES (UINT64_C(4) << 20)

struct window {
	const struct rd_source *source;
	uint64_t offset;
	size_t size_bytes;
	uint8_t bytes[WINDOW_BYTES];
};

/* The bytes at offset: at least `need` of them unless the file ends before. A negative code, or how many. */
static int64_t look(struct window *w, uint64_t offset, size_t need, const uint8_t **at, struct rd_error *err)
{
	if (offset < w->offset || offset + need > w->offset + w->size_bytes) {
		int64_t n = rd_pread_some(w->source->fd, w->bytes, sizeof w->bytes, offset, err);
		if (n < 0)
			return rd_error_at(err, w->source->path, offset), n;
		w->offset = offset;
		w->size_bytes = (size_t)n;
	}
	*at = w->bytes + (offset - w->offset);
	return (int64_t)(w->size_bytes - (size_t)(offset - w->offset));
}

static void cut(struct rd_trace_info *info, uint64_t offset, const char *what)
{
	info->complete = false;
	info->cut_at = offset;
	snprintf(info->damage, sizeof info->damage, "%s", what);
}

/* The time that a block's head names: the earliest of an event block, that of a sequence point. */
static uint64_t block_time(const struct rd_nettrace_frame *f, const uint8_t *payload, size_t have)
{
	struct rd_cursor c = rd_cursor_of(payload, have < f->payload_bytes ? have : f->payload_bytes);
	if (f->kind == RD_NETTRACE_EVENT)
		rd_skip(&c, 4);
	else if (f->kind != RD_NETTRACE_SEQUENCE_POINT)
		return 0;
	return rd_u64(&c);
}

static int add_block(struct rd_index *ix, const struct rd_nettrace_frame *f, uint64_t offset, uint64_t time,
		     struct rd_error *err)
{
	if (ix->blocks.n >= UINT32_MAX)
		return rd_fail(err, RD_LIMIT, "more than %u blocks", UINT32_MAX);
	struct rd_block *b = rd_vec_add(&ix->blocks);
	if (b == NULL)
		return rd_fail_nomem(err);
	*b = (struct rd_block){
		.offset = offset,
		.size_bytes = f->size_bytes,
		.time = time,
		.ordinal = (uint32_t)(ix->blocks.n - 1),
		.kind = f->kind,
	};
	if (f->kind == RD_NETTRACE_METADATA)
		b->provides = RD_CONTEXT_METADATA;
	if (f->kind == RD_NETTRACE_STACK)
		b->provides = RD_CONTEXT_STACKS;
	if (f->kind == RD_NETTRACE_SEQUENCE_POINT)
		b->resets = RD_CONTEXT_STACKS;
	return 0;
}

/*
 * One block at *offset. 1: it is whole and in the index, *offset stands behind
 * it. 0: the file's blocks end here, the info says how. Negative: no index.
 */
static int step(struct window *w, uint64_t *offset, struct rd_index *ix, struct rd_error *err)
{
	const uint8_t *at;
	const char *what = "";
	struct rd_nettrace_frame f;
	uint64_t size = w->source->size_bytes, begin = *offset;
	if (begin >= size) {
		cut(&ix->info, size, "the file ends without its end mark");
		return 0;
	}
	int64_t have = look(w, begin, RD_NETTRACE_HEAD_BYTES, &at, err);
	if (have < 0)
		return (int)have;
	if (rd_nettrace_frame(at, (size_t)have, begin, &f, &what) != 0) {
		cut(&ix->info, begin, what);
		return 0;
	}
	if (f.kind == RD_NETTRACE_END) {
		ix->info.complete = true;
		return 0;
	}
	if (f.size_bytes > size - begin) {
		cut(&ix->info, begin, "the file ends inside a block");
		return 0;
	}
	uint64_t time = block_time(&f, at + f.payload_at, (size_t)have - f.payload_at);
	have = look(w, begin + f.size_bytes - 1, 1 + RD_NETTRACE_HEAD_BYTES, &at, err);
	if (have < 0)
		return (int)have;
	if (have == 0 || !rd_nettrace_closed(*at)) {
		cut(&ix->info, begin, "a block does not end where its size says");
		return 0;
	}
	int rc = add_block(ix, &f, begin, time, err);
	*offset = begin + f.size_bytes;
	return rc != 0 ? rc : 1;
}

int rd_nettrace_index(const struct rd_source *s, struct rd_index *out, void (*progress)(void *ctx, uint64_t bytes),
		      void *ctx, struct rd_error *err)
{
	struct window w = {.source = s};
	struct rd_index ix = {0};
	uint64_t offset = 0, told = 0;
	const uint8_t *at;
	int64_t have = look(&w, 0, RD_NETTRACE_HEAD_BYTES, &at, err);
	if (have < 0)
		return (int)have;
	int rc = rd_nettrace_head(at, (size_t)have, &ix.info, &offset, err);
	if (rc != 0)
		return rd_error_at(err, s->path, RD_NO_OFFSET), rc;
	ix.info.format = RD_FORMAT_NETTRACE;
	ix.info.size_bytes = s->size_bytes;
	ix.info.mtime_ns = s->mtime_ns;
	ix.info.cut_at = RD_NO_OFFSET;
	while ((rc = step(&w, &offset, &ix, err)) > 0) {
		if (progress != NULL && offset - told >= PROGRESS_BYTES) {
			told = offset;
			progress(ctx, offset);
		}
	}
	if (rc != 0) {
		rd_index_release(&ix);
		return rd_error_at(err, s->path, offset), rc;
	}
	ix.info.digest = rd_index_digest(&ix);
	if (progress != NULL)
		progress(ctx, s->size_bytes);
	*out = ix;
	return 0;
}
