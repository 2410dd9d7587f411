/* Buffers: one a CPU, written when full, in whatever order that gives. */
#include "tests/gen/write_etl.h"

#include <stdlib.h>

#include "tests/trace/etl/etl_pack.h"

enum { HEAD = 0x48, MODE_COMPRESSED = 0x04000000 };

struct buffer {
	uint8_t *at;
	size_t n;      /* 0: nothing in it */
	uint64_t last; /* stamp */
};

struct counted {
	uint64_t which;
	uint32_t key;
};

struct etl {
	struct buffer buffers[GEN_CPUS_MAX + 1];
	uint64_t sequence;
	uint64_t header_at; /* of the header's payload in the file */
	uint32_t lost;
	struct rd_bytes packed;
	RD_VEC(struct counted) counted;
};

static void put_head(uint8_t *head, const struct gen_writer *w, uint32_t size, uint32_t used, uint32_t cpu,
		     uint64_t time, uint16_t type)
{
	struct etl *e = w->own;
	uint16_t flags = 0x20 | (w->o->compression && type != 4 ? 0x40 : 0);
	uint32_t state = type == 4 && w->o->compression ? w->o->compression : 3;

	memset(head, 0xab, HEAD);
	memcpy(head, &size, 4);
	memcpy(head + 4, &used, 4);
	memcpy(head + 8, &used, 4);
	memcpy(head + 0x10, &time, 8);
	memcpy(head + 0x18, &e->sequence, 8);
	memcpy(head + 0x28, &(uint16_t){(uint16_t)cpu}, 2);
	memcpy(head + 0x2a, &(uint16_t){1}, 2);
	memcpy(head + 0x2c, &state, 4);
	memcpy(head + 0x30, &used, 4);
	memcpy(head + 0x34, &flags, 2);
	memcpy(head + 0x36, &type, 2);
	e->sequence++;
}

static void flush(struct gen_writer *w, uint32_t cpu)
{
	struct etl *e = w->own;
	struct buffer *b = &e->buffers[cpu];

	if (b->n == 0)
		return;
	if (w->o->compression) {
		e->packed.n = 0;
		etl_pack(&e->packed, w->o->compression, b->at + HEAD, b->n - HEAD);
		put_head(b->at, w, (uint32_t)(HEAD + e->packed.n), (uint32_t)b->n, cpu, b->last, 0);
		gen_output_bytes(w->out, b->at, HEAD);
		gen_output_bytes(w->out, e->packed.at, e->packed.n);
	} else {
		memset(b->at + b->n, 0xff, w->o->buffer_bytes - b->n);
		put_head(b->at, w, w->o->buffer_bytes, (uint32_t)b->n, cpu, b->last, 0);
		gen_output_bytes(w->out, b->at, w->o->buffer_bytes);
	}
	b->n = 0;
}

uint8_t *gen_etl_room(struct gen_writer *w, uint32_t cpu, uint64_t stamp, size_t n)
{
	struct etl *e = w->own;
	struct buffer *b = &e->buffers[cpu];

	n = (n + 7) & ~(size_t)7;
	if (b->at == NULL) {
		b->at = malloc(w->o->buffer_bytes);
		if (b->at == NULL)
			gen_out_of_memory();
	}
	if (b->n + n > w->o->buffer_bytes)
		flush(w, cpu);
	if (b->n == 0)
		b->n = HEAD;
	assert(b->n + n <= w->o->buffer_bytes);
	uint8_t *at = b->at + b->n;
	b->n += n;
	b->last = stamp;
	return at;
}

void gen_etl_count(struct gen_writer *w, uint64_t which, const char *(*key)(uint64_t which, char text[96]))
{
	struct etl *e = w->own;
	char text[96];

	for (size_t i = 0; i < e->counted.n; i++) {
		if (e->counted.at[i].which != which)
			continue;
		w->truth->events.at[e->counted.at[i].key]++;
		return;
	}
	struct counted c = {which, gen_truth_key(w->truth, key(which, text))};
	GEN_ADD(&e->counted, c);
	w->truth->events.at[c.key]++;
}

