#include "base/memory.h"
#include "symbols/il_map.h"
#include "tests/support.h"

#define U32(v) (uint8_t)(v), (uint8_t)((v) >> 8), (uint8_t)((v) >> 16), (uint8_t)((uint32_t)(v) >> 24)
#define ENTRY(o, n, a) U32(o), U32(n), U32(a)

static const uint8_t three[] = {ENTRY(0, 0, 1), ENTRY(5, 10, 0), ENTRY(9, 20, -1)};

static void read_ok(struct rd_il_map *m, const uint8_t *bytes, size_t n)
{
	struct rd_error err;

	rd_error_clear(&err);
	assert_ok(rd_il_map_read(m, (struct rd_span){bytes, n}, &err), &err);
}

static void test_read(void **state)
{
	struct rd_il_map m;

	read_ok(&m, three, sizeof three);
	assert_int_equal(m.entries.n, 3);
	assert_int_equal(m.entries.at[2].old_offset, 9);
	assert_int_equal(m.entries.at[2].new_offset, 20);
	assert_true(m.entries.at[0].is_accurate);
	assert_false(m.entries.at[1].is_accurate);
	assert_true(m.entries.at[2].is_accurate);
	rd_il_map_release(&m);
}

/* Every number of the rule, and the ends of what an offset can be. */
static void test_both_directions(void **state)
{
	struct rd_il_map m;

	read_ok(&m, three, sizeof three);
	for (uint32_t i = 0; i < 40; i++) {
		assert_int_equal(rd_il_map_to_new(&m, i), i < 5 ? 0 : i < 9 ? 10 : 20);
		assert_int_equal(rd_il_map_to_old(&m, i), i < 10 ? 0 : i < 20 ? 5 : 9);
	}
	assert_int_equal(rd_il_map_to_new(&m, INT32_MAX), 20);
	assert_int_equal(rd_il_map_to_old(&m, INT32_MAX), 9);
	assert_int_equal(rd_il_map_to_new(&m, UINT32_MAX), 20);
	assert_int_equal(rd_il_map_to_old(&m, UINT32_MAX), 9);
	rd_il_map_release(&m);
}

static void test_one_entry(void **state)
{
	struct rd_il_map m;

	read_ok(&m, three, RD_IL_ENTRY_BYTES);
	assert_int_equal(rd_il_map_to_new(&m, 0), 0);
	assert_int_equal(rd_il_map_to_new(&m, 1000), 0);
	assert_int_equal(rd_il_map_to_old(&m, 1000), 0);
	rd_il_map_release(&m);
}

/* The highest offset there is. */
static void test_highest(void **state)
{
	static const uint8_t bytes[] = {ENTRY(0, 0, 0), ENTRY(INT32_MAX, INT32_MAX, 0)};
	struct rd_il_map m;

	read_ok(&m, bytes, sizeof bytes);
	assert_int_equal(rd_il_map_to_new(&m, INT32_MAX - 1), 0);
	assert_int_equal(rd_il_map_to_new(&m, INT32_MAX), INT32_MAX);
	rd_il_map_release(&m);
}

static void check_refused(const uint8_t *bytes, size_t n, int code, uint64_t offset, const char *words)
{
	struct rd_il_map m;
	struct rd_error err;

	rd_error_clear(&err);
	assert_code(code, rd_il_map_read(&m, (struct rd_span){bytes, n}, &err));
	rd_il_map_release(&m);
	assert_int_equal(err.offset, offset);
	if (strstr(err.text, words) == NULL)
		fail_msg("\"%s\" is not in \"%s\"", words, err.text);
}

#define REFUSED(offset, words, ...)                                                                                    \
	do {                                                                                                           \
		static const uint8_t b[] = {__VA_ARGS__};                                                              \
		check_refused(b, sizeof b, RD_CORRUPT, (offset), (words));                                             \
	} while (0)

static void test_refused(void **state)
{
	check_refused(NULL, 0, RD_CORRUPT, 0, "without entries");
	for (size_t n = 1; n < sizeof three; n++)
		if (n % RD_IL_ENTRY_BYTES)
			check_refused(three, n, RD_TRUNCATED, n - n % RD_IL_ENTRY_BYTES, "ends inside entry");
	REFUSED(0, "(1, 0) and not (0, 0)", ENTRY(1, 0, 0));
	REFUSED(0, "(0, 4) and not (0, 0)", ENTRY(0, 4, 0));
	REFUSED(24, "entry 2: the old offset 4 is not above 5: the map is not sorted", ENTRY(0, 0, 0), ENTRY(5, 10, 0),
		ENTRY(4, 20, 0));
	REFUSED(12, "entry 1: the old offset 0 is not above 0", ENTRY(0, 0, 0), ENTRY(0, 8, 0));
	REFUSED(28, "entry 2: the new offset 9 is not above 10: the code would be reordered", ENTRY(0, 0, 0),
		ENTRY(5, 10, 0), ENTRY(9, 9, 0));
	REFUSED(16, "entry 1: the new offset 0 is not above 0", ENTRY(0, 0, 0), ENTRY(5, 0, 0));
	REFUSED(12, "entry 1: the old offset 2147483648 is above 2147483647", ENTRY(0, 0, 0), ENTRY(0x80000000u, 1, 0));
	REFUSED(16, "entry 1: the new offset 4294967295 is above", ENTRY(0, 0, 0), ENTRY(1, 0xffffffffu, 0));
}

/* The size is refused before anything is read or allocated. */
static void test_limit(void **state)
{
	struct rd_il_map m;

	assert_code(RD_LIMIT, rd_il_map_read(&m, (struct rd_span){three, RD_IL_MAP_BYTES_MOST + 12}, NULL));
	rd_il_map_release(&m);
}

static void test_no_memory(void **state)
{
	struct rd_il_map m;

	rd_fail_allocation(1);
	assert_code(RD_NOMEM, rd_il_map_read(&m, (struct rd_span){three, sizeof three}, NULL));
	rd_fail_allocation(0);
	rd_il_map_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),    cmocka_unit_test(test_both_directions), cmocka_unit_test(test_one_entry),
		cmocka_unit_test(test_highest), cmocka_unit_test(test_refused),         cmocka_unit_test(test_limit),
		cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
