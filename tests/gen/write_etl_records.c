/* Records of an ETL, by what they tell. */
#include <stdio.h>

#include "tests/gen/names.h"
#include "tests/gen/write_etl.h"

#define MARKER 0xc0

static uint8_t type_of(const struct gen_writer *w, uint8_t narrow, uint8_t wide)
{
	return w->o->pointer_bytes == 4 ? narrow : wide;
}

static const char *kernel_key(uint64_t which, char text[96])
{
	snprintf(text, 96, "kernel/%02x/%u/%u", (unsigned)(which >> 16 & 0xff), (unsigned)(which >> 8 & 0xff),
		 (unsigned)(which & 0xff));
	return text;
}

static void count(struct gen_writer *w, uint8_t group, uint8_t opcode, uint16_t version)
{
	gen_etl_count(w, (uint64_t)group << 16 | (uint64_t)opcode << 8 | (version & 0xff), kernel_key);
}

/* The payload behind a header of head_bytes; where the header goes. */
static uint8_t *place(struct gen_writer *w, const struct gen_cue *c, size_t head_bytes)
{
	size_t n = head_bytes + w->payload.n;
	uint8_t *at = gen_etl_room(w, c->cpu, c->stamp, n);

	memcpy(at + head_bytes, w->payload.at, w->payload.n);
	memset(at + n, 0, -n & 7);
	return at;
}

static void kernel_head(uint8_t *at, uint16_t version, uint8_t type, size_t size, uint8_t opcode, uint8_t group)
{
	memcpy(at, &version, 2);
	at[2] = type;
	at[3] = MARKER;
	memcpy(at + 4, &(uint16_t){(uint16_t)size}, 2);
	at[6] = opcode;
	at[7] = group;
}

/* System records and compact ones say who wrote them: process 4 here, whomever they speak of. */
static void system_record(struct gen_writer *w, const struct gen_cue *c, uint8_t group, uint8_t opcode,
			  uint16_t version, bool compact)
{
	size_t head = compact ? 24 : 32;
	uint32_t who[2] = {8, 4};
	uint8_t *at = place(w, c, head);

	memset(at, 0, head);
	kernel_head(at, version, compact ? type_of(w, 3, 4) : type_of(w, 1, 2), head + w->payload.n, opcode, group);
	memcpy(at + 8, who, 8);
	memcpy(at + 16, &c->stamp, 8);
	count(w, group, opcode, version);
}

/* Now and then with words in front of its payload. */
static void perfinfo(struct gen_writer *w, const struct gen_cue *c, uint8_t group, uint8_t opcode)
{
	unsigned words = c->slot % 23 == 7 ? 1 + c->slot % 2 : 0;
	uint16_t version = (uint16_t)(2 | words << 8);
	uint8_t *at = place(w, c, 16 + words * 8);

	kernel_head(at, version, type_of(w, 16, 17), 16 + words * 8 + w->payload.n, opcode, group);
	memcpy(at + 8, &c->stamp, 8);
	memset(at + 16, 0x5a, words * 8);
	count(w, group, opcode, 2);
}

static void event(struct gen_writer *w, const struct gen_cue *c, const struct gen_event_id *e, uint32_t pid,
		  uint32_t tid, bool extended)
{
	static const uint8_t item[24] = {24, 0, 1, 0, 0, 0, 16, 0, 1, 2, 3};
	size_t extra = extended ? sizeof item : 0;
	uint8_t *at = place(w, c, 80 + extra);
	uint16_t size = (uint16_t)(80 + extra + w->payload.n);
	uint32_t who[2] = {tid, pid};

	memset(at, 0, 80);
	memcpy(at, &size, 2);
	at[2] = type_of(w, 18, 19);
	at[3] = MARKER;
	at[4] = extended;
	memcpy(at + 8, who, 8);
	memcpy(at + 16, &c->stamp, 8);
	memcpy(at + 24, e->guid, 16);
	memcpy(at + 40, &e->id, 2);
	at[42] = e->version;
	at[44] = 4;
	at[48] = 0x30;
	memcpy(at + 80, item, extra);
}

