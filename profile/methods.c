#include "profile/methods.h"

#include <string.h>

#define METHOD_FLAG_JITTED 0x8u
#define METHOD_TIER(flags) ((flags) >> 7 & 7)

/* All that an event says but where and when. Named events of one method are equal, whatever its MethodID. */
struct identity {
	uint64_t module_id;
	uint64_t method_id, rejit_id; /* of events without names; else 0 */
	uint32_t life, clr;
	struct rd_method_names names; /* all RD_NONE: without names */
	uint32_t tier;
};

_Static_assert(sizeof(struct identity) == 48, "identities are compared as bytes");

void rd_methods_init(struct rd_methods *m, struct rd_content *content, const struct rd_modules *modules,
		     const struct rd_addresses *sealed)
{
	*m = (struct rd_methods){.content = content, .modules = modules};
	rd_records_init(&m->identities, sizeof(struct identity), sizeof(struct identity));
	rd_method_namer_init(&m->namer);
	rd_history_init(&m->history, sealed);
}

static uint32_t tier_of(uint32_t flags)
{
	return flags & METHOD_FLAG_JITTED ? METHOD_TIER(flags) : RD_TIER_PRECOMPILED;
}

int rd_methods_add(struct rd_methods *m, const struct rd_fact_method *fact, uint32_t life,
		   const struct rd_method_names *names, struct rd_when when, uint32_t low, uint32_t high,
		   struct rd_error *err)
{
	struct identity identity = {
		.module_id = fact->module_id,
		.life = life,
		.clr = fact->clr,
		.tier = tier_of(fact->flags),
		.names = {RD_NONE, RD_NONE, RD_NONE},
	};

	if (names) {
		identity.names = *names;
	} else {
		struct rd_code_key key = {fact->method_id, fact->rejit_id, life, fact->clr};
		identity.method_id = fact->method_id;
		identity.rejit_id = fact->rejit_id;
		if (rd_method_namer_want(&m->namer, &key, err) < 0)
			return RD_NOMEM;
	}
	when.id = rd_records_id(&m->identities, &identity, NULL);
	if (when.id == RD_NONE)
		return rd_fail_nomem(err);
	return rd_history_add(&m->history, when, low, high, err);
}

static uint32_t life_of(const void *ctx, uint32_t id)
{
	const struct rd_methods *m = ctx;
	return ((const struct identity *)rd_records_at(&m->identities, id))->life;
}

int rd_methods_seal(struct rd_methods *m, struct rd_error *err)
{
	size_t n = m->history.events.n;

	if (rd_vec_reserve(&m->frames, n) < 0)
		return rd_fail_nomem(err);
	if (n)
		memset(m->frames.at, 0xff, n * sizeof *m->frames.at);
	m->frames.n = n;
	rd_method_namer_seal(&m->namer);
	return rd_history_seal(&m->history, life_of, m, err);
}

static struct rd_code_key module_key(const struct identity *i)
{
	return (struct rd_code_key){.id = i->module_id, .life = i->life, .clr = i->clr};
}

/* The frame that an event names: module and borrowed names are those of the event's own time. */
static uint32_t make_frame(struct rd_methods *m, const struct rd_when *when)
{
	const struct identity *i = rd_records_at(&m->identities, when->id);
	struct rd_code_key module = module_key(i);
	struct rd_method_key method = {.life = i->life, .clr = i->clr};
	const struct rd_method_names *names = &i->names;

	method.module = rd_modules_name(m->modules, &module, when->time);
	if (names->name == RD_NONE) {
		struct rd_code_key key = {i->method_id, i->rejit_id, i->life, i->clr};
		names = rd_method_namer_names(&m->namer, &key, when->time);
	}
	if (names == NULL)
		return rd_content_unnamed(m->content, i->life, i->clr, method.module, i->tier);
	method.ns = names->ns;
	method.name = names->name;
	method.signature = names->signature;
	return rd_content_frame(m->content, &method, i->tier, 0);
}

static uint32_t frame_of(void *ctx, uint32_t event)
{
	struct rd_methods *m = ctx;

	if (m->frames.at[event] == RD_NONE)
		m->frames.at[event] = make_frame(m, &m->history.events.at[event].when);
	return m->frames.at[event];
}

/* A method was not there before its module. */
static bool module_was_there(void *ctx, const struct rd_history_event *after, uint64_t time, uint64_t *until)
{
	struct rd_methods *m = ctx;
	struct rd_code_key key = module_key(rd_records_at(&m->identities, after->when.id));
	return rd_modules_there(m->modules, &key, time, &after->when, until);
}

int rd_methods_ask(struct rd_methods *m, uint32_t life, uint32_t rank, uint64_t time, struct rd_verdict *out,
		   struct rd_error *err)
{
	struct rd_ownership o = rd_history_owner(&m->history, life, rank, time, module_was_there, m);
	return rd_verdict_give(out, &o, m->content, frame_of, m, err);
}

void rd_methods_release(struct rd_methods *m)
{
	rd_records_release(&m->identities);
	rd_method_namer_release(&m->namer);
	rd_history_release(&m->history);
	rd_vec_release(&m->frames);
}
