/*
 * truth - the right answer of a made-up trace, counted from its scenario.
 */
#ifndef RD_TESTS_GEN_TRUTH_H
#define RD_TESTS_GEN_TRUTH_H

#include "base/out.h"
#include "base/records.h"
#include "tests/gen/cues.h"

#define GEN_NO_OWNER    UINT32_MAX /* the pid of a sample without one */
#define GEN_PRECOMPILED 100
#define GEN_NATIVE      101

/* (CLR instance, module, namespace, name, signature): text, the parts ended by NUL. */
struct gen_identity {
	uint32_t clr;
	bool unresolved;
	uint64_t hash;
	struct rd_span module, ns, name, signature;
};

/* A life of a pid, as a reader knows it; begin is 0 when nothing tells of its start. */
struct gen_life_row {
	uint32_t pid, started;
	uint64_t begin; /* the key to here */
	uint64_t samples;
};

/* Which method numbers of names stand for. */
struct gen_named {
	uint32_t name, module, clr; /* the key */
	uint32_t method;
};

struct gen_truth_row {
	uint32_t life, method; /* the key */
	uint64_t exclusive, inclusive, exclusive_weight, inclusive_weight;
	uint64_t last; /* the sample that counted it last */
};

struct gen_truth {
	struct rd_strings texts; /* identities as text, by their number */
	RD_VEC(struct gen_identity) methods;
	struct rd_records named; /* struct gen_named */
	struct rd_records lives; /* struct gen_life_row */
	struct rd_records rows;  /* struct gen_truth_row */
	struct rd_strings keys;  /* of events, as inspect prints them */
	RD_VEC(uint64_t) events; /* by key */

	uint64_t samples, weight, kinds[3];
	uint64_t frames, unresolved_frames, ambiguous_frames;
	uint64_t samples_without_stack, stacks_unused, broken_stacks, unowned_samples;
	uint64_t lost_events, lost_buffers;
	uint64_t stacks; /* changes with any frame of any sample, not with their order */
	uint64_t misled; /* frames for which the rules do not give what really ran */
	uint64_t file_bytes;
	bool complete;
};

void gen_truth_init(struct gen_truth *t);
void gen_truth_release(struct gen_truth *t);

uint32_t gen_truth_method(struct gen_truth *t, uint32_t clr, const char *module, const char *ns, const char *name,
			  const char *signature, bool unresolved);
uint32_t gen_truth_life(struct gen_truth *t, uint32_t pid, bool started, uint64_t begin);
uint32_t gen_truth_key(struct gen_truth *t, const char *key); /* of an event: its number in `events` */

/* Hashes of a frame and of a whole sample, for whoever folds a result the same way. */
uint64_t gen_hash_identity(uint32_t clr, struct rd_span module, struct rd_span ns, struct rd_span name,
			   struct rd_span signature);
uint64_t gen_hash_frame(uint64_t stack, uint64_t identity, uint32_t tier); /* innermost first, from 0 */
uint64_t gen_hash_sample(uint64_t stack, uint32_t pid, uint64_t thread, uint32_t kind);

/*
 * Add the samples of an act. first and last are what the cast told: all cues
 * of last are later than any of the act's. check_real fills misled.
 */
struct gen_told {
	const struct gen_act *act;
	const struct gen_cues *cues;
};
void gen_truth_add(struct gen_truth *t, const struct gen_options *o, const struct gen_told told[3], bool check_real);

/* In the form of tests/answers. */
void gen_truth_json(const struct gen_truth *t, const struct gen_options *o, struct rd_out *out);

#endif
