/*
 * Made-up traces, each cut, delivered and finished in several ways. RD_SEEDS says how many, RD_SEED which alone.
 */
#include "tests/support.h"

#include "tests/gen/play.h"
#include "tests/properties/holds.h"

#ifdef __SANITIZE_ADDRESS__
#define SEEDS 60
#else
#define SEEDS 300
#endif

static uint64_t number_of(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);
	return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

static void say_smallest(struct gen_options *o, struct rd_bytes *why)
{
	struct rd_out out;
	struct rd_error err;

	o->drop_n = gen_play_things(o);
	uint8_t *drop = calloc(o->drop_n + 1, 1);
	assert_non_null(drop);
	o->drop = drop;
	shrink_scenario(o, drop, why);
	print_error("the smallest scenario that fails like it:\n");
	rd_out_init(&out, 2);
	gen_play_describe(o, &out);
	(void)rd_out_close(&out, &err);
	print_error("%.*s", (int)why->n, (const char *)why->at);
	free(drop);
}

static void test_any_sharding_gives_the_truth(void **state)
{
	uint64_t only = number_of("RD_SEED", 0), first = only ? only : 1;
	uint64_t last = only ? only : number_of("RD_SEEDS", SEEDS);
	struct rd_bytes why = {0};

	for (uint64_t seed = first; seed <= last; seed++) {
		struct gen_options o;
		gen_options_small(&o, seed);
		if (scenario_holds_apart(&o, &why) == 0)
			continue;
		print_error("make check-properties SEED=%llu\n%.*s", (unsigned long long)seed, (int)why.n,
			    (const char *)why.at);
		say_smallest(&o, &why);
		rd_bytes_release(&why);
		fail();
	}
	rd_bytes_release(&why);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_sharding_gives_the_truth),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
