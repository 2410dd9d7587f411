/*
 * The first buffer says what the file is; the others are walked from header
 * to header. A file of a session that never ended has zero counts: nothing
 * here trusts them, but a count that is there and higher than what is found
 * tells of a file cut between two buffers.
 */
#include "trace/etl/index.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/etl/etl.h"
#include "trace/etl/framing.h"
#include "trace/etl/header.h"

enum { PROGRESS_EVERY = 1024 };

struct sequenced {
	uint64_t sequence;
	struct rd_block block;
};

struct scan {
	struct rd_etl_framing framing;
	struct rd_index *out;
	RD_VEC(uint64_t) sequences; /* of each block, for circular files */
	void (*progress)(void *ctx, uint64_t bytes);
	void *ctx;
};

/* The first damage is told; all of it makes the file incomplete. */
static void damage(struct rd_trace_info *info, uint64_t at, const char *what)
{
	if (info->complete)
		info->cut_at = at;
	info->complete = false;
	if (info->damage[0] == '\0')
		snprintf(info->damage, sizeof info->damage, "%s", what);
}

/* The first buffer: at most the 64 KiB that one record can have are of interest. */
static int read_header(struct scan *s, struct rd_etl_header *h, struct rd_error *err)
{
	const struct rd_source *source = s->framing.source;
	uint8_t head[RD_ETL_BUFFER_HEAD], *plain;
	struct rd_etl_buffer b;

	if (source->size_bytes < sizeof head)
		return rd_fail(err, RD_TRUNCATED, "an ETL file of %" PRIu64 " bytes", source->size_bytes);
	int rc = rd_source_read(source, head, sizeof head, 0, err);
	if (rc < 0)
		return rc;
	rd_etl_buffer_read(&b, head);
	if (!rd_etl_buffer_plausible(&b) || b.flags & RD_ETL_BUFFER_COMPRESSED)
		return rd_fail(err, RD_CORRUPT, "the first buffer has a broken header");
	if (b.size_bytes > source->size_bytes)
		return rd_fail(err, RD_TRUNCATED, "the file ends inside its first buffer");
	if (b.used_bytes > RD_ETL_BUFFER_HEAD + UINT16_MAX)
		b.used_bytes = RD_ETL_BUFFER_HEAD + UINT16_MAX;
	plain = rd_realloc(NULL, b.used_bytes);
	if (plain == NULL)
		return rd_fail_nomem(err);
	rc = rd_source_read(source, plain, b.used_bytes, 0, err);
	if (rc == 0)
		rc = rd_etl_header_read(&b, plain, &s->out->info, h, err);
	rd_free(plain);
	s->framing.base = b.size_bytes;
	/* In a plain file the buffers themselves say how large they are. */
	if (rc == 0 && s->out->info.compression != RD_ETL_PLAIN && h->buffer_bytes > RD_ETL_PLAIN_MOST)
		return rd_fail(err, RD_CORRUPT, "a session with buffers of %" PRIu32 " bytes; they have at most %d",
			       h->buffer_bytes, RD_ETL_PLAIN_MOST);
	return rc;
}

static int add(struct scan *s, uint64_t at, const struct rd_etl_buffer *b, struct rd_error *err)
{
	if (s->out->blocks.n >= UINT32_MAX)
		return rd_fail(err, RD_LIMIT, "more than 2^32 buffers");
	struct rd_block *block = rd_vec_add(&s->out->blocks);
	uint64_t *sequence = rd_vec_add(&s->sequences);
	if (block == NULL || sequence == NULL)
		return rd_fail_nomem(err);
	memset(block, 0, sizeof *block);
	block->offset = at;
	block->size_bytes = b->size_bytes;
	block->time = b->time;
	block->cpu = b->cpu;
	block->kind = (uint8_t)b->type;
	*sequence = b->sequence;
	if (s->progress && s->out->blocks.n % PROGRESS_EVERY == 0)
		s->progress(s->ctx, at);
	return 0;
}

