/*
 * random - numbers that look like chance and are the same after the same seed.
 */
#ifndef RD_TESTS_RANDOM_H
#define RD_TESTS_RANDOM_H

#include <stdint.h>

/* Any seed will do; without a call the numbers begin as after one seed. */
void random_begin(uint64_t seed);
uint64_t next_random(void);
/* Below n. */
uint32_t pick(uint32_t n);

#endif
