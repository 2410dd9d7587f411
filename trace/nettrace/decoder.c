/*
 * Reading blocks in batches, and telling the sink how each one went.
 */
#include "trace/nettrace/decoder.h"

#include <fcntl.h>
#include <string.h>

#include "trace/nettrace/index.h"
#include "trace/nettrace/nettrace.h"

/* Small enough to stay in the second-level cache between the copy and the walk, large enough for a disk. */
#define WINDOW_BYTES ((size_t)1 << 20)

static bool probe(const uint8_t *head, size_t size_bytes)
{
	return size_bytes >= 8 && memcmp(head, "Nettrace", 8) == 0;
}

static void decoder_free(struct rd_decoder *d)
{
	if (d == NULL)
		return;
	rd_nettrace_types_release(&d->types);
	rd_nettrace_stacks_release(&d->stacks);
	rd_free(d->window);
	rd_free(d);
}

static int decoder_new(const struct rd_source *s, const struct rd_trace_info *info, const struct rd_sink *sink,
		       struct rd_decoder **out, struct rd_error *err)
{
	if (info->version_major < 4 || info->version_major > 5)
		return rd_fail(err, RD_UNSUPPORTED, "nettrace %u: this build reads nettrace 4 and 5",
			       info->version_major);
	if (info->pointer_bytes != 4 && info->pointer_bytes != 8)
		return rd_fail(err, RD_CORRUPT, "a trace with pointers of %u bytes", info->pointer_bytes);
	struct rd_decoder *d = rd_realloc(NULL, sizeof *d);
	if (d == NULL)
		return rd_fail_nomem(err);
	memset(d, 0, sizeof *d);
	d->source = s;
	d->sink = *sink;
	d->pointer_bytes = info->pointer_bytes;
	d->pid = info->pid;
	if (rd_nettrace_types_init(&d->types, sink->want) != 0) {
		decoder_free(d);
		return rd_fail_nomem(err);
	}
	posix_fadvise(s->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	*out = d;
	return 0;
}

/* The bytes of a run of neighbouring blocks into the window. The plan is not trusted to be of this file. */
static int read_run(struct rd_decoder *d, const struct rd_block *first, uint64_t run_bytes, struct rd_error *err)
{
	const struct rd_source *s = d->source;
	if (first->offset > s->size_bytes || run_bytes > s->size_bytes - first->offset || run_bytes > SIZE_MAX) {
		rd_fail(err, RD_CHANGED, "the file is shorter than its index");
		return rd_error_at(err, s->path, first->offset), RD_CHANGED;
	}
	if (d->window == NULL || run_bytes > d->window_bytes) {
		size_t want = run_bytes > WINDOW_BYTES ? (size_t)run_bytes : WINDOW_BYTES;
		uint8_t *window = rd_realloc(d->window, want);
		if (window == NULL)
			return rd_fail_nomem(err);
		d->window = window;
		d->window_bytes = want;
	}
	int rc = rd_source_read(s, d->window, (size_t)run_bytes, first->offset, err);
	if (rc == 0)
		posix_fadvise(s->fd, (off_t)(first->offset + run_bytes), (off_t)WINDOW_BYTES, POSIX_FADV_WILLNEED);
	return rc;
}

/* The framing of a block in the window, which must be what the index saw. */
static int read_frame(const struct rd_decoder *d, const struct rd_block *b, const uint8_t *block,
		      struct rd_nettrace_frame *f, struct rd_error *err)
{
	const char *what = "";
	int rc = rd_nettrace_frame(block, (size_t)b->size_bytes, b->offset, f, &what);
	if (rc == 0 && f->size_bytes == b->size_bytes && f->kind == b->kind &&
	    rd_nettrace_closed(block[b->size_bytes - 1]))
		return 0;
	rd_fail(err, RD_CHANGED, "the block that the index saw is not there");
	return rd_error_at(err, d->source->path, b->offset), RD_CHANGED;
}

static int sink_failed(const struct rd_decoder *d, int rc, const struct rd_block *b, struct rd_error *err)
{
	if (rc == RD_NOMEM)
		return rd_fail_nomem(err);
	rd_fail(err, rc, "decoding the block was stopped");
	return rd_error_at(err, d->source->path, b->offset), rc;
}

static int counted_block(struct rd_decoder *d, const struct rd_block *b, const uint8_t *block, struct rd_error *err)
{
	const struct rd_sink *sink = &d->sink;
	struct rd_nettrace_fault fault;
	struct rd_nettrace_frame f;
	int rc = read_frame(d, b, block, &f, err);
	if (rc != 0)
		return rc;
	if (sink->block_begin != NULL && (rc = sink->block_begin(sink->ctx, b)) < 0)
		return sink_failed(d, rc, b, err);
	if ((rc = rd_nettrace_block(d, b, &f, block, true, &fault)) < 0)
		return sink_failed(d, rc, b, err);
	if (sink->block_end != NULL && (rc = sink->block_end(sink->ctx, b, fault.what != NULL)) < 0)
		return sink_failed(d, rc, b, err);
	if (fault.what == NULL || sink->damage == NULL)
		return 0;
	rc = sink->damage(sink->ctx, b, b->offset + fault.at, fault.what);
	return rc < 0 ? sink_failed(d, rc, b, err) : 0;
}

static int decoder_context(struct rd_decoder *d, const struct rd_block *b, struct rd_error *err)
{
	struct rd_nettrace_fault fault;
	struct rd_nettrace_frame f;
	if (b->kind == RD_NETTRACE_EVENT)
		return 0;
	int rc = read_run(d, b, b->size_bytes, err);
	if (rc == 0)
		rc = read_frame(d, b, d->window, &f, err);
	if (rc != 0)
		return rc;
	return rd_nettrace_block(d, b, &f, d->window, false, &fault) < 0 ? rd_fail_nomem(err) : 0;
}

/* How many of these blocks lie side by side in the file and fit into one window: at least one. */
static size_t run_of(const struct rd_block *blocks, size_t n, uint64_t *run_bytes)
{
	size_t i = 1;
	*run_bytes = blocks[0].size_bytes;
	while (i < n && blocks[i].offset == blocks[0].offset + *run_bytes && blocks[i].size_bytes <= WINDOW_BYTES &&
	       *run_bytes + blocks[i].size_bytes <= WINDOW_BYTES) {
		*run_bytes += blocks[i].size_bytes;
		i++;
	}
	return i;
}

static int decoder_blocks(struct rd_decoder *d, const struct rd_block *blocks, size_t n, struct rd_error *err)
{
	while (n > 0) {
		uint64_t run_bytes;
		size_t run = run_of(blocks, n, &run_bytes);
		int rc = read_run(d, &blocks[0], run_bytes, err);
		for (size_t i = 0; i < run && rc == 0; i++)
			rc = counted_block(d, &blocks[i], d->window + (blocks[i].offset - blocks[0].offset), err);
		if (rc != 0)
			return rc;
		blocks += run;
		n -= run;
	}
	return 0;
}

const struct rd_format rd_format_nettrace = {
	.id = RD_FORMAT_NETTRACE,
	.name = "nettrace",
	.probe = probe,
	.index = rd_nettrace_index,
	.decoder_new = decoder_new,
	.decoder_context = decoder_context,
	.decoder_blocks = decoder_blocks,
	.decoder_free = decoder_free,
};
