/* The names of recordings that were never merged. */
#include "tests/support.h"

#include "trace/unmerged.h"

static void check(const char *name, size_t n, const char *wanted)
{
	char buf[64] = "";
	struct rd_span span = {(const uint8_t *)name, strlen(name)};
	bool is = rd_unmerged_main(span, n, buf, sizeof buf);
	assert_int_equal(is, wanted != NULL);
	if (wanted)
		assert_string_equal(buf, wanted);
}

static void parts_of_a_set(void **state)
{
	static const char *const names[] = {"X.kernel.etl",     "X.kernel.1.etl",   "X.kernelRundown.etl",
					    "X.clr.etl",        "X.clrRundown.etl", "X.clrRundown.2.etl",
					    "X.user_paged.etl", "X.user.etl",       "X.CLRrundown.etl"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		check(names[i], 0, "X.etl");
		check(names[i], 1, NULL);
	}
	check("X.kernel.ETL", 0, "X.ETL");
	check("/t/my.user/a.b.clr.etl", 0, "/t/my.user/a.b.etl");
	check("sub\\a.clr.etl", 0, "sub\\a.etl");
}

static void names_that_are_no_parts(void **state)
{
	static const char *const names[] = {"",           ".etl",        "X.etl",       "kernel.etl",
					    ".clr.etl",   "X.kern.etl",  "X.clr",       "X.clr.nettrace",
					    "X.clr.etlx", "X.clr/a.etl", "/t/.clr.etl", "X.cl.retl"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		check(names[i], 0, NULL);
}

static void several_mains_shortest_first(void **state)
{
	check("a.user.kernel.1.etl", 0, "a.etl");
	check("a.user.kernel.1.etl", 1, "a.user.etl");
	check("a.user.kernel.1.etl", 2, NULL);
}

static void a_main_that_does_not_fit(void **state)
{
	char buf[5];
	const char *name = "X.clr.etl";
	struct rd_span span = {(const uint8_t *)name, strlen(name)};
	assert_false(rd_unmerged_main(span, 0, buf, 5));
	assert_false(rd_unmerged_main((struct rd_span){0}, 0, buf, 5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_of_a_set),
		cmocka_unit_test(names_that_are_no_parts),
		cmocka_unit_test(several_mains_shortest_first),
		cmocka_unit_test(a_main_that_does_not_fit),
	};
	return cmocka_run_group_tests_name("unmerged", tests, NULL, NULL);
}
