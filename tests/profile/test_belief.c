/* The few samples of which a shard believes something, and what became of them. */
#include "profile/belief.h"

#include "tests/profile/scene.h"
#include "tests/support.h"

static void test_weights_are_all_samples(void **state)
{
	static const uint64_t sizes[] = {
		0,     1, 2, RD_BELIEF_SAMPLES - 1, RD_BELIEF_SAMPLES, RD_BELIEF_SAMPLES + 1, 7 * RD_BELIEF_SAMPLES + 1,
		100000};

	for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
		uint64_t n = sizes[k], taken = 0, sum = 0;
		for (uint64_t i = 0; i < n; i++) {
			uint64_t weight = rd_belief_weight(i, n);
			taken += weight > 0;
			sum += weight;
		}
		assert_int_equal(sum, n);
		assert_int_equal(taken, rd_belief_samples(n));
		assert_true(taken <= RD_BELIEF_SAMPLES);
	}
	assert_int_equal(rd_belief_samples(RD_BELIEF_SAMPLES), RD_BELIEF_SAMPLES);
}

/* A recorder asks 14 threads in turn, and a shard believes of every seventh sample. */
static void test_threads_in_turn_are_all_met(void **state)
{
	uint64_t n = 7 * RD_BELIEF_SAMPLES, met[14] = {0};

	for (uint64_t i = 0; i < n; i++)
		met[i % 14] += rd_belief_weight(i, n);
	for (size_t i = 0; i < 14; i++)
		assert_in_range(met[i], n / 14 * 8 / 10, n / 14 * 12 / 10);
}

static void add_to_the_second(struct rd_partial *p, size_t shard)
{
	if (shard == 1)
		scene_believe(p, shard);
}

/* Of two methods in turn: 20,000 samples. */
static void fill(struct scene *s)
{
	scene_init(s);
	SCENE_METHOD(s, "A", .time = 1, .op = RD_OP_LOAD, .start = 0x1000, .size_bytes = 0x10, .pid = 7);
	SCENE_METHOD(s, "B", .time = 1, .op = RD_OP_LOAD, .start = 0x2000, .size_bytes = 0x10, .pid = 7);
	for (uint64_t i = 0; i < 20000; i++)
		SCENE_SAMPLE(s, 5 + i, 7, i % 2 ? 0x1000 : 0x2000);
}

static void test_what_is_right_is_not_changed(void **state)
{
	struct scene s;
	struct rd_result r;

	fill(&s);
	s.spoil = scene_believe;
	scene_run(&s, &r);
	assert_int_equal(r.stats.preliminary_samples, 20000);
	assert_int_equal(r.stats.preliminary_changed, 0);
	rd_result_release(&r);
	scene_release(&s);
}

static size_t facts_first(void *ctx, size_t item)
{
	return item >= 2 && item % 4 < 2;
}

/* The methods are told in the first shard; the second, without them, has the only belief. */
static void test_a_shard_that_knew_nothing(void **state)
{
	struct scene s;
	struct rd_result r;
	struct rd_error err;

	fill(&s);
	s.spoil = add_to_the_second;
	assert_ok(scene_finish(&s, 2, facts_first, NULL, NULL, &r, &err), &err);
	assert_int_equal(r.stats.preliminary_samples, 10000);
	assert_int_equal(r.stats.preliminary_changed, 10000);
	rd_result_release(&r);
	scene_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_weights_are_all_samples),
		cmocka_unit_test(test_threads_in_turn_are_all_met),
		cmocka_unit_test(test_what_is_right_is_not_changed),
		cmocka_unit_test(test_a_shard_that_knew_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
