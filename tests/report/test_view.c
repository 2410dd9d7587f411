#include "report/view.h"
#include "tests/make_result.h"
#include "tests/support.h"

static struct rd_result result;
static struct rd_view view;

static int set_up(void **state)
{
	small_result(&result);
	memset(&view, 0, sizeof view);
	return 0;
}

static int tear_down(void **state)
{
	rd_view_release(&view);
	rd_result_release(&result);
	return 0;
}

static void look(const struct rd_view_filter *f)
{
	struct rd_error err;
	rd_view_release(&view);
	assert_ok(rd_view_make(&view, &result, f, &err), &err);
}

static void check_method(size_t row, const char *name, uint64_t exclusive, uint64_t inclusive)
{
	assert_true(row < view.rows.n);
	const struct rd_view_row *r = &view.rows.at[row];
	assert_span(view.methods.at[r->method].name, name);
	assert_int_equal(r->exclusive, exclusive);
	assert_int_equal(r->inclusive, inclusive);
}

static void test_counts_by_method(void **state)
{
	look(&RD_VIEW_ALL);
	assert_int_equal(view.samples, 100);
	assert_int_equal(view.kinds[RD_SAMPLE_MANAGED], 60);
	assert_int_equal(view.kinds[RD_SAMPLE_EXTERNAL], 40);
	assert_int_equal(view.discarded, 0);
	assert_int_equal(view.rows.n, 5);
	/* Work recurs in a stack and has two tiers: one row, once a sample. */
	check_method(0, "Work", 60, 60);
	check_method(1, "?", 30, 30);
	check_method(2, "[no stack]", 6, 6);
	check_method(3, "[no stack]", 4, 4);
	check_method(4, "Main", 0, 90);
	assert_int_equal(view.process_samples.at[0], 96);
	assert_int_equal(view.process_samples.at[1], 4);
	assert_false(view.filtered);
}

static void test_tiers_split(void **state)
{
	struct rd_view_filter f = RD_VIEW_ALL;
	f.tiers = true;
	look(&f);
	assert_int_equal(view.rows.n, 6);
	check_method(0, "Work", 60, 60);
	assert_int_equal(view.methods.at[view.rows.at[0].method].tier, RD_TIER_QUICK);
	check_method(5, "Work", 0, 20);
	assert_int_equal(view.methods.at[view.rows.at[5].method].tier, RD_TIER_TIER1);
}

static void test_sorts(void **state)
{
	struct rd_view_filter f = RD_VIEW_ALL;
	f.sort = RD_SORT_INCLUSIVE;
	look(&f);
	check_method(0, "Main", 0, 90);
	check_method(1, "Work", 60, 60);
	f.sort = RD_SORT_NAME;
	look(&f);
	check_method(0, "Main", 0, 90);
	check_method(1, "Work", 60, 60);
	check_method(2, "?", 30, 30);
	assert_int_equal(view.methods.at[view.rows.at[4].method].what, RD_VIEW_NO_STACK);
}

static void test_filters_by_kind_and_process(void **state)
{
	struct rd_view_filter f = RD_VIEW_ALL;
	f.kind = RD_SAMPLE_EXTERNAL;
	look(&f);
	assert_int_equal(view.samples, 40);
	assert_int_equal(view.discarded, 60);
	assert_true(view.filtered);

	const char *const shop[] = {"shop", "SHOP", "10", "1"};
	for (size_t i = 0; i < 4; i++) {
		f = RD_VIEW_ALL;
		f.process = shop[i];
		look(&f);
		assert_int_equal(view.samples, 96);
		assert_int_equal(view.process_passes.at[0], 1);
		assert_int_equal(view.process_passes.at[1], 0);
	}
}

static void test_unknown_process_is_named(void **state)
{
	struct rd_view_filter f = RD_VIEW_ALL;
	struct rd_error err;
	f.process = "shopping";
	assert_code(RD_NOT_FOUND, rd_view_make(&view, &result, &f, &err));
	assert_non_null(strstr(err.text, "no samples of process 'shopping'; there are shop (pid 10,"));
	assert_non_null(strstr(err.text, "shop (pid 10, "));
}

static void test_time_widens_to_buckets(void **state)
{
	struct rd_view_filter f = RD_VIEW_ALL;
	f.has_from = f.has_to = true;
	f.from_ns = 1600000000; /* in bucket 3 */
	f.to_ns = 2000000000;   /* its end */
	look(&f);
	assert_int_equal(view.samples, 50);
	assert_true(view.cut_in_time && view.widened);
	assert_int_equal(view.from_ns, 1500000000);
	assert_int_equal(view.to_ns, 2000000000);
	assert_int_equal(view.first_bucket, 3);
	assert_int_equal(view.buckets.n, 1);
	assert_int_equal(view.buckets.at[0], 50);

	f.from_ns = 1500000000;
	look(&f);
	assert_int_equal(view.samples, 50);
	assert_false(view.widened);

	f.to_ns = 2000000001;
	look(&f);
	assert_true(view.widened);
	assert_int_equal(view.to_ns, 2500000000);
}

static void test_time_in_utc(void **state)
{
	struct rd_view_filter f = RD_VIEW_ALL;
	f.has_from = f.from_is_utc = true;
	f.from_ns = result.origin_utc_ns + 2500000000;
	look(&f);
	assert_int_equal(view.samples, 10);
	f.from_ns = INT64_MIN;
	look(&f);
	assert_int_equal(view.samples, 100);
	assert_false(view.widened);
	f.from_ns = INT64_MAX;
	look(&f);
	assert_int_equal(view.samples, 0);
	f = RD_VIEW_ALL;
	f.has_to = true;
	f.to_ns = -1;
	look(&f);
	assert_int_equal(view.samples, 0);
	assert_int_equal(view.rows.n, 0);
	assert_int_equal(view.buckets.n, 0);
}

static void test_time_backwards_is_refused(void **state)
{
	struct rd_view_filter f = RD_VIEW_ALL;
	struct rd_error err;
	f.has_from = f.has_to = true;
	f.from_ns = f.to_ns = 5;
	assert_code(RD_USAGE, rd_view_make(&view, &result, &f, &err));
}

static void test_nothing_in_it(void **state)
{
	rd_result_release(&result);
	memset(&result, 0, sizeof result);
	look(&RD_VIEW_ALL);
	assert_int_equal(view.samples, 0);
	assert_int_equal(view.rows.n, 0);
	assert_int_equal(view.buckets.n, 0);
}

static void test_no_memory(void **state)
{
	struct rd_error err;
	int code = RD_NOMEM;

	for (uint64_t nth = 1; code != 0; nth++) {
		assert_code(RD_NOMEM, code);
		rd_fail_allocation(nth);
		code = rd_view_make(&view, &result, &RD_VIEW_ALL, &err);
		rd_fail_allocation(0);
	}
	assert_int_equal(view.samples, 100);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_counts_by_method),
		TEST(test_tiers_split),
		TEST(test_sorts),
		TEST(test_filters_by_kind_and_process),
		TEST(test_unknown_process_is_named),
		TEST(test_time_widens_to_buckets),
		TEST(test_time_in_utc),
		TEST(test_time_backwards_is_refused),
		TEST(test_nothing_in_it),
		TEST(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
