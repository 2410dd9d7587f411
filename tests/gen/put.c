#include "tests/gen/put.h"

#include "tests/gen/cues.h"
#include "tests/gen/names.h"

static uint32_t next_character(const uint8_t **at)
{
	const uint8_t *s = *at;
	unsigned n = s[0] < 0x80 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	uint32_t c = n == 1 ? s[0] : s[0] & (0x7fu >> n);

	for (unsigned i = 1; i < n; i++)
		c = c << 6 | (s[i] & 0x3f);
	*at += n;
	return c;
}

void gen_put_text16(struct gen_put *p, const char *utf8)
{
	for (const uint8_t *s = (const uint8_t *)utf8; *s;) {
		uint32_t c = next_character(&s);
		if (c >= 0x10000) {
			put_u16(p, (uint16_t)(0xd7c0 + (c >> 10)));
			c = 0xdc00 | (c & 0x3ff);
		}
		put_u16(p, (uint16_t)c);
	}
	put_u16(p, 0);
}

void gen_texts_release(struct gen_texts *t)
{
	rd_vec_release(&t->methods);
	rd_arena_release(&t->arena);
}

#define TEXTS_MOST 100000 /* names behind this are rare */

static void put_names(struct gen_put *p, uint32_t no)
{
	struct gen_method_name name;

	gen_method_name(no, &name);
	gen_put_text16(p, name.ns);
	gen_put_text16(p, name.name);
	gen_put_text16(p, name.signature);
}

static void put_known_names(struct gen_put *p, struct gen_texts *t, uint32_t no)
{
	size_t at = p->n;

	while (t->methods.n <= no)
		GEN_ADD(&t->methods, (struct rd_span){NULL, 0});
	struct rd_span *text = &t->methods.at[no];
	if (text->at) {
		put_bytes(p, text->at, text->size_bytes);
		return;
	}
	put_names(p, no);
	*text = (struct rd_span){rd_arena_copy(&t->arena, p->at + at, p->n - at), p->n - at};
	if (text->at == NULL)
		gen_out_of_memory();
}

void gen_put_method(struct gen_put *p, struct gen_texts *t, const struct gen_method *m, unsigned version)
{
	put_u64(p, m->id);
	put_u64(p, m->module_id);
	put_u64(p, m->start);
	put_u32(p, m->size);
	put_u32(p, 0x06000001 + m->name);
	put_u32(p, m->flags);
	if (!m->plain && m->name < TEXTS_MOST)
		put_known_names(p, t, m->name);
	else if (!m->plain)
		put_names(p, m->name);
	put_u16(p, (uint16_t)m->clr);
	if (version >= 2)
		put_u64(p, m->rejit);
}

void gen_put_module(struct gen_put *p, const struct gen_module *m, unsigned version)
{
	struct gen_path path;

	gen_module_path(m->name, &path);
	put_u64(p, m->id);
	put_u64(p, m->id + 8);
	put_u32(p, 8);
	put_u32(p, 0);
	gen_put_text16(p, path.path);
	gen_put_text16(p, "");
	put_u16(p, (uint16_t)m->clr);
	if (version < 2)
		return;
	for (int i = 0; i < 2; i++) {
		put_bytes(p, "0123456789abcdef", 16);
		put_u32(p, 1);
		gen_put_text16(p, i ? "" : "app.pdb");
	}
}

#define RUNTIME "Microsoft-Windows-DotNETRuntime"
#define RUNDOWN "Microsoft-Windows-DotNETRuntimeRundown"

static const uint8_t runtime_guid[16] = {0x23, 0x0d, 0x3c, 0xe1, 0xbc, 0xcc, 0x12, 0x4e,
					 0x93, 0x1b, 0xd9, 0xcc, 0x2e, 0xee, 0x27, 0xe4};
static const uint8_t rundown_guid[16] = {0x1c, 0x02, 0x69, 0xa6, 0x50, 0xc4, 0x09, 0x46,
					 0xa0, 0x35, 0x5a, 0xf5, 0x9a, 0xf4, 0xdf, 0x18};

struct gen_event_id gen_clr_event(const struct gen_act *a, const struct gen_cue *c)
{
	static const uint16_t markers[] = {0, 147, 145, 148, 146};
	bool rundown = c->kind == GEN_MARKER || c->op == GEN_DCSTART || c->op == GEN_DCEND;
	struct gen_event_id e = {.rundown = rundown,
				 .provider = rundown ? RUNDOWN : RUNTIME,
				 .guid = rundown ? rundown_guid : runtime_guid};

	if (c->kind == GEN_MARKER) {
		e.id = markers[c->op];
		e.version = 1;
	} else if (c->kind == GEN_METHOD) {
		const struct gen_method *m = &a->methods.at[c->index];
		e.id = (uint16_t)((c->op == GEN_LOAD || c->op == GEN_DCSTART ? 141 : 142) + (m->plain ? 0 : 2));
		e.version = m->rejit ? 2 : 1;
	} else {
		e.id = (uint16_t)((rundown ? 153 : 152) + (c->op == GEN_UNLOAD || c->op == GEN_DCEND));
		e.version = 1 + (a->modules.at[c->index].name & 1);
	}
	return e;
}

void gen_put_clr_payload(struct gen_put *p, struct gen_texts *t, const struct gen_act *a, const struct gen_cue *c)
{
	unsigned version = gen_clr_event(a, c).version;

	if (c->kind == GEN_METHOD)
		gen_put_method(p, t, &a->methods.at[c->index], version);
	else if (c->kind == GEN_MODULE)
		gen_put_module(p, &a->modules.at[c->index], version);
	else
		put_u16(p, (uint16_t)a->lines.at[c->index].clr);
}
