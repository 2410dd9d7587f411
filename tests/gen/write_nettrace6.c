/* nettrace 6: thread rows, label lists, universal events; points that forget threads and metadata too. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/gen/names.h"
#include "tests/gen/write_events.h"

enum {
	BLOCK_END,
	BLOCK_TRACE,
	BLOCK_EVENT,
	BLOCK_METADATA,
	BLOCK_POINT,
	BLOCK_STACK,
	BLOCK_THREAD,
	BLOCK_REMOVE,
	BLOCK_LABELS
};
enum { FORGETS_THREADS = 1, FORGETS_METADATA = 2 };

struct nettrace6 {
	struct gen_events events; /* first */
	RD_VEC(bool) rows;        /* by thread of the act: its row is written */
	struct rd_bytes threads;  /* rows that wait */
	uint32_t lasting;         /* threads before this number are the cast's */
	bool labels;              /* list 1 is written */
	bool capture_rows;        /* so are the rows of capture threads */
};

static void put_block(struct gen_writer *w, uint8_t kind, const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
	uint32_t head = (uint32_t)(a_bytes + b_bytes) | (uint32_t)kind << 24;

	gen_output_bytes(w->out, &head, 4);
	if (a_bytes)
		gen_output_bytes(w->out, a, a_bytes);
	if (b_bytes)
		gen_output_bytes(w->out, b, b_bytes);
}

static void put_string(struct gen_put *p, const char *text)
{
	put_varint(p, strlen(text));
	put_bytes(p, text, strlen(text));
}

static void begin(struct gen_writer *w)
{
	static const uint16_t time[8] = {2024, 1, 3, 17, 13, 20, 0, 0};
	static const uint32_t head[5] = {0x7474654e, 0x65636172, 0, 6, 0};
	struct nettrace6 *n = calloc(1, sizeof *n);
	struct gen_put *p = &w->payload;

	if (n == NULL)
		gen_out_of_memory();
	w->own = n;
	gen_events_init(w, &n->events);
	gen_output_bytes(w->out, head, sizeof head);
	p->n = 0;
	put_bytes(p, time, 16);
	put_u64(p, gen_start_ticks(w->o));
	put_u64(p, gen_frequency_hz(w->o));
	put_u32(p, w->o->pointer_bytes);
	put_u32(p, 1);
	put_string(p, "HardwareThreadCount");
	put_string(p, "4");
	put_block(w, BLOCK_TRACE, p->at, p->n, NULL, 0);
}

/* ---- metadata */

struct field {
	const char *name;
	uint8_t type; /* 21: a varuint, 23: text */
};

static const struct field *fields_of(const char *name)
{
	static const struct field value[] = {{"Value", 21}, {NULL, 0}};
	static const struct field process[] = {{"NamespaceId", 21}, {"Name", 23}, {"NamespaceName", 23}, {NULL, 0}};
	static const struct field mapping[] = {{"Id", 21},         {"StartAddress", 21}, {"EndAddress", 21},
					       {"FileOffset", 21}, {"FileName", 23},     {"MetadataId", 21},
					       {NULL, 0}};
	static const struct field symbol[] = {{"Id", 21},         {"MappingId", 21}, {"StartAddress", 21},
					      {"EndAddress", 21}, {"Name", 23},      {NULL, 0}};
	static const struct {
		const char *name;
		const struct field *fields;
	} lists[] = {{"cpu", value},
		     {"ExistingProcess", process},
		     {"ProcessCreate", process},
		     {"ProcessMapping", mapping},
		     {"ProcessSymbol", symbol}};

	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		if (strcmp(name, lists[i].name) == 0)
			return lists[i].fields;
	return NULL;
}

static void put_fields(struct gen_put *p, const struct field *fields)
{
	uint16_t n = 0;

	while (fields && fields[n].name)
		n++;
	put_u16(p, n);
	for (uint16_t i = 0; i < n; i++) {
		put_u16(p, (uint16_t)(strlen(fields[i].name) + 2));
		put_string(p, fields[i].name);
		put_u8(p, fields[i].type);
	}
}

