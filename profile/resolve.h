/*
 * resolve - from raw stacks to stacks of frames, once per gap between facts.
 *
 * Moments must be asked in ascending order: an answer is kept until the first
 * fact that may change it and never looked for again. What a stack has outside
 * that holds for ever is not even looked at again: only what changes is paid for.
 */
#ifndef RD_PROFILE_RESOLVE_H
#define RD_PROFILE_RESOLVE_H

#include "profile/images.h"
#include "profile/mappings.h"
#include "profile/methods.h"
#include "profile/progress.h"

struct rd_resolver {
	struct rd_content *content;
	const struct rd_strings *raw_stacks; /* addresses as bytes, innermost first */
	const struct rd_addresses *addresses;
	struct rd_methods *methods;
	struct rd_images *images;
	struct rd_mappings *mappings;
	struct rd_records at_addresses; /* verdicts by (life, address) */
	uint32_t recent[1024];          /* of these, by address, hashed: found without the table */
	struct rd_records stacks;       /* struct rd_resolved by what it is made of */
	RD_VEC(uint32_t) by_user;       /* by raw stack: the resolved stack made of it alone that was asked last */
	struct rd_progress *progress;   /* NULL none */
	bool once;                      /* an answer holds for ever, whatever comes later: for a belief */
};

/* What a sample brings. */
struct rd_raw_sample {
	uint32_t life;
	uint32_t kernel, user; /* raw stacks; RD_NONE no such part, or one without frames */
	uint64_t pointer;      /* 0 none */
	uint64_t time;
};

struct rd_stack_so_far {
	uint32_t stack;                         /* of the content */
	uint32_t frames, unresolved, ambiguous; /* how many of them */
};

struct rd_resolved {
	uint32_t life, kernel, user; /* the key: with the pointer's frame, */
	uint32_t head;               /* doubled, plus one when that is ambiguous; RD_NONE no pointer */
	uint64_t until;
	struct rd_stack_so_far whole;
	struct rd_stack_so_far lasting; /* its frames from the outermost on that hold for ever */
};

void rd_resolver_init(struct rd_resolver *r, struct rd_content *content, const struct rd_strings *raw_stacks,
		      const struct rd_addresses *addresses, struct rd_methods *methods, struct rd_images *images,
		      struct rd_mappings *mappings, struct rd_progress *progress);
/* *out is borrowed until the next call. */
int rd_resolve(struct rd_resolver *r, const struct rd_raw_sample *s, const struct rd_resolved **out,
	       struct rd_error *err);
void rd_resolver_release(struct rd_resolver *r);

#endif
