/* The parts of deploy/windows that need no Windows: words, providers, the bytes for keyframes. */
#include "deploy/windows/plan.c"

#include "tests/support.h"
#include "trace/event.h"

#define WORDS(...)                                                                                                     \
	(char *[])                                                                                                     \
	{                                                                                                              \
		(char *)"rundown-record", __VA_ARGS__                                                                  \
	}

static void test_words(void **state)
{
	struct plan p;
	struct rd_error err;

	assert_ok(plan_read(&p, 2, WORDS((char *)"night.etl"), &err), &err);
	assert_string_equal(p.file, "night.etl");
	assert_int_equal(p.seconds, 0);
	assert_int_equal(p.every_s, 300);
	assert_int_equal(p.rundown_s, 30);
	assert_int_equal(p.interval_us, 1000);
	char *all[] = {(char *)"x",       (char *)"--seconds", (char *)"60",        (char *)"a.etl",
		       (char *)"--every", (char *)"0",         (char *)"--buffers", (char *)"64"};
	assert_ok(plan_read(&p, 8, all, &err), &err);
	assert_int_equal(p.seconds, 60);
	assert_int_equal(p.every_s, 0);
	assert_int_equal(p.buffers, 64);
	assert_string_equal(p.file, "a.etl");
	assert_ok(plan_read(&p, 2, WORDS((char *)"--help"), &err), &err);
	assert_true(p.help);
}

static void test_wrong_words(void **state)
{
	static const char *const wrong[][3] = {
		{"--every", "-1", "--every wants a number from 0 to 86400"},
		{"--every", "", "--every wants"},
		{"--every", "1m", "--every wants"},
		{"--interval-us", "122", "--interval-us wants a number from 123"},
		{"--buffers", "99999999999999999999", "--buffers wants"},
		{"--evry", "1", "unknown option --evry"},
		{"a.etl", "b.etl", "one word too many: 'b.etl'"},
		{"--seconds", "5", "FILE.etl is missing"},
	};
	struct plan p;
	struct rd_error err;

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		assert_code(RD_USAGE, plan_read(&p, 3, WORDS((char *)wrong[i][0], (char *)wrong[i][1]), &err));
		assert_non_null(strstr(err.text, wrong[i][2]));
	}
	assert_code(RD_USAGE, plan_read(&p, 1, WORDS(NULL), &err));
	assert_code(RD_USAGE, plan_read(&p, 2, WORDS((char *)"--every"), &err));
}

/* Names and GUIDs are those of the catalogue. */
static void test_providers(void **state)
{
	uint8_t told[16], known[16];

	for (size_t i = 0; i < PLAN_PROVIDERS; i++) {
		assert_ok(rd_guid_parse(plan_providers[i].guid, told), NULL);
		assert_true(rd_catalogue_guid(rd_text_span(plan_providers[i].name), known));
		assert_memory_equal(told, known, 16);
	}
	assert_int_equal(plan_providers[PLAN_RUNTIME].keywords, 0xb8);
	assert_int_equal(plan_providers[PLAN_RUNDOWN_START].keywords, 0x78);
	assert_int_equal(plan_providers[PLAN_RUNDOWN_END].keywords, 0x138);
}

static void check_capture(uint32_t wanted_s, uint32_t least_s, uint32_t got_s)
{
	struct plan p = {.every_s = wanted_s};
	struct rd_bytes out = {0};
	struct rd_capture_state s;
	uint32_t every_s;

	assert_ok(plan_capture(&p, least_s, &out, &every_s, NULL), NULL);
	assert_int_equal(every_s, got_s);
	assert_ok(rd_capture_read(&s, (struct rd_span){out.at, out.n}, NULL), NULL);
	assert_int_equal(s.faults.n, 0);
	assert_int_equal(s.every_s, got_s);
	assert_int_equal(s.providers.n, got_s ? 1 : 0);
	rd_capture_release(&s);
	rd_bytes_release(&out);
}

static void test_capture(void **state)
{
	check_capture(60, 10, 60);
	check_capture(60, 60, 60);
	check_capture(5, 60, 60);
	check_capture(0, 60, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_wrong_words),
		cmocka_unit_test(test_providers),
		cmocka_unit_test(test_capture),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