static void put_type(struct gen_put *p, uint32_t id, const struct gen_type *t)
{
	size_t at = p->n;

	put_u16(p, 0);
	put_varint(p, id);
	put_string(p, t->provider);
	put_varint(p, t->id);
	put_string(p, t->name);
	put_fields(p, fields_of(t->name));
	put_u16(p, 4);
	put_u8(p, 8); /* level, version */
	put_u8(p, 4);
	put_u8(p, 9);
	put_u8(p, t->version);
	memcpy(p->at + at, &(uint16_t){(uint16_t)(p->n - at - 2)}, 2);
}

static void write_metadata(struct gen_writer *w, struct gen_events *e)
{
	struct gen_put *p = &w->payload;

	p->n = 0;
	put_u16(p, 0);
	for (uint32_t i = 0; i < e->types.n; i++) {
		struct gen_type *t = &e->types.at[i];
		if (!t->written)
			put_type(p, i + 1, t);
		t->written = true;
	}
	if (p->n > 2)
		put_block(w, BLOCK_METADATA, p->at, p->n, NULL, 0);
}

/* ---- blocks */

static void write_stacks(struct gen_writer *w, struct gen_events *e)
{
	uint32_t head[2] = {e->first_stack, e->stacks};

	if (e->stacks)
		put_block(w, BLOCK_STACK, head, sizeof head, e->stack_bytes.at, e->stack_bytes.n);
	e->first_stack = e->next_stack;
	e->stacks = 0;
	e->stack_bytes.n = 0;
}

static void write_labels(struct gen_writer *w, struct nettrace6 *n)
{
	static const uint8_t list[] = {1, 0, 0, 0, 1, 0, 0, 0, 5,  1,  'k', 1,  'v', 0x81, 1,
				       2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,  13, 14,  15,   16};

	if (!n->labels)
		put_block(w, BLOCK_LABELS, list, sizeof list, NULL, 0);
	n->labels = true;
}

static void add_row(struct nettrace6 *n, uint64_t index, const char *name, uint64_t pid, uint64_t tid)
{
	struct gen_put p = {.n = 2};

	put_varint(&p, index);
	put_u8(&p, 1);
	put_string(&p, name);
	put_u8(&p, 2);
	put_varint(&p, pid);
	put_u8(&p, 3);
	put_varint(&p, tid);
	memcpy(p.at, &(uint16_t){(uint16_t)(p.n - 2)}, 2);
	gen_bytes(&n->threads, p.at, p.n);
}

static void write_threads(struct gen_writer *w, struct nettrace6 *n)
{
	for (uint32_t i = 0; !n->capture_rows && i < w->o->cpus; i++)
		add_row(n, 1 + i, "capture", 0, 0);
	n->capture_rows = true;
	if (n->threads.n)
		put_block(w, BLOCK_THREAD, n->threads.at, n->threads.n, NULL, 0);
	n->threads.n = 0;
}

static void flush(struct gen_writer *w, struct nettrace6 *n)
{
	struct gen_events *e = &n->events;
	uint8_t head[20];

	write_metadata(w, e);
	write_stacks(w, e);
	write_labels(w, n);
	write_threads(w, n);
	for (uint32_t i = 0; i < w->o->cpus; i++) {
		struct gen_block *b = &e->blocks[(i + e->cycles) % w->o->cpus];
		if (b->events.n == 0)
			continue;
		gen_events_block_head(b, head);
		put_block(w, BLOCK_EVENT, head, sizeof head, b->events.at, b->events.n);
		b->events.n = 0;
	}
	e->cycles++;
	e->pending = 0;
}

static void forget_threads(struct nettrace6 *n)
{
	for (size_t i = 0; i < n->rows.n; i++)
		n->rows.at[i] = false;
	n->capture_rows = false;
	for (uint32_t i = 0; i <= GEN_CPUS_MAX; i++)
		n->events.numbers[i] = (struct gen_numbers){.next = 1};
}

