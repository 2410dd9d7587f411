/* Modules, methods, images, mappings: whose code an address was. */
#include <stdlib.h>
#include <string.h>

#include "base/radix.h"
#include "tests/gen/names.h"
#include "tests/gen/rules.h"

struct code_key {
	uint64_t id, rejit;
	uint32_t life, clr;
};

static uint32_t key_of(struct rd_records *keys, uint64_t id, uint64_t rejit, uint32_t life, uint32_t clr)
{
	struct code_key key = {id, rejit, life, clr};
	uint32_t number = rd_records_id(keys, &key, NULL);

	if (number == RD_NONE)
		gen_out_of_memory();
	return number;
}

/* ---- the facts */

/* What processes 0 and 4 have is everybody's. */
#define KERNEL UINT32_MAX

static void add_code(struct gen_rules *r, struct gen_code *to, const struct gen_act *a, const struct gen_cue *c,
		     uint32_t process, uint64_t start, uint64_t size)
{
	struct gen_code_fact f = {.act = a, .index = c->index, .start = start, .end = start + size, .op = c->op};
	uint32_t pid = a->processes.at[process].pid;

	f.order = gen_order(c->stamp, c->op);
	f.life = pid == 0 || pid == 4 ? KERNEL : gen_rules_life(r, pid, c->stamp);
	f.method = GEN_NONE;
	GEN_ADD(&to->facts, f);
}

static void add_method(struct gen_rules *r, const struct gen_act *a, const struct gen_cue *c)
{
	const struct gen_method *m = &a->methods.at[c->index];

	add_code(r, &r->methods, a, c, m->process, m->start, m->size);
	if (m->plain)
		return;
	uint32_t life = r->methods.facts.at[r->methods.facts.n - 1].life;
	uint32_t key = key_of(&r->name_keys, m->id, m->rejit, life, m->clr);
	gen_timeline_add(&r->names, key, c->stamp, c->op, m->name);
}

static void add_facts(struct gen_rules *r, const struct gen_told *told)
{
	const struct gen_act *a = told->act;

	for (size_t i = 0; i < told->cues->at.n; i++) {
		const struct gen_cue *c = &told->cues->at.at[i];
		if (c->lost)
			continue;
		if (c->kind == GEN_METHOD) {
			add_method(r, a, c);
		} else if (c->kind == GEN_MODULE) {
			const struct gen_module *m = &a->modules.at[c->index];
			uint32_t life = gen_rules_life(r, a->processes.at[m->process].pid, c->stamp);
			gen_timeline_add(&r->modules, key_of(&r->module_keys, m->id, 0, life, m->clr), c->stamp, c->op,
					 m->name);
		} else if (c->kind == GEN_IMAGE) {
			const struct gen_image *m = &a->images.at[c->index];
			add_code(r, &r->images, a, c, m->process, m->base, m->size);
		} else if (c->kind == GEN_MAPPING && c->op == GEN_LOAD) {
			const struct gen_mapping *m = &a->mappings.at[c->index];
			add_code(r, &r->mappings, a, c, m->process, m->start, m->end - m->start);
		} else if (c->kind == GEN_SYMBOL) {
			GEN_ADD(&r->symbols, a->symbols.at[c->index]);
		}
	}
}

/* ---- by address */

