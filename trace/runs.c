/* Reading blocks in batches, and telling the sink how each one went. */
#include "trace/runs.h"

#include <fcntl.h>

/* Small enough to stay in the second-level cache between the copy and the walk, large enough for a disk. */
#define WINDOW_BYTES ((size_t)1 << 19)

void rd_runs_init(struct rd_runs *r, const struct rd_source *s)
{
	*r = (struct rd_runs){.source = s};
	posix_fadvise(s->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
}

void rd_runs_release(struct rd_runs *r)
{
	rd_free(r->window);
	r->window = NULL;
	r->window_bytes = 0;
}

/* The bytes of a run of neighbouring blocks into the window. The plan is not trusted to be of this file. */
static int read_run(struct rd_runs *r, const struct rd_block *first, uint64_t run_bytes, struct rd_error *err)
{
	const struct rd_source *s = r->source;
	if (first->offset > s->size_bytes || run_bytes > s->size_bytes - first->offset || run_bytes > SIZE_MAX) {
		int rc = rd_fail(err, RD_CHANGED, "the file is shorter than its index");
		return rd_error_at(err, rc, s->path, first->offset);
	}
	if (r->window == NULL || run_bytes > r->window_bytes) {
		size_t want = run_bytes > WINDOW_BYTES ? (size_t)run_bytes : WINDOW_BYTES;
		uint8_t *window = rd_realloc(r->window, want);
		if (window == NULL)
			return rd_fail_nomem(err);
		r->window = window;
		r->window_bytes = want;
	}
	int rc = rd_source_read(s, r->window, (size_t)run_bytes, first->offset, err);
	if (rc == 0)
		posix_fadvise(s->fd, (off_t)(first->offset + run_bytes), (off_t)WINDOW_BYTES, POSIX_FADV_WILLNEED);
	return rc;
}

/* A code of the block's decoder or of the sink becomes an error that says where. */
static int failed(const struct rd_runs *r, int rc, const struct rd_block *b, struct rd_error *err)
{
	if (rc == RD_NOMEM)
		return rd_fail_nomem(err);
	rd_fail(err, rc,
		rc == RD_CHANGED ? "the block that the index saw is not there" : "decoding the block was stopped");
	return rd_error_at(err, rc, r->source->path, b->offset);
}

static int counted_block(const struct rd_runs *r, struct rd_decoder *d, const struct rd_sink *sink,
			 rd_run_block_fn decode, const struct rd_block *b, const uint8_t *bytes, struct rd_error *err)
{
	struct rd_fault fault = {0};
	int rc = sink->block_begin != NULL ? sink->block_begin(sink->ctx, b) : 0;
	if (rc >= 0)
		rc = decode(d, b, bytes, true, &fault);
	if (rc >= 0 && sink->block_end != NULL)
		rc = sink->block_end(sink->ctx, b, fault.what != NULL);
	if (rc >= 0 && fault.what != NULL && sink->damage != NULL)
		rc = sink->damage(sink->ctx, b, b->offset + fault.at, fault.what);
	return rc < 0 ? failed(r, rc, b, err) : 0;
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

int rd_runs_blocks(struct rd_runs *r, struct rd_decoder *d, const struct rd_sink *sink, rd_run_block_fn decode,
		   const struct rd_block *blocks, size_t n, struct rd_error *err)
{
	while (n > 0) {
		uint64_t run_bytes;
		size_t run = run_of(blocks, n, &run_bytes);
		int rc = read_run(r, &blocks[0], run_bytes, err);
		for (size_t i = 0; i < run && rc == 0; i++)
			rc = counted_block(r, d, sink, decode, &blocks[i],
					   r->window + (blocks[i].offset - blocks[0].offset), err);
		if (rc != 0)
			return rc;
		blocks += run;
		n -= run;
	}
	return 0;
}

int rd_runs_context(struct rd_runs *r, struct rd_decoder *d, rd_run_block_fn decode, const struct rd_block *b,
		    struct rd_error *err)
{
	struct rd_fault fault = {0};
	int rc = read_run(r, b, b->size_bytes, err);
	if (rc != 0)
		return rc;
	rc = decode(d, b, r->window, false, &fault);
	return rc < 0 ? failed(r, rc, b, err) : 0;
}
