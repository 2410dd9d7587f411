/*
 * The tree is that of profile/history.c: a range of ranks is made up of a few
 * nodes, and the nodes from a leaf to the root are all that cover its rank.
 * Which symbol holds can be told from which one holds in each node, so a node
 * keeps that alone, however many symbols somebody nests.
 */
#include "profile/symbols.h"

#include <string.h>

#include "profile/jit_name.h"

/* A method, without its life. */
struct compiled {
	uint32_t module, ns, name, signature; /* strings */
};

/* Of some symbols that cover one address: those that would hold, as index + 1; 0 none. */
struct said {
	uint32_t compiled; /* the last written */
	uint32_t differs;  /* 1: some of compiled code say another method */
	uint32_t native;
};

struct node {
	uint32_t set, node; /* the key */
	struct said said;
};

void rd_symbols_init(struct rd_symbols *s, struct rd_content *content, const struct rd_addresses *sealed)
{
	*s = (struct rd_symbols){.content = content, .addresses = sealed};
	rd_records_init(&s->compiled, sizeof(struct compiled), sizeof(struct compiled));
	rd_records_init(&s->nodes, sizeof(struct node), offsetof(struct node, said));
}

static uint32_t string_of(struct rd_symbols *s, struct rd_span text)
{
	return rd_strings_id(&s->content->strings, text.at, text.size_bytes);
}

/* "RET  (ARGS)", as the runtime's events have signatures. */
static uint32_t signature_of(struct rd_symbols *s, const struct rd_jit_name *n)
{
	s->scratch.n = 0;
	if (rd_bytes_append(&s->scratch, n->returns.at, n->returns.size_bytes) < 0 ||
	    rd_bytes_append(&s->scratch, "  (", 3) < 0 ||
	    rd_bytes_append(&s->scratch, n->arguments.at, n->arguments.size_bytes) < 0 ||
	    rd_bytes_append(&s->scratch, ")", 1) < 0)
		return RD_NONE;
	return rd_strings_id(&s->content->strings, s->scratch.at, s->scratch.n);
}

static uint32_t compiled_id(struct rd_symbols *s, const struct rd_jit_name *n)
{
	struct compiled c = {
		.module = string_of(s, n->module),
		.ns = string_of(s, n->ns),
		.name = string_of(s, n->name),
		.signature = signature_of(s, n),
	};

	if (c.module == RD_NONE || c.ns == RD_NONE || c.name == RD_NONE || c.signature == RD_NONE)
		return RD_NONE;
	return rd_records_id(&s->compiled, &c, NULL);
}

/* Perf maps have each name many times, so it is taken apart once. NULL when out of memory. */
static const struct rd_symbol_name *name_of(struct rd_symbols *s, uint32_t string)
{
	struct rd_jit_name parts;

	if (string >= s->names.n) {
		size_t more = s->content->strings.at.n - s->names.n;
		if (rd_vec_reserve(&s->names, more) < 0)
			return NULL;
		memset(s->names.at + s->names.n, 0, more * sizeof *s->names.at);
		s->names.n += more;
	}
	struct rd_symbol_name *name = &s->names.at[string];
	if (name->known)
		return name;
	*name = (struct rd_symbol_name){true, string, RD_TIER_NATIVE};
	if (!rd_jit_name(rd_strings_at(&s->content->strings, string), &parts))
		return name;
	name->tier = parts.tier;
	name->what = compiled_id(s, &parts);
	name->known = name->what != RD_NONE;
	return name->known ? name : NULL;
}

int rd_symbols_add(struct rd_symbols *s, uint32_t set, uint32_t name, uint64_t start, uint64_t place, uint32_t low,
		   uint32_t high, struct rd_error *err)
{
	const struct rd_symbol_name *says = name_of(s, name);
	struct rd_symbol *at = says && s->at.n < RD_NONE - 1 ? rd_vec_add(&s->at) : NULL;

	if (at == NULL)
		return rd_fail_nomem(err);
	*at = (struct rd_symbol){
		.start = start,
		.place = place,
		.low = low,
		.high = high,
		.set = set,
		.what = says->what,
		.tier = says->tier,
	};
	return 0;
}

static size_t underscores(struct rd_span text)
{
	size_t n = 0;

	while (n < text.size_bytes && text.at[n] == '_')
		n++;
	return n;
}

