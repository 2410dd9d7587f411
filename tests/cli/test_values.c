#include "base/error.h"
#include "cli/values.h"
#include "tests/support.h"

static void test_numbers(void **state)
{
	uint64_t v = 7;
	assert_ok(rd_number_parse("0", &v), NULL);
	assert_int_equal(v, 0);
	assert_ok(rd_number_parse("18446744073709551615", &v), NULL);
	assert_true(v == UINT64_MAX);
	static const char *const bad[] = {"", "-1", "+1", " 1", "1 ", "0x10", "18446744073709551616", "1e3"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_code(RD_USAGE, rd_number_parse(bad[i], &v));
	assert_true(v == UINT64_MAX);
}

static void test_seconds(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {
		{"2", 2000000000},
		{"1.5", 1500000000},
		{"250ms", 250000000},
		{"10us", 10000},
		{"5ns", 5},
		{"3m", 180000000000},
		{"1h", 3600000000000},
		{"0.000000001", 1},
		{"1.5ms", 1500000},
		{"0", 0},
		{"18446744073.709551615", UINT64_MAX},
		{"1s", 1000000000},
	};
	static const char *const bad[] = {"",
					  "s",
					  ".5",
					  "1.",
					  "-1",
					  "1x",
					  "1 s",
					  "0.5ns",
					  "18446744073.709551616",
					  "1e9h",
					  "99999999999999999999",
					  "0.0000000000001h",
					  "1.2.3"};
	uint64_t ns;

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		assert_ok(rd_seconds_parse(good[i].text, &ns), NULL);
		assert_true(ns == good[i].ns);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_code(RD_USAGE, rd_seconds_parse(bad[i], &ns));
}

static void check_utc(const char *text, int64_t utc_ns)
{
	struct rd_moment m = {0};
	assert_ok(rd_moment_parse(text, &m), NULL);
	assert_true(m.given && m.is_utc);
	assert_true(m.ns == utc_ns);
}

static void test_moments(void **state)
{
	struct rd_moment m = {0};

	assert_ok(rd_moment_parse("-1.5", &m), NULL);
	assert_true(m.given && !m.is_utc);
	assert_int_equal(m.ns, -1500000000);
	check_utc("1970-01-01", 0);
	check_utc("2026-03-01T12:30:05.25Z", 1772368205250000000);
	check_utc("2026-03-01 12:30:05.25", 1772368205250000000);
	check_utc("2026-03-01T14:30:05.250000000+02:00", 1772368205250000000);
	check_utc("2026-03-01T07:00:05.25-0530", 1772368205250000000);
	check_utc("2024-02-29T00:00Z", 1709164800000000000);
	check_utc("1969-12-31T23:59:59.999999999z", -1);
	check_utc("2262-04-11T23:47:16.854775807Z", INT64_MAX);

	static const char *const bad[] = {
		"",
		"-",
		"now",
		"2026-13-01",
		"2026-02-29",
		"2026-00-10",
		"2026-01-00",
		"2026-3-1",
		"2026-03-01T24:00",
		"2026-03-01T12",
		"2026-03-01T12:60",
		"2026-03-01T12:30:60",
		"2026-03-01T12:30:05.",
		"2026-03-01T12:30:05+2",
		"2026-03-01T12:30:05.1234567891",
		"2026-03-01T12:30:05Zx",
		"2026-03-01T12:30:05+24:00",
		"2262-04-12",
		"1677-01-01",
		"2026-03-01T",
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_code(RD_USAGE, rd_moment_parse(bad[i], &m));
	/* Past what 64 bits of nanoseconds hold; but a bare year is seconds. */
	assert_code(RD_USAGE, rd_moment_parse("9223372037", &m));
	assert_ok(rd_moment_parse("2026", &m), NULL);
	assert_false(m.is_utc);
}

static void test_shares(void **state)
{
	static const struct {
		const char *text;
		uint64_t count;
		uint32_t millionths;
	} good[] = {{"0", 0, 0},          {"10", 10, 0},     {"5%", 0, 50000},      {"0.5%", 0, 5000},
		    {"100%", 0, 1000000}, {"0.0001%", 0, 1}, {"12.25%", 0, 122500}, {"4294%", 0, 42940000}};
	static const char *const bad[] = {"",   "%",   "5 %", ".5%",     "5.%",         "0.00001%",
					  "-1", "1.5", "5%%", "429497%", "99999999999%"};
	struct rd_share share;

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		assert_int_equal(rd_share_parse(good[i].text, &share), 0);
		assert_true(share.given);
		assert_int_equal(share.count, good[i].count);
		assert_int_equal(share.millionths, good[i].millionths);
	}
	share.count = 4711;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(rd_share_parse(bad[i], &share), RD_USAGE);
	assert_int_equal(share.count, 4711);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_seconds),
		cmocka_unit_test(test_moments),
		cmocka_unit_test(test_shares),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
