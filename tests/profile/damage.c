#include "tests/profile/damage.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/table.h"
#include "profile/collect.h"
#include "profile/shard.h"
#include "trace/etl/etl.h"
#include "trace/netperf/frame.h"

/* ---- reading */

struct reader {
	struct damage_reading *out;
	struct rd_sink collector;
	uint64_t block_offset;
	uint64_t sum;           /* of the open block */
	uint64_t events_before; /* when it began */
};

static int on_event(void *ctx, const struct rd_event *ev)
{
	struct reader *r = ctx;
	uint64_t wanted = ev->key->type != NULL ? RD_WANT(ev->key->type->kind) : 0;
	/* Not the ordinal: a cut circular file counts anew. */
	uint64_t parts[] = {r->block_offset + (uint32_t)ev->place,
			    r->sum,
			    ev->time,
			    ev->thread,
			    (uint64_t)ev->pid << 32 | ev->version,
			    (uint64_t)ev->key->identity << 32 | ev->key->id,
			    rd_hash(ev->payload, ev->payload_bytes),
			    ev->stack_bytes != 0 ? rd_hash(ev->stack, ev->stack_bytes) : 0};
	struct damage_event *e = rd_vec_add(&r->out->events);
	if (e == NULL)
		abort();
	r->sum = rd_hash(parts, sizeof parts);
	*e = (struct damage_event){.at = parts[0], .sum = r->sum};
	bool told = wanted & rd_collector_want || ev->key->identity == RD_IDENTITY_BAD;
	return told ? r->collector.event(r->collector.ctx, ev) : 0;
}

static int on_sequence(void *ctx, uint64_t thread, enum rd_sequence_op op, uint32_t first, uint32_t count)
{
	struct reader *r = ctx;
	return r->collector.sequence(r->collector.ctx, thread, op, first, count);
}

/* In a block's sum no other block has a part. */
static int on_begin(void *ctx, const struct rd_block *b)
{
	struct reader *r = ctx;
	r->block_offset = b->offset;
	r->events_before = r->out->events.n;
	r->sum = 0;
	return r->collector.block_begin(r->collector.ctx, b);
}

static int on_end(void *ctx, const struct rd_block *b, bool undo)
{
	struct reader *r = ctx;
	struct damage_block *row = rd_vec_add(&r->out->blocks);
	if (row == NULL)
		abort();
	if (undo) {
		r->out->events.n = r->events_before;
		r->sum = 0;
	}
	*row = (struct damage_block){.offset = b->offset,
				     .size_bytes = b->size_bytes,
				     .events = r->out->events.n - r->events_before,
				     .sum = r->sum,
				     .kind = b->kind};
	return r->collector.block_end(r->collector.ctx, b, undo);
}

static int on_damage(void *ctx, const struct rd_block *b, uint64_t file_offset, const char *what)
{
	struct reader *r = ctx;
	return r->collector.damage(r->collector.ctx, b, file_offset, what);
}

