/*
 * view_frames - what each frame of a result is to a view: a method or its group, and what the patterns say of it.
 */
#include <regex.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "report/label.h"
#include "report/view_make.h"

/* ---- methods and groups */

static struct rd_span string(const struct rd_view_making *g, uint32_t id)
{
	return rd_strings_at(&g->r->strings, id);
}

static struct rd_view_method whole_method(const struct rd_view_making *g, const struct rd_result_frame *f)
{
	struct rd_view_method m;

	/* Methods are told apart by their bytes. */
	memset(&m, 0, sizeof m);
	m.module = string(g, f->module);
	m.ns = string(g, f->ns);
	m.name = string(g, f->name);
	m.signature = string(g, f->signature);
	m.process = f->process;
	m.clr = f->clr;
	return m;
}

/* "System.Collections" of "System.Collections.Generic.List`1[System.Int32]" less the last name: what ends at its last
 * stop. Generic arguments and outer types have stops of their own, behind these marks. */
static struct rd_span namespace_of(struct rd_span type)
{
	size_t end = 0;

	for (size_t i = 0; i < type.size_bytes && memchr("`[<+(", type.at[i], 5) == NULL; i++)
		if (type.at[i] == '.')
			end = i;
	return (struct rd_span){type.at, end};
}

static struct rd_span own_name(struct rd_view_making *g, struct rd_span text)
{
	uint32_t id = rd_strings_id(&g->v->names, text.size_bytes ? (const void *)text.at : "", text.size_bytes);

	g->failed |= id == RD_NONE;
	return id == RD_NONE ? (struct rd_span){NULL, 0} : rd_strings_at(&g->v->names, id);
}

static struct rd_span own_text(struct rd_view_making *g, const char *text)
{
	return own_name(g, rd_text_span(text));
}

/* The group that stands for a method; none of its parts is empty. */
static void make_group(struct rd_view_making *g, struct rd_view_method *m, uint32_t tier)
{
	struct rd_view_method whole = *m;
	struct rd_bytes process = {0};
	char name[32];

	memset(m, 0, sizeof *m);
	m->process = whole.process;
	switch (g->f->group) {
	case RD_GROUP_TIER:
		m->name = own_text(g, rd_tier_name(tier, name));
		return;
	case RD_GROUP_PROCESS:
		rd_label_process(&process, g->r, m->process);
		m->name = own_name(g, (struct rd_span){process.at, process.n});
		g->failed |= process.failed != 0;
		rd_bytes_release(&process);
		return;
	case RD_GROUP_TYPE:
		m->ns = whole.ns.size_bytes ? own_name(g, whole.ns) : m->ns;
		break;
	case RD_GROUP_NAMESPACE:
		whole.ns = namespace_of(whole.ns);
		m->ns = whole.ns.size_bytes ? own_name(g, whole.ns) : m->ns;
		break;
	case RD_GROUP_MODULE:
	case RD_GROUP_NONE:
		break;
	}
	if (whole.module.size_bytes)
		m->module = whole.module;
	else if (m->ns.size_bytes == 0)
		m->name = own_text(g, "[no module]");
}

struct rd_view_method rd_view_pseudo(enum rd_view_what what, uint32_t process)
{
	static const char *const names[] = {[RD_VIEW_NO_STACK] = "[no stack]", [RD_VIEW_PRUNED] = "[pruned]"};
	struct rd_view_method m;

	memset(&m, 0, sizeof m);
	m.name = (struct rd_span){(const uint8_t *)names[what], strlen(names[what])};
	m.process = process;
	m.what = what;
	return m;
}

/* ---- patterns */

struct pattern {
	const char *option, *text;
	uint8_t bit;
	regex_t compiled;
	bool is_compiled;
};

static int compile(struct pattern *p, struct rd_error *err)
{
	char why[96];

	if (p->text == NULL)
		return 0;
	int code = regcomp(&p->compiled, p->text, REG_EXTENDED | REG_NOSUB);
	if (code == 0) {
		p->is_compiled = true;
		return 0;
	}
	if (code == REG_ESPACE)
		return rd_fail_nomem(err);
	regerror(code, &p->compiled, why, sizeof why);
	return rd_fail(err, RD_USAGE, "--%s: '%.80s' is no regular expression: %s", p->option, p->text, why);
}

