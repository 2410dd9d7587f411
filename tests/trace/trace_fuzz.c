#include "tests/trace/trace_fuzz.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/table.h"
#include "tests/trace/trace_log.h"

struct sum {
	uint64_t kept, pending; /* hashes of events, added up */
};

static uint64_t touched;

static uint64_t touch(struct rd_span s)
{
	return s.size_bytes != 0 ? rd_hash(s.at, s.size_bytes) : 0;
}

static void touch_record(const struct rd_record *r)
{
	if (r->kind == RD_EVENT_METHOD)
		touched += touch(r->method.ns.text) + touch(r->method.name.text) + touch(r->method.signature.text);
	if (r->kind == RD_EVENT_MODULE)
		touched += touch(r->module.il_path.text) + touch(r->module.native_path.text) +
			   touch(r->module.pdb_path.text);
	if (r->kind == RD_EVENT_PROCESS)
		touched += touch(r->process.name.text) + touch(r->process.command_line.text);
	if (r->kind == RD_EVENT_MAPPING)
		touched += touch(r->mapping.path.text);
	if (r->kind == RD_EVENT_SYMBOL)
		touched += touch(r->symbol.name.text);
	if (r->kind == RD_EVENT_RUNTIME)
		touched += touch(r->runtime.command_line.text);
}

static int on_event(void *ctx, const struct rd_event *ev)
{
	struct sum *sum = ctx;
	struct rd_record r;
	uint64_t parts[6] = {ev->place,
			     ev->time,
			     touch((struct rd_span){ev->payload, ev->payload_bytes}),
			     touch((struct rd_span){ev->stack, ev->stack_bytes}),
			     ev->thread,
			     (uint64_t)ev->pid << 32 | ev->version};
	sum->pending += rd_hash(parts, sizeof parts);
	if (ev->stack_bytes % ev->stack_pointer_bytes != 0)
		abort();
	if (ev->key->type != NULL && ev->key->type->decode != NULL && ev->key->type->decode(ev, &r) == 0)
		touch_record(&r);
	return 0;
}

static int on_sequence(void *ctx, uint64_t thread, enum rd_sequence_op op, uint32_t first, uint32_t count)
{
	(void)ctx;
	touched += thread + first;
	bool right = op == RD_SEQ_FORGET_ALL ? thread == 0 && first == 0 && count == 0 : count > 0;
	if (!right || ((op == RD_SEQ_POINT || op == RD_SEQ_REMOVE) && count != 1))
		abort();
	return 0;
}

static int on_end(void *ctx, const struct rd_block *b, bool undo)
{
	struct sum *sum = ctx;
	(void)b;
	if (!undo)
		sum->kept += sum->pending;
	sum->pending = 0;
	return 0;
}

static void check_blocks(const struct rd_index *ix, uint64_t size_bytes)
{
	for (size_t i = 0; i < ix->blocks.n; i++) {
		const struct rd_block *b = &ix->blocks.at[i];
		if (b->ordinal != i || b->size_bytes > size_bytes || b->offset > size_bytes - b->size_bytes)
			abort();
	}
	if (ix->info.clock.frequency_hz == 0 || (ix->info.complete && ix->info.cut_at != RD_NO_OFFSET))
		abort();
}

/* Blocks [from, to) after their context, as it is planned. */
static uint64_t decode(const struct rd_format *f, const struct rd_source *s, const struct rd_index *ix, size_t from,
		       size_t to)
{
	struct sum sum = {0};
	struct rd_sink sink = {
		.ctx = &sum, .want = RD_WANT_ALL, .event = on_event, .sequence = on_sequence, .block_end = on_end};
	struct rd_decoder *d;
	if (f->decoder_new(s, &ix->info, &sink, &d, NULL) != 0)
		abort();
	for (size_t i = 0; i < from; i++)
		if (is_context(ix, i, from) && f->decoder_context(d, &ix->blocks.at[i], NULL) != 0)
			abort();
	if (f->decoder_blocks(d, ix->blocks.at + from, to - from, NULL) != 0)
		abort();
	f->decoder_free(d);
	return sum.kept;
}

void fuzz_format(const struct rd_format *f, const uint8_t *bytes, size_t size_bytes)
{
	struct rd_source s = {.size_bytes = size_bytes, .path = "fuzz"};
	struct rd_index ix = {0};
	s.fd = memfd_create("fuzz", 0);
	if (s.fd < 0 || rd_write_all(s.fd, bytes, size_bytes, NULL) != 0)
		abort();
	if (f->index(&s, &ix, NULL, NULL, NULL) == 0) {
		check_blocks(&ix, size_bytes);
		size_t n = ix.blocks.n;
		uint64_t whole = n != 0 ? decode(f, &s, &ix, 0, n) : 0, cut = 0;
		for (size_t i = 0; i < n && n < 64; i++)
			cut += decode(f, &s, &ix, i, i + 1);
		if (n < 64 && whole != cut)
			abort();
		rd_index_release(&ix);
	}
	close(s.fd);
}
