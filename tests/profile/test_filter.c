/* Which process a user means. */
#include "profile/filter.h"
#include "tests/support.h"

static bool is(const char *wanted, const char *name)
{
	return rd_process_is(wanted, 7, 3, (struct rd_span){(const uint8_t *)name, strlen(name)});
}

static void test_exe_is_left_out_on_either_side(void **state)
{
	static const char *const same[] = {"shop", "shop.exe", "SHOP", "Shop.EXE"};

	for (size_t i = 0; i < 4; i++)
		for (size_t k = 0; k < 4; k++)
			assert_true(is(same[i], same[k]));
	assert_false(is("sho", "shop"));
	assert_false(is("sho", "shop.exe"));
	assert_false(is("shop.ex", "shop"));
	assert_false(is("shop.dll", "shop.exe"));
	assert_false(is("shop.exe.exe", "shop"));
	assert_true(is("shop.exe.exe", "shop.exe"));
}

/* Nothing is left of these without it. */
static void test_exe_alone_is_a_name(void **state)
{
	assert_true(is(".exe", ".EXE"));
	assert_false(is(".exe", ""));
	assert_false(is("", ".exe"));
	assert_true(is("x.exe", "x"));
}

static void test_pids(void **state)
{
	assert_true(is("7", "shop"));
	assert_true(is("3", "shop"));
	assert_false(is("8", "shop"));
	assert_true(is("8", "8.exe"));
	assert_false(is("7.exe", "shop"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exe_is_left_out_on_either_side),
		cmocka_unit_test(test_exe_alone_is_a_name),
		cmocka_unit_test(test_pids),
	};
	return cmocka_run_group_tests_name("filter", tests, NULL, NULL);
}
