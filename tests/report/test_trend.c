/* Several results side by side. */
#include "report/trend.h"
#include "tests/make_result.h"
#include "tests/support.h"

static struct rd_result a, b;
static struct rd_trend trend;
static struct rd_out out;

static int set_up(void **state)
{
	small_result(&a);
	small_result(&b);
	b.origin_utc_ns = a.origin_utc_ns - 1;
	rd_trend_init(&trend, false);
	rd_out_init(&out, -1);
	return 0;
}

static int tear_down(void **state)
{
	rd_out_close(&out, NULL);
	rd_trend_release(&trend);
	rd_result_release(&a);
	rd_result_release(&b);
	return 0;
}

static int add(const char *path, const struct rd_result *r, struct rd_error *err)
{
	struct rd_view v = {0};
	int code = rd_view_make(&v, r, &RD_VIEW_ALL, err);

	if (code == 0)
		code = rd_trend_add(&trend, path, &v, err);
	rd_view_release(&v);
	return code;
}

static const char *csv(void)
{
	struct rd_error err;

	out.buffer.n = 0;
	assert_ok(rd_trend_csv(&trend, &(struct rd_trend_show){0}, &out, &err), &err);
	rd_out_bytes(&out, "", 1);
	return (const char *)out.buffer.at;
}

static void test_the_earliest_first(void **state)
{
	struct rd_error err;

	assert_ok(add("late", &a, &err), &err);
	assert_ok(add("early", &b, &err), &err);
	assert_ok(rd_trend_seal(&trend, &err), &err);
	assert_string_equal("early", trend.results.at[0].path);
	assert_string_equal("late", trend.results.at[1].path);
	assert_int_equal(100, trend.results.at[0].samples);
	assert_true(trend.results.at[0].thread_time);
	struct rd_view_method first = rd_method_names_at(&trend.names, trend.rows.at[0].method);
	assert_memory_equal("Work", first.name.at, first.name.size_bytes);
	assert_int_equal(2, trend.rows.at[0].n);
	for (size_t i = 0; i < 2; i++) {
		const struct rd_trend_cell *c = &trend.cells.at[trend.rows.at[0].first + i];
		assert_int_equal(i, c->result);
		assert_int_equal(60, c->count.exclusive);
		/* It calls itself, and one sample is one. */
		assert_int_equal(60, c->count.inclusive);
	}
}

/* The two processes without a stack are one row here. */
static void test_processes_are_one(void **state)
{
	struct rd_error err;

	assert_ok(add("r", &a, &err), &err);
	assert_ok(rd_trend_seal(&trend, &err), &err);
	assert_non_null(strstr(csv(), ",100,,,[no stack],,10,10\r\n"));
}

static void test_what_one_has_not(void **state)
{
	struct rd_error err;

	b.frames.at[1].name = result_string(&b, "=Other\"");
	assert_ok(add("a,b", &a, &err), &err);
	assert_ok(add("c", &b, &err), &err);
	assert_ok(rd_trend_seal(&trend, &err), &err);
	assert_non_null(strstr(csv(), "\r\n\"a,b\","));
	assert_non_null(strstr(csv(), ",\"'=Other\"\"\","));
	out.buffer.n = 0;
	assert_ok(rd_trend_text(&trend, &(struct rd_trend_show){0}, &out, &err), &err);
	rd_out_bytes(&out, "", 1);
	assert_non_null(strstr((const char *)out.buffer.at, "      -  "));
}

static void test_nothing(void **state)
{
	struct rd_error err;

	assert_ok(rd_trend_seal(&trend, &err), &err);
	assert_string_equal("result,start,samples,module,namespace,name,signature,exclusive,inclusive\r\n", csv());
}

static void test_no_memory(void **state)
{
	struct rd_error err;
	int code = RD_NOMEM;

	for (int nth = 1; code == RD_NOMEM; nth++) {
		rd_trend_release(&trend);
		rd_trend_init(&trend, false);
		rd_fail_allocation(nth);
		code = add("a", &a, &err);
		code = code ? code : rd_trend_seal(&trend, &err);
		rd_fail_allocation(0);
	}
	assert_ok(code, &err);
	assert_int_equal(1, trend.results.n);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_the_earliest_first), TEST(test_processes_are_one), TEST(test_what_one_has_not),
		TEST(test_nothing),	       TEST(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
