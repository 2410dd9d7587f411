#include "base/memory.h"
#include "base/text.h"
#include "capture/state.h"
#include "tests/support.h"

#define RUNTIME "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4"
#define RUNDOWN "a669021c-c450-4609-a035-5af59af4df18"

static struct rd_capture_guid guid(const char *text)
{
	struct rd_capture_guid g;

	assert_ok(rd_guid_parse(text, g.bytes), NULL);
	return g;
}

/* A minute, the runtime and its rundown, byte for byte as Windows wants it. */
static const uint8_t minute[40] = {60,   0,    0,    0,    2,    0,    0,    0,    0x23, 0x0d, 0x3c, 0xe1, 0xbc, 0xcc,
				   0x12, 0x4e, 0x93, 0x1b, 0xd9, 0xcc, 0x2e, 0xee, 0x27, 0xe4, 0x1c, 0x02, 0x69, 0xa6,
				   0x50, 0xc4, 0x09, 0x46, 0xa0, 0x35, 0x5a, 0xf5, 0x9a, 0xf4, 0xdf, 0x18};

static void test_write(void **state)
{
	struct rd_capture_guid two[] = {guid(RUNTIME), guid(RUNDOWN)};
	struct rd_bytes out = {0};

	assert_ok(rd_bytes_append(&out, "before", 6), NULL);
	assert_ok(rd_capture_write(&out, 60, two, 2, NULL), NULL);
	assert_int_equal(out.n, 6 + sizeof minute);
	assert_memory_equal(out.at + 6, minute, sizeof minute);
	assert_ok(rd_capture_write(&out, 0, NULL, 0, NULL), NULL);
	assert_int_equal(out.n, 6 + sizeof minute);
	rd_bytes_release(&out);
}

static void test_read(void **state)
{
	struct rd_capture_state s;

	assert_ok(rd_capture_read(&s, (struct rd_span){minute, sizeof minute}, NULL), NULL);
	assert_true(s.on);
	assert_int_equal(s.every_s, 60);
	assert_int_equal(s.providers.n, 2);
	assert_memory_equal(s.providers.at[1].bytes, minute + 24, 16);
	assert_int_equal(s.faults.n, 0);
	assert_ok(rd_capture_verdict(&s, NULL), NULL);
	rd_capture_release(&s);
}

static void test_off(void **state)
{
	struct rd_capture_state s;

	assert_ok(rd_capture_read(&s, (struct rd_span){NULL, 0}, NULL), NULL);
	assert_false(s.on);
	assert_int_equal(s.faults.n, 0);
	rd_capture_release(&s);
}

/* The bytes have exactly one fault: its code, its place, and a part of its words. */
static void check_fault(const void *bytes, size_t n, int code, uint64_t offset, const char *words)
{
	struct rd_capture_state s;
	struct rd_error err;

	rd_error_clear(&err);
	assert_ok(rd_capture_read(&s, (struct rd_span){bytes, n}, &err), &err);
	assert_int_equal(s.faults.n, 1);
	assert_code(code, rd_capture_verdict(&s, &err));
	assert_int_equal(err.offset, offset);
	if (strstr(err.text, words) == NULL)
		fail_msg("\"%s\" is not in \"%s\"", words, err.text);
	rd_capture_release(&s);
}

static void check_changed(size_t at, uint8_t value, int code, uint64_t offset, const char *words)
{
	uint8_t bytes[sizeof minute];

	memcpy(bytes, minute, sizeof bytes);
	bytes[at] = value;
	check_fault(bytes, sizeof bytes, code, offset, words);
}

static void test_faults(void **state)
{
	uint8_t twice[sizeof minute], longer[sizeof minute + 3] = {0}, zeros[24] = {60, 0, 0, 0, 1};

	for (size_t n = 1; n < 8; n++)
		check_fault(minute, n, RD_TRUNCATED, n, "the head alone has 8");
	check_fault(minute, 8, RD_TRUNCATED, 4, "2 providers are counted and none follows");
	for (size_t n = 9; n < sizeof minute; n++)
		check_fault(minute, n, RD_TRUNCATED, 4, "2 providers need 32 bytes");
	check_changed(0, 0, RD_CORRUPT, 0, "every 0 seconds");
	check_changed(4, 3, RD_TRUNCATED, 4, "3 providers need 48 bytes, and 32 follow");
	check_changed(5, 0xff, RD_TRUNCATED, 4, "65282 providers need 1044512 bytes");
	check_changed(4, 1, RD_CORRUPT, 24, "16 bytes more than 1 providers need");
	check_changed(6, 1, RD_CORRUPT, 6, "0x0001");
	check_changed(7, 0x80, RD_CORRUPT, 6, "0x8000");
	check_fault("\x3c\0\0\0\0\0\0", 8, RD_CORRUPT, 4, "no provider is named");
	check_fault(zeros, sizeof zeros, RD_CORRUPT, 8, "a GUID of zeros");
	memcpy(twice, minute, sizeof twice);
	memcpy(twice + 24, twice + 8, 16);
	check_fault(twice, sizeof twice, RD_EXISTS, 24, "provider 2, " RUNTIME ", is provider 1 again");
	memcpy(longer, minute, sizeof minute);
	check_fault(longer, sizeof longer, RD_CORRUPT, 40, "3 bytes more");
}

