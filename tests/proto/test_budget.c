#include "tests/support.h"

#include "base/memory.h"
#include "proto/budget.h"
#include "proto/partial.pb-c.h"

static void whole_message(void **state)
{
	Rd__Damage m = RD__DAMAGE__INIT;
	uint8_t bytes[64];
	int64_t offsets[] = {1, 2, 3};
	struct rd_budget b;

	m.n_offset = 3;
	m.offset = offsets;
	size_t n = rd__damage__pack(&m, bytes);
	rd_budget_init(&b, 1000);
	Rd__Damage *back = rd__damage__unpack(&b.allocator, n, bytes);
	assert_non_null(back);
	assert_int_equal(back->n_offset, 3);
	assert_int_equal(back->offset[2], 3);
	assert_int_equal(b.code, 0);
	/* The message and its column, and what each piece costs. */
	assert_int_equal(b.left_bytes, 1000 - sizeof m - sizeof offsets - 2 * 32);
	rd__damage__free_unpacked(back, &b.allocator);
}

static void over_the_cap(void **state)
{
	uint8_t bytes[2 + 1000] = {0};
	struct rd_budget b;
	struct rd_error err;

	/* Field 1, packed, 999 zeros: eight times as large unpacked. */
	bytes[0] = 1 << 3 | 2;
	bytes[1] = 0x80 | (999 & 0x7f);
	bytes[2] = 999 >> 7;
	rd_budget_init(&b, 7000);
	assert_null(rd__damage__unpack(&b.allocator, sizeof bytes, bytes));
	assert_code(RD_LIMIT, rd_budget_fail(&b, &err, "a test"));
	rd_budget_init(&b, 9000);
	Rd__Damage *m = rd__damage__unpack(&b.allocator, sizeof bytes, bytes);
	assert_non_null(m);
	assert_int_equal(m->n_offset, 999);
	rd__damage__free_unpacked(m, &b.allocator);
}

static void unknown_fields_count(void **state)
{
	uint8_t bytes[4000];
	struct rd_budget b;
	struct rd_error err;

	/* 2,000 times field 15, a varint: each is kept in a piece of its own. */
	for (size_t i = 0; i < sizeof bytes; i += 2) {
		bytes[i] = 15 << 3;
		bytes[i + 1] = 0;
	}
	rd_budget_init(&b, 65536);
	assert_null(rd__damage__unpack(&b.allocator, sizeof bytes, bytes));
	assert_code(RD_LIMIT, rd_budget_fail(&b, &err, "a test"));
}

static void broken_message(void **state)
{
	static const uint8_t bytes[] = {1 << 3 | 2, 200};
	struct rd_budget b;
	struct rd_error err;

	rd_budget_init(&b, 65536);
	assert_null(rd__damage__unpack(&b.allocator, sizeof bytes, bytes));
	assert_code(RD_CORRUPT, rd_budget_fail(&b, &err, "a test"));
	assert_string_equal(err.text, "a test is no message of its kind");
}

static void no_memory(void **state)
{
	static const uint8_t bytes[] = {1 << 3 | 2, 1, 4};
	struct rd_budget b;
	struct rd_error err;

	for (uint64_t nth = 1; nth <= 2; nth++) {
		rd_budget_init(&b, 65536);
		rd_fail_allocation(nth);
		assert_null(rd__damage__unpack(&b.allocator, sizeof bytes, bytes));
		rd_fail_allocation(0);
		assert_code(RD_NOMEM, rd_budget_fail(&b, &err, "a test"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_message),
		cmocka_unit_test(over_the_cap),
		cmocka_unit_test(unknown_fields_count),
		cmocka_unit_test(broken_message),
		cmocka_unit_test(no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
