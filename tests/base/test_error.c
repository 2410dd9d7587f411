#include "tests/support.h"

static void clear(void **state)
{
	struct rd_error err;
	rd_error_clear(&err);
	assert_int_equal(err.code, RD_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(clear)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
