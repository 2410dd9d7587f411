/*
 * The kinds of fault that users of such tools report, each on a made-up trace: what is right here. The
 * names of the tests say which report.
 */
#include "tests/profile/scene.h"
#include "tests/support.h"

#define KERNEL 0xffff800000000000u

/* perfview#1017: code memory is reused and the end rundown knows the last owner only. */
static void row_09_reused_code_memory(void **state)
{
	struct scene s;
	struct rd_result r;

	scene_init(&s);
	SCENE_METHOD(&s, "A", .time = 1, .op = RD_OP_LOAD, .start = 0x1000, .size_bytes = 0x100, .pid = 7);
	SCENE_METHOD(&s, "A", .time = 50, .op = RD_OP_UNLOAD, .start = 0x1000, .size_bytes = 0x100, .pid = 7);
	SCENE_METHOD(&s, "B", .time = 60, .op = RD_OP_LOAD, .start = 0x1000, .size_bytes = 0x80, .pid = 7);
	SCENE_METHOD(&s, "B", .time = 100, .op = RD_OP_DCEND, .start = 0x1000, .size_bytes = 0x80, .pid = 7);
	SCENE_SAMPLE(&s, 25, 7, 0x1010);
	SCENE_SAMPLE(&s, 55, 7, 0x1010);
	SCENE_SAMPLE(&s, 70, 7, 0x1010);
	scene_run(&s, &r);
	assert_folded(&r, "7;? 1\n7;A 1\n7;B 1\n");
	assert_int_equal(r.trust.frames, 3);
	assert_int_equal(r.trust.unresolved_frames, 1);
	assert_int_equal(r.trust.ambiguous_frames, 0);
	rd_result_release(&r);
	scene_release(&s);
}

/* coreclr#25014: precompiled methods are missing from the rundown; the module is mapped, no method is known. */
static void row_07_precompiled_methods_missing(void **state)
{
	struct scene s;
	struct rd_result r;

	scene_init(&s);
	SCENE_MODULE(&s, "C:\\app\\Lib.dll", .time = 90, .op = RD_OP_DCEND, .module_id = 5, .pid = 7);
	SCENE_IMAGE(&s, "C:\\app\\Lib.dll", .time = 1, .op = RD_OP_LOAD, .base = 0x400000, .size_bytes = 0x10000,
		    .pid = 7);
	SCENE_SAMPLE(&s, 25, 7, 0x400123);
	SCENE_SAMPLE(&s, 26, 7, 0x500123);
	scene_run(&s, &r);
	assert_folded_as(&r, SCENE_TIERS, "7;?[unknown] 1\n7;Lib.dll!?[native] 1\n");
	assert_int_equal(r.trust.unresolved_frames, 2);
	rd_result_release(&r);
	scene_release(&s);
}

/* runtime#42378, perfview#2155: the method is only in the end rundown; before its module's load it was not there. */
static void row_08_only_an_end_rundown(void **state)
{
	struct scene s;
	struct rd_result r;

	scene_init(&s);
	SCENE_MODULE(&s, "/app/shop.dll", .time = 5, .op = RD_OP_LOAD, .module_id = 9, .pid = 7);
	SCENE_METHOD(&s, "A", .time = 100, .op = RD_OP_DCEND, .start = 0x1000, .size_bytes = 0x100, .pid = 7,
		     .module_id = 9);
	SCENE_METHOD(&s, "B", .time = 100, .op = RD_OP_DCEND, .start = 0x2000, .size_bytes = 0x100, .pid = 7,
		     .module_id = 8);
	SCENE_SAMPLE(&s, 3, 7, 0x1010, 0x2010);
	SCENE_SAMPLE(&s, 10, 7, 0x1010, 0x2010);
	scene_run(&s, &r);
	/* B's module has no events, so nothing contradicts it. */
	assert_folded(&r, "7;B;? 1\n7;B;shop!A 1\n");
	rd_result_release(&r);
	scene_release(&s);
}

/* perfview#572: the unload stands before the stack record that needs the method. */
static void row_11_unload_before_the_stack_record(void **state)
{
	struct scene s;
	struct rd_result r;

	scene_init(&s);
	SCENE_METHOD(&s, "A", .time = 5, .op = RD_OP_LOAD, .start = 0x1000, .size_bytes = 0x100, .pid = 7);
	SCENE_ETL_SAMPLE(&s, 10, 70, 0, 0x1010);
	SCENE_THREAD(&s, .time = 1, .op = RD_OP_LOAD, .thread = 70, .pid = 7);
	SCENE_METHOD(&s, "A", .time = 20, .op = RD_OP_UNLOAD, .start = 0x1000, .size_bytes = 0x100, .pid = 7);
	SCENE_RECORD(&s, 10, 70, 0, 30, 7, 0x1010, 0x1020);
	scene_run(&s, &r);
	assert_folded(&r, "7;A;A 1\n");
	rd_result_release(&r);
	scene_release(&s);
}