static void test_every_fault_is_told(void **state)
{
	uint8_t bytes[8 + 4 * 16] = {0, 0, 0, 0, 3, 0, 7, 0};
	struct rd_capture_state s;
	static const uint64_t offsets[] = {0, 6, 8, 24, 40, 56};

	assert_ok(rd_capture_read(&s, (struct rd_span){bytes, sizeof bytes}, NULL), NULL);
	assert_int_equal(s.faults.n, 6);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(s.faults.at[i].offset, offsets[i]);
	rd_capture_release(&s);
}

/* The bytes behind a count of none stand behind all else that is wrong. */
static void test_more_than_none(void **state)
{
	struct rd_capture_state s;

	assert_ok(rd_capture_read(&s, (struct rd_span){(const uint8_t *)"\x3c\0\0\0\0\0\2\0x", 9}, NULL), NULL);
	assert_int_equal(s.faults.n, 3);
	assert_int_equal(s.faults.at[0].offset, 4);
	assert_int_equal(s.faults.at[1].offset, 6);
	assert_int_equal(s.faults.at[2].offset, 8);
	rd_capture_release(&s);
}

static void test_refusals(void **state)
{
	struct rd_capture_guid two[] = {guid(RUNTIME), guid(RUNTIME)}, none = {{0}};
	struct rd_bytes out = {0};

	assert_code(RD_USAGE, rd_capture_write(&out, 60, two, 2, NULL));
	assert_code(RD_USAGE, rd_capture_write(&out, 0, two, 1, NULL));
	assert_code(RD_USAGE, rd_capture_write(&out, 60, NULL, 0, NULL));
	assert_code(RD_USAGE, rd_capture_write(&out, 60, &none, 1, NULL));
	assert_code(RD_LIMIT, rd_capture_write(&out, 60, two, 65536, NULL));
	assert_int_equal(out.n, 0);
	rd_bytes_release(&out);
}

static void test_most_providers(void **state)
{
	struct rd_capture_guid *all = calloc(RD_CAPTURE_PROVIDERS_MOST, sizeof *all);
	struct rd_bytes out = {0};
	struct rd_capture_state s;

	assert_non_null(all);
	for (uint32_t i = 0; i < RD_CAPTURE_PROVIDERS_MOST; i++)
		memcpy(all[i].bytes, &(uint32_t){i + 1}, 4);
	assert_ok(rd_capture_write(&out, UINT32_MAX, all, RD_CAPTURE_PROVIDERS_MOST, NULL), NULL);
	assert_int_equal(out.n, RD_CAPTURE_BYTES_MOST);
	assert_ok(rd_capture_read(&s, (struct rd_span){out.at, out.n}, NULL), NULL);
	assert_int_equal(s.every_s, UINT32_MAX);
	assert_int_equal(s.providers.n, RD_CAPTURE_PROVIDERS_MOST);
	assert_memory_equal(s.providers.at, all, RD_CAPTURE_PROVIDERS_MOST * sizeof *all);
	rd_capture_release(&s);
	rd_bytes_release(&out);
	free(all);
}

static void test_no_memory(void **state)
{
	uint8_t twice[sizeof minute];
	int rc = RD_NOMEM;

	memcpy(twice, minute, sizeof twice);
	memcpy(twice + 24, twice + 8, 16);
	for (uint64_t nth = 1; rc == RD_NOMEM; nth++) {
		struct rd_capture_state s;
		rd_fail_allocation(nth);
		rc = rd_capture_read(&s, (struct rd_span){twice, sizeof twice}, NULL);
		rd_fail_allocation(0);
		rd_capture_release(&s);
		assert_true(nth < 10);
	}
	assert_int_equal(rc, 0);
	struct rd_capture_guid one = guid(RUNTIME);
	struct rd_bytes out = {0};
	rd_fail_allocation(2);
	assert_code(RD_NOMEM, rd_capture_write(&out, 60, &one, 1, NULL));
	rd_fail_allocation(0);
	assert_int_equal(out.n, 0);
	rd_bytes_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_off),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_every_fault_is_told),
		cmocka_unit_test(test_more_than_none),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_most_providers),
		cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
