/*
 * make_result - results made by tests: a small one of known content, and large ones by a seed.
 */
#ifndef RD_TESTS_MAKE_RESULT_H
#define RD_TESTS_MAKE_RESULT_H

#include "profile/result.h"

/*
 * Two processes, "shop" (pid 10, namespace pid 1) and one without an owner;
 * 100 samples of thread time, buckets of 0.5 s:
 *
 *   process  kind      bucket  stack (root first)                count
 *   shop     managed   2       app!App.Main > app!App.Work       40
 *   shop     managed   3       app!App.Main > app!App.Work (tier 1) > app!App.Work  20
 *   shop     external  3       app!App.Main > libc.so.6!?        30
 *   shop     external  5       [no stack]                         6
 *   no owner external  5       [no stack]                         4
 */
void small_result(struct rd_result *r);

/* Any number of rows, stacks and strings, the same for the same seed. */
void large_result(struct rd_result *r, size_t rows, uint64_t seed);

uint32_t result_string(struct rd_result *r, const char *text);

#endif
