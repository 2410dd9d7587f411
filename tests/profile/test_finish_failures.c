/* What a finish makes of broken partials, of a stop, and without memory. */
#include "tests/profile/scene.h"
#include "tests/support.h"

static int finish(const struct scene *s, size_t shards, const struct rd_finish_options *opt, struct rd_result *r,
		  struct rd_error *err)
{
	return scene_finish(s, shards, NULL, NULL, opt, r, err);
}

static void spoil_order(struct rd_partial *p, size_t shard)
{
	struct rd_sample swap = p->samples.at[0];
	p->samples.at[0] = p->samples.at[1];
	p->samples.at[1] = swap;
}

static void spoil_summary(struct rd_partial *p, size_t shard)
{
	p->summary.last_sample = p->summary.first_sample;
}

static void spoil_string(struct rd_partial *p, size_t shard)
{
	p->methods.at[0].name = 1000;
}

static void spoil_stack(struct rd_partial *p, size_t shard)
{
	p->samples.at[0].stack = 1000;
}

static void test_broken_partials(void **state)
{
	static void (*const spoils[])(struct rd_partial * p, size_t shard) = {
		spoil_order,
		spoil_summary,
		spoil_string,
		spoil_stack,
	};

	for (size_t i = 0; i < sizeof spoils / sizeof *spoils; i++) {
		struct scene s;
		struct rd_result r;
		struct rd_error err;

		scene_init(&s);
		SCENE_METHOD(&s, "A", .time = 1, .op = RD_OP_LOAD, .start = 0x1000, .size_bytes = 0x10, .pid = 7);
		SCENE_SAMPLE(&s, 10, 7, 0x1000);
		SCENE_SAMPLE(&s, 20, 7, 0x1000);
		s.spoil = spoils[i];
		assert_code(RD_CORRUPT, finish(&s, 1, NULL, &r, &err));
		scene_release(&s);
	}
}

static int stop_at_once(void *ctx, uint64_t done, uint64_t total)
{
	assert_int_equal(done, 9);
	assert_int_equal(total, 9);
	++*(unsigned *)ctx;
	return RD_CANCELLED;
}

static void test_progress_may_stop_it(void **state)
{
	struct scene s;
	struct rd_result r;
	struct rd_error err;
	unsigned told = 0;
	struct rd_finish_options opt = {.kind = -1, .progress = stop_at_once, .progress_ctx = &told};

	scene_of_samples(&s);
	assert_code(RD_CANCELLED, finish(&s, 1, &opt, &r, &err));
	assert_int_equal(told, 1);
	scene_release(&s);
}

static void some_of_everything(struct scene *s)
{
	scene_of_samples(s);
	SCENE_MODULE(s, "m.dll", .time = 1, .op = RD_OP_LOAD, .pid = 7, .module_id = 1);
	SCENE_METHOD(s, "A", .time = 105, .op = RD_OP_LOAD, .start = 0x1000, .size_bytes = 0x10, .pid = 7,
		     .module_id = 1);
	SCENE_PLAIN_METHOD(s, .time = 105, .op = RD_OP_LOAD, .start = 0x2000, .size_bytes = 0x10, .pid = 7);
	SCENE_IMAGE(s, "i.dll", .time = 1, .op = RD_OP_LOAD, .base = 0x3000, .size_bytes = 0x1000, .pid = 7);
	SCENE_MARKER(s, .time = 140, .pid = 7, .marker = RD_MARKER_END_INIT);
	SCENE_THREAD(s, .time = 1, .op = RD_OP_LOAD, .thread = 70, .pid = 7);
	SCENE_ETL_SAMPLE(s, 120, 70, 0, 0x3000);
	SCENE_RECORD(s, 120, 70, 0, 121, 7, 0x2000, 0x1000);
	SCENE_KEYED_RECORD(s, 120, 70, 121, RD_STACK_KERNEL_KEY, 5);
	SCENE_KEY(s, 130, 5, 0x3010);
}

static void test_every_allocation_may_fail(void **state)
{
	struct scene s;
	struct rd_partial p;
	struct rd_error err;
	uint64_t nth = 0;
	int rc;

	/* In memory, so that only the finish's own allocations are counted. */
	some_of_everything(&s);
	do {
		scene_partial(&s, &p);
		rd_fail_allocation(++nth);
		rc = rd_finish_preliminary(&s.info[0], &p, NULL, &err);
		rd_fail_allocation(0);
		assert_true(rc == 0 || rc == RD_NOMEM);
		rd_partial_release(&p);
	} while (rc != 0);
	assert_true(nth > 50);
	scene_release(&s);
}

static void test_finish_without_memory(void **state)
{
	struct scene s;
	struct rd_result r;
	struct rd_error err;
	char first[33], digest[33];
	int rc = RD_NOMEM;

	some_of_everything(&s);
	scene_run(&s, &r);
	assert_ok(rd_result_digest(&r, first, &err), &err);
	rd_result_release(&r);
	for (uint64_t nth = 1; rc != 0; nth += 3) {
		s.fail_allocation = nth;
		rc = finish(&s, 1, NULL, &r, &err);
		assert_true(rc == 0 || rc == RD_NOMEM);
	}
	assert_ok(rd_result_digest(&r, digest, &err), &err);
	assert_string_equal(digest, first);
	rd_result_release(&r);
	scene_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_broken_partials),
		cmocka_unit_test(test_progress_may_stop_it),
		cmocka_unit_test(test_every_allocation_may_fail),
		cmocka_unit_test(test_finish_without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