static const uint8_t noise_guid[16] = {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7};

enum { OF_RUNTIME = 1, OF_RUNDOWN, OF_NOISE, CLASSIC };

static const char *event_key(uint64_t which, char text[96])
{
	static const char *const guids[] = {
		"", "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4", "a669021c-c450-4609-a035-5af59af4df18",
		"07070707-0707-0707-0707-070707070707", "classic:07070707-0707-0707-0707-070707070707"};

	snprintf(text, 96, "%s/%u/%u", guids[which >> 32], (unsigned)(which >> 8 & 0xffff), (unsigned)(which & 0xff));
	return text;
}

static void count_event(struct gen_writer *w, uint64_t whose, uint32_t id, uint32_t version)
{
	gen_etl_count(w, whose << 32 | id << 8 | version, event_key);
}

static uint32_t process_of(const struct gen_act *a, const struct gen_cue *c)
{
	switch ((enum gen_kind)c->kind) {
	case GEN_METHOD:
		return a->methods.at[c->index].process;
	case GEN_MODULE:
		return a->modules.at[c->index].process;
	default:
		return a->lines.at[c->index].process;
	}
}

static void clr_event(struct gen_writer *w, const struct gen_cue *c)
{
	const struct gen_process *p = &w->act->processes.at[process_of(w->act, c)];
	struct gen_event_id e = gen_clr_event(w->act, c);

	gen_put_clr_payload(&w->payload, &w->texts, w->act, c);
	event(w, c, &e, p->pid, w->act->threads.at[p->speaker].tid, c->slot % 9 == 4);
	count_event(w, e.rundown ? OF_RUNDOWN : OF_RUNTIME, e.id, e.version);
}

static void sample(struct gen_writer *w, const struct gen_cue *c)
{
	const struct gen_sample *s = &w->act->samples.at[c->index];

	put_pointer(&w->payload, s->pointer, w->o->pointer_bytes);
	put_u32(&w->payload, w->act->threads.at[s->thread].tid);
	put_u32(&w->payload, 1);
	perfinfo(w, c, 0x0f, 46);
}

static void put_frames(struct gen_writer *w, uint32_t stack)
{
	const struct gen_stack *s = &w->act->stacks.at[stack];
	const uint64_t *frames = w->act->frames.at + s->first;

	if (w->o->pointer_bytes == 8) {
		put_bytes(&w->payload, frames, s->n * 8);
		return;
	}
	for (uint32_t i = 0; i < s->n; i++)
		put_u32(&w->payload, (uint32_t)frames[i]);
}

static void stack_record(struct gen_writer *w, const struct gen_cue *c)
{
	const struct gen_record *r = &w->act->records.at[c->index];

	put_u64(&w->payload, gen_record_about(w->act, r));
	put_u32(&w->payload, r->pid);
	put_u32(&w->payload, r->tid);
	if (r->key == GEN_NONE)
		put_frames(w, r->stack);
	else
		put_pointer(&w->payload, w->act->keys.at[r->key].value, w->o->pointer_bytes);
	perfinfo(w, c, 0x18, r->key == GEN_NONE ? 32 : r->user ? 38 : 37);
}

static void stack_key(struct gen_writer *w, const struct gen_cue *c)
{
	const struct gen_key *k = &w->act->keys.at[c->index];

	put_pointer(&w->payload, k->value, w->o->pointer_bytes);
	put_frames(w, k->stack);
	perfinfo(w, c, 0x18, 35 + c->slot % 2);
}

static void thread(struct gen_writer *w, const struct gen_cue *c)
{
	const struct gen_thread *t = &w->act->threads.at[c->index];

	put_u32(&w->payload, w->act->processes.at[t->process].pid);
	put_u32(&w->payload, t->tid);
	for (int i = 0; i < 7; i++)
		put_pointer(&w->payload, 0, w->o->pointer_bytes);
	put_u64(&w->payload, 0);
	system_record(w, c, 0x05, c->op, 3, c->slot % 2);
}

