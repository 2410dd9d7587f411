/*
 * The rules of docs/address-history.md and docs/reconciliation.md, one by one, on made-up traces.
 */
#include "tests/profile/scene.h"
#include "tests/support.h"

#define KERNEL 0xffff800000000000u
#define METHOD(s, NAME, TIME, OP, ...)                                                                                 \
	SCENE_METHOD(s, NAME, .time = TIME, .op = RD_OP_##OP, .start = 0x1000, .size_bytes = 0x100, .pid = 7,          \
		     __VA_ARGS__)

/* ---- addresses */

static void test_unloads_come_first_at_equal_times(void **state)
{
	struct scene s;
	struct rd_result r;

	scene_init(&s);
	/* The load has the lower place, and still it comes after the unload. */
	METHOD(&s, "B", 50, LOAD, .place = 1 << 8);
	METHOD(&s, "A", 50, UNLOAD, .place = 2 << 8);
	SCENE_SAMPLE(&s, 49, 7, 0x1000);
	SCENE_SAMPLE(&s, 50, 7, 0x1000);
	scene_run(&s, &r);
	assert_folded(&r, "7;A 1\n7;B 1\n");
	rd_result_release(&r);
	scene_release(&s);
}

static void test_places_decide_at_equal_times(void **state)
{
	struct scene s;
	struct rd_result r;

	scene_init(&s);
	METHOD(&s, "Second", 50, LOAD, .place = 2 << 8);
	METHOD(&s, "First", 50, LOAD, .place = 1 << 8);
	METHOD(&s, "Third", 80, DCEND, .place = 4 << 8);
	METHOD(&s, "Fourth", 80, DCEND, .place = 5 << 8);
	SCENE_SAMPLE(&s, 60, 7, 0x1000);
	scene_run(&s, &r);
	assert_folded(&r, "7;Second 1\n");
	/* Third speaks against Second, Fourth is not asked. */
	assert_int_equal(r.trust.ambiguous_frames, 1);
	rd_result_release(&r);
	scene_release(&s);
}

static void check_ambiguous(const char *later, uint32_t later_flags, const char *later_module, uint64_t expected)
{
	struct scene s;
	struct rd_result r;

	scene_init(&s);
	SCENE_MODULE(&s, "m.dll", .time = 1, .op = RD_OP_DCSTART, .pid = 7, .module_id = 1);
	SCENE_MODULE(&s, later_module, .time = 1, .op = RD_OP_DCSTART, .pid = 7, .module_id = 2);
	METHOD(&s, "A", 10, LOAD, .module_id = 1, .flags = 8);
	METHOD(&s, later, 50, DCEND, .module_id = 2, .flags = later_flags, .method_id = 99);
	SCENE_SAMPLE(&s, 20, 7, 0x1000, 0x1001);
	SCENE_SAMPLE(&s, 20, 7, 0x1000);
	scene_run(&s, &r);
	assert_folded(&r, "7;m!A 1\n7;m!A;m!A 1\n");
	assert_int_equal(r.trust.ambiguous_frames, expected);
	assert_int_equal(r.trust.frames, 3);
	rd_result_release(&r);
	scene_release(&s);
}

static void test_ambiguity_is_of_names(void **state)
{
	check_ambiguous("A", 8, "m.dll", 0);
	/* Another tier, another MethodID, another path to the same module: the same method. */
	check_ambiguous("A", 8 | 4 << 7, "/x/m.dll", 0);
	check_ambiguous("B", 8, "m.dll", 3);
	check_ambiguous("A", 8, "n.dll", 3);
}

