#include "tests/support.h"

#include "base/clock.h"

#define SECOND_NS UINT64_C(1000000000)

static uint64_t now_ns;
static uint64_t test_clock(void)
{
	return now_ns;
}

static void time_goes_on(void **state)
{
	uint64_t before = rd_now_ns();

	assert_true(rd_now_ns() >= before);
}

static void waits_are_rounded_up(void **state)
{
	now_ns = 5 * SECOND_NS;
	rd_clock_replace(test_clock);
	assert_int_equal(rd_wait_ms(0), 0);
	assert_int_equal(rd_wait_ms(now_ns), 0);
	assert_int_equal(rd_wait_ms(now_ns + 1), 1);
	assert_int_equal(rd_wait_ms(now_ns + 1000000), 1);
	assert_int_equal(rd_wait_ms(now_ns + 1000001), 2);
	assert_int_equal(rd_wait_ms(now_ns + 60 * SECOND_NS - 1), 60000);
	assert_int_equal(rd_wait_ms(now_ns + 3600 * SECOND_NS), 60000);
	assert_int_equal(rd_wait_ms(UINT64_MAX - 1), 60000);
	assert_int_equal(rd_wait_ms(UINT64_MAX), -1);
	rd_clock_replace(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_goes_on),
		cmocka_unit_test(waits_are_rounded_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
