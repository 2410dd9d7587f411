/*
 * cues - an act as a list of events, in the order in which they happened.
 */
#ifndef RD_TESTS_GEN_CUES_H
#define RD_TESTS_GEN_CUES_H

#include "tests/gen/scenario.h"

struct gen_cue {
	uint64_t stamp; /* what the event says */
	uint32_t slot;  /* when it was */
	uint32_t index; /* of the thing, or of the line when kind is GEN_MARKER */
	uint16_t cpu;
	uint8_t kind, op; /* enum gen_kind, enum gen_op */
	bool lost;
};

struct gen_cues {
	RD_VEC(struct gen_cue) at;
};

/* Of all that is not gone and was told, lost ones too. */
void gen_cues_of(struct gen_cues *c, const struct gen_act *a);
void gen_cues_release(struct gen_cues *c);

#endif