static void test_ranges_overlap(void **state)
{
	struct scene s;
	struct rd_result r;

	scene_init(&s);
	SCENE_METHOD(&s, "Wide", .time = 10, .op = RD_OP_LOAD, .start = 0x1000, .size_bytes = 0x1000, .pid = 7);
	SCENE_METHOD(&s, "Inner", .time = 20, .op = RD_OP_LOAD, .start = 0x1100, .size_bytes = 0x10, .pid = 7);
	SCENE_METHOD(&s, "Inner", .time = 30, .op = RD_OP_UNLOAD, .start = 0x1100, .size_bytes = 0x10, .pid = 7);
	SCENE_METHOD(&s, "None", .time = 30, .op = RD_OP_LOAD, .start = 0x1000, .size_bytes = 0, .pid = 7);
	SCENE_METHOD(&s, "End", .time = 1, .op = RD_OP_LOAD, .start = UINT64_MAX - 15, .size_bytes = 100, .pid = 7);
	SCENE_SAMPLE(&s, 25, 7, 0x10ff, 0x1100, 0x110f, 0x1110);
	SCENE_SAMPLE(&s, 35, 7, 0x1100, 0x1fff, 0x2000);
	SCENE_SAMPLE(&s, 35, 7, UINT64_MAX, UINT64_MAX - 15, UINT64_MAX - 16);
	scene_run(&s, &r);
	/* After Inner's unload its bytes are nobody's: Wide's load is not the latest word on them. */
	assert_folded(&r, "7;?;End;End 1\n7;?;Wide;? 1\n7;Wide;Inner;Inner;Wide 1\n");
	rd_result_release(&r);
	scene_release(&s);
}

static void test_module_reloaded(void **state)
{
	struct scene s;
	struct rd_result r;

	scene_init(&s);
	SCENE_MODULE(&s, "one.dll", .time = 10, .op = RD_OP_LOAD, .pid = 7, .module_id = 1);
	SCENE_MODULE(&s, "one.dll", .time = 20, .op = RD_OP_UNLOAD, .pid = 7, .module_id = 1);
	SCENE_MODULE(&s, "two.dll", .time = 30, .op = RD_OP_LOAD, .pid = 7, .module_id = 1);
	METHOD(&s, "A", 40, UNLOAD, .module_id = 1);
	SCENE_SAMPLE(&s, 5, 7, 0x1000);
	SCENE_SAMPLE(&s, 15, 7, 0x1000);
	SCENE_SAMPLE(&s, 25, 7, 0x1000);
	SCENE_SAMPLE(&s, 35, 7, 0x1000);
	scene_run(&s, &r);
	/* At 15 another module had its number. */
	assert_folded(&r, "7;? 3\n7;two!A 1\n");
	rd_result_release(&r);
	scene_release(&s);
}

static void test_plain_events_borrow_names(void **state)
{
	struct scene s;
	struct rd_result r;

	scene_init(&s);
	SCENE_MODULE(&s, "m.dll", .time = 1, .op = RD_OP_LOAD, .pid = 7, .module_id = 1);
	SCENE_PLAIN_METHOD(&s, .time = 10, .op = RD_OP_LOAD, .start = 0x1000, .size_bytes = 0x10, .pid = 7,
			   .method_id = 5, .module_id = 1, .flags = 8 | 3 << 7);
	SCENE_PLAIN_METHOD(&s, .time = 10, .op = RD_OP_LOAD, .start = 0x2000, .size_bytes = 0x10, .pid = 7,
			   .method_id = 5, .rejit_id = 1, .module_id = 1);
	SCENE_PLAIN_METHOD(&s, .time = 10, .op = RD_OP_LOAD, .start = 0x3000, .size_bytes = 0x10, .pid = 7,
			   .method_id = 6);
	/* Named at a place that nobody sampled: before it, the earliest; after it, the latest. */
	SCENE_METHOD(&s, "A", .time = 20, .op = RD_OP_LOAD, .start = 0x9000, .size_bytes = 0x10, .pid = 7,
		     .method_id = 5);
	SCENE_METHOD(&s, "B", .time = 30, .op = RD_OP_LOAD, .start = 0x9000, .size_bytes = 0x10, .pid = 7,
		     .method_id = 5);
	SCENE_PLAIN_METHOD(&s, .time = 40, .op = RD_OP_LOAD, .start = 0x4000, .size_bytes = 0x10, .pid = 7,
			   .method_id = 5);
	SCENE_SAMPLE(&s, 50, 7, 0x1000);
	SCENE_SAMPLE(&s, 50, 7, 0x2000);
	SCENE_SAMPLE(&s, 50, 7, 0x3000);
	SCENE_SAMPLE(&s, 50, 7, 0x4000);
	scene_run(&s, &r);
	assert_folded_as(&r, SCENE_TIERS,
			 "7;?[precompiled] 1\n7;B[precompiled] 1\n7;m!?[precompiled] 1\n7;m!A[quick] 1\n");
	assert_int_equal(r.trust.unresolved_frames, 2);
	rd_result_release(&r);
	scene_release(&s);
}