static void point(struct gen_writer *w, struct nettrace6 *n, uint64_t stamp)
{
	struct gen_put *p = &w->payload;
	/* Not every reader has heard that metadata can be forgotten. */
	uint32_t flags = n->events.cycles / 4 % (w->o->still ? 2 : 4);

	p->n = 0;
	put_u64(p, stamp);
	put_u32(p, flags);
	put_u32(p, w->o->cpus);
	for (uint32_t i = 0; i < w->o->cpus; i++) {
		uint32_t said = n->events.numbers[i].next - 1;
		put_varint(p, 1 + i);
		put_varint(p, said);
		gen_events_point(w, &n->events.numbers[i], said);
	}
	put_block(w, BLOCK_POINT, p->at, p->n, NULL, 0);
	gen_events_forget_stacks(w, &n->events, true);
	n->labels = false;
	if (flags & FORGETS_THREADS)
		forget_threads(n);
	for (size_t i = 0; (flags & FORGETS_METADATA) && i < n->events.types.n; i++)
		n->events.types.at[i].written = false;
}

/* ---- threads */

static uint32_t thread_index(struct gen_writer *w, struct nettrace6 *n, uint32_t thread)
{
	const struct gen_thread *t = &w->act->threads.at[thread];

	if (t->unnamed || n->rows.at[thread])
		return t->index;
	n->rows.at[thread] = true;
	add_row(n, t->index, "a thread", w->act->processes.at[t->process].pid, t->tid);
	return t->index;
}

/* Threads of the act before are gone, and their indices are used anew. */
static void act(struct gen_writer *w)
{
	struct nettrace6 *n = w->own;
	struct gen_put *p = &w->payload;

	flush(w, n);
	p->n = 0;
	for (uint32_t i = n->lasting; i < n->rows.n; i++) {
		if (!n->rows.at[i])
			continue;
		put_varint(p, GEN_CPUS_MAX + 1 + i);
		put_varint(p, 0);
	}
	if (p->n)
		put_block(w, BLOCK_REMOVE, p->at, p->n, NULL, 0);
	if (n->lasting == 0)
		n->lasting = (uint32_t)w->act->threads.n; /* the first act is the cast's */
	n->rows.n = n->rows.n < n->lasting ? n->rows.n : n->lasting;
	while (n->rows.n < w->act->threads.n)
		GEN_ADD(&n->rows, false);
	gen_events_forget_stacks(w, &n->events, false);
}

/* ---- events */

#define SYSTEM "Universal.System"
#define EVENTS "Universal.Events"

static void put_text(struct gen_put *p, const char *text)
{
	put_u16(p, (uint16_t)strlen(text));
	put_bytes(p, text, strlen(text));
}

static void put_event(struct gen_writer *w, struct nettrace6 *n, const struct gen_cue *c, uint32_t thread,
		      uint32_t stack, uint32_t type)
{
	struct gen_head h = {
		.metadata = type,
		.processor = c->cpu,
		.capture_thread = 1 + c->cpu,
		.thread = thread == GEN_NONE ? 1u + c->cpu : thread_index(w, n, thread),
		.stack = gen_events_stack(w, &n->events, stack),
		.extra = c->slot % 17 == 3,
	};
	gen_events_add(w, &n->events, c, h, true);
}

static uint32_t process_event(struct gen_writer *w, struct gen_events *e, const struct gen_cue *c)
{
	const struct gen_process *p = &w->act->processes.at[c->index];
	char name[32];

	if (c->op == GEN_UNLOAD)
		return gen_events_type(w, e, SYSTEM, "ProcessExit", 2, 0);
	snprintf(name, sizeof name, "app%u", p->pid);
	put_varint(&w->payload, p->namespace_pid);
	put_text(&w->payload, name);
	put_text(&w->payload, "Unknown");
	return c->op == GEN_LOAD ? gen_events_type(w, e, SYSTEM, "ProcessCreate", 1, 0)
				 : gen_events_type(w, e, SYSTEM, "ExistingProcess", 0, 0);
}

