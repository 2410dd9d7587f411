#include "base/radix.h"

#include "base/memory.h"
#include "tests/support.h"

static void check_sorted(const struct rd_radix_item *items, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		assert_true(items[i - 1].key <= items[i].key);
		if (items[i - 1].key == items[i].key)
			assert_true(items[i - 1].index < items[i].index);
	}
}

static void sort_masked(uint64_t mask)
{
	enum { N = 3000 };
	static struct rd_radix_item items[N];
	uint64_t random = 88172645463325252u;
	uint64_t sum = 0, after = 0;

	for (uint32_t i = 0; i < N; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		items[i] = (struct rd_radix_item){random & mask, i};
		sum += items[i].key;
	}
	assert_int_equal(rd_radix_sort(items, N), 0);
	check_sorted(items, N);
	for (uint32_t i = 0; i < N; i++)
		after += items[i].key;
	assert_int_equal(sum, after);
}

static void test_any_bytes_may_differ(void **state)
{
	const uint64_t masks[] = {0, 0xff, 0xf000, 0xff00000000000000, 0x00ff00ff00ff00ff, UINT64_MAX};

	for (size_t i = 0; i < sizeof masks / sizeof *masks; i++)
		sort_masked(masks[i]);
}

static void test_few(void **state)
{
	struct rd_radix_item items[2] = {{9, 0}, {3, 1}};

	assert_int_equal(rd_radix_sort(items, 0), 0);
	assert_int_equal(rd_radix_sort(items, 1), 0);
	assert_int_equal(items[0].key, 9);
	assert_int_equal(rd_radix_sort(items, 2), 0);
	assert_int_equal(items[0].index, 1);
	assert_int_equal(items[1].index, 0);
}

static void test_no_memory(void **state)
{
	struct rd_radix_item items[2] = {{9, 0}, {3, 1}};

	rd_fail_allocation(1);
	assert_code(RD_NOMEM, rd_radix_sort(items, 2));
	rd_fail_allocation(0);
	assert_int_equal(items[0].key, 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_bytes_may_differ),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
