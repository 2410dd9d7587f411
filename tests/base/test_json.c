#include "tests/support.h"

#include <locale.h>
#include <math.h>

#include "base/out.h"

struct writer {
	struct rd_out out;
	struct rd_json json;
};

static struct rd_json *start(struct writer *w, bool pretty)
{
	rd_out_init(&w->out, -1);
	rd_json_init(&w->json, &w->out, pretty);
	return &w->json;
}

static void expect(struct writer *w, const char *text)
{
	assert_span(((struct rd_span){w->out.buffer.at, w->out.buffer.n}), text);
	assert_int_equal(rd_out_close(&w->out, NULL), 0);
}

/* Inside a <script> nothing may look like its end, in keys that are data neither. */
static void strings_for_a_page(void **state)
{
	struct writer w;
	struct rd_json *j = start(&w, false);

	j->html = true;
	rd_json_object(j, NULL);
	rd_json_text(j, "a", "</script><!--&amp;]]>");
	rd_json_u64_at(j, (struct rd_span){(const uint8_t *)"<", 1}, 1);
	rd_json_object_end(j);
	expect(&w, "{\"a\": \"\\u003c/script\\u003e\\u003c!--\\u0026amp;]]\\u003e\", \"\\u003c\": 1}\n");
}

static void all_kinds_of_values(void **state)
{
	struct writer w;
	struct rd_json *j = start(&w, false);

	rd_json_object(j, NULL);
	rd_json_u64(j, "u", UINT64_MAX);
	rd_json_i64(j, "i", INT64_MIN);
	rd_json_i64(j, "p", 0);
	rd_json_bool(j, "t", true);
	rd_json_bool(j, "f", false);
	rd_json_null(j, "n");
	rd_json_offset(j, "o", 7);
	rd_json_offset(j, "no", RD_NO_OFFSET);
	rd_json_text(j, "s", "x");
	rd_json_array(j, "a");
	rd_json_u64(j, NULL, 1);
	rd_json_u64(j, NULL, 2);
	rd_json_object(j, NULL);
	rd_json_object_end(j);
	rd_json_array(j, NULL);
	rd_json_array_end(j);
	rd_json_array_end(j);
	rd_json_u64_at(j, (struct rd_span){(const uint8_t *)"k\"", 2}, 3);
	rd_json_object_end(j);
	expect(&w, "{\"u\": 18446744073709551615, \"i\": -9223372036854775808, \"p\": 0, \"t\": true, \"f\": false, "
		   "\"n\": null, \"o\": 7, \"no\": null, \"s\": \"x\", \"a\": [1, 2, {}, []], \"k\\\"\": 3}\n");
}

static void pretty_is_a_line_per_outer_item(void **state)
{
	struct writer w;
	struct rd_json *j = start(&w, true);

	rd_json_object(j, NULL);
	rd_json_u64(j, "a", 1);
	rd_json_array(j, "b");
	for (unsigned i = 0; i < 2; i++) {
		rd_json_object(j, NULL);
		rd_json_u64(j, "x", i);
		rd_json_u64(j, "y", i);
		rd_json_object_end(j);
	}
	rd_json_array_end(j);
	rd_json_array(j, "c");
	rd_json_array_end(j);
	rd_json_object_end(j);
	expect(&w, "{\n"
		   "  \"a\": 1,\n"
		   "  \"b\": [\n"
		   "    {\"x\": 0, \"y\": 0},\n"
		   "    {\"x\": 1, \"y\": 1}\n"
		   "  ],\n"
		   "  \"c\": []\n"
		   "}\n");
}

static void expect_text(const char *text, size_t n, const char *json)
{
	struct writer w;

	rd_json_span(start(&w, false), NULL, (struct rd_span){(const uint8_t *)text, n});
	expect(&w, json);
}

#define EXPECT_TEXT(literal, json) expect_text(literal, sizeof literal - 1, json)

