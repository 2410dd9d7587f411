#include "profile/timeline.h"

#include "profile/names.h"
#include "tests/support.h"

static struct rd_when at(uint64_t time, uint32_t op, uint32_t id)
{
	return (struct rd_when){.time = time, .op = (uint16_t)op, .id = id};
}

static void test_before_and_after(void **state)
{
	struct rd_timeline t = {0};
	struct rd_error err;

	assert_null(rd_timeline_at(&t, 5, 0));
	assert_null(rd_timeline_from(&t, 5, 0));
	assert_ok(rd_timeline_add(&t, 5, at(20, RD_OP_LOAD, 2), &err), &err);
	assert_ok(rd_timeline_add(&t, 9, at(15, RD_OP_LOAD, 9), &err), &err);
	assert_ok(rd_timeline_add(&t, 5, at(10, RD_OP_LOAD, 1), &err), &err);
	/* Ends come first among equals, whatever came first. */
	assert_ok(rd_timeline_add(&t, 5, at(30, RD_OP_LOAD, 4), &err), &err);
	assert_ok(rd_timeline_add(&t, 5, at(30, RD_OP_UNLOAD, 3), &err), &err);
	rd_timeline_seal(&t);
	const struct {
		uint64_t key, time;
		uint32_t latest_else_earliest, first_from;
	} rows[] = {
		{5, 0, 1, 1},  {5, 10, 1, 1}, {5, 11, 1, 2}, {5, 20, 2, 2},
		{5, 29, 2, 3}, {5, 30, 4, 3}, {5, 31, 4, 0}, {9, 99, 9, 0},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_int_equal(rd_timeline_at(&t, rows[i].key, rows[i].time)->id, rows[i].latest_else_earliest);
		const struct rd_when *from = rd_timeline_from(&t, rows[i].key, rows[i].time);
		assert_int_equal(from ? from->id : 0, rows[i].first_from);
	}
	assert_null(rd_timeline_at(&t, 4, 10));
	assert_null(rd_timeline_at(&t, 6, 10));
	assert_null(rd_timeline_from(&t, 6, 10));
	rd_timeline_release(&t);
}

static void test_modules_there(void **state)
{
	struct rd_modules m;
	struct rd_error err;
	struct rd_code_key key = {.id = 5, .life = 1}, other = {.id = 6, .life = 1};
	struct rd_when later = at(100, RD_OP_DCEND, 0), soon = at(20, RD_OP_DCEND, 0);
	uint64_t until;

	rd_modules_init(&m);
	assert_ok(rd_modules_add(&m, &key, at(30, RD_OP_LOAD, 1), &err), &err);
	assert_ok(rd_modules_add(&m, &key, at(40, RD_OP_UNLOAD, 1), &err), &err);
	assert_ok(rd_modules_add(&m, &key, at(50, RD_OP_LOAD, 2), &err), &err);
	rd_modules_seal(&m);
	const struct {
		uint64_t time;
		const struct rd_when *seen_from;
		bool there;
		uint64_t until;
	} rows[] = {
		{10, &later, false, 30}, {10, &soon, true, 30},   {30, &later, true, 40},
		{40, &later, false, 50}, {50, &later, true, 200}, {99, &later, true, 200},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		until = 200;
		assert_int_equal(rd_modules_there(&m, &key, rows[i].time, rows[i].seen_from, &until), rows[i].there);
		assert_int_equal(until, rows[i].until);
	}
	assert_true(rd_modules_there(&m, &other, 10, &later, &until));
	assert_int_equal(rd_modules_name(&m, &key, 10), 1);
	assert_int_equal(rd_modules_name(&m, &key, 49), 1);
	assert_int_equal(rd_modules_name(&m, &key, 50), 2);
	assert_int_equal(rd_modules_name(&m, &other, 50), 0);
	rd_modules_release(&m);
}

static void test_method_namer(void **state)
{
	struct rd_method_namer n;
	struct rd_error err;
	struct rd_code_key wanted = {.id = 5, .rejit_id = 1, .life = 1, .clr = 2},
			   other = {.id = 5, .life = 1, .clr = 2};
	struct rd_method_names a = {1, 2, 3}, b = {1, 4, 3};

	rd_method_namer_init(&n);
	assert_ok(rd_method_namer_want(&n, &wanted, &err), &err);
	assert_true(rd_method_namer_wants(&n, &wanted));
	assert_false(rd_method_namer_wants(&n, &other));
	assert_ok(rd_method_namer_add(&n, &other, at(10, RD_OP_LOAD, 0), &a, &err), &err);
	assert_ok(rd_method_namer_add(&n, &wanted, at(20, RD_OP_LOAD, 0), &b, &err), &err);
	assert_ok(rd_method_namer_add(&n, &wanted, at(10, RD_OP_LOAD, 0), &a, &err), &err);
	rd_method_namer_seal(&n);
	assert_int_equal(rd_method_namer_names(&n, &wanted, 5)->name, 2);
	assert_int_equal(rd_method_namer_names(&n, &wanted, 20)->name, 4);
	assert_null(rd_method_namer_names(&n, &other, 20));
	rd_method_namer_release(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_before_and_after),
		cmocka_unit_test(test_modules_there),
		cmocka_unit_test(test_method_namer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
