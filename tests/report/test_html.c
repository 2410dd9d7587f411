/* The page: it loads nothing, and no name in its data can end the element they are in. */
#include <strings.h>

#include "report/format.h"
#include "report/page.h"
#include "tests/make_result.h"
#include "tests/support.h"

static struct rd_result result;
static struct rd_out out;

static int set_up(void **state)
{
	small_result(&result);
	rd_out_init(&out, -1);
	return 0;
}

static int tear_down(void **state)
{
	rd_out_close(&out, NULL);
	rd_result_release(&result);
	return 0;
}

static const char *page(void)
{
	struct rd_report_options o = {0};
	struct rd_error err;
	struct rd_view v;

	out.buffer.n = 0;
	assert_ok(rd_view_make(&v, &result, &RD_VIEW_ALL, &err), &err);
	assert_ok(rd_report_html(&v, &o, &out, &err), &err);
	rd_view_release(&v);
	assert_int_equal(out.buffer.failed, 0);
	rd_out_bytes(&out, "", 1);
	return (const char *)out.buffer.at;
}

static size_t count_of(const char *text, const char *part)
{
	size_t n = 0;

	for (; (text = strcasestr(text, part)) != NULL; text += strlen(part))
		n++;
	return n;
}

static const char *data_of(const char *text)
{
	const char *data = strstr(text, "<script type=\"application/json\" id=\"data\">");

	assert_non_null(data);
	return strchr(data, '>') + 1;
}

static void test_the_data_is_the_report_with_stacks(void **state)
{
	const char *text = page(), *data = data_of(text);

	assert_ptr_equal(strstr(text, "<!DOCTYPE html>"), text);
	assert_int_equal(strncmp(data, "{\"rundown\": 1, ", 15), 0);
	assert_non_null(strstr(data, "\"samples\": 100, "));
	assert_non_null(strstr(data, "\"calls\": {\"caller\": ["));
	assert_non_null(strstr(data, "\"bucket\": ["));
	assert_string_equal(strrchr(data, '}'), "}\n</script>\n</body>\n</html>\n");
}

static void test_names_stay_in_the_data(void **state)
{
	static const char *const nasty[] = {
		"</script><script>alert(1)</script>", "<!--<script>", "--></SCRIPT >", "a\"b;c\nd\re'\\", "]]>&amp;&lt;",
		"\xe4\xb8\xad\xf0\x9f\x9a\x80\xed\xa0\x80\xff\xe2\x80\xa8",
	};
	size_t ends = count_of(page(), "</script");

	for (size_t i = 0; i < sizeof nasty / sizeof *nasty; i++) {
		uint32_t name = result_string(&result, nasty[i]);
		result.frames.at[3].name = result.frames.at[2].module = name;
		result.processes.at[0].name = result.processes.at[0].command_line = name;
		const char *text = page(), *data = data_of(text);
		assert_int_equal(count_of(text, "</script"), ends);
		assert_int_equal(strcspn(data, "<"), strlen(data) - strlen("</script>\n</body>\n</html>\n"));
		assert_int_equal(strcspn(data, "&"), strlen(data));
	}
	assert_non_null(strstr(page(), "\"\xe4\xb8\xad\xf0\x9f\x9a\x80\\ud800\xef\xbf\xbd\xe2\x80\xa8\""));
	result.frames.at[3].name = result_string(&result, nasty[0]);
	assert_non_null(strstr(page(), "\"\\u003c/script\\u003e\\u003cscript\\u003ealert(1)\\u003c/script\\u003e\""));
}

/* Addresses in it are names of XML's only, and a policy forbids every load and every script but its own. */
static void test_the_page_loads_nothing(void **state)
{
	static const char *const loads[] = {"src=", "url(", "@import", "import(", "fetch(", "XMLHttpRequest", "WebSocket",
					    "sendBeacon", "EventSource", "https:", "<iframe", "<base"};
	static const char *const data_only = "<link rel=\"icon\" href=\"data:,\">";
	const char *text = page();

	for (size_t i = 0; i < sizeof loads / sizeof *loads; i++)
		if (strstr(text, loads[i]))
			fail_msg("the page has %s", loads[i]);
	assert_int_equal(count_of(text, "http:"), count_of(text, "http://www.w3.org/"));
	assert_int_equal(count_of(text, "<link"), 1);
	assert_non_null(strstr(text, data_only));
	assert_non_null(strstr(text, "content=\"default-src 'none'; script-src 'sha256-"));
	assert_null(strstr(text, "unsafe-"));
}

static void test_licences_are_kept(void **state)
{
	const char *text = page();

	assert_non_null(strstr(text, "d3-flame-graph 5."));
	assert_non_null(strstr(text, "Apache License"));
	assert_non_null(strstr(text, "d3-selection 3."));
}

static void test_a_result_without_samples(void **state)
{
	rd_result_release(&result);
	memset(&result, 0, sizeof result);
	assert_non_null(strstr(data_of(page()), "\"samples\": 0, "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_data_is_the_report_with_stacks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_names_stay_in_the_data, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_the_page_loads_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_licences_are_kept, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_result_without_samples, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
