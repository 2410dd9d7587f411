/* What views ask of stacks: patterns, groups, callers and callees, threads, turning around, pruning. */
#include "report/label.h"
#include "report/view.h"
#include "tests/make_result.h"
#include "tests/support.h"

static struct rd_result result;
static struct rd_view view;
static struct rd_bytes text;

static int set_up(void **state)
{
	small_result(&result);
	memset(&view, 0, sizeof view);
	memset(&text, 0, sizeof text);
	return 0;
}

static int tear_down(void **state)
{
	rd_view_release(&view);
	rd_result_release(&result);
	rd_bytes_release(&text);
	return 0;
}

static void look(const struct rd_view_filter *f)
{
	struct rd_error err;
	rd_view_release(&view);
	assert_ok(rd_view_make(&view, &result, f, &err), &err);
}

static void refuse(int code, const struct rd_view_filter *f, struct rd_error *err)
{
	rd_view_release(&view);
	assert_code(code, rd_view_make(&view, &result, f, err));
}

static void put_call(uint32_t number)
{
	const struct rd_view_call *chain[64];
	size_t n = 0;

	for (const struct rd_view_call *c = rd_view_call(&view, number); c; c = rd_view_call(&view, c->caller)) {
		assert_true(n < 64);
		chain[n++] = c;
	}
	while (n-- > 0) {
		rd_label_in_module(&text, &view.methods.at[chain[n]->method], view.filter.tiers);
		rd_bytes_append(&text, n ? ">" : " ", 1);
	}
}

/* Every stack of the view as "Main>Work 40, …". */
static void check_stacks(const char *expected)
{
	char number[64];

	text.n = 0;
	for (size_t i = 0; i < view.stacks.n; i++) {
		const struct rd_view_stack *s = &view.stacks.at[i];
		if (i)
			rd_bytes_append(&text, ", ", 2);
		if (view.filter.by_thread)
			rd_bytes_append(
				&text, number,
				(size_t)snprintf(number, sizeof number, "%llu: ", (unsigned long long)s->thread));
		put_call(s->call);
		rd_bytes_append(&text, number,
				(size_t)snprintf(number, sizeof number, "%llu", (unsigned long long)s->count));
	}
	rd_bytes_append(&text, "", 1);
	assert_string_equal((const char *)text.at, expected);
}

/* Every row as "Work 60 60, …": exclusive, inclusive, and direct where it is asked for. */
static void check_rows(const char *expected)
{
	char numbers[96];

	text.n = 0;
	for (size_t i = 0; i < view.rows.n; i++) {
		const struct rd_view_row *r = &view.rows.at[i];
		if (i)
			rd_bytes_append(&text, ", ", 2);
		rd_label(&text, &view.methods.at[r->method], view.filter.tiers);
		int n = snprintf(numbers, sizeof numbers, " %llu %llu", (unsigned long long)r->exclusive,
				 (unsigned long long)r->inclusive);
		if (rd_view_has_direct(&view))
			n += snprintf(numbers + n, sizeof numbers - (size_t)n, " %llu", (unsigned long long)r->direct);
		rd_bytes_append(&text, numbers, (size_t)n);
	}
	rd_bytes_append(&text, "", 1);
	assert_string_equal((const char *)text.at, expected);
}

#define MAIN "App.Main(class System.String[])"
#define WORK "App.Work(int32)"

static void test_all_of_it(void **state)
{
	look(&RD_VIEW_ALL);
	check_stacks(MAIN ">" WORK " 40, " MAIN ">" WORK ">" WORK " 20, " MAIN ">? 30, [no stack] 6, [no stack] 4");
}