static int by_offset(const void *a, const void *b)
{
	const struct damage_block *x = a, *y = b;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int decode(const struct rd_format *f, const struct rd_source *s, struct damage_reading *out,
		  struct rd_error *err)
{
	struct rd_partial partial = {0};
	struct rd_collector c;
	struct rd_decoder *d;
	rd_collector_init(&c, &partial, RD_STACK_DEPTH_MAX);
	struct reader r = {.out = out, .collector = rd_collector_sink(&c)};
	struct rd_sink sink = {.ctx = &r,
			       .want = RD_WANT_ALL,
			       .event = on_event,
			       .sequence = on_sequence,
			       .block_begin = on_begin,
			       .block_end = on_end,
			       .damage = on_damage};
	int rc = f->decoder_new(s, &out->index.info, &sink, &d, err);
	if (rc == 0) {
		rc = f->decoder_blocks(d, out->index.blocks.at, out->index.blocks.n, err);
		f->decoder_free(d);
	}
	if (rc == 0)
		rc = rd_collector_finish(&c, err);
	out->samples = partial.samples.n;
	rd_collector_release(&c);
	rd_partial_release(&partial);
	if (out->blocks.n > 0)
		qsort(out->blocks.at, out->blocks.n, sizeof *out->blocks.at, by_offset);
	return rc;
}

static const char *__attribute__((format(printf, 1, 2))) complain(const char *fmt, ...)
{
	static char text[512];
	va_list args;
	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	return text;
}

static void reading_release(struct damage_reading *r)
{
	rd_index_release(&r->index);
	rd_vec_release(&r->blocks);
	rd_vec_release(&r->events);
}

/* Index, and decode unless it is what was decoded before. */
static const char *read_trace(struct damage *d, const struct rd_source *s, struct damage_reading *r, bool again)
{
	struct rd_error err;
	uint64_t digest = r->index.info.digest;
	size_t blocks = r->index.blocks.n;
	bool had = r->indexed == 0 && !again && d->decoded > 0;
	rd_index_release(&r->index);
	rd_error_clear(&err);
	r->indexed = d->format->index(s, &r->index, NULL, NULL, &err);
	if (r->indexed != 0) {
		bool typed = r->indexed == RD_TRUNCATED || r->indexed == RD_CORRUPT || r->indexed == RD_UNSUPPORTED;
		return typed && err.code == r->indexed && err.text[0] != '\0'
			       ? NULL
			       : complain("the index fails with %s: %s", rd_code_name(r->indexed), err.text);
	}
	if (had && digest == r->index.info.digest && blocks == r->index.blocks.n)
		return NULL;
	r->blocks.n = 0;
	r->events.n = 0;
	d->decoded++;
	int rc = decode(d->format, s, r, &err);
	if (rc != 0)
		return complain("decoding fails with %s: %s", rd_code_name(rc), err.text);
	if (r->blocks.n != r->index.blocks.n)
		return complain("%zu of %zu blocks were told", r->blocks.n, r->index.blocks.n);
	return NULL;
}

const char *damage_begin(struct damage *d, const struct rd_source *whole)
{
	struct rd_error err;
	*d = (struct damage){.source = whole};
	if (rd_trace_probe(whole, &d->format, &err) != 0)
		return complain("not a trace: %s", err.text);
	const char *wrong = read_trace(d, whole, &d->whole, true);
	if (wrong == NULL && d->whole.indexed != 0)
		wrong = complain("the whole file is refused");
	if (wrong == NULL && d->whole.blocks.n == 0)
		wrong = complain("the whole file has no block");
	d->cut.indexed = RD_TRUNCATED;
	return wrong;
}

void damage_release(struct damage *d)
{
	reading_release(&d->whole);
	reading_release(&d->cut);
}

/* ---- checking */

uint64_t damage_first_end(const struct damage *d)
{
	return d->whole.blocks.at[0].offset + d->whole.blocks.at[0].size_bytes;
}

/* Runs of events that are no blocks of the file: a cut may leave a part of one. */
static bool has_runs(const struct damage *d)
{
	return d->format->id == RD_FORMAT_NETPERF && !rd_netperf_has_blocks(d->whole.index.info.version_major);
}

/* Every block of the whole file that ends by `limit` is there and says the same. */
static const char *check_kept(const struct damage *d, uint64_t limit)
{
	const struct damage_reading *w = &d->whole, *c = &d->cut;
	size_t k = 0;
	for (size_t i = 0; i < w->blocks.n; i++) {
		const struct damage_block *b = &w->blocks.at[i];
		if (b->offset + b->size_bytes > limit)
			continue;
		while (k < c->blocks.n && c->blocks.at[k].offset < b->offset)
			k++;
		if (k == c->blocks.n || memcmp(&c->blocks.at[k], b, sizeof *b) != 0)
			return complain("the block at byte %" PRIu64 " of %" PRIu64 " bytes is %s", b->offset,
					b->size_bytes, k == c->blocks.n ? "missing" : "another one");
	}
	return NULL;
}

/* Every block of the cut file is one of the whole. */
static const char *check_no_other(const struct damage *d)
{
	const struct damage_reading *w = &d->whole, *c = &d->cut;
	for (size_t i = 0, k = 0; i < c->blocks.n; i++) {
		while (k < w->blocks.n && w->blocks.at[k].offset < c->blocks.at[i].offset)
			k++;
		if (k == w->blocks.n || memcmp(&w->blocks.at[k], &c->blocks.at[i], sizeof *c->blocks.at) != 0)
			return complain("the block at byte %" PRIu64 " is none of the whole file",
					c->blocks.at[i].offset);
	}
	return NULL;
}

/* The events before byte `limit`, the last of which may be cut, are there, and (exactly) no others. */
static const char *check_events(const struct damage *d, uint64_t limit, bool exactly)
{
	const struct damage_reading *w = &d->whole, *c = &d->cut;
	size_t least = 0;
	while (least + 1 < w->events.n && w->events.at[least + 1].at <= limit)
		least++;
	if (c->events.n < least || (exactly && c->events.n > w->events.n))
		return complain("%zu events are left, %zu stand before byte %" PRIu64, c->events.n, least, limit);
	size_t same = exactly ? c->events.n : least;
	/* Runs of events begin where they do in the whole file, so the sums are comparable. */
	for (size_t i = 0; i < same; i++)
		if (c->events.at[i].at != w->events.at[i].at || c->events.at[i].sum != w->events.at[i].sum)
			return complain("event %zu, at byte %" PRIu64 ", is another one", i, w->events.at[i].at);
	return NULL;
}

static const char *check_info(const struct damage *d, uint64_t size_bytes)
{
	const struct rd_trace_info *info = &d->cut.index.info;
	const struct damage_reading *c = &d->cut;
	uint64_t end =
		c->blocks.n > 0 ? c->blocks.at[c->blocks.n - 1].offset + c->blocks.at[c->blocks.n - 1].size_bytes : 0;
	if (info->size_bytes != size_bytes || end > size_bytes)
		return complain("a block ends behind the file");
	if (!info->complete && (info->cut_at > size_bytes || info->damage[0] == '\0'))
		return complain("cut at byte %" PRIu64 ": \"%s\"", info->cut_at, info->damage);
	/* Unless the whole is damaged before that. */
	if (!info->complete && d->whole.index.info.complete && info->cut_at < end)
		return complain("cut at byte %" PRIu64 ", but a block ends at %" PRIu64, info->cut_at, end);
	/* A session that never ended does not say how many buffers its file has; nothing stands behind the last one. */
	bool unknowable = d->format->id == RD_FORMAT_ETL && end == size_bytes;
	if (info->complete && !unknowable && c->blocks.n != d->whole.blocks.n)
		return complain("complete, with %zu blocks of %zu", c->blocks.n, d->whole.blocks.n);
	return NULL;
}

const char *damage_check_cut(struct damage *d, uint64_t size_bytes)
{
	struct rd_source s = *d->source;
	s.size_bytes = size_bytes;
	const char *wrong = read_trace(d, &s, &d->cut, false);
	if (wrong != NULL)
		return wrong;
	if (d->cut.indexed != 0)
		return size_bytes < damage_first_end(d) ? NULL : complain("refused, though a block is whole");
	wrong = check_info(d, size_bytes);
	if (wrong != NULL)
		return wrong;
	if (has_runs(d))
		return check_events(d, size_bytes, true);
	wrong = check_kept(d, size_bytes);
	return wrong != NULL ? wrong : check_no_other(d);
}

/* A run with a broken event in it is dropped whole. */
static uint64_t run_begin(const struct damage *d, uint64_t at)
{
	uint64_t begin = 0;
	for (size_t i = 0; i < d->whole.blocks.n && d->whole.blocks.at[i].offset <= at; i++)
		begin = d->whole.blocks.at[i].offset;
	return begin;
}

const char *damage_check_change(struct damage *d, const struct rd_source *changed, uint64_t at)
{
	const char *wrong = read_trace(d, changed, &d->cut, true);
	if (wrong != NULL)
		return wrong;
	bool head = at < (d->format->id == RD_FORMAT_ETL ? damage_first_end(d) : d->whole.blocks.at[0].offset);
	if (head)
		return NULL;
	if (d->cut.indexed != 0)
		return complain("refused, though its head is whole");
	return has_runs(d) ? check_events(d, run_begin(d, at), false) : check_kept(d, at);
}

uint64_t damage_peak_kib(void)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return (uint64_t)u.ru_maxrss;
}