static int compare_code(const void *a, const void *b)
{
	const struct gen_code_fact *x = a, *y = b;

	if (x->life != y->life)
		return x->life < y->life ? -1 : 1;
	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static uint32_t rank_of(const struct gen_rules *r, uint64_t address)
{
	size_t low = 0, high = r->addresses.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (r->addresses.at[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return (uint32_t)low;
}

/* Twice over all facts: how many cover each address, then which. */
static void list_by_address(const struct gen_rules *r, struct gen_code *c)
{
	size_t n = r->addresses.n;

	if (c->facts.n > 1)
		qsort(c->facts.at, c->facts.n, sizeof *c->facts.at, compare_code);
	for (size_t i = 0; i <= n + 1; i++)
		GEN_ADD(&c->first, 0);
	for (size_t i = 0; i < c->facts.n; i++) {
		const struct gen_code_fact *f = &c->facts.at[i];
		for (uint32_t k = rank_of(r, f->start); k < n && r->addresses.at[k] < f->end; k++)
			c->first.at[k + 2]++;
	}
	for (size_t i = 2; i <= n + 1; i++)
		c->first.at[i] += c->first.at[i - 1];
	if (rd_vec_reserve(&c->list, c->first.at[n + 1] + 1) != 0)
		gen_out_of_memory();
	for (size_t i = 0; i < c->facts.n; i++) {
		const struct gen_code_fact *f = &c->facts.at[i];
		for (uint32_t k = rank_of(r, f->start); k < n && r->addresses.at[k] < f->end; k++)
			c->list.at[c->first.at[k + 1]++] = (uint32_t)i;
	}
}

static void collect_addresses(struct gen_rules *r, const struct gen_act *a)
{
	uint32_t frames = (uint32_t)a->frames.n, n = frames + (uint32_t)a->samples.n;
	struct rd_radix_item *all = rd_realloc(NULL, (n + 1) * sizeof *all);

	if (all == NULL || rd_vec_reserve(&r->ranks, n) != 0)
		gen_out_of_memory();
	for (uint32_t i = 0; i < n; i++)
		all[i] = (struct rd_radix_item){i < frames ? a->frames.at[i] : a->samples.at[i - frames].pointer, i};
	if (rd_radix_sort(all, n) != 0)
		gen_out_of_memory();
	for (uint32_t i = 0; i < n; i++) {
		if (i == 0 || all[i].key != all[i - 1].key)
			GEN_ADD(&r->addresses, all[i].key);
		r->ranks.at[all[i].index] = (uint32_t)r->addresses.n - 1;
	}
	r->ranks.n = n;
	rd_free(all);
}

void gen_rules_code(struct gen_rules *r, const struct gen_told told[3])
{
	rd_records_init(&r->module_keys, sizeof(struct code_key), sizeof(struct code_key));
	rd_records_init(&r->name_keys, sizeof(struct code_key), sizeof(struct code_key));
	for (int i = 0; i < 3; i++)
		add_facts(r, &told[i]);
	gen_timeline_sort(&r->modules);
	gen_timeline_sort(&r->names);
	collect_addresses(r, told[1].act);
	list_by_address(r, &r->methods);
	list_by_address(r, &r->images);
	list_by_address(r, &r->mappings);
}

/* ---- the rules */

struct near {
	struct gen_code_fact *before, *after;
};

/* The neighbours in the history of an address, in a life. */
static struct near near_facts(struct gen_code *c, uint32_t rank, uint32_t life, uint64_t stamp)
{
	const uint32_t begin = c->first.at[rank], end = c->first.at[rank + 1];
	uint32_t low = begin, high = end;
	struct near n = {NULL, NULL};

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct gen_code_fact *f = &c->facts.at[c->list.at[middle]];
		if (f->life < life || (f->life == life && f->order <= stamp * 2 + 1))
			low = middle + 1;
		else
			high = middle;
	}
	if (low > begin && c->facts.at[c->list.at[low - 1]].life == life)
		n.before = &c->facts.at[c->list.at[low - 1]];
	if (low < end && c->facts.at[c->list.at[low]].life == life)
		n.after = &c->facts.at[c->list.at[low]];
	return n;
}

static void bound(uint64_t *until, uint64_t order)
{
	*until = order / 2 < *until ? order / 2 : *until;
}

/*
 * "A does not speak at a t before the life of its module began … at the first load since the module's last unload; when
 * no load tells, at that unload; with neither, the module was there from ever." An unload right before A is of that
 * life.
 */
static bool module_was_there(struct gen_rules *r, const struct gen_code_fact *f, uint64_t stamp, uint64_t *until)
{
	const struct gen_method *m = &f->act->methods.at[f->index];
	uint32_t key = key_of(&r->module_keys, m->module_id, 0, f->life, m->clr);
	const struct gen_fact *begin = NULL, *last, *after;
	uint64_t since = 0;

	gen_timeline_near(&r->modules, key, f->order / 2, &last, &after);
	while (last && last >= r->modules.at.at && last->key == key && last->order > f->order)
		last--;
	for (; last && last >= r->modules.at.at && last->key == key; last--) {
		if (last->op == GEN_UNLOAD && begin) {
			since = begin->op == GEN_LOAD ? begin->order / 2 : last->order / 2;
			break;
		}
		begin = last;
		since = begin->op == GEN_LOAD ? begin->order / 2 : 0;
	}
	if (since <= stamp)
		return true;
	bound(until, since * 2);
	return false;
}

static uint32_t tier_of(const struct gen_method *m)
{
	return m->flags & 8 ? m->flags >> 7 & 7 : GEN_PRECOMPILED;
}

/* A method by the numbers of its names, either may be GEN_NONE; text is made of them once. */
static uint32_t named(struct gen_truth *t, uint32_t no, uint32_t module_no, uint32_t clr)
{
	struct gen_named key = {.name = no, .module = module_no, .clr = clr};
	struct gen_method_name name;
	struct gen_path module = {.shown = ""};
	bool fresh;
	uint32_t id = rd_records_id(&t->named, &key, &fresh);

	if (id == RD_NONE)
		gen_out_of_memory();
	struct gen_named *at = rd_records_at(&t->named, id);
	if (!fresh)
		return at->method;
	if (module_no != GEN_NONE)
		gen_module_path(module_no, &module);
	if (no == GEN_NONE)
		return at->method = gen_truth_method(t, clr, module.shown, "", "?", "", true);
	gen_method_name(no, &name);
	return at->method = gen_truth_method(t, clr, module.shown, name.ns, name.name, name.signature, false);
}

/* What an event names: its module's name and, without names of its own, those of others, as of its own time. */
static uint32_t method_of(struct gen_rules *r, struct gen_code_fact *f)
{
	const struct gen_method *m = &f->act->methods.at[f->index];
	const struct gen_fact *before, *after;
	uint32_t no = m->name, module_no = GEN_NONE;

	if (f->method != GEN_NONE)
		return f->method;
	gen_timeline_near(&r->modules, key_of(&r->module_keys, m->module_id, 0, f->life, m->clr), f->order / 2, &before,
			  &after);
	if (before || after)
		module_no = before ? before->value : after->value;
	if (m->plain) {
		uint32_t key = key_of(&r->name_keys, m->id, m->rejit, f->life, m->clr);
		gen_timeline_near(&r->names, key, f->order / 2, &before, &after);
		no = before ? before->value : after ? after->value : GEN_NONE;
	}
	return f->method = named(r->truth, no, module_no, m->clr);
}

/* "To the latest event at or before t if that says alive from here, else to the earliest after if that says until." */
static bool ask_methods(struct gen_rules *r, uint32_t life, uint32_t rank, uint64_t stamp, struct gen_verdict *v)
{
	struct near n = near_facts(&r->methods, rank, life, stamp);
	bool from = n.before && n.before->op != GEN_UNLOAD, until = n.after && n.after->op != GEN_LOAD;

	if (n.after)
		bound(&v->until, n.after->order);
	until = until && module_was_there(r, n.after, stamp, &v->until);
	if (!from && !until)
		return false;
	struct gen_code_fact *owner = from ? n.before : n.after;
	v->method = method_of(r, owner);
	v->tier = tier_of(&owner->act->methods.at[owner->index]);
	v->ambiguous = from && until && method_of(r, n.after) != v->method;
	return true;
}

static uint32_t image_of(struct gen_rules *r, struct gen_code_fact *f)
{
	struct gen_path path;

	gen_image_path(f->act->images.at[f->index].name, &path);
	return gen_truth_method(r->truth, 0, path.shown, "", "?", "", true);
}

static bool ask_images(struct gen_rules *r, uint32_t life, uint32_t rank, uint64_t stamp, struct gen_verdict *v)
{
	struct near n = near_facts(&r->images, rank, life, stamp);
	bool from = n.before && n.before->op != GEN_UNLOAD, until = n.after && n.after->op != GEN_LOAD;

	if (n.after)
		bound(&v->until, n.after->order);
	if (!from && !until)
		return false;
	v->method = image_of(r, from ? n.before : n.after);
	v->tier = GEN_NATIVE;
	v->ambiguous = from && until && image_of(r, n.after) != v->method;
	return true;
}

static uint32_t compiled_method(struct gen_rules *r, const struct gen_symbol_name *s)
{
	struct gen_method_name name;
	struct gen_path module;

	gen_method_name(s->method, &name);
	gen_module_path(s->module, &module);
	return gen_truth_method(r->truth, 0, module.shown, name.ns, name.name, name.signature, false);
}

static bool native_is_better(const struct gen_symbol *a, const char *x, const struct gen_symbol *b, const char *y)
{
	if (a->start != b->start)
		return a->start > b->start;
	if (strspn(x, "_") != strspn(y, "_"))
		return strspn(x, "_") < strspn(y, "_");
	if (strlen(x) != strlen(y))
		return strlen(x) < strlen(y);
	return strcmp(x, y) < 0;
}

/* "If any is a JIT symbol, the last written of them holds … else the highest start: …" */
static bool ask_symbols(struct gen_rules *r, const struct gen_mapping *m, const char *module, uint64_t address,
			struct gen_verdict *v)
{
	struct gen_symbol_name name, best_name;
	const struct gen_symbol *best = NULL;
	bool compiled = false;

	for (size_t i = 0; i < r->symbols.n; i++) {
		const struct gen_symbol *s = &r->symbols.at[i];
		if (s->mapping_id != m->id || address < s->start || address > s->last)
			continue;
		gen_symbol_name(s->name, s->compiled, &name);
		if (s->compiled) {
			uint32_t method = compiled_method(r, &name);
			v->ambiguous |= compiled && method != v->method;
			v->method = method;
			v->tier = name.tier;
			compiled = true;
		} else if (best == NULL || native_is_better(s, name.text, best, best_name.text)) {
			best = s;
			best_name = name;
		}
	}
	if (compiled || best == NULL)
		return compiled;
	v->method = gen_truth_method(r->truth, 0, module, "", best_name.text, "", false);
	v->tier = GEN_NATIVE;
	return true;
}

/* "The newest at or before t, else the earliest after." */
static bool ask_mappings(struct gen_rules *r, uint32_t life, uint32_t rank, uint64_t stamp, struct gen_verdict *v)
{
	struct near n = near_facts(&r->mappings, rank, life, stamp);
	const struct gen_code_fact *f = n.before ? n.before : n.after;
	struct gen_path path;

	if (n.after)
		bound(&v->until, n.after->order);
	if (f == NULL)
		return false;
	const struct gen_mapping *m = &f->act->mappings.at[f->index];
	gen_mapping_path(m->name, &path);
	if (ask_symbols(r, m, path.shown, r->addresses.at[rank], v))
		return true;
	v->method = gen_truth_method(r->truth, 0, path.shown, "", "?", "", true);
	v->tier = GEN_NATIVE;
	return true;
}

static void judge(struct gen_rules *r, uint32_t life, uint32_t rank, uint64_t stamp, struct gen_verdict *v)
{
	uint32_t row[2] = {r->lives.at[life].row};

	*v = (struct gen_verdict){.until = UINT64_MAX};
	if (!ask_methods(r, life, rank, stamp, v) && !ask_images(r, life, rank, stamp, v) &&
	    !ask_images(r, KERNEL, rank, stamp, v) && !ask_mappings(r, life, rank, stamp, v))
		v->method = gen_truth_method(r->truth, 0, "", "", "?", "", true);
	row[1] = v->method;
	v->row = rd_records_id(&r->truth->rows, row, NULL);
	if (v->row == RD_NONE)
		gen_out_of_memory();
}

const struct gen_verdict *gen_rules_verdict(struct gen_rules *r, uint32_t life, uint32_t rank, uint64_t stamp)
{
	size_t at = life * r->addresses.n + rank;

	if (at >= r->verdicts.n) {
		size_t more = (r->lives.n + 1) * r->addresses.n - r->verdicts.n;
		if (rd_vec_reserve(&r->verdicts, more) != 0)
			gen_out_of_memory();
		memset(r->verdicts.at + r->verdicts.n, 0, more * sizeof *r->verdicts.at);
		r->verdicts.n += more;
	}
	struct gen_verdict *v = &r->verdicts.at[at];
	if (stamp >= v->until)
		judge(r, life, rank, stamp, v);
	return v;
}

uint32_t gen_rules_real(struct gen_rules *r, const struct gen_act *act, uint32_t process, uint32_t rank, uint32_t slot)
{
	const struct gen_code *c = &r->methods;

	for (uint32_t i = c->first.at[rank]; i < c->first.at[rank + 1]; i++) {
		struct gen_code_fact *f = &r->methods.facts.at[c->list.at[i]];
		const struct gen_method *m = f->act->methods.at + f->index;
		bool now = f->act != act || (m->is.born <= slot && slot < m->is.dies);
		if (now && f->act->processes.at[m->process].pid == act->processes.at[process].pid &&
		    (f->act != act || m->process == process))
			return method_of(r, f);
	}
	return GEN_NONE;
}