static void test_focus_and_ignore(void **state)
{
	struct rd_view_filter f = RD_VIEW_ALL;
	f.focus = "^libc\\.so";
	look(&f);
	check_stacks(MAIN ">? 30");
	check_rows("libc.so.6!? 30 30, app!" MAIN " 0 30");
	assert_int_equal(view.samples, 30);
	assert_int_equal(view.discarded, 70);
	assert_true(view.filtered);
	f = RD_VIEW_ALL;
	f.ignore = "Work\\(int32\\)$";
	look(&f);
	check_stacks(MAIN ">? 30, [no stack] 6, [no stack] 4");
	f.focus = "Work|Main";
	look(&f);
	check_stacks(MAIN ">? 30");
	f = RD_VIEW_ALL;
	f.focus = "^\\[no stack\\]$";
	look(&f);
	check_stacks("[no stack] 6, [no stack] 4");
	f.focus = "nothing like it";
	look(&f);
	assert_int_equal(view.samples, 0);
	assert_int_equal(view.rows.n, 0);
	assert_int_equal(view.methods.n, 0);
}

static void test_hide(void **state)
{
	struct rd_view_filter f = RD_VIEW_ALL;
	f.hide = "App\\.Work";
	look(&f);
	check_stacks(MAIN " 60, " MAIN ">? 30, [no stack] 6, [no stack] 4");
	check_rows("app!" MAIN " 60 90, libc.so.6!? 30 30, [no stack] 6 6, [no stack] 4 4");
	/* What has no other frame is outside the view. */
	f.hide = "^app!|no stack";
	look(&f);
	check_stacks("? 30");
	assert_int_equal(view.discarded, 70);
	/* A frame may be looked for and hidden. */
	f.hide = "Main";
	f.focus = "Main";
	look(&f);
	check_stacks(WORK " 40, " WORK ">" WORK " 20, ? 30");
}

static void test_callers(void **state)
{
	struct rd_view_filter f = RD_VIEW_ALL;
	f.callers = "Work";
	f.sort = RD_SORT_DIRECT;
	look(&f);
	check_stacks(MAIN ">" WORK " 60");
	check_rows("app!" MAIN " 0 60 60, app!" WORK " 60 60 0");
	f.callers = "Main";
	look(&f);
	check_stacks(MAIN " 90");
	check_rows("app!" MAIN " 90 90 0");
}

static void test_callees(void **state)
{
	struct rd_view_filter f = RD_VIEW_ALL;
	f.callees = "Main";
	f.sort = RD_SORT_DIRECT;
	look(&f);
	check_rows("app!" WORK " 60 60 60, libc.so.6!? 30 30 30, app!" MAIN " 0 90 0");
	f.callees = "Work";
	look(&f);
	check_stacks(WORK " 40, " WORK ">" WORK " 20");
	check_rows("app!" WORK " 60 60 20");
	/* With the method itself hidden the direct ones are not next to it, and are not claimed to be. */
	f.hide = "Work";
	look(&f);
	assert_int_equal(view.samples, 0);
}

static void test_groups(void **state)
{
	struct rd_view_filter f = RD_VIEW_ALL;
	f.group = RD_GROUP_MODULE;
	look(&f);
	check_rows("app 60 90, libc.so.6 30 30, [no stack] 6 6, [no stack] 4 4");
	assert_int_equal(view.stacks.n, 4);
	f.group = RD_GROUP_TYPE;
	look(&f);
	check_rows("app!App 60 90, libc.so.6 30 30, [no stack] 6 6, [no stack] 4 4");
	f.group = RD_GROUP_NAMESPACE;
	result.frames.at[0].ns = result_string(&result, "App.Inner.Outer`1+Deep[System.String]");
	result.frames.at[1].ns = result_string(&result, "App.Inner.Other<A.B>");
	result.frames.at[2].ns = result_string(&result, "App.Inner.Third[]");
	look(&f);
	check_rows("app!App.Inner 60 90, libc.so.6 30 30, [no stack] 6 6, [no stack] 4 4");
	f.group = RD_GROUP_TIER;
	look(&f);
	check_rows("quick 60 90, native 30 30, [no stack] 6 6, [no stack] 4 4, tier 1 0 20");
	f.group = RD_GROUP_PROCESS;
	look(&f);
	check_rows("shop (10) 90 90, [no stack] 6 6, [no stack] 4 4");
	/* Patterns see methods, not groups. */
	f.focus = "Work";
	look(&f);
	check_rows("shop (10) 60 60");
	result.frames.at[3].module = result_string(&result, "");
	f = RD_VIEW_ALL;
	f.group = RD_GROUP_MODULE;
	look(&f);
	check_rows("app 60 90, [no module] 30 30, [no stack] 6 6, [no stack] 4 4");
}

