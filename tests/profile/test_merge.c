/* Several results as one. */
#include "profile/merge.h"
#include "tests/make_result.h"
#include "tests/support.h"

static struct rd_result a, b, all;

static int set_up(void **state)
{
	small_result(&a);
	small_result(&b);
	snprintf(b.traces.at[0].path, sizeof b.traces.at[0].path, "other.nettrace");
	memset(&all, 0, sizeof all);
	return 0;
}

static int tear_down(void **state)
{
	rd_result_release(&a);
	rd_result_release(&b);
	rd_result_release(&all);
	return 0;
}

static uint64_t rows_of(const struct rd_result *r)
{
	uint64_t n = 0;

	for (size_t i = 0; i < r->rows.n; i++)
		n += r->rows.at[i].count;
	return n;
}

/* Every id leads where it led, shifted. */
static void check_second(void)
{
	for (size_t i = 0; i < b.rows.n; i++) {
		const struct rd_result_row *was = &b.rows.at[i], *is = &all.rows.at[a.rows.n + i];
		const struct rd_result_call *x = rd_result_innermost(&b, was->stack), *y = rd_result_innermost(&all, is->stack);
		assert_int_equal(was->process + a.processes.n, is->process);
		assert_int_equal(was->count, is->count);
		assert_int_equal(was->thread, is->thread);
		assert_int_equal(0, is->bucket);
		while (x && y) {
			const struct rd_result_frame *f = &b.frames.at[x->frame], *g = &all.frames.at[y->frame];
			struct rd_span n = rd_strings_at(&b.strings, f->name), m = rd_strings_at(&all.strings, g->name);
			assert_int_equal(n.size_bytes, m.size_bytes);
			assert_memory_equal(n.at, m.at, n.size_bytes);
			assert_int_equal(f->process + a.processes.n, g->process);
			assert_int_equal(f->tier, g->tier);
			x = rd_result_call(&b, x->caller);
			y = rd_result_call(&all, y->caller);
		}
		assert_true(x == NULL && y == NULL);
	}
}

static void test_two(void **state)
{
	struct rd_error err;

	b.origin_utc_ns = a.origin_utc_ns + INT64_C(86400000000000);
	b.trust.complete = false;
	b.trust.cut_at = 77;
	b.trust.lost_events = 5;
	b.trust.rundown = RD_RUNDOWN_NONE;
	/* Names of the second that the first has not. */
	b.frames.at[0].name = result_string(&b, "Another");
	assert_ok(rd_result_merge(&all, &a, &err), &err);
	assert_int_equal(a.rows.n, all.rows.n);
	assert_ok(rd_result_merge(&all, &b, &err), &err);
	assert_int_equal(2, all.traces.n);
	assert_string_equal("other.nettrace", all.traces.at[1].path);
	assert_int_equal(1, all.traces.at[1].group);
	assert_int_equal(1, all.processes.at[a.processes.n].trace);
	assert_int_equal(200, all.samples);
	assert_int_equal(200, rows_of(&all));
	assert_int_equal(2 * a.kinds[RD_SAMPLE_MANAGED], all.kinds[RD_SAMPLE_MANAGED]);
	check_second();
	assert_false(all.trust.complete);
	assert_int_equal(77, all.trust.cut_at);
	assert_int_equal(5, all.trust.lost_events);
	assert_int_equal(2 * a.trust.frames, all.trust.frames);
	assert_int_equal(RD_RUNDOWN_PARTIAL, all.trust.rundown);
	/* One bucket from the first's start to the second's end. */
	assert_int_equal(a.origin_utc_ns, all.origin_utc_ns);
	assert_int_equal(0, all.first_bucket);
	assert_int_equal(0, all.last_bucket);
	assert_int_equal((uint64_t)86400000000000 + (b.last_bucket + 1) * b.bucket_width_ns, all.bucket_width_ns);
}

static void test_the_same_trace(void **state)
{
	struct rd_error err;

	assert_ok(rd_result_merge(&all, &a, &err), &err);
	assert_code(RD_EXISTS, rd_result_merge(&all, &a, &err));
}

static void test_other_filters(void **state)
{
	struct rd_error err;

	assert_ok(rd_result_merge(&all, &a, &err), &err);
	strcpy(b.filter.process, "shop");
	assert_code(RD_UNSUPPORTED, rd_result_merge(&all, &b, &err));
}

static void test_nothing(void **state)
{
	struct rd_result none = {.first_bucket = 1};
	struct rd_error err;

	none.trust.complete = true;
	assert_ok(rd_result_merge(&all, &none, &err), &err);
	assert_int_equal(0, all.rows.n);
	assert_true(all.first_bucket > all.last_bucket);
	assert_true(all.trust.complete);
}

static void test_no_memory(void **state)
{
	struct rd_error err;
	int code = RD_NOMEM;

	for (int nth = 1; code == RD_NOMEM; nth++) {
		rd_result_release(&all);
		memset(&all, 0, sizeof all);
		rd_fail_allocation(nth);
		code = rd_result_merge(&all, &a, &err);
		code = code ? code : rd_result_merge(&all, &b, &err);
		rd_fail_allocation(0);
	}
	assert_ok(code, &err);
	assert_int_equal(200, all.samples);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_two), TEST(test_the_same_trace), TEST(test_other_filters), TEST(test_nothing), TEST(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