/* coreclr#22585, perfview PR#1584: one method in many ranges and tiers. */
static void row_12_tiers_of_one_method(void **state)
{
	struct scene s;
	struct rd_result r;

	scene_init(&s);
	for (uint32_t tier = 0; tier < 8; tier++) {
		SCENE_METHOD(&s, "A", .time = 1, .op = RD_OP_LOAD, .start = 0x1000 * (tier + 1), .size_bytes = 0x100,
			     .pid = 7, .method_id = 3, .flags = 0x8 | tier << 7);
		SCENE_SAMPLE(&s, 10, 7, 0x1000 * (tier + 1));
	}
	/* Not jitted: precompiled, whatever the tier bits say. */
	SCENE_METHOD(&s, "A", .time = 1, .op = RD_OP_LOAD, .start = 0x10000, .size_bytes = 0x100, .pid = 7,
		     .method_id = 3, .flags = 4 << 7);
	SCENE_SAMPLE(&s, 10, 7, 0x10000);
	scene_run(&s, &r);
	assert_folded_as(
		&r, SCENE_TIERS,
		"7;A[min opt] 1\n7;A[optimized] 1\n7;A[precompiled] 1\n7;A[quick instrumented] 1\n7;A[quick] 1\n"
		"7;A[tier 1 OSR] 1\n7;A[tier 1 instrumented] 1\n7;A[tier 1] 1\n7;A[unknown] 1\n");
	assert_int_equal(r.frames.n, 9);
	for (size_t i = 1; i < r.frames.n; i++)
		assert_int_equal(r.frames.at[i].name, r.frames.at[0].name);
	rd_result_release(&r);
	scene_release(&s);
}

