/* Mappings of nettrace 6 and their symbols: docs/address-history.md, "Mappings" and "Symbols", sentence by sentence. */
#include "tests/profile/scene.h"
#include "tests/support.h"

#define JIT(METHOD, TIER) "int32 [app] N.T::" METHOD "(int32)[" TIER "]"

/* The scene's only answer, whatever its shards. */
static void check(const struct scene *s, const char *folded, uint64_t ambiguous)
{
	char first[33], digest[33];

	for (size_t shards = 1; shards <= 5; shards += 2) {
		struct rd_result r;
		struct rd_error err;
		assert_ok(scene_finish(s, shards, NULL, NULL, NULL, &r, &err), &err);
		assert_folded_as(&r, SCENE_TIERS, folded);
		assert_int_equal(r.trust.ambiguous_frames, ambiguous);
		assert_ok(rd_result_digest(&r, shards == 1 ? first : digest, &err), &err);
		if (shards > 1)
			assert_string_equal(digest, first);
		rd_result_release(&r);
	}
}

static void the_newest_mapping_holds(void **state)
{
	struct scene s;

	scene_init(&s);
	SCENE_MAPPING(&s, "/lib/old.so", .time = 10, .id = 1, .start = 0x1000, .end = 0x3000, .pid = 7);
	SCENE_MAPPING(&s, "/lib/new.so", .time = 20, .id = 2, .start = 0x1800, .end = 0x2000, .pid = 7);
	/* Before both, the earliest after; then each from its own time on, where it reaches. */
	SCENE_SAMPLE(&s, 5, 7, 0x1900);
	SCENE_SAMPLE(&s, 10, 7, 0x1900);
	SCENE_SAMPLE(&s, 19, 7, 0x1900);
	SCENE_SAMPLE(&s, 20, 7, 0x1900);
	SCENE_SAMPLE(&s, 99, 7, 0x2000);
	check(&s, "7;new.so!?[native] 1\n7;old.so!?[native] 4\n", 0);
	scene_release(&s);
}

static void ends_are_exclusive(void **state)
{
	struct scene s;

	scene_init(&s);
	SCENE_MAPPING(&s, "/lib/a.so", .time = 1, .id = 1, .start = 0x1000, .end = 0x2000, .pid = 7);
	SCENE_MAPPING(&s, "[vsyscall]", .time = 1, .id = 2, .start = 0xffffffffff600000, .end = UINT64_MAX, .pid = 7);
	/* Without room, and turned around. */
	SCENE_MAPPING(&s, "/lib/none.so", .time = 2, .id = 3, .start = 0x1000, .end = 0x1000, .pid = 7);
	SCENE_MAPPING(&s, "/lib/none.so", .time = 2, .id = 4, .start = 0x2000, .end = 0x1000, .pid = 7);
	SCENE_SAMPLE(&s, 5, 7, 0x1000);
	SCENE_SAMPLE(&s, 5, 7, 0x1fff);
	SCENE_SAMPLE(&s, 5, 7, 0x2000);
	SCENE_SAMPLE(&s, 5, 7, 0xfff);
	SCENE_SAMPLE(&s, 5, 7, UINT64_MAX - 1);
	SCENE_SAMPLE(&s, 5, 7, UINT64_MAX);
	check(&s, "7;?[unknown] 3\n7;[vsyscall]!?[native] 1\n7;a.so!?[native] 2\n", 0);
	scene_release(&s);
}

static void of_one_time_the_id_decides(void **state)
{
	struct scene s;

	scene_init(&s);
	/* The place says nothing: the higher id was written first. */
	SCENE_MAPPING(&s, "/lib/9.so", .time = 10, .place = 5, .id = 9, .start = 0x1000, .end = 0x2000, .pid = 7);
	SCENE_MAPPING(&s, "/lib/8.so", .time = 10, .place = 6, .id = 8, .start = 0x1000, .end = 0x2000, .pid = 7);
	/* The id is told twice: as it was told last, before the moment; as it was told first, after it. */
	SCENE_MAPPING(&s, "/lib/b.so", .time = 10, .place = 9, .id = 4, .start = 0x5000, .end = 0x6000, .pid = 7);
	SCENE_MAPPING(&s, "/lib/a.so", .time = 10, .place = 8, .id = 4, .start = 0x5000, .end = 0x6000, .pid = 7);
	SCENE_SAMPLE(&s, 10, 7, 0x1000, 0x5000);
	SCENE_SAMPLE(&s, 9, 7, 0x1000, 0x5000);
	check(&s, "7;a.so!?[native];8.so!?[native] 1\n7;b.so!?[native];9.so!?[native] 1\n", 0);
	scene_release(&s);
}

