/*
 * Blocks come in the plan's order, which follows the clock and so jumps in the
 * file, mostly by a few buffers: a window of them is read in the order of the
 * file, neighbours in one go, and then decoded in the order given. While one
 * window is decoded, the system is asked for the next.
 */
#include "trace/etl/reader.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "trace/etl/buffer.h"
#include "trace/etl/etl.h"
#include "trace/etl/keys.h"
#include "trace/etl/records.h"
#include "trace/etl/unpack.h"

enum { WINDOW_BYTES = 1 << 20, WINDOW_BLOCKS = 64 };

/*
 * What blocks may unpack to: their rows cost memory by the plain byte. Events with times and addresses pack to a
 * twentieth at best; what packs a few repeated bytes into nothing is no session's work.
 */
#define PLAIN_RATIO       64
#define PLAIN_BYTES_LEAST (UINT64_C(256) << 20)

struct rd_decoder {
	const struct rd_source *source;
	struct rd_sink sink;
	uint32_t pointer_bytes;
	uint32_t compression; /* enum rd_etl_compression */
	struct rd_etl_keys keys;
	RD_VEC(uint8_t) window;            /* the bytes of the blocks at hand */
	RD_VEC(uint8_t) plain;             /* one unpacked buffer, from where its header would stand */
	struct rd_xpress_huffman *huffman; /* NULL until it is needed */
	uint64_t plain_left;               /* bytes that may still be unpacked */
};

/* A window of the plan. */
struct window {
	const struct rd_block *blocks;
	size_t n;
	size_t place[WINDOW_BLOCKS];      /* of each block in the decoder's bytes */
	uint8_t by_offset[WINDOW_BLOCKS]; /* block numbers in the order of the file */
};

int rd_etl_decoder_new(const struct rd_source *s, const struct rd_trace_info *info, const struct rd_sink *sink,
		       struct rd_decoder **out, struct rd_error *err)
{
	if (info->pointer_bytes != 4 && info->pointer_bytes != 8)
		return rd_fail(err, RD_USAGE, "pointers of %u bytes", info->pointer_bytes);
	struct rd_decoder *d = rd_realloc(NULL, sizeof *d);
	if (d == NULL)
		return rd_fail_nomem(err);
	memset(d, 0, sizeof *d);
	d->source = s;
	d->sink = *sink;
	d->pointer_bytes = info->pointer_bytes;
	d->compression = info->compression;
	int rc = rd_etl_keys_init(&d->keys, sink->event ? sink->want : 0, err);
	if (rc != 0) {
		rd_etl_decoder_free(d);
		return rc;
	}
	*out = d;
	return 0;
}

void rd_etl_decoder_free(struct rd_decoder *d)
{
	if (d == NULL)
		return;
	rd_etl_keys_release(&d->keys);
	rd_vec_release(&d->window);
	rd_vec_release(&d->plain);
	rd_free(d->huffman);
	rd_free(d);
}

int rd_etl_decoder_context(struct rd_decoder *d, const struct rd_block *b, struct rd_error *err)
{
	(void)d, (void)b, (void)err;
	return 0;
}

/* Room for size bytes, whatever was there. */
static int make_room(void *vec_at, size_t *cap, size_t size_bytes, struct rd_error *err)
{
	return rd_grow(vec_at, 0, cap, size_bytes, 1) == 0 ? 0 : rd_fail_nomem(err);
}

/* As many of the n blocks as make one window, at least one; *size_bytes their sum. */
static size_t take_window(const struct rd_block *blocks, size_t n, uint64_t *size_bytes)
{
	uint64_t sum = blocks[0].size_bytes;
	size_t i = 1;

	while (i < n && i < WINDOW_BLOCKS && blocks[i].size_bytes <= WINDOW_BYTES &&
	       sum + blocks[i].size_bytes <= WINDOW_BYTES)
		sum += blocks[i++].size_bytes;
	*size_bytes = sum;
	return i;
}

static void sort_by_offset(struct window *w)
{
	for (size_t i = 0; i < w->n; i++) {
		size_t k = i;
		for (; k > 0 && w->blocks[w->by_offset[k - 1]].offset > w->blocks[i].offset; k--)
			w->by_offset[k] = w->by_offset[k - 1];
		w->by_offset[k] = (uint8_t)i;
	}
}

