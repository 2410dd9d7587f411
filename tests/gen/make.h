/*
 * make - what the makers of acts share.
 */
#ifndef RD_TESTS_GEN_MAKE_H
#define RD_TESTS_GEN_MAKE_H

#include <string.h>

#include "tests/gen/scenario.h"

#define GEN_EDGE_SLOTS 40u /* at both ends of an act: more than clocks differ */
#define GEN_LANES_MAX  4096
#define GEN_NAME_SEAL  1000000u

bool gen_chance(uint32_t of_1000);
/* In [from, to); from when that is empty. */
uint32_t gen_between(uint32_t from, uint32_t to);
uint16_t gen_cpu(const struct gen_options *o);

/* Those of all acts. */
void gen_make_stacks(struct gen_act *a, const struct gen_options *o);

#endif