static void every_process_has_its_own(void **state)
{
	struct scene s;

	scene_init(&s);
	SCENE_MAPPING(&s, "/lib/seven.so", .time = 1, .id = 1, .start = 0x1000, .end = 0x2000, .pid = 7);
	SCENE_MAPPING(&s, "/lib/eight.so", .time = 1, .id = 2, .start = 0x1000, .end = 0x2000, .pid = 8);
	/* The kernel of process 0 is nobody else's. */
	SCENE_MAPPING(&s, "vmlinux", .time = 1, .id = 3, .start = 0xffffffff80000000, .end = UINT64_MAX, .pid = 0);
	SCENE_SAMPLE(&s, 5, 7, 0x1000);
	SCENE_SAMPLE(&s, 5, 8, 0x1000);
	SCENE_SAMPLE(&s, 5, 7, 0xffffffff80000010);
	SCENE_SAMPLE(&s, 5, 0, 0xffffffff80000010);
	check(&s, "0;vmlinux!?[native] 1\n7;?[unknown] 1\n7;seven.so!?[native] 1\n8;eight.so!?[native] 1\n", 0);
	scene_release(&s);
}

/* one-collect#303: a pid used again has the mappings of its own life. */
static void a_pid_used_again(void **state)
{
	struct scene s;

	scene_init(&s);
	SCENE_PROCESS(&s, "one", .time = 1, .pid = 7, .op = RD_OP_LOAD);
	SCENE_MAPPING(&s, "/bin/one", .time = 1, .id = 1, .start = 0x1000, .end = 0x2000, .pid = 7);
	SCENE_SYMBOL(&s, "main", .time = 1, .mapping = 1, .start = 0x1000, .last = 0x1fff, .pid = 7);
	SCENE_PROCESS(&s, "one", .time = 10, .pid = 7, .op = RD_OP_UNLOAD);
	SCENE_PROCESS(&s, "two", .time = 20, .pid = 7, .op = RD_OP_LOAD);
	SCENE_MAPPING(&s, "/bin/two", .time = 20, .id = 1, .start = 0x1000, .end = 0x2000, .pid = 7);
	SCENE_SYMBOL(&s, "start", .time = 20, .mapping = 1, .start = 0x1000, .last = 0x1fff, .pid = 7);
	SCENE_SAMPLE(&s, 5, 7, 0x1000);
	SCENE_SAMPLE(&s, 15, 7, 0x1000);
	SCENE_SAMPLE(&s, 25, 7, 0x1000);
	check(&s, "7;one!main[native] 2\n7;two!start[native] 1\n", 0);
	scene_release(&s);
}

/* The runtime's events hold before mappings, where they cover the address. */
static void methods_come_first(void **state)
{
	struct scene s;

	scene_init(&s);
	SCENE_MAPPING(&s, "/memfd:doublemapper (deleted)", .time = 1, .id = 1, .start = 0x1000, .end = 0x2000,
		      .pid = 7);
	SCENE_SYMBOL(&s, JIT("FromTheMap", "Optimized"), .time = 1, .mapping = 1, .start = 0x1000, .last = 0x1fff,
		     .pid = 7);
	SCENE_METHOD(&s, "A", .time = 10, .op = RD_OP_LOAD, .start = 0x1000, .size_bytes = 0x10, .pid = 7, .flags = 8);
	SCENE_METHOD(&s, "A", .time = 20, .op = RD_OP_UNLOAD, .start = 0x1000, .size_bytes = 0x10, .pid = 7,
		     .flags = 8);
	SCENE_SAMPLE(&s, 5, 7, 0x1008);
	SCENE_SAMPLE(&s, 15, 7, 0x1008);
	SCENE_SAMPLE(&s, 25, 7, 0x1008);
	SCENE_SAMPLE(&s, 15, 7, 0x1010);
	check(&s, "7;A[unknown] 1\n7;app!FromTheMap[optimized] 3\n", 0);
	scene_release(&s);
}

