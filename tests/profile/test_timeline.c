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

/* Facts of module 5, and from where on a fact at 100 speaks of it. */
static uint64_t there_since(const struct rd_when *facts, size_t n, const struct rd_when *later)
{
	struct rd_modules m;
	struct rd_error err;
	struct rd_code_key key = {.id = 5, .life = 1}, other = {.id = 6, .life = 1};
	uint64_t since = 0, until;

	rd_modules_init(&m);
	for (size_t i = 0; i < n; i++)
		assert_ok(rd_modules_add(&m, &key, facts[i], &err), &err);
	assert_ok(rd_modules_seal(&m, &err), &err);
	until = 200;
	if (!rd_modules_there(&m, &key, 0, later, &until)) {
		since = until;
		assert_false(rd_modules_there(&m, &key, since - 1, later, &until));
	}
	until = 200;
	assert_true(rd_modules_there(&m, &key, since, later, &until));
	assert_true(rd_modules_there(&m, &other, 0, later, &until));
	assert_int_equal(until, 200);
	rd_modules_release(&m);
	return since;
}
#define SINCE(...)                                                                                                     \
	there_since((const struct rd_when[]){__VA_ARGS__}, sizeof((const struct rd_when[]){__VA_ARGS__}) / sizeof later, \
		    &later)

static void test_modules_there(void **state)
{
	const struct rd_when later = at(100, RD_OP_DCEND, 0);
	const struct rd_when load30 = at(30, RD_OP_LOAD, 1), load50 = at(50, RD_OP_LOAD, 2);
	const struct rd_when unload40 = at(40, RD_OP_UNLOAD, 1), alive45 = at(45, RD_OP_DCSTART, 1);

	assert_int_equal(SINCE(load30), 30);
	assert_int_equal(SINCE(alive45), 0);
	/* Loaded once more while it is there, as for another domain. */
	assert_int_equal(SINCE(load30, alive45, load50), 30);
	assert_int_equal(SINCE(alive45, load50), 0);
	/* Another module had the id. */
	assert_int_equal(SINCE(load30, unload40, load50), 50);
	assert_int_equal(SINCE(unload40, load50), 50);
	assert_int_equal(SINCE(load30, unload40, alive45), 40);
	/* The fact is late: of the life that has just ended. */
	assert_int_equal(SINCE(load30, unload40), 30);
	assert_int_equal(SINCE(unload40), 0);
	/* What comes after the fact says nothing of it. */
	assert_int_equal(SINCE(load30, at(150, RD_OP_LOAD, 3)), 30);
	assert_int_equal(SINCE(at(150, RD_OP_LOAD, 3)), 0);
	/* At the same time it is a matter of order. */
	assert_int_equal(SINCE(at(100, RD_OP_UNLOAD, 3)), 0);
}

static void test_module_names(void **state)
{
	struct rd_modules m;
	struct rd_error err;
	struct rd_code_key key = {.id = 5, .life = 1}, other = {.id = 6, .life = 1};

	rd_modules_init(&m);
	assert_ok(rd_modules_add(&m, &key, at(30, RD_OP_LOAD, 1), &err), &err);
	assert_ok(rd_modules_add(&m, &key, at(40, RD_OP_UNLOAD, 1), &err), &err);
	assert_ok(rd_modules_add(&m, &key, at(50, RD_OP_LOAD, 2), &err), &err);
	assert_ok(rd_modules_seal(&m, &err), &err);
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
		cmocka_unit_test(test_module_names),
		cmocka_unit_test(test_method_namer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
