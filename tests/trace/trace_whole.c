#include "tests/trace/trace_whole.h"

#include "tests/support.h"

int index_bytes(const struct rd_format *format, const void *bytes, size_t size_bytes, struct rd_index *ix,
		struct rd_error *err)
{
	struct rd_source s;
	memset(ix, 0, sizeof *ix);
	memory_source(&s, bytes, size_bytes);
	int rc = format->index(&s, ix, NULL, NULL, err);
	rd_source_close(&s);
	return rc;
}

void check_cut(const struct rd_format *format, const struct rd_bytes *file, size_t size_bytes, size_t blocks,
	       uint64_t cut_at)
{
	struct rd_index ix;
	struct rd_error err;
	assert_ok(index_bytes(format, file->at, size_bytes, &ix, &err), &err);
	assert_int_equal(ix.blocks.n, blocks);
	assert_false(ix.info.complete);
	assert_int_equal(ix.info.cut_at, cut_at);
	assert_true(ix.info.damage[0] != 0);
	rd_index_release(&ix);
}

static int keep_event(void *ctx, const struct rd_event *ev)
{
	struct trace_whole *w = ctx;
	struct rd_event *e = rd_vec_add(&w->events);
	*e = *ev;
	e->payload = rd_arena_copy(&w->arena, ev->payload, ev->payload_bytes);
	e->stack = ev->stack_bytes != 0 ? rd_arena_copy(&w->arena, ev->stack, ev->stack_bytes) : ev->stack;
	return 0;
}

void whole_decode(struct trace_whole *w, const struct rd_format *format, const struct rd_bytes *bytes)
{
	struct rd_sink sink = {.ctx = w, .want = RD_WANT_ALL, .event = keep_event};
	struct rd_index *ix = &w->index;
	struct rd_error err;
	*w = (struct trace_whole){.format = format};
	memory_source(&w->source, bytes->at, bytes->n);
	assert_ok(format->index(&w->source, ix, NULL, NULL, &err), &err);
	assert_ok(format->decoder_new(&w->source, &ix->info, &sink, &w->decoder, &err), &err);
	assert_ok(format->decoder_blocks(w->decoder, ix->blocks.at, ix->blocks.n, &err), &err);
	assert_ok(log_blocks(&w->log, format, &w->source, ix, 0, ix->blocks.n, RD_WANT_ALL, &err), &err);
}

void whole_release(struct trace_whole *w)
{
	w->format->decoder_free(w->decoder);
	rd_vec_release(&w->events);
	rd_arena_release(&w->arena);
	log_release(&w->log);
	rd_index_release(&w->index);
	rd_source_close(&w->source);
}

void check_other_plan(const struct trace_whole *w, size_t i, uint32_t other_kind)
{
	static const uint64_t sizes[] = {0, UINT64_MAX};
	const struct rd_format *format = w->format;
	struct rd_sink sink = {.want = RD_WANT_ALL};
	struct rd_block right = w->index.blocks.at[i], b = right;
	struct rd_decoder *d;
	struct rd_error err;
	assert_ok(format->decoder_new(&w->source, &w->index.info, &sink, &d, &err), &err);
	b.kind = other_kind;
	assert_code(RD_CHANGED, format->decoder_blocks(d, &b, 1, &err));
	assert_code(RD_CHANGED, format->decoder_context(d, &b, &err));
	assert_int_equal(err.offset, b.offset);
	b = right;
	b.size_bytes--;
	assert_code(RD_CHANGED, format->decoder_blocks(d, &b, 1, &err));
	for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
		b.size_bytes = sizes[k];
		assert_code(RD_CHANGED, format->decoder_blocks(d, &b, 1, &err));
	}
	b.offset = UINT64_MAX;
	assert_code(RD_CHANGED, format->decoder_blocks(d, &b, 1, &err));
	assert_int_equal(format->decoder_blocks(d, &b, 0, &err), 0);
	format->decoder_free(d);
}

uint64_t event_frame(const struct rd_event *ev, size_t i)
{
	return ev->stack_pointer_bytes == 4 ? rd_le32(ev->stack + 4 * i) : rd_le64(ev->stack + 8 * i);
}