/* ---- symbols */

#define MAPPED(s) SCENE_MAPPING(s, "/lib/x.so", .time = 1, .id = 5, .start = 0x1000, .end = 0x9000, .pid = 7)
#define NAMED(s, NAME, START, LAST)                                                                                    \
	SCENE_SYMBOL(s, NAME, .time = 1, .mapping = 5, .start = (START), .last = (LAST), .pid = 7)

static void both_ends_of_a_symbol_are_its_own(void **state)
{
	struct scene s;

	scene_init(&s);
	MAPPED(&s);
	NAMED(&s, "f", 0x2000, 0x20ff);
	NAMED(&s, "turned", 0x3000, 0x2fff);
	NAMED(&s, "one", 0x4000, 0x4000);
	SCENE_SAMPLE(&s, 5, 7, 0x1fff);
	SCENE_SAMPLE(&s, 5, 7, 0x2000);
	SCENE_SAMPLE(&s, 5, 7, 0x20ff);
	SCENE_SAMPLE(&s, 5, 7, 0x2100);
	SCENE_SAMPLE(&s, 5, 7, 0x3000);
	SCENE_SAMPLE(&s, 5, 7, 0x4000);
	check(&s, "7;x.so!?[native] 3\n7;x.so!f[native] 2\n7;x.so!one[native] 1\n", 0);
	scene_release(&s);
}

/* All of the address space, its last byte too. */
static void a_symbol_of_everything(void **state)
{
	struct scene s;

	scene_init(&s);
	SCENE_MAPPING(&s, "all", .time = 1, .id = 5, .start = 0, .end = UINT64_MAX, .pid = 7);
	NAMED(&s, "everything", 0, UINT64_MAX);
	SCENE_SAMPLE(&s, 5, 7, 1, UINT64_MAX - 1, UINT64_MAX);
	check(&s, "7;?[unknown];all!everything[native];all!everything[native] 1\n", 0);
	scene_release(&s);
}

static void only_symbols_of_the_chosen_mapping(void **state)
{
	struct scene s;

	scene_init(&s);
	SCENE_MAPPING(&s, "/lib/old.so", .time = 1, .id = 1, .start = 0x1000, .end = 0x2000, .pid = 7);
	SCENE_MAPPING(&s, "/lib/new.so", .time = 10, .id = 2, .start = 0x1000, .end = 0x2000, .pid = 7);
	SCENE_SYMBOL(&s, "old", .time = 1, .mapping = 1, .start = 0x1000, .last = 0x1fff, .pid = 7);
	SCENE_SYMBOL(&s, "new", .time = 50, .mapping = 2, .start = 0x1000, .last = 0x10ff, .pid = 7);
	SCENE_SAMPLE(&s, 5, 7, 0x1010);
	SCENE_SAMPLE(&s, 15, 7, 0x1010);
	/* The newer one has no name for it, and the older one is not asked. */
	SCENE_SAMPLE(&s, 15, 7, 0x1800);
	check(&s, "7;new.so!?[native] 1\n7;new.so!new[native] 1\n7;old.so!old[native] 1\n", 0);
	scene_release(&s);
}

