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

static inline int count_sequence(struct rd_decoder *d, uint64_t thread, uint32_t number)
{
	size_t slot = (size_t)((thread * UINT64_C(0x9e3779b97f4a7c15)) >> 58);
	struct rd_nettrace_run *run = &d->runs[slot];
	if (run->thread == thread && run->count != 0 && run->first + run->count == number && run->count != UINT32_MAX) {
		run->count++;
		return 0;
	}
	int rc = flush_run(d, run);
	*run = (struct rd_nettrace_run){.thread = thread, .first = number, .count = 1};
	return rc;
}

_Static_assert(RD_NETTRACE_RUNS == 1 << (64 - 58), "the slot is the top bits of a 64-bit hash");

static int deliver(struct rd_decoder *d, const struct rd_nettrace_header *h, const struct rd_event_key *key,
		   uint64_t place)
{
	struct rd_span stack = rd_nettrace_stacks_find(&d->stacks, h->stack_id);
	struct rd_event ev = {
		.key = key,
		.time = h->time,
		.place = place,
		.thread = h->thread,
		.pid = d->pid,
		.cpu = h->processor,
		.version = key->version,
		.pointer_bytes = (uint8_t)d->pointer_bytes,
		.payload = h->payload,
		.payload_bytes = h->payload_bytes,
		.stack = stack.at,
		.stack_bytes = stack.size_bytes,
		.stack_pointer_bytes = (uint8_t)d->pointer_bytes,
	};
	return d->sink.event(d->sink.ctx, &ev);
}

/* Events go to the sink as they come; on a fault the caller undoes them. */
static int event_block(struct rd_decoder *d, const struct rd_block *b, const struct rd_frame *f, const uint8_t *block,
		       struct rd_fault *fault)
{
	struct rd_nettrace_headers s;
	bool sequences = d->sink.sequence != NULL, events = d->sink.event != NULL;
	int rc = 0;
	if (!rd_nettrace_headers_begin(&s, block + f->payload_at, f->payload_bytes)) {
		*fault = (struct rd_fault){"an event block without a header", f->payload_at};
		return 0;
	}
	while (s.at < s.end && rc >= 0) {
		uint32_t at = (uint32_t)(s.at - block);
		if (!rd_nettrace_headers_next(&s)) {
			*fault = (struct rd_fault){"an event that does not fit into its block", at};
			break;
		}
		if (sequences && s.h.metadata_id != 0)
			rc = count_sequence(d, s.h.capture_thread, s.h.sequence);
		const struct rd_nettrace_type *type = rd_nettrace_types_find(&d->types, s.h.metadata_id);
		if (!events || rc < 0 || (type != NULL && !type->wanted))
			continue;
		const struct rd_event_key *key = type != NULL ? type->key : rd_nettrace_types_bad(&d->types);
		rc = deliver(d, &s.h, key, (uint64_t)b->ordinal << 32 | at);
	}
	int flushed = flush_runs(d);
	return rc < 0 ? rc : flushed;
}

/* One pass over a metadata block: define what it says, or only see whether it is whole. */
static int metadata_pass(struct rd_decoder *d, const struct rd_frame *f, const uint8_t *block, bool define,
			 struct rd_fault *fault)
{
	struct rd_nettrace_headers s;
	struct rd_nettrace_metadata m;
	if (!rd_nettrace_headers_begin(&s, block + f->payload_at, f->payload_bytes)) {
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

int rd_nettrace_block(struct rd_decoder *d, const struct rd_block *b, const uint8_t *block, bool counted,
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
