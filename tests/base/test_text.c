#include "tests/support.h"

#include "base/text.h"

static void expect_utf8(const uint16_t *units, size_t n, const char *utf8)
{
	struct rd_bytes out = {0};

	assert_int_equal(rd_bytes_append(&out, "<", 1), 0);
	assert_int_equal(rd_utf16_append(&out, (const uint8_t *)units, 2 * n), 0);
	assert_int_equal(out.n, 1 + strlen(utf8));
	assert_memory_equal(out.at + 1, utf8, strlen(utf8));
	rd_bytes_release(&out);
}

static void utf16_becomes_utf8(void **state)
{
	expect_utf8((const uint16_t[]){'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'}, 9, "abcdefghi");
	expect_utf8((const uint16_t[]){'a', 'b', 'c', 0xe9, 'e', 'f', 'g', 'h', 0x20ac}, 9,
		    "abc\xc3\xa9"
		    "efgh\xe2\x82\xac");
	expect_utf8((const uint16_t[]){0x7f, 0x80, 0x7ff, 0x800, 0xffff}, 5,
		    "\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf");
	expect_utf8((const uint16_t[]){0xd83d, 0xde00, 0xdbff, 0xdfff}, 4, "\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf");
	expect_utf8(NULL, 0, "");
}

static void lone_surrogates_stay_apart(void **state)
{
	expect_utf8((const uint16_t[]){0xd83d}, 1, "\xed\xa0\xbd");
	expect_utf8((const uint16_t[]){0xde00, 'x'}, 2, "\xed\xb8\x80x");
	expect_utf8((const uint16_t[]){0xd800, 0xd83d, 0xde00}, 3, "\xed\xa0\x80\xf0\x9f\x98\x80");
	expect_utf8((const uint16_t[]){0xdfff, 0xd800}, 2, "\xed\xbf\xbf\xed\xa0\x80");
}

static void odd_bytes_and_no_memory(void **state)
{
	struct rd_bytes out = {0};

	assert_int_equal(rd_utf16_append(&out, (const uint8_t *)"a\0b\0c", 5), 0);
	assert_int_equal(out.n, 2);
	rd_fail_allocation(1);
	assert_int_equal(rd_utf16_append(&out, (const uint8_t *)"a\0b\0c\0d\0", 8), RD_NOMEM);
	assert_int_equal(out.n, 2);
	assert_true(out.failed);
	rd_fail_allocation(0);
	rd_bytes_release(&out);
	/* A length that no memory holds is refused before a byte is read. */
	assert_int_equal(rd_utf16_append(&out, NULL, SIZE_MAX), RD_NOMEM);
	assert_true(out.failed);
	rd_bytes_release(&out);
}

static void guids_in_windows_order(void **state)
{
	static const uint8_t guid[16] = {0x78, 0x56, 0x34, 0x12, 0xcd, 0xab, 0x01, 0xef,
					 0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87};
	char text[37];
	uint8_t back[16];

	rd_guid_text(guid, text);
	assert_string_equal(text, "12345678-abcd-ef01-8081-828384858687");
	assert_int_equal(rd_guid_parse(text, back), 0);
	assert_memory_equal(back, guid, 16);
	assert_int_equal(rd_guid_parse("12345678-ABCD-EF01-8081-828384858687", back), 0);
	assert_memory_equal(back, guid, 16);
}

static void what_is_no_guid(void **state)
{
	static const char good[] = "12345678-abcd-ef01-8081-828384858687";
	uint8_t out[16] = {0xaa};
	char text[64];

	for (size_t n = 0; n < 36; n++) {
		memcpy(text, good, n);
		text[n] = 0;
		assert_int_equal(rd_guid_parse(text, out), RD_USAGE);
		strcpy(text, good);
		text[n] = 'g';
		assert_int_equal(rd_guid_parse(text, out), RD_USAGE);
	}
	snprintf(text, sizeof text, "%s0", good);
	assert_int_equal(rd_guid_parse(text, out), RD_USAGE);
	assert_int_equal(rd_guid_parse("{12345678-abcd-ef01-8081-828384858687}", out), RD_USAGE);
	assert_int_equal(out[0], 0xaa);
}

static struct rd_span span(const char *text)
{
	return (struct rd_span){(const uint8_t *)text, strlen(text)};
}

static void names_of_files(void **state)
{
	assert_span(rd_base_name(span("C:\\Windows\\system32\\ntdll.dll")), "ntdll.dll");
	assert_span(rd_base_name(span("/usr/lib/libcoreclr.so")), "libcoreclr.so");
	assert_span(rd_base_name(span("/a\\b/c\\d")), "d");
	assert_span(rd_base_name(span("plain")), "plain");
	assert_span(rd_base_name(span("folder/")), "");
	assert_span(rd_base_name(span("")), "");
	assert_int_equal(rd_base_name((struct rd_span){NULL, 0}).size_bytes, 0);
	assert_span(rd_module_name(span("/app/My.Lib.dll")), "My.Lib");
	assert_span(rd_module_name(span("C:\\a.b\\noext")), "noext");
	assert_span(rd_module_name(span(".hidden")), "");
	assert_span(rd_module_name(span("")), "");
	assert_int_equal(rd_module_name((struct rd_span){NULL, 0}).size_bytes, 0);
}

struct size_case {
	uint64_t bytes;
	const char *text;
};