/* Highest start, then underscores, then length, then bytes; each beats all that come behind it. */
static void which_native_name_holds(void **state)
{
	struct scene s;

	scene_init(&s);
	MAPPED(&s);
	NAMED(&s, "a", 0x2000, 0x8fff);
	NAMED(&s, "___inner", 0x3000, 0x30ff);
	NAMED(&s, "__b_longer", 0x4000, 0x40ff);
	NAMED(&s, "_b_longest_of_all", 0x4000, 0x40ff);
	NAMED(&s, "__b", 0x4000, 0x40ff);
	NAMED(&s, "memmove", 0x5000, 0x50ff);
	NAMED(&s, "memcpy", 0x5000, 0x50ff);
	NAMED(&s, "mempcpy", 0x5000, 0x50ff);
	NAMED(&s, "zb", 0x6000, 0x60ff);
	NAMED(&s, "za", 0x6000, 0x60ff);
	NAMED(&s, "zc", 0x6000, 0x60ff);
	SCENE_SAMPLE(&s, 5, 7, 0x2010);
	SCENE_SAMPLE(&s, 5, 7, 0x3010);
	SCENE_SAMPLE(&s, 5, 7, 0x4010);
	SCENE_SAMPLE(&s, 5, 7, 0x5010);
	SCENE_SAMPLE(&s, 5, 7, 0x6010);
	SCENE_SAMPLE(&s, 5, 7, 0x6100);
	check(&s,
	      "7;x.so!___inner[native] 1\n7;x.so!_b_longest_of_all[native] 1\n7;x.so!a[native] 2\n"
	      "7;x.so!memcpy[native] 1\n7;x.so!za[native] 1\n",
	      0);
	scene_release(&s);
}

static void the_last_written_compiled_code_holds(void **state)
{
	struct scene s;

	scene_init(&s);
	MAPPED(&s);
	/* Written last, though it starts lowest and covers most; what was written is told by its place. */
	SCENE_SYMBOL(&s, JIT("Last", "OptimizedTier1"), .time = 1, .place = 900, .mapping = 5, .start = 0x1000,
		     .last = 0x8fff, .pid = 7);
	SCENE_SYMBOL(&s, JIT("First", "QuickJitted"), .time = 1, .place = 100, .mapping = 5, .start = 0x2000,
		     .last = 0x20ff, .pid = 7);
	SCENE_SYMBOL(&s, JIT("Last", "QuickJitted"), .time = 1, .place = 200, .mapping = 5, .start = 0x3000,
		     .last = 0x30ff, .pid = 7);
	/* Native names do not count beside compiled code, wherever they start. */
	NAMED(&s, "stub Link", 0x4000, 0x40ff);
	/* Only what differs apart from the tier is ambiguous. */
	SCENE_SAMPLE(&s, 5, 7, 0x2010);
	SCENE_SAMPLE(&s, 5, 7, 0x3010);
	SCENE_SAMPLE(&s, 5, 7, 0x4010);
	check(&s, "7;app!Last[tier 1] 3\n", 1);
	scene_release(&s);
}

/* The name is split, so that it is one row with the runtime's own events. */
static void compiled_code_has_all_its_names(void **state)
{
	struct scene s;
	struct rd_result r;

	scene_init(&s);
	MAPPED(&s);
	NAMED(&s, JIT("Fib", "OptimizedTier1"), 0x2000, 0x20ff);
	SCENE_SAMPLE(&s, 5, 7, 0x2010);
	scene_run(&s, &r);
	assert_int_equal(r.frames.n, 1);
	assert_span(rd_strings_at(&r.strings, r.frames.at[0].module), "app");
	assert_span(rd_strings_at(&r.strings, r.frames.at[0].ns), "N.T");
	assert_span(rd_strings_at(&r.strings, r.frames.at[0].name), "Fib");
	assert_span(rd_strings_at(&r.strings, r.frames.at[0].signature), "int32  (int32)");
	assert_int_equal(r.trust.unresolved_frames, 0);
	rd_result_release(&r);
	scene_release(&s);
}

/* Ids are the trace's: a fork has its parent's mappings, and where it wrote no symbols for them, those. */
static void a_fork_shares_symbols(void **state)
{
	struct scene s;

	scene_init(&s);
	for (uint32_t pid = 7; pid <= 9; pid++)
		SCENE_MAPPING(&s, "/lib/x.so", .time = 1, .id = 5, .start = 0x1000, .end = 0x9000, .pid = pid);
	SCENE_SYMBOL(&s, "parents", .time = 1, .mapping = 5, .start = 0x2000, .last = 0x2fff, .pid = 7);
	SCENE_SYMBOL(&s, "others", .time = 1, .mapping = 6, .start = 0x2000, .last = 0x2fff, .pid = 7);
	/* This one wrote its own, if only for another place. */
	SCENE_SYMBOL(&s, "own", .time = 1, .mapping = 5, .start = 0x3000, .last = 0x3fff, .pid = 9);
	for (uint32_t pid = 7; pid <= 9; pid++)
		SCENE_SAMPLE(&s, 5, pid, 0x2010);
	check(&s, "7;x.so!parents[native] 1\n8;x.so!parents[native] 1\n9;x.so!?[native] 1\n", 0);
	scene_release(&s);
}