static void test_images(void **state)
{
	struct scene s;
	struct rd_result r;

	scene_init(&s);
	SCENE_IMAGE(&s, "\\SystemRoot\\nt.exe", .time = 90, .op = RD_OP_DCEND, .base = KERNEL, .size_bytes = 0x1000,
		    .pid = 0);
	SCENE_IMAGE(&s, "ntdll.dll", .time = 1, .op = RD_OP_DCSTART, .base = 0x7000, .size_bytes = 0x1000, .pid = 4);
	SCENE_IMAGE(&s, "own.dll", .time = 20, .op = RD_OP_LOAD, .base = 0x7000, .size_bytes = 0x1000, .pid = 7);
	SCENE_IMAGE(&s, "own.dll", .time = 40, .op = RD_OP_UNLOAD, .base = 0x7000, .size_bytes = 0x1000, .pid = 7);
	SCENE_METHOD(&s, "A", .time = 1, .op = RD_OP_LOAD, .start = 0x7800, .size_bytes = 0x10, .pid = 7);
	SCENE_SAMPLE(&s, 10, 7, 0x7000, KERNEL);
	SCENE_SAMPLE(&s, 30, 7, 0x7000, 0x7800);
	SCENE_SAMPLE(&s, 50, 7, 0x7000, 0x6fff);
	SCENE_SAMPLE(&s, 50, 8, 0x7000, 0x8000);
	scene_run(&s, &r);
	assert_folded(&r, "7;?;ntdll.dll!? 1\n7;A;own.dll!? 1\n7;nt.exe!?;ntdll.dll!? 1\n8;?;ntdll.dll!? 1\n");
	rd_result_release(&r);
	scene_release(&s);
}

/* ---- stacks */

static void some_images(struct scene *s)
{
	SCENE_THREAD(s, .time = 1, .op = RD_OP_DCSTART, .thread = 70, .pid = 7);
	SCENE_IMAGE(s, "nt", .time = 1, .op = RD_OP_DCSTART, .base = KERNEL, .size_bytes = 0x1000, .pid = 0);
	SCENE_IMAGE(s, "a", .time = 1, .op = RD_OP_DCSTART, .base = 0x1000, .size_bytes = 0x1000, .pid = 4);
	SCENE_IMAGE(s, "b", .time = 1, .op = RD_OP_DCSTART, .base = 0x2000, .size_bytes = 0x1000, .pid = 4);
	SCENE_IMAGE(s, "c", .time = 1, .op = RD_OP_DCSTART, .base = 0x3000, .size_bytes = 0x1000, .pid = 4);
}

static void test_keys_are_reused(void **state)
{
	struct scene s;
	struct rd_result r;

	scene_init(&s);
	some_images(&s);
	SCENE_ETL_SAMPLE(&s, 10, 70, 0, 0x1000);
	SCENE_KEYED_RECORD(&s, 10, 70, 12, RD_STACK_USER_KEY, 5);
	SCENE_KEY(&s, 11, 5, 0x3000);
	SCENE_KEY(&s, 12, 5, 0x1000, 0x1001);
	SCENE_KEY(&s, 30, 5, 0x2000);
	SCENE_ETL_SAMPLE(&s, 20, 70, 0, 0x2000);
	SCENE_KEYED_RECORD(&s, 20, 70, 21, RD_STACK_USER_KEY, 5);
	/* Defined before only: no frames, yet a user part. */
	SCENE_ETL_SAMPLE(&s, 40, 70, 0, 0x3000);
	SCENE_KEYED_RECORD(&s, 40, 70, 41, RD_STACK_USER_KEY, 5);
	SCENE_RECORD(&s, 40, 70, 0, 42, 7, 0x3000, 0x3001);
	SCENE_KEYED_RECORD(&s, 40, 70, 41, RD_STACK_KERNEL_KEY, 6);
	scene_run(&s, &r);
	assert_folded(&r, "7;a!?;a!? 1\n7;b!? 1\n7;c!? 1\n");
	assert_int_equal(r.trust.samples_without_stack, 1);
	assert_int_equal(r.trust.stacks_unused, 1);
	assert_int_equal(r.trust.broken_stacks, 0);
	rd_result_release(&r);
	scene_release(&s);
}

