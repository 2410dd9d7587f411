#include "tests/random.h"

#include <stdio.h>
#include <stdlib.h>

static uint64_t random_state = 88172645463325252u;

void random_begin(uint64_t seed)
{
	/* Small seeds begin far apart, and none is 0, where all numbers would be. */
	random_state = seed * 0x9e3779b97f4a7c15u | 1;
}

uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

uint32_t pick(uint32_t n)
{
	return (uint32_t)((next_random() >> 11) % n);
}

uint64_t roll(uint64_t n)
{
	return next_random() % n;
}

void random_seeds(uint64_t usual, void (*run)(uint64_t seed))
{
	const char *asked = getenv("RD_SEED"), *many = getenv("RD_SEEDS");
	uint64_t from = asked ? strtoull(asked, NULL, 10) : 1;
	uint64_t to = asked ? from : many ? strtoull(many, NULL, 10) : usual;

	for (uint64_t seed = from; seed <= to; seed++) {
		printf("# RD_SEED=%llu\r", (unsigned long long)seed);
		fflush(stdout);
		run(seed);
	}
	printf("\n");
}
