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
uint64_t roll(uint64_t n);

/*
 * Run every seed from 1 to `usual`; RD_SEEDS=N to N, RD_SEED=N that one alone. Each is printed on its line before it
 * begins, so that a failure names the one before it.
 */
void random_seeds(uint64_t usual, void (*run)(uint64_t seed));

#endif
