/*
 * methods - which method an address belonged to, by the runtime's method events.
 */
#ifndef RD_PROFILE_METHODS_H
#define RD_PROFILE_METHODS_H

#include "profile/names.h"
#include "profile/partial.h"
#include "profile/verdict.h"

struct rd_methods {
	struct rd_content *content;
	const struct rd_modules *modules;
	struct rd_records identities; /* what events say they are */
	struct rd_method_namer namer; /* for events without names */
	struct rd_history history;    /* id: an identity */
	RD_VEC(uint32_t) frames;      /* by event; RD_NONE: not asked yet */
};

/* All pointers are borrowed; the modules need not be sealed before rd_methods_seal. */
void rd_methods_init(struct rd_methods *m, struct rd_content *content, const struct rd_modules *modules,
		     const struct rd_addresses *sealed);
/*
 * An event over the ranks [low, high). names NULL: a plain event, which names
 * nothing; its method is then wanted from m->namer. when.id is not read.
 */
int rd_methods_add(struct rd_methods *m, const struct rd_fact_method *fact, uint32_t life,
		   const struct rd_method_names *names, struct rd_when when, uint32_t low, uint32_t high,
		   struct rd_error *err);
/* After all events, and all that the namer was told. */
int rd_methods_seal(struct rd_methods *m, struct rd_error *err);

int rd_methods_ask(struct rd_methods *m, uint32_t life, uint32_t rank, uint64_t time, struct rd_verdict *out,
		   struct rd_error *err);

void rd_methods_release(struct rd_methods *m);

#endif
