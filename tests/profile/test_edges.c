/*
 * What belongs together, on both sides of every edge: small traces, their events dealt out to shards in all ways there
 * are.
 */
#include "tests/profile/scene.h"
#include "tests/support.h"

#define SHARDS 3
#define KERNEL 0xffff800000000010u

/* The number of a way, as digits of base SHARDS: the shard of each item. */
static size_t digit(void *ctx, size_t item)
{
	size_t way = *(const size_t *)ctx;

	while (item--)
		way /= SHARDS;
	return way % SHARDS;
}

/* How many ways there are to deal the items out. */
static size_t ways_of(const struct scene *s)
{
	size_t ways = 1;

	for (size_t i = 0; i < s->items.n; i++)
		ways *= SHARDS;
	return ways;
}

static void in_all_ways(const struct scene *s, const char *folded)
{
	struct rd_finish_options opt = {.kind = -1};
	struct rd_error err;
	char first[33] = "", digest[33];

	for (size_t way = 0; way < ways_of(s); way++) {
		struct rd_result r;
		assert_ok(scene_finish(s, SHARDS, digit, &way, &opt, &r, &err), &err);
		assert_folded(&r, folded);
		assert_ok(rd_result_digest(&r, digest, &err), &err);
		if (way == 0)
			strcpy(first, digest);
		assert_string_equal(digest, first);
		rd_result_release(&r);
	}
}

