/* What a method is called, and where room is short. */
#include "base/text.h"
#include "report/label.h"
#include "tests/support.h"

static struct rd_bytes label;

static int tear_down(void **state)
{
	rd_bytes_release(&label);
	label = (struct rd_bytes){0};
	return 0;
}

static struct rd_view_method method(const char *name, const char *signature)
{
	return (struct rd_view_method){.what = RD_VIEW_METHOD,
				       .module = rd_text_span("app"),
				       .ns = rd_text_span("Shop"),
				       .name = rd_text_span(name),
				       .signature = rd_text_span(signature)};
}

static void check(struct rd_view_method m, bool tiers, bool module, size_t columns, const char *expected)
{
	label.n = 0;
	rd_bytes_append(&label, "> ", 2);
	rd_label_within(&label, &m, tiers, module, columns);
	rd_bytes_append(&label, "", 1);
	assert_int_equal(strncmp((const char *)label.at, "> ", 2), 0);
	assert_string_equal((const char *)label.at + 2, expected);
}

static void test_arguments_go_first(void **state)
{
	struct rd_view_method m = method("Work", "void  (int32,class Order)");

	check(m, false, true, 0, "app!Shop.Work(int32,class Order)");
	check(m, false, true, 32, "app!Shop.Work(int32,class Order)");
	check(m, false, true, 31, "app!Shop.Work(…)");
	check(m, false, true, 3, "app!Shop.Work(…)");
	check(m, false, false, 28, "Shop.Work(int32,class Order)");
	check(m, false, false, 27, "Shop.Work(…)");
	check(method("Main", "void  ()"), false, true, 3, "app!Shop.Main()");
	check(method("native", ""), false, true, 3, "app!Shop.native");
}

static void test_tiers_stay(void **state)
{
	struct rd_view_method m = method("Work", "void  (int32)");
	char tier[32], brief[64];

	m.tier = 3;
	snprintf(brief, sizeof brief, "app!Shop.Work(…) [%s]", rd_tier_name(m.tier, tier));
	check(m, true, true, 3, brief);
	m.what = RD_VIEW_PRUNED;
	check(m, true, true, 3, "app!Shop.Work(…)");
}

/* Characters of East Asia take two columns each, marks on letters none. */
static void test_columns_are_of_a_terminal(void **state)
{
	check(method("商品", "void  (int32)"), false, false, 16, "Shop.商品(int32)");
	check(method("商品", "void  (int32)"), false, false, 15, "Shop.商品(…)");
	check(method("e\xcc\x81t", "void  (int32)"), false, false, 14, "Shop.e\xcc\x81t(int32)");
	check(method("e\xcc\x81t", "void  (int32)"), false, false, 13, "Shop.e\xcc\x81t(…)");
}

static void test_no_memory(void **state)
{
	struct rd_view_method m = method("Work", "void  (int32)");

	rd_fail_allocation(1);
	rd_label_within(&label, &m, false, true, 3);
	rd_fail_allocation(0);
	assert_true(label.failed);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_arguments_go_first),
		TEST(test_tiers_stay),
		TEST(test_columns_are_of_a_terminal),
		TEST(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