static void test_threads(void **state)
{
	struct rd_view_filter f = RD_VIEW_ALL;
	struct rd_error err;
	result.rows.at[1].thread = 7;
	f.by_thread = true;
	look(&f);
	check_rows("app!" WORK " 40 40, libc.so.6!? 30 30, app!" WORK " 20 20, [no stack] 6 6, [no stack] 4 4, "
		   "app!" MAIN " 0 70, app!" MAIN " 0 20");
	assert_int_equal(view.rows.at[2].thread, 7);
	check_stacks("100: " MAIN ">" WORK " 40, 7: " MAIN ">" WORK ">" WORK " 20, 100: " MAIN
		     ">? 30, 100: [no stack] 6, 101: [no stack] 4");
	f = RD_VIEW_ALL;
	f.has_thread = true;
	f.thread = 7;
	look(&f);
	check_stacks(MAIN ">" WORK ">" WORK " 20");
	f.thread = 8;
	refuse(RD_NOT_FOUND, &f, &err);
	assert_string_equal(err.text, "no samples of thread 8; there are 100, 7, 101");
}

static void test_modules(void **state)
{
	struct rd_view_filter f = RD_VIEW_ALL;
	struct rd_error err;
	f.module = "APP";
	look(&f);
	check_stacks(MAIN ">" WORK " 40, " MAIN ">" WORK ">" WORK " 20");
	f.module = "ap";
	refuse(RD_NOT_FOUND, &f, &err);
	assert_string_equal(err.text, "no frame is of a module 'ap'");
}

static void test_inverted(void **state)
{
	struct rd_view_filter f = RD_VIEW_ALL;
	f.inverted = true;
	look(&f);
	check_stacks(WORK ">" MAIN " 40, " WORK ">" WORK ">" MAIN " 20, ?>" MAIN " 30, [no stack] 6, [no stack] 4");
	check_rows("app!" WORK " 60 60, libc.so.6!? 30 30, [no stack] 6 6, [no stack] 4 4, app!" MAIN " 0 90");
}

static void test_pruning(void **state)
{
	struct rd_view_filter f = RD_VIEW_ALL;
	f.min_millionths = 500000;
	look(&f);
	check_rows("app!" WORK " 60 60, app!" MAIN " 0 90");
	assert_int_equal(view.rows_left_out, 3);
	check_stacks(MAIN ">" WORK " 40, " MAIN ">" WORK ">[pruned] 20, " MAIN ">[pruned] 30, [pruned] 6, [pruned] 4");
	assert_int_equal(view.pruned, 60);
	/* Stacks that are the same then are one, for the rows too. */
	f.min_millionths = 0;
	f.min_samples = 95;
	look(&f);
	check_stacks("[pruned] 96, [pruned] 4");
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(view.row_stack.at[i], i / 4);
	/* One of 100 is 1 %, of 101 it is less. */
	f.min_samples = 0;
	f.min_millionths = 10000;
	look(&f);
	assert_int_equal(rd_view_least(&view), 1);
	result.rows.at[0].count = 41;
	look(&f);
	assert_int_equal(rd_view_least(&view), 2);
}

static void test_patterns_see_whole_names(void **state)
{
	struct rd_view_filter f = RD_VIEW_ALL;
	struct rd_error err;
	uint32_t id = rd_strings_id(&result.strings, "a\0b", 3);
	assert_int_not_equal(id, RD_NONE);
	result.frames.at[3].name = id;
	f.focus = "b$";
	look(&f);
	assert_int_equal(view.samples, 30);
	f.focus = "a(b";
	refuse(RD_USAGE, &f, &err);
	assert_non_null(strstr(err.text, "--focus: 'a(b' is no regular expression: "));
	f = RD_VIEW_ALL;
	f.callers = f.callees = "x";
	refuse(RD_USAGE, &f, &err);
	f = RD_VIEW_ALL;
	f.tiers = true;
	f.group = RD_GROUP_TYPE;
	refuse(RD_USAGE, &f, &err);
}

