/*
 * play - all acts of a scenario: their bytes, and the truth.
 */
#ifndef RD_TESTS_GEN_PLAY_H
#define RD_TESTS_GEN_PLAY_H

#include "tests/gen/writer.h"

/* The truth is initialised here, and the caller's to release. */
void gen_play(const struct gen_options *o, struct gen_output *out, struct gen_truth *truth);
/* How many things options.drop can leave out. */
size_t gen_play_things(const struct gen_options *o);
/* Each act in its turn: the cast's first word, the acts, its last. acts must be set. */
void gen_play_acts(const struct gen_options *o, void (*tell)(void *ctx, const struct gen_act *a), void *ctx);
/* What is left of a scenario, for people. */
void gen_play_describe(const struct gen_options *o, struct rd_out *out);

#endif