#define METHOD(s, NAME, TIME, OP)                                                                                      \
	SCENE_METHOD(s, NAME, .time = TIME, .op = RD_OP_##OP, .pid = 7, .start = 0x1000, .size_bytes = 0x100)

static void test_a_fact_between_two_equal_samples(void **state)
{
	struct scene s;

	scene_init(&s);
	METHOD(&s, "A", 10, LOAD);
	SCENE_SAMPLE(&s, 20, 7, 0x1010);
	METHOD(&s, "A", 30, UNLOAD);
	METHOD(&s, "B", 30, LOAD);
	SCENE_SAMPLE(&s, 40, 7, 0x1010);
	SCENE_SAMPLE(&s, 20, 7, 0x1010);
	in_all_ways(&s, "7;A 2\n7;B 1\n");
	scene_release(&s);
}

static void test_a_life_known_by_its_end_only(void **state)
{
	struct scene s;

	scene_init(&s);
	METHOD(&s, "A", 30, UNLOAD);
	METHOD(&s, "B", 90, DCEND);
	SCENE_SAMPLE(&s, 20, 7, 0x1010);
	SCENE_SAMPLE(&s, 30, 7, 0x1010);
	SCENE_SAMPLE(&s, 95, 7, 0x1010);
	in_all_ways(&s, "7;A 1\n7;B 2\n");
	scene_release(&s);
}

static void test_the_halves_of_a_stack(void **state)
{
	struct scene s;

	scene_init(&s);
	SCENE_THREAD(&s, .time = 1, .op = RD_OP_LOAD, .pid = 7, .thread = 70);
	METHOD(&s, "A", 10, LOAD);
	SCENE_ETL_SAMPLE(&s, 20, 70, 0, KERNEL);
	SCENE_RECORD(&s, 20, 70, 0, 21, 7, KERNEL);
	SCENE_RECORD(&s, 20, 70, 1, 500, 7, 0x1010);
	/* Of the same sample, and too late. */
	SCENE_RECORD(&s, 20, 70, 0, 501, 7, 0x2000);
	in_all_ways(&s, "7;A;? 1\n");
	scene_release(&s);
}

static void test_a_key_and_its_definition(void **state)
{
	struct scene s;

	scene_init(&s);
	SCENE_THREAD(&s, .time = 1, .op = RD_OP_LOAD, .pid = 7, .thread = 70);
	METHOD(&s, "A", 10, LOAD);
	SCENE_ETL_SAMPLE(&s, 20, 70, 0, 0);
	SCENE_KEYED_RECORD(&s, 20, 70, 21, RD_STACK_USER_KEY, 5);
	/* The key's owner before, its own, and the next one. */
	SCENE_KEY(&s, 20, 5, 0x2000);
	SCENE_KEY(&s, 60, 5, 0x1010, 0x1020);
	SCENE_KEY(&s, 90, 5, 0x3000);
	in_all_ways(&s, "7;A;A 1\n");
	scene_release(&s);
}

static void test_a_thread_and_its_records(void **state)
{
	struct scene s;

	scene_init(&s);
	SCENE_THREAD(&s, .time = 10, .op = RD_OP_LOAD, .pid = 7, .thread = 70);
	SCENE_THREAD(&s, .time = 30, .op = RD_OP_UNLOAD, .pid = 7, .thread = 70);
	SCENE_THREAD(&s, .time = 30, .op = RD_OP_LOAD, .pid = 8, .thread = 70);
	SCENE_ETL_SAMPLE(&s, 5, 70, 0, 0x1010);
	SCENE_ETL_SAMPLE(&s, 29, 70, 0, 0x1010);
	SCENE_ETL_SAMPLE(&s, 30, 70, 0, 0x1010);
	in_all_ways(&s, "7;? 2\n8;? 1\n");
	scene_release(&s);
}

static void test_a_process_and_its_successor(void **state)
{
	struct scene s;

	scene_init(&s);
	SCENE_PROCESS(&s, "old.exe", .time = 10, .op = RD_OP_LOAD, .pid = 7);
	SCENE_PROCESS(&s, "old.exe", .time = 30, .op = RD_OP_UNLOAD, .pid = 7);
	SCENE_PROCESS(&s, "new.exe", .time = 40, .op = RD_OP_LOAD, .pid = 7);
	METHOD(&s, "A", 15, LOAD);
	METHOD(&s, "B", 90, DCEND);
	SCENE_SAMPLE(&s, 20, 7, 0x1010);
	SCENE_SAMPLE(&s, 45, 7, 0x1010);
	in_all_ways(&s, "7;A 1\n7;B 1\n");
	scene_release(&s);
}

/* The axis spans all samples, so no shard has it alone; what a filter discards does not move it. */
static void test_buckets(void **state)
{
	struct scene s;

	scene_init(&s);
	METHOD(&s, "A", 1, LOAD);
	SCENE_SAMPLE(&s, 1000, 7, 0x1010);
	SCENE_SAMPLE(&s, 1999, 7, 0x1010);
	SCENE_SAMPLE(&s, 30000, 7, 0x1010);
	SCENE_SAMPLE(&s, 51000, 7, 0x1010);
	for (size_t way = 0; way < 2 * ways_of(&s); way++) {
		struct rd_finish_options opt = {.kind = -1, .has_to = way % 2, .to_ns = 40000};
		size_t deal = way / 2;
		uint64_t in[256] = {0};
		struct rd_result r;
		struct rd_error err;
		assert_ok(scene_finish(&s, SHARDS, digit, &deal, &opt, &r, &err), &err);
		/* 51 us in at most 256: 200 ns each. */
		assert_int_equal(r.bucket_width_ns, 200);
		assert_int_equal(r.first_bucket, 5);
		assert_int_equal(r.last_bucket, 255);
		for (size_t i = 0; i < r.rows.n; i++)
			in[r.rows.at[i].bucket] += r.rows.at[i].count;
		assert_int_equal(in[5], 1);
		assert_int_equal(in[9], 1);
		assert_int_equal(in[150], 1);
		assert_int_equal(in[255], way % 2 ? 0 : 1);
		rd_result_release(&r);
	}
	scene_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_fact_between_two_equal_samples),
		cmocka_unit_test(test_a_life_known_by_its_end_only),
		cmocka_unit_test(test_the_halves_of_a_stack),
		cmocka_unit_test(test_a_key_and_its_definition),
		cmocka_unit_test(test_a_thread_and_its_records),
		cmocka_unit_test(test_a_process_and_its_successor),
		cmocka_unit_test(test_buckets),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