/* Ids of one file are nothing to another, even where both are one trace. */
static void ids_of_joined_files(void **state)
{
	struct scene s;

	scene_init(&s);
	s.files = 2;
	MAPPED(&s);
	scene_add(&s, (struct scene_item){
			      .table = RD_TABLE_SYMBOLS,
			      .file = 1,
			      .symbol = {.time = 1, .mapping = 5, .start = 0x1000, .last = 0x8fff, .pid = 7},
			      .text = {"another's"},
		      });
	SCENE_SAMPLE(&s, 5, 7, 0x2010);
	check(&s, "7;x.so!?[native] 1\n", 0);
	scene_release(&s);
}

/* However somebody nests symbols, the room they take stays small. */
static void nested_symbols(void **state)
{
	static char names[2000][8];
	struct scene s;
	struct rd_result r;

	scene_init(&s);
	SCENE_MAPPING(&s, "/lib/x.so", .time = 1, .id = 5, .start = 0, .end = 0x100000, .pid = 7);
	for (uint64_t i = 0; i < 2000; i++) {
		snprintf(names[i], sizeof names[i], "f%04u", (unsigned)i);
		NAMED(&s, names[i], 0x1000 + i * 16, 0x1000 + (4000 - i) * 16);
		SCENE_SAMPLE(&s, 5, 7, 0x1000 + i * 16);
	}
	scene_run(&s, &r);
	assert_int_equal(r.samples, 2000);
	assert_int_equal(r.frames.n, 2000);
	assert_int_equal(r.trust.unresolved_frames, 0);
	rd_result_release(&r);
	scene_release(&s);
}

static void any_allocation_may_fail(void **state)
{
	for (uint64_t nth = 1;; nth++) {
		struct scene s;
		struct rd_result r = {0};
		scene_init(&s);
		MAPPED(&s);
		SCENE_MAPPING(&s, "/lib/x.so", .time = 1, .id = 5, .start = 0x1000, .end = 0x9000, .pid = 8);
		NAMED(&s, "f", 0x2000, 0x20ff);
		NAMED(&s, JIT("Fib", "OptimizedTier1"), 0x3000, 0x30ff);
		SCENE_SAMPLE(&s, 5, 7, 0x2010, 0x3010, 0x4010);
		SCENE_SAMPLE(&s, 5, 8, 0x2010);
		s.fail_allocation = nth;
		int rc = scene_finish(&s, 2, NULL, NULL, NULL, &r, NULL);
		scene_release(&s);
		rd_result_release(&r);
		if (rc == 0)
			break;
		assert_code(RD_NOMEM, rc);
		assert_true(nth < 2000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_newest_mapping_holds),
		cmocka_unit_test(ends_are_exclusive),
		cmocka_unit_test(of_one_time_the_id_decides),
		cmocka_unit_test(every_process_has_its_own),
		cmocka_unit_test(a_pid_used_again),
		cmocka_unit_test(methods_come_first),
		cmocka_unit_test(both_ends_of_a_symbol_are_its_own),
		cmocka_unit_test(a_symbol_of_everything),
		cmocka_unit_test(only_symbols_of_the_chosen_mapping),
		cmocka_unit_test(which_native_name_holds),
		cmocka_unit_test(the_last_written_compiled_code_holds),
		cmocka_unit_test(compiled_code_has_all_its_names),
		cmocka_unit_test(a_fork_shares_symbols),
		cmocka_unit_test(ids_of_joined_files),
		cmocka_unit_test(nested_symbols),
		cmocka_unit_test(any_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("mappings", tests, NULL, NULL);
}
