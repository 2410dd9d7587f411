/*
 * One block, whole in memory.
 *
 * A block that does not decode is dropped whole, and whether it decodes hangs
 * on its own bytes alone. So blocks that change the decoder's state are read
 * twice, first to see that they are whole; events go to the sink at once, which
 * can undo them. An id that nothing defined is no fault of the block.
 */
#include <string.h>

#include "base/cursor.h"
#include "trace/nettrace/decoder.h"
#include "trace/nettrace/frame6.h"
#include "trace/nettrace/header.h"

/*
 * Sequence numbers reach the sink as runs. Threads take turns in a block, so
 * each has a run of its own, in a slot by hash; a thread that comes to a taken
 * slot sends the other's run on.
 */
static int flush_run(struct rd_decoder *d, struct rd_nettrace_run *run)
{
	uint32_t count = run->count;
	run->count = 0;
	if (count == 0)
		return 0;
	return d->sink.sequence(d->sink.ctx, run->thread, RD_SEQ_EVENT, run->first, count);
}

static int flush_runs(struct rd_decoder *d)
{
	for (size_t i = 0; i < RD_NETTRACE_RUNS; i++) {
		int rc = flush_run(d, &d->runs[i]);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static struct rd_nettrace_run *run_of(struct rd_decoder *d, uint64_t thread)
{
	return &d->runs[(size_t)((thread * UINT64_C(0x9e3779b97f4a7c15)) >> 58)];
}

_Static_assert(RD_NETTRACE_RUNS == 1 << (64 - 58), "the slot is the top bits of a 64-bit hash");

static int deliver(struct rd_decoder *d, const struct rd_nettrace_header *h, const struct rd_nettrace_type *type,
		   uint64_t place)
{
	struct rd_span stack = rd_nettrace_stacks_find(&d->stacks, h->stack_id);
	struct rd_event ev = {
		.key = type->key,
		.time = h->time,
		.place = place,
		.thread = h->thread,
		.pid = d->pid,
		.cpu = h->processor,
		.version = type->key->version,
		.pointer_bytes = (uint8_t)d->pointer_bytes,
		.payload = h->payload,
		.payload_bytes = h->payload_bytes,
		.fields = type->fields,
		.stack = stack.at,
		.stack_bytes = stack.size_bytes,
		.stack_pointer_bytes = (uint8_t)d->pointer_bytes,
		.said = type->said,
	};
	if (d->six) {
		const struct rd_nettrace_thread *row = rd_nettrace_threads_find(&d->threads, h->thread);
		ev.thread = row != NULL ? row->thread : RD_NO_THREAD;
		ev.pid = row != NULL && row->has_pid ? row->pid : d->pid;
	}
	return d->sink.event(d->sink.ctx, &ev);
}

/* An event whose id nothing has defined (type NULL), or with labels: a version that they name is the event's. */
static int deliver_odd(struct rd_decoder *d, const struct rd_nettrace_header *h, const struct rd_nettrace_type *type,
		       uint64_t place)
{
	struct rd_nettrace_type other = {.key = rd_nettrace_types_bad(&d->types), .wanted = true};
	uint32_t version;
	if (type == NULL)
		return deliver(d, h, &other, place);
	if (!rd_nettrace_labels_version(&d->labels, h->label_list, &version))
		return type->wanted ? deliver(d, h, type, place) : 0;
	if (rd_nettrace_types_version(&d->types, type, version, &other) != 0)
		return RD_NOMEM;
	return other.wanted ? deliver(d, h, &other, place) : 0;
}

/*
 * What the inner loop keeps at hand: its fields live in registers as long as
 * nobody is given their address.
 */
struct walk {
	struct rd_nettrace_headers s;
	struct rd_nettrace_run *run; /* the one at hand; its count there is behind */
	uint64_t thread;             /* its thread, */
	uint32_t next;               /* and the number with which it goes on */
	int64_t latest;              /* as rd_sink.latest */
};

/* Before a block's first event all runs are empty: thread 0's then goes on with 0, as any other could. */
static inline __attribute__((always_inline)) void walk_begin(struct walk *w, struct rd_decoder *d,
							     const struct rd_nettrace_headers *first)
{
	*w = (struct walk){.s = *first, .run = run_of(d, 0)};
	*w->run = (struct rd_nettrace_run){0};
	w->latest = d->sink.latest != NULL ? (int64_t)*d->sink.latest : 0;
}

static inline __attribute__((always_inline)) void walk_end(const struct walk *w, struct rd_decoder *d)
{
	w->run->count = w->next - w->run->first;
	if (d->sink.latest != NULL)
		*d->sink.latest = (uint64_t)w->latest;
}

/* Another thread than that of the event before, or a gap in its numbers. A block has fewer events than a count holds. */
static inline __attribute__((always_inline)) int turn_to_run(struct rd_decoder *d, struct walk *w)
{
	uint64_t thread = w->s.h.capture_thread;
	uint32_t number = w->s.h.sequence;
	int rc = 0;
	w->run->count = w->next - w->run->first;
	w->run = run_of(d, thread);
	if (w->run->thread != thread || w->run->count == 0 || w->run->first + w->run->count != number) {
		rc = flush_run(d, w->run);
		*w->run = (struct rd_nettrace_run){.thread = thread, .first = number, .count = 1};
	}
	w->thread = thread;
	w->next = number + 1;
	return rc;
}

static inline __attribute__((always_inline)) int count_sequence(struct rd_decoder *d, struct walk *w)
{
	if (w->thread != w->s.h.capture_thread || w->next != w->s.h.sequence)
		return turn_to_run(d, w);
	w->next++;
	return 0;
}

/* The event at hand goes to the sink, if it is wanted. */
static inline __attribute__((always_inline)) int tell_event(struct rd_decoder *d, struct walk *w,
							    const struct rd_block *b, const uint8_t *block,
							    const uint8_t *event)
{
	const struct rd_nettrace_type *type = rd_nettrace_types_find(&d->types, w->s.h.metadata_id);
	int64_t since = (int64_t)(w->s.h.time - d->sink.start_ticks);
	if (since > w->latest)
		w->latest = since;
	if (type != NULL && !type->wanted && w->s.h.label_list == 0)
		return 0;
	struct rd_nettrace_header h = w->s.h;
	uint64_t place = (uint64_t)b->ordinal << 32 | (uint32_t)(event - block);
	return type == NULL || h.label_list != 0 ? deliver_odd(d, &h, type, place) : deliver(d, &h, type, place);
}

/* Made once for each shape and for who wants all, so that the inner loop does not ask for it. */
static inline __attribute__((always_inline)) int walk_events(struct rd_decoder *d, struct walk *w,
							     enum rd_nettrace_shape shape, bool count, bool tell,
							     const struct rd_block *b, const uint8_t *block,
							     struct rd_fault *fault)
{
	int rc;
	while (w->s.at < w->s.end) {
		const uint8_t *event = w->s.at;
		if (!rd_nettrace_headers_next_of(&w->s, shape)) {
			*fault = (struct rd_fault){"an event that does not fit into its block",
						   (uint32_t)(event - block)};
			return 0;
		}
		if (count && w->s.h.metadata_id != 0 && (rc = count_sequence(d, w)) < 0)
			return rc;
		if (tell && (rc = tell_event(d, w, b, block, event)) < 0)
			return rc;
	}
	return 0;
}

static inline __attribute__((always_inline)) int events(struct rd_decoder *d, const struct rd_nettrace_headers *first,
							enum rd_nettrace_shape shape, const struct rd_block *b,
							const uint8_t *block, struct rd_fault *fault)
{
	bool count = d->sink.sequence != NULL, tell = d->sink.event != NULL;
	struct walk w;
	int rc;
	walk_begin(&w, d, first);
	if (count && tell)
		rc = walk_events(d, &w, shape, true, true, b, block, fault);
	else
		rc = walk_events(d, &w, shape, count, tell, b, block, fault);
	walk_end(&w, d);
	return rc;
}

/* Events go to the sink as they come; on a fault the caller undoes them. */
static int event_block(struct rd_decoder *d, const struct rd_block *b, const struct rd_frame *f, const uint8_t *block,
		       struct rd_fault *fault)
{
	struct rd_nettrace_headers s;
	int rc;
	if (!rd_nettrace_headers_begin(&s, d->six, block + f->payload_at, f->payload_bytes)) {
		*fault = (struct rd_fault){"an event block without a header", f->payload_at};
		return 0;
	}
	if (s.shape == RD_NETTRACE_COMPRESSED)
		rc = events(d, &s, RD_NETTRACE_COMPRESSED, b, block, fault);
	else if (s.shape == RD_NETTRACE_COMPRESSED_6)
		rc = events(d, &s, RD_NETTRACE_COMPRESSED_6, b, block, fault);
	else
		rc = events(d, &s, s.shape, b, block, fault);
	int flushed = flush_runs(d);
	return rc < 0 ? rc : flushed;
}

/* One pass over a metadata block: define what it says, or only see whether it is whole. */
static int metadata_pass(struct rd_decoder *d, const struct rd_frame *f, const uint8_t *block, bool define,
			 struct rd_fault *fault)
{
	struct rd_nettrace_headers s;
	struct rd_nettrace_metadata m;
	if (!rd_nettrace_headers_begin(&s, false, block + f->payload_at, f->payload_bytes)) {
		*fault = (struct rd_fault){"a metadata block without a header", f->payload_at};
		return 0;
	}
	while (s.at < s.end) {
		uint32_t at = (uint32_t)(s.at - block);
		if (!rd_nettrace_headers_next(&s) || !rd_nettrace_metadata(s.h.payload, s.h.payload_bytes, &m)) {
			*fault = (struct rd_fault){"a metadata record that is none", at};
			return 0;
		}
		if (define && rd_nettrace_types_define(&d->types, &m) != 0)
			return RD_NOMEM;
	}
	return 0;
}

static int metadata_block(struct rd_decoder *d, const struct rd_frame *f, const uint8_t *block, struct rd_fault *fault)
{
	int rc = metadata_pass(d, f, block, false, fault);
	return rc != 0 || fault->what != NULL ? rc : metadata_pass(d, f, block, true, fault);
}

static int stack_block(struct rd_decoder *d, const struct rd_frame *f, const uint8_t *block, struct rd_fault *fault)
{
	const uint8_t *payload = block + f->payload_at;
	if (!rd_nettrace_stacks_valid(payload, f->payload_bytes, d->pointer_bytes)) {
		*fault = (struct rd_fault){"a stack that does not fit into its block", f->payload_at};
		return 0;
	}
	return rd_nettrace_stacks_add(&d->stacks, payload, f->payload_bytes);
}

/* Time u64, count u32, then count × (capture thread u64, its latest sequence number u32). */
static int sequence_point(struct rd_decoder *d, const struct rd_frame *f, const uint8_t *block, bool counted,
			  struct rd_fault *fault)
{
	struct rd_cursor c = rd_cursor_of(block + f->payload_at, f->payload_bytes);
	/* Even if the rest makes no sense: the index says so too, of every sequence point. */
	rd_nettrace_stacks_reset(&d->stacks);
	rd_skip(&c, 8);
	uint32_t count = rd_u32(&c);
	if (c.failed || (uint64_t)count * 12 > rd_left(&c)) {
		*fault = (struct rd_fault){"a sequence point that does not fit into its block", f->payload_at};
		return 0;
	}
	for (uint32_t i = 0; counted && d->sink.sequence != NULL && i < count; i++) {
		uint64_t thread = rd_u64(&c);
		uint32_t number = rd_u32(&c);
		int rc = d->sink.sequence(d->sink.ctx, thread, RD_SEQ_POINT, number, 1);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int block_4(struct rd_decoder *d, const struct rd_block *b, const uint8_t *block, bool counted,
		   struct rd_fault *fault)
{
	struct rd_frame f;
	if (rd_fastserial_reframe(&rd_nettrace_blocks, b, block, &f) != 0)
		return RD_CHANGED;
	switch (f.kind) {
	case RD_NETTRACE_EVENT:
		return counted ? event_block(d, b, &f, block, fault) : 0;
	case RD_NETTRACE_METADATA:
		return metadata_block(d, &f, block, fault);
	case RD_NETTRACE_STACK:
		return stack_block(d, &f, block, fault);
	case RD_NETTRACE_SEQUENCE_POINT:
		return sequence_point(d, &f, block, counted, fault);
	default:
		return 0;
	}
}

static int block_6(struct rd_decoder *d, const struct rd_block *b, const uint8_t *block, bool counted,
		   struct rd_fault *fault)
{
	struct rd_frame f;
	if (rd_nettrace6_reframe(b, block, &f) != 0)
		return RD_CHANGED;
	struct rd_span payload = {block + f.payload_at, f.payload_bytes};
	switch (f.kind) {
	case RD_NETTRACE_EVENT:
		return counted ? event_block(d, b, &f, block, fault) : 0;
	case RD_NETTRACE_METADATA:
		return rd_nettrace6_metadata(d, payload, f.payload_at, fault);
	case RD_NETTRACE_STACK:
		return stack_block(d, &f, block, fault);
	case RD_NETTRACE_SEQUENCE_POINT:
		return rd_nettrace6_point(d, payload, f.payload_at, counted, fault);
	case RD_NETTRACE_THREAD:
		return rd_nettrace6_threads(d, payload, f.payload_at, fault);
	case RD_NETTRACE_REMOVE_THREAD:
		return rd_nettrace6_removals(d, payload, f.payload_at, counted, fault);
	case RD_NETTRACE_LABEL_LIST:
		return rd_nettrace6_labels(d, payload, f.payload_at, fault);
	default:
		return 0;
	}
}

int rd_nettrace_block(struct rd_decoder *d, const struct rd_block *b, const uint8_t *block, bool counted,
		      struct rd_fault *fault)
{
	return d->six ? block_6(d, b, block, counted, fault) : block_4(d, b, block, counted, fault);
}