/* A name may hold NULs: it ends where its size says. What reads on to a NUL finds one behind it. */
static bool matches(const struct pattern *p, const struct rd_bytes *label)
{
	regmatch_t range = {.rm_so = 0, .rm_eo = (regoff_t)(label->n - 1)};

	return p->is_compiled && label->failed == 0 &&
	       regexec(&p->compiled, (const char *)label->at, 1, &range, REG_STARTEND) == 0;
}

static bool same_module(const char *wanted, struct rd_span module)
{
	return wanted && strlen(wanted) == module.size_bytes &&
	       strncasecmp(wanted, (const char *)module.at, module.size_bytes) == 0;
}

struct naming {
	struct rd_view_making *g;
	struct pattern patterns[5];
	struct rd_bytes label;
};
#define PATTERNS (sizeof((struct naming *)0)->patterns / sizeof(struct pattern))

static uint8_t bits_of(struct naming *n, const struct rd_view_method *m)
{
	uint8_t bits = same_module(n->g->f->module, m->module) ? RD_FRAME_MODULE : 0;

	n->label.n = 0;
	rd_label(&n->label, m, false);
	rd_bytes_append(&n->label, "", 1);
	for (size_t i = 0; i < PATTERNS; i++)
		if (matches(&n->patterns[i], &n->label))
			bits |= n->patterns[i].bit;
	return bits;
}

static int name_frame(struct naming *n, size_t i, bool any_pattern)
{
	struct rd_view_making *g = n->g;
	const struct rd_result_frame *f = &g->r->frames.at[i];
	struct rd_view_method m = whole_method(g, f);

	g->frame_bits.at[i] = any_pattern ? bits_of(n, &m) : 0;
	if (g->f->group)
		make_group(g, &m, f->tier);
	else if (g->f->tiers)
		m.tier = f->tier;
	g->frame_method.at[i] = rd_records_id(&g->methods, &m, NULL);
	return g->frame_method.at[i] == RD_NONE || g->failed ? RD_NOMEM : 0;
}

static int name_all(struct naming *n)
{
	struct rd_view_making *g = n->g;
	size_t frames = g->r->frames.n;
	bool any_pattern = g->f->module != NULL, any_module = g->f->module == NULL;
	struct rd_view_method none = rd_view_pseudo(RD_VIEW_NO_STACK, 0);

	for (size_t i = 0; i < PATTERNS; i++)
		any_pattern |= n->patterns[i].is_compiled;
	if (RD_ZEROS(&g->frame_method, frames + 1) != 0 || RD_ZEROS(&g->frame_bits, frames + 1) != 0)
		return rd_fail_nomem(g->err);
	for (size_t i = 0; i < frames; i++) {
		if (name_frame(n, i, any_pattern) != 0)
			return rd_fail_nomem(g->err);
		any_module |= (g->frame_bits.at[i] & RD_FRAME_MODULE) != 0;
	}
	g->frame_bits.at[frames] = bits_of(n, &none);
	if (n->label.failed)
		return rd_fail_nomem(g->err);
	return any_module ? 0 : rd_fail(g->err, RD_NOT_FOUND, "no frame is of a module '%.80s'", g->f->module);
}

int rd_view_name_frames(struct rd_view_making *g)
{
	struct naming n = {.g = g,
			   .patterns = {{"focus", g->f->focus, RD_FRAME_FOCUS, {0}, false},
					{"ignore", g->f->ignore, RD_FRAME_IGNORE, {0}, false},
					{"hide", g->f->hide, RD_FRAME_HIDE, {0}, false},
					{"callers", g->f->callers, RD_FRAME_PIVOT, {0}, false},
					{"callees", g->f->callees, RD_FRAME_PIVOT, {0}, false}}};
	int code = 0;

	for (size_t i = 0; i < PATTERNS && code == 0; i++)
		code = compile(&n.patterns[i], g->err);
	if (code == 0)
		code = name_all(&n);
	for (size_t i = 0; i < PATTERNS; i++)
		if (n.patterns[i].is_compiled)
			regfree(&n.patterns[i].compiled);
	rd_bytes_release(&n.label);
	return code;
}