/* Whether a holds before b. */
static bool is_better(const struct rd_symbols *s, const struct rd_symbol *a, const struct rd_symbol *b)
{
	struct rd_span x = rd_strings_at(&s->content->strings, a->what);
	struct rd_span y = rd_strings_at(&s->content->strings, b->what);

	if (a->start != b->start)
		return a->start > b->start;
	if (underscores(x) != underscores(y))
		return underscores(x) < underscores(y);
	if (x.size_bytes != y.size_bytes)
		return x.size_bytes < y.size_bytes;
	return x.size_bytes > 0 && memcmp(x.at, y.at, x.size_bytes) < 0;
}

static void add_compiled(const struct rd_symbols *s, struct said *to, const struct said *more)
{
	if (more->compiled == 0)
		return;
	to->differs |= more->differs;
	if (to->compiled == 0) {
		to->compiled = more->compiled;
		return;
	}
	const struct rd_symbol *a = &s->at.at[to->compiled - 1], *b = &s->at.at[more->compiled - 1];
	to->differs |= a->what != b->what;
	if (b->place > a->place)
		to->compiled = more->compiled;
}

static void add_native(const struct rd_symbols *s, struct said *to, const struct said *more)
{
	if (more->native == 0)
		return;
	if (to->native == 0 || is_better(s, &s->at.at[more->native - 1], &s->at.at[to->native - 1]))
		to->native = more->native;
}

static void add_said(const struct rd_symbols *s, struct said *to, const struct said *more)
{
	add_compiled(s, to, more);
	add_native(s, to, more);
}

static int put_node(struct rd_symbols *s, uint32_t set, uint32_t node, const struct said *said)
{
	uint32_t key[2] = {set, node};
	uint32_t id = rd_records_id(&s->nodes, key, NULL);

	if (id == RD_NONE)
		return RD_NOMEM;
	add_said(s, &((struct node *)rd_records_at(&s->nodes, id))->said, said);
	return 0;
}

/* A symbol speaks in the nodes that make up its range. */
static int put_symbol(struct rd_symbols *s, uint32_t set, uint32_t index)
{
	const struct rd_symbol *symbol = &s->at.at[index];
	struct said said = {0};
	uint64_t m = s->addresses->at.n, low = symbol->low + m, high = symbol->high + m;
	int rc = 0;

	if (symbol->tier == RD_TIER_NATIVE)
		said.native = index + 1;
	else
		said.compiled = index + 1;
	for (; rc == 0 && low < high; low /= 2, high /= 2) {
		if (low % 2)
			rc = put_node(s, set, (uint32_t)low++, &said);
		if (rc == 0 && high % 2)
			rc = put_node(s, set, (uint32_t)--high, &said);
	}
	return rc;
}

int rd_symbols_seal(struct rd_symbols *s, const uint32_t *also, struct rd_error *err)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < s->at.n; i++) {
		uint32_t set = s->at.at[i].set;
		rc = put_symbol(s, set, i);
		if (rc == 0 && also[set] != RD_NONE)
			rc = put_symbol(s, also[set], i);
	}
	return rc < 0 ? rd_fail_nomem(err) : 0;
}

static uint32_t frame_of(const struct rd_symbols *s, const struct rd_symbol *symbol, uint32_t life, uint32_t module)
{
	struct rd_method_key method = {.life = life, .module = module, .name = symbol->what};

	if (symbol->tier != RD_TIER_NATIVE) {
		const struct compiled *c = rd_records_at(&s->compiled, symbol->what);
		method.module = c->module;
		method.ns = c->ns;
		method.name = c->name;
		method.signature = c->signature;
	}
	return rd_content_frame(s->content, &method, symbol->tier, 0);
}

int rd_symbols_ask(const struct rd_symbols *s, uint32_t set, uint32_t rank, uint32_t life, uint32_t module,
		   uint32_t *frame, bool *ambiguous, struct rd_error *err)
{
	struct said said = {0};

	for (uint32_t node = rank + (uint32_t)s->addresses->at.n; node > 0; node /= 2) {
		uint32_t key[2] = {set, node};
		uint32_t id = rd_records_find(&s->nodes, key);
		if (id != RD_NONE)
			add_said(s, &said, &((const struct node *)rd_records_at(&s->nodes, id))->said);
	}
	uint32_t index = said.compiled ? said.compiled : said.native;
	*frame = RD_NONE;
	*ambiguous = said.differs != 0;
	if (index == 0)
		return 0;
	*frame = frame_of(s, &s->at.at[index - 1], life, module);
	return *frame == RD_NONE ? rd_fail_nomem(err) : 0;
}

void rd_symbols_release(struct rd_symbols *s)
{
	rd_vec_release(&s->at);
	rd_vec_release(&s->names);
	rd_records_release(&s->compiled);
	rd_records_release(&s->nodes);
	rd_bytes_release(&s->scratch);
}