static void texts_are_escaped(void **state)
{
	EXPECT_TEXT("", "\"\"");
	expect_text(NULL, 0, "\"\"");
	EXPECT_TEXT("a\"b\\c/d", "\"a\\\"b\\\\c/d\"");
	EXPECT_TEXT("\b\t\n\f\r", "\"\\b\\t\\n\\f\\r\"");
	EXPECT_TEXT("a\0b\x1f\x7f", "\"a\\u0000b\\u001f\\u007f\"");
	EXPECT_TEXT("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
	/* WTF-8's lone surrogates come back as what they were. */
	EXPECT_TEXT("x\xed\xa0\xbdy\xed\xbf\xbf", "\"x\\ud83dy\\udfff\"");
}

#define BAD "\xef\xbf\xbd"

static void what_is_no_utf8_is_replaced(void **state)
{
	EXPECT_TEXT("a\x80z", "\"a" BAD "z\"");
	EXPECT_TEXT("\xc0\x80", "\"" BAD BAD "\"");         /* overlong */
	EXPECT_TEXT("\xe0\x80\x80", "\"" BAD BAD BAD "\""); /* overlong */
	EXPECT_TEXT("\xf0\x80\x80\x80", "\"" BAD BAD BAD BAD "\"");
	EXPECT_TEXT("\xf4\x90\x80\x80", "\"" BAD BAD BAD BAD "\""); /* above 10FFFF */
	EXPECT_TEXT("\xf5\xff\xfe", "\"" BAD BAD BAD "\"");
	/* Cut characters at the end. */
	EXPECT_TEXT("x\xc3", "\"x" BAD "\"");
	EXPECT_TEXT("x\xe2\x82", "\"x" BAD BAD "\"");
	EXPECT_TEXT("x\xf0\x9f\x98", "\"x" BAD BAD BAD "\"");
	EXPECT_TEXT("\xc3\x28", "\"" BAD "(\"");
}

static void expect_double(double v, const char *json)
{
	struct writer w;

	rd_json_double(start(&w, false), NULL, v);
	expect(&w, json);
}

static void doubles_are_short_and_exact(void **state)
{
	expect_double(0, "0");
	expect_double(0.1, "0.1");
	expect_double(-12.5, "-12.5");
	expect_double(1.0 / 3, "0.3333333333333333");
	expect_double(100, "100");
	expect_double(1e300, "1e+300");
	expect_double(5e-324, "4.94065645841247e-324");
	expect_double(9007199254740993.0, "9007199254740992");
	expect_double(NAN, "null");
	expect_double(INFINITY, "null");
	expect_double(-INFINITY, "null");
}

static void the_locale_does_not_matter(void **state)
{
	static const char *const commas[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
	const char *set = NULL;

	for (unsigned i = 0; i < 4 && set == NULL; i++)
		set = setlocale(LC_NUMERIC, commas[i]);
	if (set == NULL)
		skip_test("no locale with a decimal comma");
	expect_double(0.25, "0.25");
	expect_double(-1.5e-30, "-1.5e-30");
	setlocale(LC_NUMERIC, "C");
}

static void too_deep_or_too_shallow_is_an_error(void **state)
{
	struct writer w;
	struct rd_json *j = start(&w, false);

	for (unsigned i = 0; i < 31; i++)
		rd_json_array(j, NULL);
	assert_int_equal(rd_out_flush(&w.out, NULL), 0);
	rd_json_array(j, NULL);
	assert_int_equal(rd_out_close(&w.out, NULL), RD_NOMEM);
	j = start(&w, false);
	rd_json_object_end(j);
	assert_int_equal(rd_out_close(&w.out, NULL), RD_NOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_kinds_of_values),
		cmocka_unit_test(strings_for_a_page),
		cmocka_unit_test(pretty_is_a_line_per_outer_item),
		cmocka_unit_test(texts_are_escaped),
		cmocka_unit_test(what_is_no_utf8_is_replaced),
		cmocka_unit_test(doubles_are_short_and_exact),
		cmocka_unit_test(the_locale_does_not_matter),
		cmocka_unit_test(too_deep_or_too_shallow_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