static void test_thread_0_is_of_every_cpu(void **state)
{
	struct scene s;
	struct rd_result r;

	scene_init(&s);
	some_images(&s);
	SCENE_ETL_SAMPLE(&s, 10, 0, 0, 0x1000);
	SCENE_ETL_SAMPLE(&s, 10, 0, 1, 0x2000);
	SCENE_ETL_SAMPLE(&s, 10, 0, 2, 0x3000);
	SCENE_RECORD(&s, 10, 0, 1, 11, 0, 0x2000, 0x2001);
	SCENE_RECORD(&s, 10, 0, 0, 11, 0, 0x1000, 0x1001);
	SCENE_RECORD(&s, 10, 0, 3, 11, 0, 0x1000, 0x1001);
	/* Of other threads the record's CPU says nothing. */
	SCENE_ETL_SAMPLE(&s, 10, 70, 0, 0x1000);
	SCENE_RECORD(&s, 10, 70, 5, 11, 7, 0x1000, 0x1001, 0x1002);
	scene_run(&s, &r);
	assert_folded(&r, "0;a!?;a!? 1\n0;b!?;b!? 1\n0;c!? 1\n7;a!?;a!?;a!? 1\n");
	assert_int_equal(r.trust.stacks_unused, 1);
	assert_int_equal(r.trust.samples_without_stack, 1);
	rd_result_release(&r);
	scene_release(&s);
}

static void test_equal_samples_share_the_stack(void **state)
{
	struct scene s;
	struct rd_result r;

	scene_init(&s);
	some_images(&s);
	SCENE_ETL_SAMPLE(&s, 10, 70, 0, 0x1000);
	SCENE_ETL_SAMPLE(&s, 10, 70, 1, 0x1000);
	SCENE_ETL_SAMPLE(&s, 10, 70, 1, 0x1000);
	SCENE_RECORD(&s, 10, 70, 0, 11, 7, 0x1000, 0x2000);
	scene_run(&s, &r);
	assert_folded(&r, "7;b!?;a!? 3\n");
	assert_int_equal(r.trust.stacks_unused, 0);
	rd_result_release(&r);
	scene_release(&s);
}

static void test_kernel_part_first(void **state)
{
	struct scene s;
	struct rd_result r;

	scene_init(&s);
	some_images(&s);
	SCENE_ETL_SAMPLE(&s, 10, 70, 0, KERNEL);
	SCENE_RECORD(&s, 10, 70, 0, 11, 7, 0x1000);
	SCENE_RECORD(&s, 10, 70, 0, 12, 7, KERNEL, KERNEL + 1);
	/* Later records of the same parts. */
	SCENE_RECORD(&s, 10, 70, 0, 13, 7, 0x2000);
	SCENE_RECORD(&s, 10, 70, 0, 13, 7, KERNEL);
	scene_run(&s, &r);
	assert_folded(&r, "7;a!?;nt!?;nt!? 1\n");
	assert_int_equal(r.trust.stacks_unused, 2);
	rd_result_release(&r);
	scene_release(&s);
}