static void sizes_for_people(void **state)
{
	static const struct size_case cases[] = {
		{0, "0 B"},
		{999, "999 B"},
		{1000, "1.0 kB"},
		{1049, "1.0 kB"},
		{1050, "1.1 kB"},
		{9949, "9.9 kB"},
		{9950, "10 kB"},
		{158400000, "158 MB"},
		{158500000, "159 MB"},
		{999499999, "999 MB"},
		{999500000, "1.0 GB"},
		{999999, "1.0 MB"},
		{1234567890, "1.2 GB"},
		{UINT64_MAX, "18 EB"},
	};
	char buf[16];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_equal(rd_size_text(cases[i].bytes, buf, sizeof buf), cases[i].text);
	assert_string_equal(rd_size_text(158000000, buf, 4), "158");
}

static void sizes_as_typed(void **state)
{
	static const struct size_case good[] = {
		{0, "0"},
		{1500, "1500"},
		{1500, "1.5k"},
		{64000000, "64M"},
		{64000000, "64MB"},
		{64000000, "64 mb"},
		{1073741824, "1GiB"},
		{1073741824, "1gib"},
		{1610612736, "1.5GiB"},
		{1099511627776, "1Ti"},
		{100, "100B"},
		{1, "0.001k"},
		{333333333, "0.3333333333333333G"},
		{18000000000000000000u, "18E"},
		{UINT64_MAX, "18446744073709551615"},
	};
	static const char *const bad[] = {"",      "-1",    "M",    "1X",   "1MM",
					  "1 M B", "1.",    ".5M",  "1,5M", "18446744073709551616",
					  "19E",   "16EiB", "0x10", " 1",   "1Bi"};

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		uint64_t bytes = 42;
		assert_int_equal(rd_size_parse(good[i].text, &bytes), 0);
		assert_true(bytes == good[i].bytes);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		uint64_t bytes = 42;
		assert_int_equal(rd_size_parse(bad[i], &bytes), RD_USAGE);
		assert_true(bytes == 42);
	}
}

static void check_clean(const char *text, size_t size, const char *expected)
{
	char buf[64];

	assert_true(size <= sizeof buf && strlen(text) < size);
	memset(buf, 'X', sizeof buf);
	strcpy(buf, text);
	rd_clean_line(buf, size);
	assert_string_equal(buf, expected);
	for (size_t i = size; i < sizeof buf; i++)
		assert_int_equal(buf[i], 'X');
}

static void a_line_is_made_printable(void **state)
{
	check_clean("", 1, "");
	check_clean("C:\\new\\x", 64, "C:\\new\\x");
	check_clean("a\nb\r\t\x1b[31m\x7f", 64, "a\\nb\\r\\t\\x1b[31m\\x7f");
	/* Marks of direction, a control of 8-bit terminals, an end of a line. */
	check_clean("\xe2\x80\xae"
		    "evil",
		    64, "\\u202eevil");
	check_clean("\xe2\x81\xa6\xe2\x80\x8f\xd8\x9c\xc2\x9b\xe2\x80\xa8", 64, "\\u2066\\u200f\\u061c\\u009b\\u2028");
	check_clean("\xff\xc3(\xed\xa0\x80", 64, "\\xff\\xc3(\\xed\\xa0\\x80");
	check_clean("\xc3\xa4\xe2\x82\xac\xf0\x9f\x9a\x80", 64, "\xc3\xa4\xe2\x82\xac\xf0\x9f\x9a\x80");
}

static void what_is_too_long_is_cut_between_characters(void **state)
{
	check_clean("\n\n\n\n", 8, "\\n\\n\\n");
	check_clean("\n\n\n\n", 9, "\\n\\n\\n\\n");
	check_clean("abc\x1b", 7, "abc");
	check_clean("abc\x1b", 8, "abc\\x1b");
	/* The last character no longer fits whole. */
	check_clean("\nab\xe2\x82\xac", 8, "\\nab\xe2\x82\xac");
	check_clean("\nab\xe2\x82\xac", 7, "\\nab");
	/* It was cut before, by the end of the buffer. */
	check_clean("ab\xe2\x82", 5, "ab");
	check_clean("ab\xf0", 4, "ab");
	check_clean("ab\xe2\x82", 64, "ab\\xe2\\x82");
}

static void check_utf8(const char *bytes, size_t n, const char *expected)
{
	struct rd_bytes out = {0};

	assert_int_equal(rd_utf8_append(&out, (struct rd_span){(const uint8_t *)bytes, n}), 0);
	struct rd_span made = {out.at, out.n};
	assert_span(made, expected);
	rd_bytes_release(&out);
}

static void other_programs_get_utf8(void **state)
{
	check_utf8(NULL, 0, "");
	check_utf8("a\n\x1b\xe2\x80\xae\xf0\x9f\x9a\x80z", 11, "a\n\x1b\xe2\x80\xae\xf0\x9f\x9a\x80z");
	check_utf8("\xed\xa0\x80", 3, "\\xed\\xa0\\x80");
	check_utf8("a\0b", 3, "a\\x00b");
	check_utf8("\xe2\x82", 2, "\\xe2\\x82");
	check_utf8("\xff", 1, "\\xff");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_made_printable),
		cmocka_unit_test(other_programs_get_utf8),
		cmocka_unit_test(what_is_too_long_is_cut_between_characters),
		cmocka_unit_test(utf16_becomes_utf8),
		cmocka_unit_test(lone_surrogates_stay_apart),
		cmocka_unit_test(odd_bytes_and_no_memory),
		cmocka_unit_test(guids_in_windows_order),
		cmocka_unit_test(what_is_no_guid),
		cmocka_unit_test(names_of_files),
		cmocka_unit_test(sizes_for_people),
		cmocka_unit_test(sizes_as_typed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
