/*
 * The blocks that version 6 has in a shape of its own: docs/formats/nettrace.md.
 *
 * As in block.c, a block that changes the decoder's state is read twice, first
 * to see that it is whole.
 */
#include "base/cursor.h"
#include "trace/nettrace/decoder.h"
#include "trace/nettrace/frame6.h"
#include "trace/nettrace/metadata6.h"

static int metadata_pass(struct rd_decoder *d, struct rd_span payload, bool define, uint32_t payload_at,
			 struct rd_fault *fault)
{
	struct rd_cursor c = rd_cursor_of(payload.at, payload.size_bytes);
	struct rd_nettrace_metadata m;
	rd_nettrace_metadata6_begin(&c);
	if (c.failed) {
		*fault = (struct rd_fault){"a metadata block without a header", payload_at};
		return 0;
	}
	while (rd_left(&c) > 0) {
		uint32_t at = payload_at + (uint32_t)rd_tell(&c);
		if (!rd_nettrace_metadata6_next(&c, &m)) {
			*fault = (struct rd_fault){"a metadata record that is none", at};
			return 0;
		}
		if (define && rd_nettrace_types_define(&d->types, &m) != 0)
			return RD_NOMEM;
	}
	return 0;
}

int rd_nettrace6_metadata(struct rd_decoder *d, struct rd_span payload, uint32_t payload_at, struct rd_fault *fault)
{
	int rc = metadata_pass(d, payload, false, payload_at, fault);
	return rc != 0 || fault->what != NULL ? rc : metadata_pass(d, payload, true, payload_at, fault);
}

/*
 * Pairs of a thread's index and its latest sequence number: count of them, or
 * as many as there are bytes. tell: also to the sink.
 */
static int take_numbers(struct rd_decoder *d, struct rd_cursor *c, uint32_t count, enum rd_sequence_op op, bool tell)
{
	int rc = 0;
	for (uint32_t i = 0; i < count && rd_left(c) > 0 && !c->failed && rc >= 0; i++) {
		uint64_t index = rd_varu64(c);
		uint32_t number = rd_varu32(c);
		if (op == RD_SEQ_REMOVE && !c->failed)
			rd_nettrace_threads_remove(&d->threads, index);
		if (tell && d->sink.sequence != NULL && !c->failed)
			rc = d->sink.sequence(d->sink.ctx, index, op, number, 1);
	}
	return rc;
}

static void forget(struct rd_decoder *d, uint8_t resets)
{
	rd_nettrace_stacks_reset(&d->stacks);
	rd_nettrace_labels_reset(&d->labels);
	if ((resets & RD_CONTEXT_THREADS) != 0)
		rd_nettrace_threads_reset(&d->threads);
	if ((resets & RD_CONTEXT_METADATA) != 0)
		rd_nettrace_types_reset(&d->types);
}

/* Time u64, flags u32, count u32, then the pairs. */
int rd_nettrace6_point(struct rd_decoder *d, struct rd_span payload, uint32_t payload_at, bool counted,
		       struct rd_fault *fault)
{
	struct rd_cursor c = rd_cursor_of(payload.at, payload.size_bytes);
	uint8_t resets = rd_nettrace6_point_resets(payload.at, payload.size_bytes);
	/* Even if the rest makes no sense: the index says so too, of every sequence point. */
	forget(d, resets);
	rd_skip(&c, 8 + 4);
	uint32_t count = rd_u32(&c);
	/* Two bytes are the least that a pair takes. */
	bool fits = !c.failed && count <= rd_left(&c) / 2;
	struct rd_cursor pairs = c;
	for (uint32_t i = 0; fits && i < count && !c.failed; i++) {
		(void)rd_varu64(&c);
		(void)rd_varu32(&c);
	}
	if (!fits || c.failed) {
		*fault = (struct rd_fault){"a sequence point that does not fit into its block", payload_at};
		return 0;
	}
	int rc = take_numbers(d, &pairs, count, RD_SEQ_POINT, counted);
	if (rc >= 0 && counted && d->sink.sequence != NULL && (resets & RD_CONTEXT_THREADS) != 0)
		rc = d->sink.sequence(d->sink.ctx, 0, RD_SEQ_FORGET_ALL, 0, 0);
	return rc;
}

int rd_nettrace6_threads(struct rd_decoder *d, struct rd_span payload, uint32_t payload_at, struct rd_fault *fault)
{
	if (!rd_nettrace_threads_valid(payload.at, payload.size_bytes)) {
		*fault = (struct rd_fault){"a thread that does not fit into its block", payload_at};
		return 0;
	}
	return rd_nettrace_threads_add(&d->threads, payload.at, payload.size_bytes);
}

int rd_nettrace6_removals(struct rd_decoder *d, struct rd_span payload, uint32_t payload_at, bool counted,
			  struct rd_fault *fault)
{
	struct rd_cursor c = rd_cursor_of(payload.at, payload.size_bytes), pairs = c;
	while (rd_left(&c) > 0 && !c.failed) {
		(void)rd_varu64(&c);
		(void)rd_varu32(&c);
	}
	if (c.failed) {
		*fault = (struct rd_fault){"a removed thread that does not fit into its block", payload_at};
		return 0;
	}
	return take_numbers(d, &pairs, UINT32_MAX, RD_SEQ_REMOVE, counted);
}

int rd_nettrace6_labels(struct rd_decoder *d, struct rd_span payload, uint32_t payload_at, struct rd_fault *fault)
{
	if (!rd_nettrace_labels_valid(payload.at, payload.size_bytes)) {
		*fault = (struct rd_fault){"a label list that does not fit into its block", payload_at};
		return 0;
	}
	return rd_nettrace_labels_add(&d->labels, payload.at, payload.size_bytes);
}
