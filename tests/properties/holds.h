/*
 * holds - what is promised of any trace: however it is cut, in whatever order its parts come, some twice and some
 * late, the answer is one, and it is the truth. Of a damaged one it is one, too.
 */
#ifndef RD_TESTS_PROPERTIES_HOLDS_H
#define RD_TESTS_PROPERTIES_HOLDS_H

#include "tests/gen/scenario.h"

/* 0, or 1 with a few lines on what does not hold in why. The store it leaves in folder is remove_store's. */
int scenario_holds(const struct gen_options *o, const char *folder, struct rd_bytes *why);

/* The same in a process of its own, so that one that dies or hangs fails as well. */
int scenario_holds_apart(const struct gen_options *o, struct rd_bytes *why);

/* Make o->drop, which must be writable and have room for o->drop_n things, as large as it can be while o fails. */
void shrink_scenario(struct gen_options *o, uint8_t *drop, struct rd_bytes *why);

#endif
