#include "base/records.h"

#include "tests/support.h"

struct pair {
	uint32_t a, b;
	uint64_t count;
};

static void test_records_get_dense_ids(void **state)
{
	struct rd_records r;
	bool fresh;

	rd_records_init(&r, sizeof(struct pair), 8);
	for (uint32_t i = 0; i < 5000; i++) {
		uint32_t key[2] = {i, i / 3};
		assert_int_equal(rd_records_id(&r, key, &fresh), i);
		assert_true(fresh);
		((struct pair *)rd_records_at(&r, i))->count += i;
	}
	for (uint32_t i = 0; i < 5000; i++) {
		uint32_t key[2] = {i, i / 3};
		assert_int_equal(rd_records_id(&r, key, &fresh), i);
		assert_false(fresh);
		struct pair *p = rd_records_at(&r, i);
		assert_int_equal(p->a, i);
		assert_int_equal(p->b, i / 3);
		assert_int_equal(p->count, i);
	}
	uint32_t other[2] = {1, 1};
	assert_int_equal(rd_records_find(&r, other), RD_NONE);
	assert_int_equal(r.n, 5000);
	rd_records_release(&r);
	assert_int_equal(rd_records_find(&r, other), RD_NONE);
}

static void test_no_memory(void **state)
{
	struct rd_records r;
	uint32_t key[2] = {7, 7};

	rd_records_init(&r, sizeof(struct pair), 8);
	for (uint64_t nth = 1; nth <= 2; nth++) {
		rd_fail_allocation(nth);
		assert_int_equal(rd_records_id(&r, key, NULL), RD_NONE);
		rd_fail_allocation(0);
		assert_int_equal(rd_records_find(&r, key), RD_NONE);
		rd_records_release(&r);
	}
	assert_int_equal(rd_records_id(&r, key, NULL), 0);
	rd_records_release(&r);
}

static void test_what_is_forgotten_stays(void **state)
{
	struct rd_records r;
	bool fresh;

	rd_records_init(&r, sizeof(struct pair), 8);
	rd_records_forget(&r);
	/* Many, then few: the table becomes small again, and the records keep their places. */
	for (uint32_t round = 0; round < 6; round++) {
		uint32_t n = round == 1 ? 3000 : 5, before = (uint32_t)r.n;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t key[2] = {round, i};
			assert_int_equal(rd_records_id(&r, key, &fresh), before + i);
			assert_true(fresh);
			assert_int_equal(rd_records_id(&r, key, &fresh), before + i);
			assert_false(fresh);
		}
		rd_records_forget(&r);
		uint32_t key[2] = {round, 0};
		assert_int_equal(rd_records_find(&r, key), RD_NONE);
		assert_true(r.table.cap <= 8192);
	}
	assert_true(r.table.cap <= 16);
	assert_int_equal(r.n, 3025);
	assert_int_equal(((struct pair *)rd_records_at(&r, 5))->a, 1);
	rd_records_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records_get_dense_ids),
		cmocka_unit_test(test_what_is_forgotten_stays),
		cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