/* Whatever is asked, no sample is counted twice or lost. */
static void check_sums(const struct rd_view_filter *f)
{
	uint64_t exclusive = 0, stacks = 0, rows = 0, processes = 0, kinds = 0, buckets = 0;

	look(f);
	for (size_t i = 0; i < view.rows.n; i++)
		exclusive += view.rows.at[i].exclusive;
	for (size_t i = 0; i < view.stacks.n; i++)
		stacks += view.stacks.at[i].count;
	for (size_t i = 0; i < view.row_stack.n; i++)
		rows += view.row_stack.at[i] != RD_NONE ? result.rows.at[i].count : 0;
	for (size_t i = 0; i < view.process_samples.n; i++)
		processes += view.process_samples.at[i];
	for (size_t i = 0; i < 8; i++)
		kinds += view.kinds[i];
	for (size_t i = 0; i < view.buckets.n; i++)
		buckets += view.buckets.at[i];
	if (view.rows_left_out == 0)
		assert_int_equal(exclusive, view.samples);
	assert_int_equal(stacks, view.samples);
	assert_int_equal(rows, view.samples);
	assert_int_equal(processes, view.samples);
	assert_int_equal(kinds, view.samples);
	assert_int_equal(buckets, view.samples);
	assert_int_equal(view.samples + view.discarded, result.samples + result.discarded);
	for (size_t i = 0; i < view.calls.n; i++)
		assert_true(view.calls.at[i].caller <= i && view.calls.at[i].method < view.methods.n);
}

static void test_sums_of_every_view(void **state)
{
	static const char *const patterns[] = {NULL, "Method1", "app!.*[02468]`", "no stack|lib"};

	rd_result_release(&result);
	large_result(&result, 600, 7);
	for (unsigned i = 0; i < 512; i++) {
		struct rd_view_filter f = RD_VIEW_ALL;
		f.group = (enum rd_group)(i % 6);
		f.focus = patterns[i / 6 % 4];
		f.hide = patterns[i / 24 % 4];
		f.ignore = i % 7 == 0 ? "Method3" : NULL;
		f.callers = i % 5 == 0 ? patterns[i / 5 % 4] : NULL;
		f.callees = i % 5 == 1 ? patterns[i / 5 % 4] : NULL;
		f.by_thread = i % 3 == 0;
		f.inverted = i % 2 == 0;
		f.min_samples = i % 4 == 3 ? i : 0;
		check_sums(&f);
	}
}

static void test_no_memory(void **state)
{
	struct rd_view_filter f = {.kind = -1,
				   .focus = "Main",
				   .hide = "libc",
				   .group = RD_GROUP_PROCESS,
				   .by_thread = true,
				   .inverted = true,
				   .min_samples = 50};
	struct rd_error err;

	for (unsigned group = 0; group < 6; group++) {
		int code = RD_NOMEM;
		f.group = (enum rd_group)group;
		for (uint64_t nth = 1; code != 0; nth++) {
			assert_code(RD_NOMEM, code);
			rd_view_release(&view);
			rd_fail_allocation(nth);
			code = rd_view_make(&view, &result, &f, &err);
			rd_fail_allocation(0);
		}
		assert_int_equal(view.samples, 90);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_all_of_it),
		TEST(test_focus_and_ignore),
		TEST(test_hide),
		TEST(test_callers),
		TEST(test_callees),
		TEST(test_groups),
		TEST(test_threads),
		TEST(test_modules),
		TEST(test_inverted),
		TEST(test_pruning),
		TEST(test_patterns_see_whole_names),
		TEST(test_sums_of_every_view),
		TEST(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