static int walk(struct scan *s, struct rd_error *err)
{
	struct rd_trace_info *info = &s->out->info;
	uint64_t at = 0, next = 0;
	struct rd_etl_buffer b;
	char text[160];

	while (at < info->size_bytes) {
		rd_etl_frame_ahead(&s->framing, at);
		int frame = rd_etl_frame_at(&s->framing, at, &b, &next, err), rc = 0;
		switch (frame) {
		case RD_ETL_FRAME_BUFFER:
			rc = add(s, at, &b, err);
			break;
		case RD_ETL_FRAME_BROKEN:
			snprintf(text, sizeof text,
				 "a broken buffer at byte %" PRIu64 "; the next one is at byte %" PRIu64, at, next);
			damage(info, at, text);
			break;
		case RD_ETL_FRAME_CUT:
			damage(info, at, "the file ends inside a buffer");
			return 0;
		case RD_ETL_FRAME_GARBAGE:
			snprintf(text, sizeof text, "no buffer stands at byte %" PRIu64 " or behind it", at);
			damage(info, at, text);
			return 0;
		case RD_ETL_FRAME_ZEROS:
			return 0;
		default:
			return frame;
		}
		if (rc != 0)
			return rc;
		at = next;
	}
	return 0;
}

static int by_sequence(const void *a, const void *b)
{
	const struct sequenced *x = a, *y = b;

	if (x->sequence != y->sequence)
		return x->sequence < y->sequence ? -1 : 1;
	return x->block.offset < y->block.offset ? -1 : x->block.offset > y->block.offset;
}

/* The logical order: the file's, or in a circular one that of the sequence numbers, the header's buffer first. */
static int order(struct scan *s, struct rd_error *err)
{
	rd_block_vec *blocks = &s->out->blocks;

	if (s->out->info.log_file_mode & RD_ETL_MODE_CIRCULAR && blocks->n > 2) {
		RD_VEC(struct sequenced) sorted = {0};
		if (rd_vec_reserve(&sorted, blocks->n) != 0)
			return rd_fail_nomem(err);
		for (size_t i = 0; i < blocks->n; i++)
			sorted.at[i] = (struct sequenced){s->sequences.at[i], blocks->at[i]};
		qsort(sorted.at + 1, blocks->n - 1, sizeof *sorted.at, by_sequence);
		for (size_t i = 0; i < blocks->n; i++)
			blocks->at[i] = sorted.at[i].block;
		rd_vec_release(&sorted);
	}
	for (size_t i = 0; i < blocks->n; i++)
		blocks->at[i].ordinal = (uint32_t)i;
	return 0;
}

/* A session that ended wrote how many buffers it had; where that number means the file, fewer are a cut. */
static void check_count(const struct scan *s, uint32_t written)
{
	const uint32_t other = RD_ETL_MODE_CIRCULAR | RD_ETL_MODE_APPEND | RD_ETL_MODE_NEWFILE;
	struct rd_trace_info *info = &s->out->info;
	char text[160];

	if (info->log_file_mode & other || !info->complete || s->out->blocks.n >= written)
		return;
	snprintf(text, sizeof text, "the header promises %" PRIu32 " buffers, the file has %zu", written,
		 s->out->blocks.n);
	damage(info, info->size_bytes, text);
}

int rd_etl_index(const struct rd_source *source, struct rd_index *out, void (*progress)(void *ctx, uint64_t bytes),
		 void *ctx, struct rd_error *err)
{
	struct scan s = {.framing.source = source, .out = out, .progress = progress, .ctx = ctx};
	struct rd_etl_header header;
	struct rd_trace_info *info = &out->info;

	memset(out, 0, sizeof *out);
	out->sort_by_time = true;
	info->format = RD_FORMAT_ETL;
	info->size_bytes = source->size_bytes;
	info->mtime_ns = source->mtime_ns;
	info->complete = true;
	info->cut_at = RD_NO_OFFSET;
	int rc = read_header(&s, &header, err);
	if (rc == 0) {
		s.framing.nominal_bytes = header.buffer_bytes <= RD_ETL_BUFFER_MOST ? header.buffer_bytes : 0;
		s.framing.compressed = info->compression != RD_ETL_PLAIN;
		rc = walk(&s, err);
	}
	if (rc == 0)
		rc = order(&s, err);
	if (rc == 0) {
		check_count(&s, header.buffers_written);
		info->digest = rd_index_digest(out);
		if (progress)
			progress(ctx, info->size_bytes);
	}
	rd_vec_release(&s.sequences);
	if (rc != 0) {
		rd_index_release(out);
		rd_error_at(err, rc, source->path, RD_NO_OFFSET);
	}
	return rc;
}