static void test_the_kernels_half_of_32_bits(void **state)
{
	struct scene s;
	struct rd_result r;

	scene_init(&s);
	s.info[0].pointer_bytes = 4;
	SCENE_THREAD(&s, .time = 1, .op = RD_OP_DCSTART, .thread = 70, .pid = 7);
	SCENE_IMAGE(&s, "nt", .time = 1, .op = RD_OP_DCSTART, .base = 0x80000000, .size_bytes = 0x1000, .pid = 0);
	SCENE_IMAGE(&s, "a", .time = 1, .op = RD_OP_DCSTART, .base = 0x7ffff000, .size_bytes = 0x1000, .pid = 7);
	SCENE_ETL_SAMPLE(&s, 10, 70, 0, 0x80000000);
	SCENE_RECORD(&s, 10, 70, 0, 11, 7, 0x7fffffff);
	SCENE_RECORD(&s, 10, 70, 0, 12, 7, 0x80000000);
	scene_run(&s, &r);
	assert_folded(&r, "7;a!?;nt!? 1\n");
	rd_result_release(&r);
	scene_release(&s);
}

static void test_the_pointer_in_front(void **state)
{
	struct scene s;
	struct rd_result r;

	scene_init(&s);
	some_images(&s);
	/* The same method in another tier is the same row. */
	SCENE_METHOD(&s, "A", .time = 1, .op = RD_OP_LOAD, .start = 0x5000, .size_bytes = 0x10, .pid = 7, .flags = 8);
	SCENE_METHOD(&s, "A", .time = 1, .op = RD_OP_LOAD, .start = 0x6000, .size_bytes = 0x10, .pid = 7,
		     .flags = 8 | 4 << 7);
	SCENE_ETL_SAMPLE(&s, 10, 70, 0, 0x5000);
	SCENE_RECORD(&s, 10, 70, 0, 11, 7, 0x6000);
	SCENE_ETL_SAMPLE(&s, 20, 70, 0, 0x2000);
	SCENE_RECORD(&s, 20, 70, 0, 21, 7, 0x1000);
	SCENE_ETL_SAMPLE(&s, 30, 70, 0, 0x2000);
	SCENE_ETL_SAMPLE(&s, 40, 70, 0, 0);
	scene_run(&s, &r);
	assert_folded_as(&r, SCENE_TIERS,
			 "7;A[tier 1] 1\n7;[no stack] 1\n7;a!?[native];b!?[native] 1\n7;b!?[native] 1\n");
	assert_int_equal(r.trust.frames, 4);
	assert_int_equal(r.trust.samples_without_stack, 2);
	rd_result_release(&r);
	scene_release(&s);
}

/* ---- owners */

static void test_threads_change_hands(void **state)
{
	struct scene s;
	struct rd_result r;

	scene_init(&s);
	SCENE_THREAD(&s, .time = 10, .op = RD_OP_LOAD, .thread = 70, .pid = 7);
	SCENE_THREAD(&s, .time = 20, .op = RD_OP_UNLOAD, .thread = 70, .pid = 7);
	SCENE_THREAD(&s, .time = 20, .op = RD_OP_LOAD, .thread = 70, .pid = 8);
	SCENE_ETL_SAMPLE(&s, 5, 70, 0, 0x1000);
	SCENE_ETL_SAMPLE(&s, 19, 70, 0, 0x1000);
	SCENE_ETL_SAMPLE(&s, 20, 70, 0, 0x1000);
	SCENE_ETL_SAMPLE(&s, 99, 70, 0, 0x1000);
	/* A record's pid does not matter when the thread is known. */
	SCENE_RECORD(&s, 99, 70, 0, 100, 9, 0x1000);
	scene_run(&s, &r);
	assert_folded(&r, "7;? 2\n8;? 2\n");
	rd_result_release(&r);
	scene_release(&s);
}

static void test_the_first_record_that_counts_names_the_process(void **state)
{
	struct scene s;
	struct rd_result r;

	scene_init(&s);
	/* No frames, so no part; then the user part; then the kernel part. */
	SCENE_ETL_SAMPLE(&s, 10, 70, 0, 0x1000);
	scene_add(&s, (struct scene_item){.table = RD_TABLE_STACK_RECORDS,
					  .record = {.sample_time = 10, .thread = 70, .time = 10, .pid = 5}});
	SCENE_RECORD(&s, 10, 70, 0, 11, 8, 0x1000);
	SCENE_RECORD(&s, 10, 70, 0, 12, 9, KERNEL);
	SCENE_ETL_SAMPLE(&s, 20, 70, 0, 0x1000);
	SCENE_RECORD(&s, 20, 70, 0, 22, 8, 0x1000);
	SCENE_RECORD(&s, 20, 70, 0, 21, 9, KERNEL);
	scene_run(&s, &r);
	/* The pointer is user code and the first frame is not, but both are `?`. */
	assert_folded(&r, "8;?;? 1\n9;?;? 1\n");
	assert_int_equal(r.trust.stacks_unused, 1);
	rd_result_release(&r);
	scene_release(&s);
}

