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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records_get_dense_ids),
		cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
