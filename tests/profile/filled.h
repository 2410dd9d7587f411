/*
 * filled - partials with rows in every table: every field of every row is set from its column's description.
 */
#ifndef RD_TESTS_PROFILE_FILLED_H
#define RD_TESTS_PROFILE_FILLED_H

#include "profile/partial_tables.h"

enum fill { FILL_ZERO, FILL_MAX, FILL_ALTERNATE, FILL_RANDOM, FILL_RISING, FILL_FALLING, FILLS };

/* n rows; of the summary, one. */
void fill_rows(struct rd_partial *p, const struct rd_partial_layout *t, size_t n, enum fill fill);
/* A stack of frames made from the seed; all are 0 for 0, and every second one UINT64_MAX for UINT64_MAX. */
void add_stack(struct rd_partial *p, size_t depth, uint64_t seed);
/* A string like no other that begins with this byte. */
void add_string(struct rd_partial *p, size_t size_bytes, uint8_t first);
/* n rows in every table, and up to 300 stacks and strings. */
void fill_partial(struct rd_partial *p, size_t n, enum fill fill);
void assert_same_partial(struct rd_partial *a, struct rd_partial *b);

#endif