/* The header's buffer is smaller than the others. */
static void begin(struct gen_writer *w)
{
	struct etl *e = calloc(1, sizeof *e);
	struct gen_put *p = &w->payload;
	uint8_t head[HEAD];

	if (e == NULL)
		gen_out_of_memory();
	w->own = e;
	p->n = 0;
	put_u16(p, 2); /* the record: version, type, size, opcode, group */
	put_u8(p, w->o->pointer_bytes == 4 ? 1 : 2);
	put_u8(p, 0xc0);
	put_u16(p, 0);
	put_u16(p, 0);
	put_u32(p, 8);
	put_u32(p, 4);
	put_u64(p, gen_start_ticks(w->o));
	put_u64(p, 0);
	e->header_at = HEAD + p->n;
	put_u32(p, w->o->buffer_bytes);
	put_u32(p, 0x0501000a);
	put_u32(p, 19045);
	put_u32(p, w->o->cpus);
	put_u64(p, 0);
	put_u32(p, 156250);
	put_u32(p, 0);
	put_u32(p, w->o->compression ? MODE_COMPRESSED : 0);
	put_u32(p, 0);
	put_u32(p, 1);
	put_u32(p, w->o->pointer_bytes);
	put_u32(p, 0);
	put_u32(p, 2500);
	put_pointer(p, 0, w->o->pointer_bytes);
	put_pointer(p, 0, w->o->pointer_bytes);
	for (int i = 0; i < 43; i++)
		put_u32(p, 0);
	while (p->n % 8)
		put_u8(p, 0);
	put_u64(p, 1);
	put_u64(p, w->o->clock == 1 ? gen_frequency_hz(w->o) : 10000000);
	put_u64(p, GEN_START_UTC_FILETIME);
	put_u32(p, w->o->clock);
	put_u32(p, 0);
	gen_put_text16(p, "made up");
	gen_put_text16(p, "C:\\made-up.etl");
	memcpy(p->at + 4, &(uint16_t){(uint16_t)p->n}, 2);
	uint32_t size = w->o->compression ? 1024 : w->o->buffer_bytes, used = (uint32_t)(HEAD + p->n);
	put_head(head, w, size, used, 0, gen_start_ticks(w->o), 4);
	gen_output_bytes(w->out, head, HEAD);
	gen_output_bytes(w->out, p->at, p->n);
	memset(p->at, 0xff, size - used);
	gen_output_bytes(w->out, p->at, size - used);
	uint32_t key = gen_truth_key(w->truth, "kernel/00/0/2");
	w->truth->events.at[key]++;
}

static void cue(struct gen_writer *w, const struct gen_cue *c)
{
	struct etl *e = w->own;

	if (!c->lost) {
		gen_etl_record(w, c);
		return;
	}
	e->lost++;
	w->truth->lost_events++;
}

static void end(struct gen_writer *w)
{
	struct etl *e = w->own;
	uint32_t buffers;
	uint64_t end_time = GEN_START_UTC_FILETIME + 600000000;

	for (uint32_t cpu = 0; cpu < w->o->cpus; cpu++)
		flush(w, cpu);
	buffers = (uint32_t)e->sequence;
	gen_output_patch(w->out, e->header_at + 48, &e->lost, 4);
	if (!w->o->unfinished) {
		gen_output_patch(w->out, e->header_at + 16, &end_time, 8);
		gen_output_patch(w->out, e->header_at + 36, &buffers, 4);
	}
	for (uint32_t i = 0; i <= GEN_CPUS_MAX; i++)
		free(e->buffers[i].at);
	rd_bytes_release(&e->packed);
	rd_vec_release(&e->counted);
	free(e);
}

const struct gen_format_writer gen_write_etl = {begin, NULL, cue, end};