static void test_lives(void **state)
{
	struct scene s;
	struct rd_result r;

	scene_init(&s);
	/* A start without an end before it, records that say no more than that it is alive, an end without a start. */
	SCENE_PROCESS(&s, "a", .time = 10, .op = RD_OP_DCSTART, .pid = 7);
	SCENE_PROCESS(&s, "a", .time = 15, .op = RD_OP_DCEND, .pid = 7);
	SCENE_PROCESS(&s, "b", .time = 20, .op = RD_OP_LOAD, .pid = 7);
	SCENE_PROCESS(&s, "b", .time = 30, .op = RD_OP_UNLOAD, .pid = 7);
	SCENE_PROCESS(&s, NULL, .time = 40, .op = RD_OP_UNLOAD, .pid = 7);
	SCENE_PROCESS(&s, "c", .time = 50, .op = RD_OP_DCEND, .pid = 7);
	for (uint64_t time = 5; time < 60; time += 10)
		SCENE_SAMPLE(&s, time, 7);
	scene_run(&s, &r);
	assert_int_equal(r.processes.n, 4);
	const char *const names[] = {"", "a", "c", "b"};
	const uint64_t samples[] = {1, 2, 1, 2};
	for (size_t i = 0; i < 4; i++) {
		assert_span(rd_strings_at(&r.strings, r.processes.at[i].name), names[i]);
		assert_int_equal(r.processes.at[i].samples, samples[i]);
		assert_int_equal(r.processes.at[i].start_utc_ns, i == 3 ? 20 : INT64_MIN);
	}
	rd_result_release(&r);
	scene_release(&s);
}

static void test_names_by_command_line(void **state)
{
	static const struct {
		const char *command_line, *name;
	} rows[] = {
		{"/usr/bin/dotnet shop.dll --fast", "dotnet"},
		{"\"C:\\Program Files\\App\\app.exe\" /x", "app.exe"},
		{"shop", "shop"},
		{"\"unclosed", "unclosed"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct scene s;
		struct rd_result r;

		scene_init(&s);
		scene_add(&s, (struct scene_item){.table = RD_TABLE_RUNTIMES,
						  .runtime = {.time = 30, .pid = 7},
						  .text = {rows[i].command_line}});
		SCENE_SAMPLE(&s, 10, 7);
		scene_run(&s, &r);
		assert_int_equal(r.processes.n, 1);
		assert_span(rd_strings_at(&r.strings, r.processes.at[0].name), rows[i].name);
		assert_span(rd_strings_at(&r.strings, r.processes.at[0].command_line), rows[i].command_line);
		rd_result_release(&r);
		scene_release(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unloads_come_first_at_equal_times),
		cmocka_unit_test(test_places_decide_at_equal_times),
		cmocka_unit_test(test_ambiguity_is_of_names),
		cmocka_unit_test(test_ranges_overlap),
		cmocka_unit_test(test_module_reloaded),
		cmocka_unit_test(test_plain_events_borrow_names),
		cmocka_unit_test(test_images),
		cmocka_unit_test(test_keys_are_reused),
		cmocka_unit_test(test_thread_0_is_of_every_cpu),
		cmocka_unit_test(test_equal_samples_share_the_stack),
		cmocka_unit_test(test_kernel_part_first),
		cmocka_unit_test(test_the_kernels_half_of_32_bits),
		cmocka_unit_test(test_the_pointer_in_front),
		cmocka_unit_test(test_threads_change_hands),
		cmocka_unit_test(test_the_first_record_that_counts_names_the_process),
		cmocka_unit_test(test_lives),
		cmocka_unit_test(test_names_by_command_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
