/*
 * compare - a result against the truth of its scenario.
 */
#ifndef RD_TESTS_PROPERTIES_COMPARE_H
#define RD_TESTS_PROPERTIES_COMPARE_H

#include "profile/result.h"
#include "tests/gen/truth.h"

/* Lines on what differs, the first of many; nothing when they are equal. */
void compare_with_truth(const struct rd_result *r, const struct gen_truth *truth, struct rd_bytes *why);

#endif