/* runtime PR#50600: names of 30,000 characters that differ at the end only. */
static void row_16_long_names(void **state)
{
	enum { LENGTH = 30000 };
	static char a[LENGTH + 1], b[LENGTH + 1];
	struct scene s;
	struct rd_result r;

	memset(a, 'x', LENGTH);
	memset(b, 'x', LENGTH);
	b[LENGTH - 1] = 'y';
	scene_init(&s);
	SCENE_METHOD(&s, a, .time = 1, .op = RD_OP_LOAD, .start = 0x1000, .size_bytes = 0x10, .pid = 7);
	SCENE_METHOD(&s, b, .time = 1, .op = RD_OP_LOAD, .start = 0x2000, .size_bytes = 0x10, .pid = 7);
	SCENE_SAMPLE(&s, 5, 7, 0x1000);
	SCENE_SAMPLE(&s, 5, 7, 0x2000);
	scene_run(&s, &r);
	assert_int_equal(r.frames.n, 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(rd_strings_at(&r.strings, r.frames.at[i].name).size_bytes, LENGTH);
	assert_int_not_equal(r.frames.at[0].name, r.frames.at[1].name);
	rd_result_release(&r);
	scene_release(&s);
}

/* one-collect#303: a pid is reused, with other methods at the same address. */
static void row_17_reused_pid(void **state)
{
	struct scene s;
	struct rd_result r;

	scene_init(&s);
	SCENE_PROCESS(&s, "first.exe", .time = 10, .op = RD_OP_LOAD, .pid = 7);
	SCENE_METHOD(&s, "A", .time = 15, .op = RD_OP_LOAD, .start = 0x1000, .size_bytes = 0x100, .pid = 7);
	SCENE_PROCESS(&s, "first.exe", .time = 50, .op = RD_OP_UNLOAD, .pid = 7);
	SCENE_PROCESS(&s, "second.exe", .time = 60, .op = RD_OP_LOAD, .pid = 7);
	SCENE_METHOD(&s, "B", .time = 90, .op = RD_OP_DCEND, .start = 0x1000, .size_bytes = 0x100, .pid = 7);
	SCENE_SAMPLE(&s, 20, 7, 0x1010);
	SCENE_SAMPLE(&s, 70, 7, 0x1010);
	/* After the end and before the next start it is still the first, before its start too. */
	SCENE_SAMPLE(&s, 55, 7, 0x1010);
	SCENE_SAMPLE(&s, 5, 7, 0x1010);
	scene_run(&s, &r);
	assert_folded_as(&r, SCENE_STARTS, "7@10;? 1\n7@10;A 2\n7@60;B 1\n");
	assert_int_equal(r.processes.n, 2);
	assert_span(rd_strings_at(&r.strings, r.processes.at[0].name), "first.exe");
	assert_int_equal(r.processes.at[0].samples, 3);
	assert_span(rd_strings_at(&r.strings, r.processes.at[1].name), "second.exe");
	rd_result_release(&r);
	scene_release(&s);
}

/* profile-explorer PR#51: threads without any record. */
static void row_18_owner_from_the_stack_record(void **state)
{
	struct scene s;
	struct rd_result r;

	scene_init(&s);
	SCENE_ETL_SAMPLE(&s, 10, 70, 0, 0x1010);
	SCENE_RECORD(&s, 10, 70, 0, 12, 8, 0x1010);
	SCENE_ETL_SAMPLE(&s, 20, 70, 0, 0x1010);
	SCENE_ETL_SAMPLE(&s, 30, 71, 0, 0x1010);
	SCENE_THREAD(&s, .time = 40, .op = RD_OP_UNLOAD, .thread = 71, .pid = 9);
	scene_run(&s, &r);
	/* 20: no stack record of its own. 30: the thread's earliest record after. */
	assert_folded(&r, "-1;? 1\n8;? 1\n9;? 1\n");
	assert_int_equal(r.samples, 3);
	assert_int_equal(r.trust.unowned_samples, 1);
	assert_int_equal(r.processes.at[2].pid, RD_PID_UNOWNED);
	rd_result_release(&r);
	scene_release(&s);
}

/* CLRInstrumentationEngine#140: two runtimes in one process, one MethodID. */
static void row_20_two_runtimes_in_one_process(void **state)
{
	struct scene s;
	struct rd_result r;

	scene_init(&s);
	SCENE_MODULE(&s, "one.dll", .time = 1, .op = RD_OP_LOAD, .module_id = 5, .pid = 7, .clr = 1);
	SCENE_MODULE(&s, "two.dll", .time = 1, .op = RD_OP_LOAD, .module_id = 5, .pid = 7, .clr = 2);
	SCENE_METHOD(&s, "A", .time = 2, .op = RD_OP_LOAD, .start = 0x1000, .size_bytes = 0x10, .pid = 7, .clr = 1,
		     .method_id = 3, .module_id = 5);
	SCENE_METHOD(&s, "A", .time = 2, .op = RD_OP_LOAD, .start = 0x2000, .size_bytes = 0x10, .pid = 7, .clr = 2,
		     .method_id = 3, .module_id = 5);
	SCENE_SAMPLE(&s, 5, 7, 0x1000);
	SCENE_SAMPLE(&s, 5, 7, 0x2000);
	scene_run(&s, &r);
	assert_folded_as(&r, SCENE_CLR, "7;1:one!A 1\n7;2:two!A 1\n");
	rd_result_release(&r);
	scene_release(&s);
}

/* BenchmarkDotNet#2296, perfview#1417: no rundown; a rundown cut short; a whole one. */
static void check_rundown(enum rd_rundown expected, bool missing, uint32_t init, uint32_t complete, bool methods)
{
	struct scene s;
	struct rd_result r;

	scene_init(&s);
	SCENE_METHOD(&s, "A", .time = 2, .op = RD_OP_LOAD, .start = 0x1000, .size_bytes = 0x10, .pid = 7);
	if (methods)
		SCENE_METHOD(&s, "A", .time = 50, .op = RD_OP_DCEND, .start = 0x9000, .size_bytes = 0x10, .pid = 7);
	if (init)
		SCENE_MARKER(&s, .time = 45, .pid = 7, .marker = init);
	if (complete)
		SCENE_MARKER(&s, .time = 60, .pid = 7, .marker = complete);
	SCENE_SAMPLE(&s, 5, 7, 0x1000);
	scene_run(&s, &r);
	assert_int_equal(r.trust.rundown, expected);
	assert_int_equal(r.trust.missing_rundown, missing);
	assert_false(r.trust.missing_runtime);
	assert_false(r.trust.missing_stacks);
	rd_result_release(&r);
	scene_release(&s);
}

static void row_13_row_14_rundowns(void **state)
{
	check_rundown(RD_RUNDOWN_NONE, true, 0, 0, false);
	check_rundown(RD_RUNDOWN_PARTIAL, false, RD_MARKER_END_INIT, 0, false);
	check_rundown(RD_RUNDOWN_PARTIAL, false, RD_MARKER_END_INIT, 0, true);
	check_rundown(RD_RUNDOWN_PARTIAL, false, 0, 0, true);
	check_rundown(RD_RUNDOWN_PARTIAL, false, RD_MARKER_END_INIT, RD_MARKER_START_COMPLETE, true);
	check_rundown(RD_RUNDOWN_COMPLETE, false, RD_MARKER_END_INIT, RD_MARKER_END_COMPLETE, true);
	check_rundown(RD_RUNDOWN_COMPLETE, false, 0, RD_MARKER_END_COMPLETE, true);
}

/* runtime#90575: ordinary events during the rundown: they count, and are counted apart. */
static void row_23_samples_in_the_rundown(void **state)
{
	struct scene s;
	struct rd_result r;

	scene_init(&s);
	SCENE_MARKER(&s, .time = 50, .pid = 7, .marker = RD_MARKER_END_INIT);
	SCENE_MARKER(&s, .time = 90, .pid = 7, .marker = RD_MARKER_END_COMPLETE);
	SCENE_SAMPLE(&s, 49, 7, 0x1000);
	SCENE_SAMPLE(&s, 50, 7, 0x1000);
	SCENE_SAMPLE(&s, 95, 7, 0x1000);
	SCENE_SAMPLE(&s, 95, 8, 0x1000);
	scene_run(&s, &r);
	assert_int_equal(r.samples, 4);
	assert_int_equal(r.trust.samples_in_rundown, 2);
	rd_result_release(&r);
	scene_release(&s);
}

/* perfview PR#581: parts are joined by thread and time only; what is left over is counted. */
static void row_24_parts_meet_their_sample(void **state)
{
	struct scene s;
	struct rd_result r;

	scene_init(&s);
	SCENE_THREAD(&s, .time = 1, .op = RD_OP_LOAD, .thread = 70, .pid = 7);
	SCENE_IMAGE(&s, "nt.exe", .time = 1, .op = RD_OP_DCSTART, .base = KERNEL, .size_bytes = 0x10000, .pid = 0);
	SCENE_IMAGE(&s, "a.dll", .time = 1, .op = RD_OP_LOAD, .base = 0x1000, .size_bytes = 0x1000, .pid = 7);
	/* In the kernel, and the user part never came. */
	SCENE_ETL_SAMPLE(&s, 10, 70, 0, KERNEL + 1);
	SCENE_RECORD(&s, 10, 70, 0, 11, 7, KERNEL + 1, KERNEL + 2);
	/* Then one in user code. */
	SCENE_ETL_SAMPLE(&s, 20, 70, 0, 0x1010);
	SCENE_RECORD(&s, 20, 70, 0, 21, 7, 0x1010);
	/* A duplicate, and a stack of another event. */
	SCENE_RECORD(&s, 20, 70, 0, 22, 7, 0x1010, 0x1020);
	SCENE_RECORD(&s, 15, 70, 0, 16, 7, 0x1010);
	scene_run(&s, &r);
	assert_folded(&r, "7;a.dll!? 1\n7;nt.exe!?;nt.exe!? 1\n");
	assert_int_equal(r.trust.broken_stacks, 1);
	assert_int_equal(r.trust.stacks_unused, 2);
	assert_int_equal(r.trust.samples_without_stack, 0);
	rd_result_release(&r);
	scene_release(&s);
}

/* grafana#71962: recursion. The stack has every frame; whoever counts inclusive counts a method once. */
static void row_28_recursion(void **state)
{
	struct scene s;
	struct rd_error err;
	struct rd_partial p;

	scene_init(&s);
	SCENE_METHOD(&s, "A", .time = 2, .op = RD_OP_LOAD, .start = 0x1000, .size_bytes = 0x10, .pid = 7);
	SCENE_METHOD(&s, "B", .time = 2, .op = RD_OP_LOAD, .start = 0x2000, .size_bytes = 0x10, .pid = 7);
	SCENE_SAMPLE(&s, 5, 7, 0x2000, 0x1003, 0x1002, 0x1001);
	scene_partial(&s, &p);
	assert_ok(rd_finish_preliminary(&s.info[0], &p, NULL, &err), &err);
	assert_int_equal(p.preliminary.n, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct rd_preliminary_row *row = &p.preliminary.at[i];
		bool is_b = rd_strings_at(&p.strings, row->name - 1).at[0] == 'B';
		assert_int_equal(row->exclusive, is_b);
		assert_int_equal(row->inclusive, 1);
		assert_int_equal(row->pid, 7);
	}
	rd_partial_release(&p);
	scene_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(row_09_reused_code_memory),
		cmocka_unit_test(row_07_precompiled_methods_missing),
		cmocka_unit_test(row_08_only_an_end_rundown),
		cmocka_unit_test(row_11_unload_before_the_stack_record),
		cmocka_unit_test(row_12_tiers_of_one_method),
		cmocka_unit_test(row_16_long_names),
		cmocka_unit_test(row_17_reused_pid),
		cmocka_unit_test(row_18_owner_from_the_stack_record),
		cmocka_unit_test(row_20_two_runtimes_in_one_process),
		cmocka_unit_test(row_13_row_14_rundowns),
		cmocka_unit_test(row_23_samples_in_the_rundown),
		cmocka_unit_test(row_24_parts_meet_their_sample),
		cmocka_unit_test(row_28_recursion),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