static uint32_t mapping_event(struct gen_writer *w, struct gen_events *e, const struct gen_mapping *m)
{
	struct gen_path path;

	gen_mapping_path(m->name, &path);
	put_varint(&w->payload, m->id);
	put_varint(&w->payload, m->start);
	put_varint(&w->payload, m->end);
	put_varint(&w->payload, 0);
	put_text(&w->payload, path.path);
	put_varint(&w->payload, 0);
	return gen_events_type(w, e, SYSTEM, "ProcessMapping", 3, 0);
}

static uint32_t symbol_event(struct gen_writer *w, struct gen_events *e, const struct gen_symbol *s)
{
	struct gen_symbol_name name;

	gen_symbol_name(s->name, s->compiled, &name);
	put_varint(&w->payload, 77);
	put_varint(&w->payload, s->mapping_id);
	put_varint(&w->payload, s->start);
	put_varint(&w->payload, s->last);
	put_text(&w->payload, name.text);
	return gen_events_type(w, e, SYSTEM, "ProcessSymbol", 4, 0);
}

static uint32_t clr_event(struct gen_writer *w, struct gen_events *e, const struct gen_cue *c)
{
	struct gen_event_id id = gen_clr_event(w->act, c);

	gen_put_clr_payload(&w->payload, &w->texts, w->act, c);
	return gen_events_type(w, e, id.provider, "", id.id, id.version);
}

static void of_process(struct gen_writer *w, struct nettrace6 *n, const struct gen_cue *c, uint32_t process,
		       uint32_t type)
{
	put_event(w, n, c, w->act->processes.at[process].speaker, GEN_NONE, type);
}

static void write_event(struct gen_writer *w, struct nettrace6 *n, const struct gen_cue *c)
{
	const struct gen_act *a = w->act;
	struct gen_events *e = &n->events;

	w->payload.n = 0;
	switch ((enum gen_kind)c->kind) {
	case GEN_PROCESS:
		of_process(w, n, c, c->index, process_event(w, e, c));
		break;
	case GEN_MAPPING:
		of_process(w, n, c, a->mappings.at[c->index].process, mapping_event(w, e, &a->mappings.at[c->index]));
		break;
	case GEN_SYMBOL:
		of_process(w, n, c, a->symbols.at[c->index].process, symbol_event(w, e, &a->symbols.at[c->index]));
		break;
	case GEN_METHOD:
		of_process(w, n, c, a->methods.at[c->index].process, clr_event(w, e, c));
		break;
	case GEN_MODULE:
		of_process(w, n, c, a->modules.at[c->index].process, clr_event(w, e, c));
		break;
	case GEN_MARKER:
		of_process(w, n, c, a->lines.at[c->index].process, clr_event(w, e, c));
		break;
	case GEN_SAMPLE:
		put_varint(&w->payload, a->samples.at[c->index].weight);
		put_event(w, n, c, a->samples.at[c->index].thread, a->samples.at[c->index].user,
			  gen_events_type(w, e, EVENTS, "cpu", 1, 0));
		break;
	case GEN_NOISE:
		put_bytes(&w->payload, gen_noise_bytes(a->noise.at[c->index].bytes), a->noise.at[c->index].bytes);
		put_event(w, n, c, GEN_NONE, GEN_NONE, gen_events_type(w, e, "Made-Up-Noise", "", 7, 1));
		break;
	default:
		break;
	}
}

static void cue(struct gen_writer *w, const struct gen_cue *c)
{
	struct nettrace6 *n = w->own;

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
	struct nettrace6 *n = w->own;

	flush(w, n);
	if (!w->o->unfinished || w->o->seed % 2)
		point(w, n, n->events.last_time + 1);
	if (!w->o->unfinished)
		put_block(w, BLOCK_END, NULL, 0, NULL, 0);
	else
		w->truth->complete = false;
	gen_events_release(&n->events);
	rd_vec_release(&n->rows);
	rd_bytes_release(&n->threads);
	free(n);
}

const struct gen_format_writer gen_write_nettrace6 = {begin, act, cue, end};
