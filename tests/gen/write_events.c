#include "tests/gen/write_events.h"

#include <stdio.h>

void gen_bytes(struct rd_bytes *to, const void *at, size_t n)
{
	if (rd_bytes_append(to, at, n) != 0)
		gen_out_of_memory();
}

void gen_events_init(struct gen_writer *w, struct gen_events *e)
{
	for (uint32_t i = 0; i <= GEN_CPUS_MAX; i++) {
		e->numbers[i].next = 1;
		/* A few threads begin where numbers end: what came before is lost. */
		if (!w->o->sound && w->o->format != GEN_NETTRACE6 && (w->o->seed + i) % 16 == 5)
			e->numbers[i].next = UINT32_MAX - 3;
	}
	e->next_stack = e->first_stack = 1;
}

void gen_events_release(struct gen_events *e)
{
	for (uint32_t i = 0; i <= GEN_CPUS_MAX; i++)
		rd_bytes_release(&e->blocks[i].events);
	rd_vec_release(&e->types);
	rd_vec_release(&e->stack_ids);
	rd_bytes_release(&e->stack_bytes);
}

void gen_events_forget_stacks(struct gen_writer *w, struct gen_events *e, bool ids_too)
{
	e->stack_ids.n = 0;
	for (size_t i = 0; i < w->act->stacks.n; i++)
		GEN_ADD(&e->stack_ids, 0);
	if (ids_too)
		e->next_stack = e->first_stack = 1;
}

uint32_t gen_events_stack(struct gen_writer *w, struct gen_events *e, uint32_t stack)
{
	static const uint8_t zero[4];
	uint32_t bytes = w->o->pointer_bytes;

	if (stack == GEN_NONE)
		return 0;
	if (e->stack_ids.at[stack])
		return e->stack_ids.at[stack];
	const struct gen_stack *s = &w->act->stacks.at[stack];
	uint32_t size = s->n * bytes;
	gen_bytes(&e->stack_bytes, &size, 4);
	for (uint32_t i = 0; i < s->n; i++)
		gen_bytes(&e->stack_bytes, &w->act->frames.at[s->first + i], bytes);
	e->stacks++;
	e->stack_ids.at[stack] = e->next_stack++;
	/* An empty one behind it now and then. */
	if (stack % 7 == 3) {
		gen_bytes(&e->stack_bytes, zero, 4);
		e->stacks++;
		e->next_stack++;
	}
	return e->stack_ids.at[stack];
}

static uint32_t key_of(struct gen_writer *w, const struct gen_type *t)
{
	char key[128];

	if (*t->name)
		snprintf(key, sizeof key, "%s/%s/%u", t->provider, t->name, t->version);
	else
		snprintf(key, sizeof key, "%s/%u/%u", t->provider, t->id, t->version);
	return gen_truth_key(w->truth, key);
}

uint32_t gen_events_type(struct gen_writer *w, struct gen_events *e, const char *provider, const char *name,
			 uint16_t id, uint8_t version)
{
	struct gen_type type = {.provider = provider, .name = name, .id = id, .version = version};

	for (size_t i = 0; i < e->types.n; i++) {
		const struct gen_type *t = &e->types.at[i];
		if (t->id == id && t->version == version && t->provider == provider && t->name == name)
			return (uint32_t)i + 1;
	}
	type.key = key_of(w, &type);
	GEN_ADD(&e->types, type);
	return (uint32_t)e->types.n;
}

static size_t varint(uint8_t *at, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		at[n++] = (uint8_t)(v | 0x80);
	at[n++] = (uint8_t)v;
	return n;
}