/* Read the window's blocks, runs of neighbours in one go. */
static int load(struct rd_decoder *d, struct window *w, uint64_t size_bytes, struct rd_error *err)
{
	if (size_bytes > WINDOW_BYTES && size_bytes > RD_ETL_BUFFER_MOST)
		return rd_fail(err, RD_CHANGED, "a buffer of %" PRIu64 " bytes is planned", size_bytes);
	int rc = make_room(&d->window.at, &d->window.cap, (size_t)size_bytes, err);
	size_t filled = 0;

	sort_by_offset(w);
	for (size_t i = 0; rc == 0 && i < w->n;) {
		const struct rd_block *first = &w->blocks[w->by_offset[i]];
		uint64_t run = 0;
		do {
			w->place[w->by_offset[i]] = filled + (size_t)run;
			run += w->blocks[w->by_offset[i]].size_bytes;
			i++;
		} while (i < w->n && w->blocks[w->by_offset[i]].offset - first->offset == run);
		rc = rd_source_read(d->source, d->window.at + filled, (size_t)run, first->offset, err);
		filled += (size_t)run;
	}
	return rc;
}

static void advise(const struct rd_decoder *d, const struct rd_block *blocks, size_t n)
{
	for (size_t i = 0; i < n;) {
		uint64_t from = blocks[i].offset, size = 0;
		do
			size += blocks[i++].size_bytes;
		while (i < n && blocks[i].offset == from + size);
		(void)posix_fadvise(d->source->fd, (off_t)from, (off_t)size, POSIX_FADV_WILLNEED);
	}
}

/* The plain bytes of a compressed buffer; *used_bytes of them count. RD_CORRUPT when it does not unpack. */
static int unpack(struct rd_decoder *d, const struct rd_etl_buffer *b, const uint8_t *bytes, struct rd_error *err)
{
	if (b->used_bytes > d->plain_left)
		return rd_fail(err, RD_LIMIT, "the compressed buffers of a shard unpack to more than %d times their size",
			       PLAIN_RATIO);
	d->plain_left -= b->used_bytes;
	int rc = make_room(&d->plain.at, &d->plain.cap, b->used_bytes, err);
	if (rc != 0)
		return rc;
	const uint8_t *in = bytes + RD_ETL_BUFFER_HEAD;
	uint8_t *out = d->plain.at + RD_ETL_BUFFER_HEAD;
	size_t in_bytes = b->size_bytes - RD_ETL_BUFFER_HEAD, out_bytes = b->used_bytes - RD_ETL_BUFFER_HEAD;

	switch ((enum rd_etl_compression)d->compression) {
	case RD_ETL_LZNT1:
		return rd_lznt1_unpack(in, in_bytes, out, out_bytes);
	case RD_ETL_XPRESS:
		return rd_xpress_unpack(in, in_bytes, out, out_bytes);
	case RD_ETL_XPRESS_HUFFMAN:
		if (d->huffman == NULL)
			d->huffman = rd_realloc(NULL, sizeof *d->huffman);
		if (d->huffman == NULL)
			return rd_fail_nomem(err);
		return rd_xpress_huffman_unpack(d->huffman, in, in_bytes, out, out_bytes);
	case RD_ETL_PLAIN:
		break;
	}
	return RD_CORRUPT;
}

/* What a record says, as an event of the trace. */
static void fill(const struct rd_decoder *d, const struct rd_etl_record *r, const uint8_t *head, struct rd_event *ev)
{
	ev->time = r->time;
	ev->place = (ev->place & ~(uint64_t)UINT32_MAX) | r->at;
	ev->thread = r->thread;
	ev->pid = r->pid;
	ev->version = r->version;
	ev->pointer_bytes = r->pointer_bytes ? r->pointer_bytes : (uint8_t)d->pointer_bytes;
	ev->payload = r->payload;
	ev->payload_bytes = r->payload_bytes;
	ev->stack = NULL;
	ev->stack_bytes = 0;
	ev->stack_pointer_bytes = 0;
	if (d->sink.want == RD_WANT_ALL)
		ev->said = (struct rd_span){head, (size_t)(r->payload - head)};
	if (r->extended) {
		struct rd_span stack = rd_etl_extended_stack(r, &ev->stack_pointer_bytes);
		ev->stack = stack.at;
		ev->stack_bytes = stack.size_bytes;
	}
}

/* The place where a walk stops, as an event. */
static int stopped(const struct rd_decoder *d, const struct rd_etl_walk *w, struct rd_event *ev)
{
	if (d->sink.event == NULL)
		return 0;
	ev->key = &d->keys.bad;
	ev->time = 0;
	ev->place = (ev->place & ~(uint64_t)UINT32_MAX) | w->at;
	ev->thread = 0;
	ev->pid = RD_NO_PID;
	ev->version = 0;
	ev->pointer_bytes = (uint8_t)d->pointer_bytes;
	ev->payload = w->plain + w->at;
	ev->payload_bytes = w->used_bytes - w->at;
	ev->stack = NULL;
	ev->stack_bytes = 0;
	ev->stack_pointer_bytes = 0;
	ev->said = (struct rd_span){NULL, 0};
	return d->sink.event(d->sink.ctx, ev);
}

