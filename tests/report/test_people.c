#include "report/people.h"
#include "tests/support.h"

static char buf[RD_NUMBER_TEXT];

static void test_counts(void **state)
{
	assert_string_equal(rd_count_text(0, buf), "0");
	assert_string_equal(rd_count_text(999, buf), "999");
	assert_string_equal(rd_count_text(1000, buf), "1,000");
	assert_string_equal(rd_count_text(UINT64_MAX, buf), "18,446,744,073,709,551,615");
}

static void test_percentages(void **state)
{
	assert_string_equal(rd_percent_text(0, 0, buf), "0.0 %");
	assert_string_equal(rd_percent_text(1, 3, buf), "33.3 %");
	assert_string_equal(rd_percent_text(1192, 943397, buf), "0.1 %");
	assert_string_equal(rd_percent_text(99999, 100000, buf), "99.9 %");
	assert_string_equal(rd_percent_text(5, 5, buf), "100.0 %");
	assert_string_equal(rd_percent_text(UINT64_MAX, UINT64_MAX, buf), "100.0 %");
}

static void test_times(void **state)
{
	assert_string_equal(rd_duration_text(0, buf), "0.0 ms");
	assert_string_equal(rd_duration_text(12300000, buf), "12.3 ms");
	assert_string_equal(rd_duration_text(61200000000, buf), "61.2 s");
	assert_string_equal(rd_duration_text(723000000000, buf), "12 min 3 s");
	assert_string_equal(rd_duration_text(11040000000000, buf), "3 h 4 min");
	assert_string_equal(rd_seconds_text(0, buf), "0");
	assert_string_equal(rd_seconds_text(1250000000, buf), "1.25");
	assert_string_equal(rd_seconds_text(-3000000001, buf), "-3.000000001");
	assert_string_equal(rd_seconds_text(INT64_MIN, buf), "-9223372036.854775808");
}

static void test_utc(void **state)
{
	assert_string_equal(rd_utc_text(0, buf), "1970-01-01T00:00:00Z");
	assert_string_equal(rd_utc_text(-1, buf), "1969-12-31T23:59:59.999999999Z");
	assert_string_equal(rd_utc_text(1772368205250000000, buf), "2026-03-01T12:30:05.25Z");
	assert_string_equal(rd_utc_text(951782400000000000, buf), "2000-02-29T00:00:00Z");
	assert_string_equal(rd_utc_text(INT64_MAX, buf), "2262-04-11T23:47:16.854775807Z");
	assert_string_equal(rd_utc_text(INT64_MIN, buf), "1677-09-21T00:12:43.145224192Z");
}

static void test_ranges(void **state)
{
	char range[RD_RANGE_TEXT];

	assert_string_equal(rd_range_text(true, 1500000000, true, 3000000000, range), "from 1.5 s to 3 s");
	assert_string_equal(rd_range_text(true, 100000000000, false, 60500000000, range), "from 100 s on");
	assert_string_equal(rd_range_text(false, 0, true, 60500000000, range), "up to 60.5 s");
	assert_string_equal(rd_range_text(true, INT64_MIN, true, INT64_MAX, range),
			    "from -9223372036.854775808 s to 9223372036.854775807 s");
}

static void check_name(const char *bytes, size_t n, size_t columns, const char *expected, size_t characters)
{
	struct rd_out o;
	struct rd_span text = {(const uint8_t *)bytes, n};

	rd_out_init(&o, -1);
	assert_int_equal(rd_out_name(&o, text, columns), characters);
	struct rd_span made = {o.buffer.at, o.buffer.n};
	assert_span(made, expected);
	rd_out_close(&o, NULL);
}

static void test_names_are_cut_in_the_middle(void **state)
{
	check_name("abcdefghij", 10, 0, "abcdefghij", 10);
	check_name("abcdefghij", 10, 10, "abcdefghij", 10);
	check_name("abcdefghij", 10, 9, "abcd…ghij", 9);
	check_name("abcdefghij", 10, 4, "a…ij", 4);
	check_name("abcdefghij", 10, 1, "…", 1);
	check_name("äöüäöü", 12, 5, "äö…öü", 5);
	/* Wide ones take two columns each, marks none; half of one is never shown. */
	check_name("中文方法", 12, 8, "中文方法", 8);
	check_name("中文方法", 12, 7, "中…法", 5);
	check_name("a中b文c", 9, 6, "a…文c", 5);
	check_name("a🚀b", 6, 4, "a🚀b", 4);
	check_name("e\xcc\x81te\xcc\x81", 7, 3, "e\xcc\x81te\xcc\x81", 3);
	check_name("", 0, 5, "", 0);
	check_name(NULL, 0, 0, "", 0);
}

/* What a trace calls its methods must not steer the terminal. */
static void test_names_are_printable(void **state)
{
	check_name("a\x1b[31mb", 7, 0, "a\\x1b[31mb", 10);
	check_name("a\nb\x7f", 4, 0, "a\\nb\\x7f", 8);
	check_name("\xc2\x9b"
		   "1m",
		   4, 0, "\\u009b1m", 8);
	check_name("\xff\xc3", 2, 0, "\\xff\\xc3", 8);
	check_name("\xe2\x80\xae", 3, 0, "\\u202e", 6);
	check_name("\xed\xa0\x80", 3, 0, "\\xed\\xa0\\x80", 12);
	check_name("\xf0\x9f\x9a\x80", 4, 0, "\xf0\x9f\x9a\x80", 2);
	/* An escape stays whole or goes. */
	check_name("ab\ncdefgh", 9, 8, "ab…efgh", 7);
	check_name("abcdef\ngh", 9, 8, "abc…\\ngh", 8);
	check_name("\n\n\n\n", 4, 1, "…", 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_percentages),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_utc),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_names_are_cut_in_the_middle),
		cmocka_unit_test(test_names_are_printable),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
