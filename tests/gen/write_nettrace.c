/* nettrace 4: a block a capture thread whenever enough has come, and sequence points in between. */
#include <stdlib.h>

#include "tests/gen/write_events.h"

struct nettrace {
	struct gen_events events; /* first */
	struct rd_bytes metadata;
};

static void put_object(struct gen_writer *w, const char *name, uint32_t version, uint32_t oldest)
{
	uint32_t numbers[3] = {version, oldest, (uint32_t)strlen(name)};

	gen_output_bytes(w->out, "\5\5\1", 3);
	gen_output_bytes(w->out, numbers, 12);
	gen_output_bytes(w->out, name, strlen(name));
	gen_output_bytes(w->out, "\6", 1);
}

static void begin_payload(struct gen_writer *w, const char *name, size_t size)
{
	static const uint8_t zeros[4];
	uint32_t n = (uint32_t)size;

	put_object(w, name, 2, 2);
	gen_output_bytes(w->out, &n, 4);
	gen_output_bytes(w->out, zeros, -w->out->total & 3);
}

static void begin(struct gen_writer *w)
{
	static const uint16_t time[8] = {2024, 1, 3, 17, 13, 20, 0, 0};
	struct nettrace *n = calloc(1, sizeof *n);
	struct gen_put *p = &w->payload;

	if (n == NULL)
		gen_out_of_memory();
	w->own = n;
	gen_events_init(w, &n->events);
	gen_output_bytes(w->out, "Nettrace\x14\0\0\0!FastSerialization.1", 32);
	put_object(w, "Trace", 4, 4);
	p->n = 0;
	put_bytes(p, time, 16);
	put_u64(p, gen_start_ticks(w->o));
	put_u64(p, gen_frequency_hz(w->o));
	put_u32(p, w->o->pointer_bytes);
	put_u32(p, w->act->processes.at[0].pid);
	put_u32(p, w->o->cpus);
	put_u32(p, 1000000);
	gen_output_bytes(w->out, p->at, p->n);
	gen_output_bytes(w->out, "\6", 1);
}

/* What an event is. Its record sets the sequence number's difference so that the number is 0. */
static void put_metadata(struct gen_writer *w, struct nettrace *n, uint32_t id, const struct gen_type *t)
{
	static struct gen_put p;
	static const uint8_t head[] = {2 | 128, 0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0, 0};
	uint8_t size[4];

	p.n = 0;
	put_u32(&p, id);
	gen_put_text16(&p, t->provider);
	put_u32(&p, t->id);
	gen_put_text16(&p, t->name);
	put_u64(&p, 0x10);
	put_u32(&p, t->version);
	put_u32(&p, 4);
	put_u32(&p, 0);
	if (w->o->format == GEN_NETTRACE5) {
		put_u32(&p, 1);
		put_u8(&p, 1); /* an opcode */
		put_u8(&p, 0);
		put_u32(&p, 4);
		put_u8(&p, 2); /* fields: none */
		put_u32(&p, 0);
	}
	gen_bytes(&n->metadata, head, sizeof head);
	size[0] = (uint8_t)(p.n | 0x80);
	size[1] = (uint8_t)(p.n >> 7);
	gen_bytes(&n->metadata, size, 2);
	gen_bytes(&n->metadata, p.at, p.n);
}

static void write_metadata(struct gen_writer *w, struct nettrace *n)
{
	struct gen_block none = {0};
	uint8_t head[20];

	n->metadata.n = 0;
	for (uint32_t i = 0; i < n->events.types.n; i++) {
		struct gen_type *t = &n->events.types.at[i];
		if (!t->written)
			put_metadata(w, n, i + 1, t);
		t->written = true;
	}
	if (n->metadata.n == 0)
		return;
	gen_events_block_head(&none, head);
	begin_payload(w, "MetadataBlock", sizeof head + n->metadata.n);
	gen_output_bytes(w->out, head, sizeof head);
	gen_output_bytes(w->out, n->metadata.at, n->metadata.n);
	gen_output_bytes(w->out, "\6", 1);
}

static void write_stacks(struct gen_writer *w, struct gen_events *e)
{
	uint32_t head[2] = {e->first_stack, e->stacks};

	if (e->stacks == 0)
		return;
	begin_payload(w, "StackBlock", sizeof head + e->stack_bytes.n);
	gen_output_bytes(w->out, head, sizeof head);
	gen_output_bytes(w->out, e->stack_bytes.at, e->stack_bytes.n);
	gen_output_bytes(w->out, "\6", 1);
	e->first_stack = e->next_stack;
	e->stacks = 0;
	e->stack_bytes.n = 0;
}