/* All records of a plain buffer; w->damage says why when it does not end at its end. */
static int walk_records(struct rd_decoder *d, const struct rd_block *block, struct rd_etl_walk *w, struct rd_error *err)
{
	struct rd_event ev = {.place = (uint64_t)block->ordinal << 32, .cpu = block->cpu};
	struct rd_etl_record r;

	while (w->damage == NULL && rd_etl_walk_next(w, &r) > 0) {
		int rc = rd_etl_key(&d->keys, &r, &ev.key, err);
		if (rc != 0)
			return rc;
		if (d->sink.event)
			rd_sink_time(&d->sink, r.time);
		if (ev.key == NULL)
			continue;
		fill(d, &r, w->plain + r.at, &ev);
		rc = d->sink.event(d->sink.ctx, &ev);
		if (rc < 0)
			return rc;
	}
	return w->damage ? stopped(d, w, &ev) : 0;
}

static int decode(struct rd_decoder *d, const struct rd_block *block, const uint8_t *bytes, struct rd_error *err)
{
	struct rd_sink *sink = &d->sink;
	struct rd_etl_buffer b;
	struct rd_etl_walk w;
	bool packed = false;
	int rc = 0;

	if (block->size_bytes >= RD_ETL_BUFFER_HEAD)
		rd_etl_buffer_read(&b, bytes);
	if (block->size_bytes < RD_ETL_BUFFER_HEAD || b.size_bytes != block->size_bytes)
		return rd_fail(err, RD_CHANGED, "the buffer is not the one that was planned");
	if (sink->block_begin && (rc = sink->block_begin(sink->ctx, block)) < 0)
		return rc;
	packed = d->compression != RD_ETL_PLAIN && b.flags & RD_ETL_BUFFER_COMPRESSED;
	rd_etl_walk_init(&w, bytes, b.used_bytes);
	if (b.used_bytes == 0 || (!packed && b.used_bytes > b.size_bytes)) {
		w.used_bytes = b.size_bytes;
		w.damage = "a buffer of an impossible length";
	} else if (packed) {
		rc = unpack(d, &b, bytes, err);
		if (rc == RD_CORRUPT) {
			w.used_bytes = b.size_bytes;
			w.damage = "a compressed buffer that does not unpack";
		} else if (rc != 0) {
			return rc;
		} else {
			w.plain = d->plain.at;
		}
	}
	rc = walk_records(d, block, &w, err);
	if (rc < 0)
		return rc;
	if (sink->block_end && (rc = sink->block_end(sink->ctx, block, false)) < 0)
		return rc;
	if (w.damage && sink->damage)
		rc = sink->damage(sink->ctx, block, block->offset + (w.plain == bytes ? w.at : 0), w.damage);
	return rc < 0 ? rc : 0;
}

/* The budget of plain bytes that these blocks bring. */
static uint64_t plain_bytes_of(const struct rd_block *blocks, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		if (__builtin_add_overflow(sum, blocks[i].size_bytes, &sum))
			return UINT64_MAX;
	if (__builtin_mul_overflow(sum, PLAIN_RATIO, &sum) || __builtin_add_overflow(sum, PLAIN_BYTES_LEAST, &sum))
		return UINT64_MAX;
	return sum;
}

int rd_etl_decoder_blocks(struct rd_decoder *d, const struct rd_block *blocks, size_t n, struct rd_error *err)
{
	uint64_t size = 0, size_next = 0;

	d->plain_left = plain_bytes_of(blocks, n);
	for (size_t i = 0, next; i < n; i = next) {
		struct window w = {.blocks = blocks + i, .n = take_window(blocks + i, n - i, &size)};
		next = i + w.n;
		int rc = load(d, &w, size, err);
		if (rc == 0 && next < n)
			advise(d, blocks + next, take_window(blocks + next, n - next, &size_next));
		for (size_t k = 0; rc == 0 && k < w.n; k++) {
			rc = decode(d, &w.blocks[k], d->window.at + w.place[k], err);
			if (rc != 0)
				rd_error_at(err, rc, d->source->path, w.blocks[k].offset);
		}
		if (rc != 0)
			return rc;
	}
	return 0;
}
