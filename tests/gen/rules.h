/*
 * rules - what a reader can know by the facts that were told: docs/design.md, section 3, sentence by sentence.
 *
 * Of one act and what its cast told before and after. Lists and searches only,
 * nothing of profile/.
 */
#ifndef RD_TESTS_GEN_RULES_H
#define RD_TESTS_GEN_RULES_H

#include "tests/gen/truth.h"

/* Facts by key and time: ends before all others of one time. */
struct gen_fact {
	uint64_t key, order; /* order: stamp * 2, + 1 unless it is an end */
	uint32_t value;
	uint8_t op;
};
struct gen_timeline {
	RD_VEC(struct gen_fact) at;
};

struct gen_life {
	uint32_t pid;
	bool started;
	uint64_t begin;
	uint32_t row; /* in the truth */
};

/* A method, image or mapping event. */
struct gen_code_fact {
	uint64_t order, start, end;
	const struct gen_act *act;
	uint32_t index, life;
	uint8_t op;
	uint32_t method; /* in the truth, once asked; GEN_NONE */
};

/* Facts by address: those of address i are list[first[i] .. first[i + 1]), by life and in their order. */
struct gen_code {
	RD_VEC(struct gen_code_fact) facts;
	RD_VEC(uint32_t) first, list;
};

struct gen_verdict {
	uint64_t until; /* stamps below this get the same answer; 0: never asked */
	uint32_t method, tier, row;
	bool ambiguous;
};

struct gen_rules {
	const struct gen_options *o;
	struct gen_truth *truth;
	struct gen_timeline processes, threads, modules, names, keys;
	struct rd_records module_keys, name_keys;
	RD_VEC(struct gen_life) lives;
	RD_VEC(uint64_t) addresses; /* sorted */
	RD_VEC(uint32_t) ranks;     /* the addresses of the act's frames, and behind them of its samples' pointers */
	struct gen_code methods, images, mappings;
	RD_VEC(struct gen_symbol) symbols;   /* told, in the order of writing */
	RD_VEC(struct gen_verdict) verdicts; /* by life and address */
};

void gen_rules_init(struct gen_rules *r, const struct gen_options *o, struct gen_truth *truth,
		    const struct gen_told told[3]);
void gen_rules_release(struct gen_rules *r);

/* The life of a pid at a time; the pid of a thread, GEN_NO_OWNER when no record tells. */
uint32_t gen_rules_life(struct gen_rules *r, uint32_t pid, uint64_t stamp);
uint32_t gen_rules_owner(const struct gen_rules *r, uint32_t tid, uint64_t stamp);
/* The stack of a key at a record's own time; GEN_NONE undefined. */
uint32_t gen_rules_stack(const struct gen_rules *r, uint64_t key, uint64_t stamp);

/* Whose code an address was; stamps never fall from one question to the next. */
const struct gen_verdict *gen_rules_verdict(struct gen_rules *r, uint32_t life, uint32_t rank, uint64_t stamp);
/* What really ran there: a method of the truth, GEN_NONE nothing that was told. */
uint32_t gen_rules_real(struct gen_rules *r, const struct gen_act *act, uint32_t process, uint32_t rank, uint32_t slot);

/* ---- for rules_*.c */
static inline uint64_t gen_order(uint64_t stamp, uint8_t op)
{
	return stamp * 2 + (op != GEN_UNLOAD);
}
void gen_timeline_add(struct gen_timeline *t, uint64_t key, uint64_t stamp, uint8_t op, uint32_t value);
void gen_timeline_sort(struct gen_timeline *t);
/* The latest fact of a key at or before a stamp and the earliest after it; NULL none. */
void gen_timeline_near(const struct gen_timeline *t, uint64_t key, uint64_t stamp, const struct gen_fact **before,
		       const struct gen_fact **after);
void gen_rules_code(struct gen_rules *r, const struct gen_told told[3]);

#endif
