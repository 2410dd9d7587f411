/*
 * Version 3 has blocks, which are stepped over unread. Before it a file is one
 * object, as long as the trace: its events are walked and put into runs, so that
 * no more than a run need be in memory.
 */
#include "trace/netperf/index.h"

#include "trace/netperf/event.h"
#include "trace/netperf/frame.h"

#define RUN_BYTES        (UINT64_C(256) << 10) /* a run ends with the event that reaches this */
#define EVENT_BYTES_MOST ((uint64_t)INT32_MAX) /* an event that claims more is none; places inside a run have 32 bits  \
						*/

/* Where the events end, RD_NO_OFFSET when the file does not say. */
struct stream {
	uint64_t end;
};

/* The size of the event at `at`, which must end by `limit`. 0 and *what: there is none. Negative: no index. */
static int64_t event_at(struct rd_indexer *x, uint64_t at, uint64_t limit, uint64_t *time, const char **what,
			struct rd_error *err)
{
	const uint8_t *p;
	*what = "the file ends inside an event";
	int64_t have = rd_indexer_look(x, at, RD_NETPERF_EVENT_BYTES, &p, err);
	if (have < RD_NETPERF_EVENT_BYTES)
		return have < 0 ? have : 0;
	uint64_t size = rd_netperf_event_size(p), stack_at = rd_netperf_stack_at(p);
	*time = rd_le64(p + 12);
	if (stack_at + 4 > size || size > EVENT_BYTES_MOST) {
		*what = "no event begins here";
		return 0;
	}
	if (size > limit - at)
		return 0;
	have = rd_indexer_look(x, at + stack_at, 4, &p, err);
	if (have < 4)
		return have < 0 ? have : 0;
	uint32_t stack_bytes = rd_le32(p);
	if (!rd_netperf_event_closes(size, stack_at, stack_bytes) || stack_bytes % 4 != 0) {
		*what = "no event begins here";
		return 0;
	}
	/* No field says how long pointers are, but a stack of an odd number of short ones does. */
	if (stack_bytes % 8 != 0)
		x->index.info.pointer_bytes = 4;
	return (int64_t)size;
}

/* One run of events at x->offset: rd_indexer_step_fn. */
static int step_run(struct rd_indexer *x, struct rd_error *err)
{
	const struct stream *stream = x->ctx;
	uint64_t limit = stream->end != RD_NO_OFFSET ? stream->end : x->source->size_bytes;
	uint64_t begin = x->offset, at = begin, time;
	struct rd_block b = {.offset = begin, .kind = RD_NETPERF_RUN, .provides = RD_CONTEXT_METADATA};
	const char *what = "the file ends without its end mark";
	while (at < limit && at - begin < RUN_BYTES) {
		int64_t size = event_at(x, at, limit, &time, &what, err);
		if (size < 0)
			return (int)size;
		if (size == 0)
			break;
		if (at == begin)
			b.time = time;
		at += (uint64_t)size;
	}
	if (at > begin) {
		b.size_bytes = at - begin;
		x->offset = at;
		int rc = rd_indexer_add(x, b, err);
		return rc != 0 ? rc : 1;
	}
	if (at == stream->end)
		x->index.info.complete = true;
	else
		rd_indexer_cut(x, at, what);
	return 0;
}

int rd_netperf_index(const struct rd_source *s, struct rd_index *out, void (*progress)(void *ctx, uint64_t bytes),
		     void *ctx, struct rd_error *err)
{
	struct rd_indexer x;
	struct stream stream = {RD_NO_OFFSET};
	const uint8_t *at;
	uint32_t reference;
	rd_indexer_init(&x, s, RD_FORMAT_NETPERF);
	int64_t have = rd_indexer_look(&x, 0, RD_FASTSERIAL_HEAD_BYTES, &at, err);
	if (have < 0)
		return (int)have;
	int rc = rd_netperf_head(at, (size_t)have, &x.index.info, &x.offset, &reference, err);
	if (rc != 0)
		return rd_error_at(err, rc, s->path, RD_NO_OFFSET);
	x.index.whole = true;
	if (rd_netperf_has_blocks(x.index.info.version_major)) {
		x.ctx = &rd_netperf_blocks;
		return rd_indexer_run(&x, rd_fastserial_step, out, progress, ctx, err);
	}
	rc = rd_netperf_events_end(s, x.offset, reference, &stream.end, err);
	if (rc != 0)
		return rc;
	x.ctx = &stream;
	return rd_indexer_run(&x, step_run, out, progress, ctx, err);
}
