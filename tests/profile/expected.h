/*
 * expected - the samples, stacks and counts of a scene by the sentences of docs/design.md, section 3.
 */
#ifndef RD_TESTS_PROFILE_EXPECTED_H
#define RD_TESTS_PROFILE_EXPECTED_H

#include <stdio.h>

#include "tests/profile/scene.h"

struct expected {
	struct rd_trust trust;
	uint64_t samples, weight, discarded;
	FILE *folded; /* while it is written */
	char *text;   /* a line a sample, sorted; from malloc */
	size_t size;
};

void expect_scene(struct expected *e, const struct scene *s, const struct rd_finish_options *opt);

#endif