static const uint8_t guid[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

static size_t compressed_head(uint8_t *at, const struct gen_head *h, const struct gen_head *before, bool six)
{
	bool says_more = six ? h->extra != before->extra : h->extra != 0;
	uint8_t flags = 64;
	size_t n = 1;

	flags |= h->metadata != before->metadata ? 1 : 0;
	flags |= h->capture_thread != before->capture_thread || h->sequence != before->sequence + 1 ||
				 h->processor != before->processor
			 ? 2
			 : 0;
	flags |= h->thread != before->thread ? 4 : 0;
	flags |= h->stack != before->stack ? 8 : 0;
	flags |= says_more ? 16 : 0;
	flags |= h->payload_bytes != before->payload_bytes ? 128 : 0;
	at[0] = flags;
	if (flags & 1)
		n += varint(at + n, h->metadata);
	if (flags & 2) {
		n += varint(at + n, (uint32_t)(h->sequence - before->sequence - 1));
		n += varint(at + n, h->capture_thread);
		n += varint(at + n, h->processor);
	}
	if (flags & 4)
		n += varint(at + n, h->thread);
	if (flags & 8)
		n += varint(at + n, h->stack);
	n += varint(at + n, h->time - before->time);
	if ((flags & 16) && six)
		n += varint(at + n, h->extra);
	if ((flags & 16) && !six) {
		memcpy(at + n, guid, 16);
		n += 16;
	}
	if (flags & 128)
		n += varint(at + n, h->payload_bytes);
	return n;
}

static size_t plain_head(uint8_t *at, const struct gen_head *h, bool six)
{
	uint32_t fixed = six ? 48 : 76, size = fixed + h->payload_bytes, metadata = h->metadata | 0x80000000;

	memset(at, 0, fixed + 4);
	memcpy(at, &size, 4);
	memcpy(at + 4, &metadata, 4);
	memcpy(at + 8, &h->sequence, 4);
	memcpy(at + 12, &h->thread, 8);
	memcpy(at + 20, &h->capture_thread, 8);
	memcpy(at + 28, &h->processor, 4);
	memcpy(at + 32, &h->stack, 4);
	memcpy(at + 36, &h->time, 8);
	if (six)
		memcpy(at + 44, &h->extra, 4);
	memcpy(at + (six ? 48 : 76), &h->payload_bytes, 4);
	return fixed + 4;
}

/* "An event adds (s - last - 1) mod 2^32 if below 2^31; a restart at 1 nothing; a thread first seen at s > 0 s - 1." */
static void number_event(struct gen_writer *w, struct gen_numbers *n)
{
	uint32_t s = n->next++, gap = s - n->last - 1;

	if (!n->known)
		w->truth->lost_events += s > 0 ? s - 1 : 0;
	else if (s != 1 && gap < UINT32_C(1) << 31)
		w->truth->lost_events += gap;
	n->known = true;
	n->last = s;
}

void gen_events_point(struct gen_writer *w, struct gen_numbers *n, uint32_t said)
{
	uint32_t gap = said - n->last;

	if (!n->known)
		w->truth->lost_events += said;
	else if (gap < UINT32_C(1) << 31)
		w->truth->lost_events += gap;
	n->known = true;
	n->last = said;
}

void gen_events_lose(struct gen_events *e, uint32_t cpu)
{
	e->numbers[cpu].next++;
}

static void begin_block(struct gen_writer *w, struct gen_events *e, struct gen_block *b, uint64_t time)
{
	b->before = (struct gen_head){0};
	b->first = b->last = time;
	b->plain = !w->o->still && (e->cycles + w->o->seed) % 4 == 3;
}

void gen_events_add(struct gen_writer *w, struct gen_events *e, const struct gen_cue *c, struct gen_head h, bool six)
{
	static const uint8_t zero[4];
	struct gen_block *b = &e->blocks[c->cpu];
	uint8_t head[128];
	size_t n;

	if (b->events.n == 0)
		begin_block(w, e, b, c->stamp);
	h.sequence = e->numbers[c->cpu].next;
	h.time = c->stamp;
	h.payload_bytes = (uint32_t)w->payload.n;
	number_event(w, &e->numbers[c->cpu]);
	n = b->plain ? plain_head(head, &h, six) : compressed_head(head, &h, &b->before, six);
	gen_bytes(&b->events, head, n);
	if (w->payload.n)
		gen_bytes(&b->events, w->payload.at, w->payload.n);
	if (b->plain && !six)
		gen_bytes(&b->events, zero, -b->events.n & 3);
	b->before = h;
	b->first = c->stamp < b->first ? c->stamp : b->first;
	b->last = c->stamp > b->last ? c->stamp : b->last;
	e->pending += n + w->payload.n;
	e->last_time = c->stamp > e->last_time ? c->stamp : e->last_time;
	w->truth->events.at[e->types.at[h.metadata - 1].key]++;
}

void gen_events_block_head(const struct gen_block *b, uint8_t head[20])
{
	memcpy(head, &(uint16_t){20}, 2);
	memcpy(head + 2, &(uint16_t){!b->plain}, 2);
	memcpy(head + 4, &b->first, 8);
	memcpy(head + 12, &b->last, 8);
}