static void flush(struct gen_writer *w, struct nettrace *n)
{
	struct gen_events *e = &n->events;
	uint8_t head[20];

	write_metadata(w, n);
	write_stacks(w, e);
	for (uint32_t i = 0; i < w->o->cpus; i++) {
		struct gen_block *b = &e->blocks[(i + e->cycles) % w->o->cpus];
		if (b->events.n == 0)
			continue;
		gen_events_block_head(b, head);
		begin_payload(w, "EventBlock", sizeof head + b->events.n);
		gen_output_bytes(w->out, head, sizeof head);
		gen_output_bytes(w->out, b->events.at, b->events.n);
		gen_output_bytes(w->out, "\6", 1);
		b->events.n = 0;
	}
	e->cycles++;
	e->pending = 0;
}

static uint64_t capture_thread(uint32_t cpu)
{
	return 9000 + cpu;
}

static void point(struct gen_writer *w, struct nettrace *n, uint64_t stamp)
{
	struct gen_put *p = &w->payload;

	p->n = 0;
	put_u64(p, stamp);
	put_u32(p, w->o->cpus);
	for (uint32_t i = 0; i < w->o->cpus; i++) {
		struct gen_numbers *numbers = &n->events.numbers[i];
		uint32_t said = numbers->next - 1;
		put_u64(p, capture_thread(i));
		put_u32(p, said);
		gen_events_point(w, numbers, said);
		/* Another thread of this id, which begins at 1. */
		if (!w->o->sound && (n->events.cycles + i) % 5 == 2)
			numbers->next = 1;
	}
	begin_payload(w, "SPBlock", p->n);
	gen_output_bytes(w->out, p->at, p->n);
	gen_output_bytes(w->out, "\6", 1);
	gen_events_forget_stacks(w, &n->events, true);
}

static void put_event(struct gen_writer *w, struct nettrace *n, const struct gen_cue *c, uint64_t thread,
		      uint32_t stack, uint32_t type)
{
	struct gen_head h = {
		.metadata = type,
		.processor = c->cpu % 2 ? UINT32_MAX : c->cpu,
		.capture_thread = capture_thread(c->cpu),
		.thread = thread,
		.stack = gen_events_stack(w, &n->events, stack),
		.extra = c->slot % 17 == 3,
	};
	gen_events_add(w, &n->events, c, h, false);
}

static void write_event(struct gen_writer *w, struct nettrace *n, const struct gen_cue *c)
{
	struct gen_events *e = &n->events;

	w->payload.n = 0;
	if (c->kind == GEN_SAMPLE) {
		const struct gen_sample *s = &w->act->samples.at[c->index];
		put_u32(&w->payload, s->kind == 1 ? 2 : 1);
		put_event(w, n, c, w->act->threads.at[s->thread].tid, s->user,
			  gen_events_type(w, e, "Microsoft-DotNETCore-SampleProfiler", "", 0, 0));
	} else if (c->kind == GEN_NOISE) {
		uint32_t bytes = w->act->noise.at[c->index].bytes;
		put_bytes(&w->payload, gen_noise_bytes(bytes), bytes);
		put_event(w, n, c, capture_thread(c->cpu), GEN_NONE, gen_events_type(w, e, "Made-Up-Noise", "", 7, 1));
	} else if (c->kind == GEN_METHOD || c->kind == GEN_MODULE || c->kind == GEN_MARKER) {
		struct gen_event_id id = gen_clr_event(w->act, c);
		gen_put_clr_payload(&w->payload, &w->texts, w->act, c);
		put_event(w, n, c, capture_thread(c->cpu), GEN_NONE,
			  gen_events_type(w, e, id.provider, "", id.id, id.version));
	}
}

static void act(struct gen_writer *w)
{
	gen_events_forget_stacks(w, w->own, false);
}

static void cue(struct gen_writer *w, const struct gen_cue *c)
{
	struct nettrace *n = w->own;

	if (c->lost) {
		gen_events_lose(&n->events, c->cpu);
		return;
	}
	write_event(w, n, c);
	if (n->events.pending < w->o->buffer_bytes)
		return;
	flush(w, n);
	if (n->events.cycles % 4 == 0)
		point(w, n, c->stamp);
}

static void end(struct gen_writer *w)
{
	struct nettrace *n = w->own;

	flush(w, n);
	if (!w->o->unfinished || w->o->seed % 2)
		point(w, n, n->events.last_time + 1);
	if (!w->o->unfinished)
		gen_output_bytes(w->out, "\1", 1);
	else
		w->truth->complete = false;
	gen_events_release(&n->events);
	rd_bytes_release(&n->metadata);
	free(n);
}

const struct gen_format_writer gen_write_nettrace = {begin, act, cue, end};