static void process(struct gen_writer *w, const struct gen_cue *c)
{
	static const uint8_t sid[] = {1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0};
	const struct gen_process *p = &w->act->processes.at[c->index];
	char name[32];

	put_pointer(&w->payload, 0x1000 + p->pid, w->o->pointer_bytes);
	put_u32(&w->payload, p->pid);
	put_u32(&w->payload, 4);
	put_u64(&w->payload, 1);
	put_pointer(&w->payload, 0x2000, w->o->pointer_bytes);
	put_u32(&w->payload, 0);
	if (p->pid % 8) {
		put_pointer(&w->payload, 0x3000, w->o->pointer_bytes);
		put_pointer(&w->payload, 0, w->o->pointer_bytes);
		put_bytes(&w->payload, sid, sizeof sid);
	} else {
		put_u32(&w->payload, 0);
	}
	snprintf(name, sizeof name, "app%u.exe", p->pid);
	put_bytes(&w->payload, name, strlen(name) + 1);
	gen_put_text16(&w->payload, "app.exe --verbose");
	gen_put_text16(&w->payload, "");
	gen_put_text16(&w->payload, "");
	system_record(w, c, 0x03, c->op, 4, false);
}

static void image(struct gen_writer *w, const struct gen_cue *c)
{
	const struct gen_image *m = &w->act->images.at[c->index];
	struct gen_path path;

	gen_image_path(m->name, &path);
	put_pointer(&w->payload, m->base, w->o->pointer_bytes);
	put_pointer(&w->payload, m->size, w->o->pointer_bytes);
	put_u32(&w->payload, w->act->processes.at[m->process].pid);
	put_u32(&w->payload, 0x11);
	put_u32(&w->payload, 0x22);
	put_u32(&w->payload, 0);
	put_pointer(&w->payload, m->base, w->o->pointer_bytes);
	put_u64(&w->payload, 0);
	put_u64(&w->payload, 0);
	gen_put_text16(&w->payload, path.path);
	system_record(w, c, c->op == GEN_LOAD ? 0x03 : 0x14, c->op == GEN_LOAD ? 10 : c->op, 3, c->slot % 2);
}

/* Events of others: of all kinds of headers. */
static void noise(struct gen_writer *w, const struct gen_cue *c)
{
	struct gen_event_id e = {.guid = noise_guid, .id = 7, .version = 1};
	uint32_t n = w->act->noise.at[c->index].bytes;
	uint32_t who[2] = {3, 3};

	put_bytes(&w->payload, gen_noise_bytes(n), n);
	if (c->slot % 3) {
		event(w, c, &e, 3, 3, c->slot % 5 == 2);
		count_event(w, OF_NOISE, 7, 1);
		return;
	}
	uint8_t *at = place(w, c, 48);
	memset(at, 0, 48);
	memcpy(at, &(uint16_t){(uint16_t)(48 + n)}, 2);
	at[2] = type_of(w, 10, 20);
	at[3] = MARKER;
	at[4] = 9;
	at[5] = 4;
	at[6] = 2;
	memcpy(at + 8, who, 8);
	memcpy(at + 16, &c->stamp, 8);
	memcpy(at + 24, noise_guid, 16);
	count_event(w, CLASSIC, 9, 2);
}

void gen_etl_record(struct gen_writer *w, const struct gen_cue *c)
{
	static void (*const records[])(struct gen_writer *, const struct gen_cue *) = {
		[GEN_PROCESS] = process,  [GEN_THREAD] = thread,       [GEN_MODULE] = clr_event,
		[GEN_METHOD] = clr_event, [GEN_IMAGE] = image,         [GEN_KEY] = stack_key,
		[GEN_SAMPLE] = sample,    [GEN_RECORD] = stack_record, [GEN_NOISE] = noise,
		[GEN_MARKER] = clr_event,
	};

	w->payload.n = 0;
	records[c->kind](w, c);
}
