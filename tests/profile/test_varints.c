/* Packed numbers read in place, held against the cursor's reader, at every length and cut. */
#include "profile/block_fields.h"
#include "profile/partial_tables.h"
#include "profile/varints.h"
#include "tests/random.h"
#include "tests/support.h"

#define NUMBERS 5000

static size_t put(uint8_t *at, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		at[n++] = (uint8_t)(v | 0x80);
	at[n++] = (uint8_t)v;
	return n;
}

static void test_all_lengths(void **state)
{
	static uint8_t bytes[NUMBERS * 10];
	static uint64_t values[NUMBERS];
	size_t n = 0;

	random_begin(3);
	for (size_t i = 0; i < NUMBERS; i++) {
		unsigned bits = pick(65);
		values[i] = bits ? next_random() >> (64 - bits) : 0;
		n += put(bytes + n, values[i]);
	}
	/* In memory that ends where the run does. */
	uint8_t *exact = malloc(n);
	memcpy(exact, bytes, n);
	struct rd_span run = {exact, n};
	struct rd_varints v = rd_varints_of(run);
	assert_int_equal(rd_varints_count(run), NUMBERS);
	for (size_t i = 0; i < NUMBERS; i++) {
		assert_false(rd_varints_over(&v));
		assert_int_equal(rd_varints_next(&v), values[i]);
	}
	assert_true(rd_varints_over(&v));
	/* One more than there are. */
	rd_varints_next(&v);
	assert_true(v.failed);
	assert_false(rd_varints_over(&v));
	free(exact);
}

static void test_cut_and_endless(void **state)
{
	uint8_t bytes[32];

	memset(bytes, 0xff, sizeof bytes);
	for (size_t n = 0; n <= sizeof bytes; n++) {
		struct rd_varints v = rd_varints_of((struct rd_span){bytes, n});
		rd_varints_next(&v);
		assert_true(v.failed);
	}
	/* Ten bytes are the most. */
	bytes[9] = 1;
	struct rd_varints v = rd_varints_of((struct rd_span){bytes, 10});
	assert_int_equal(rd_varints_next(&v), UINT64_MAX);
	assert_true(rd_varints_over(&v));
}

static void test_zigzag(void **state)
{
	assert_int_equal(rd_unzigzag(0), 0);
	assert_int_equal(rd_unzigzag(1), UINT64_MAX);
	assert_int_equal(rd_unzigzag(2), 1);
	assert_int_equal(rd_unzigzag(UINT64_MAX), (uint64_t)INT64_MIN);
}

/* ---- the fields of a block */

static int fields(const char *bytes, size_t n, struct rd_block_fields *out)
{
	struct rd_error err;
	return rd_block_fields((struct rd_span){(const uint8_t *)bytes, n}, out, &err);
}
#define FIELDS(text) fields(text, sizeof(text) - 1, &b)

static void test_the_fields_of_a_block(void **state)
{
	struct rd_block_fields b;

	/* version 1, rows 3, field 105 (0xca 0x06) of 5 bytes: field 1 with 3 bytes. */
	static const char good[] = "\x08\x01\x10\x03\xca\x06\x05\x0a\x03\x01\x02\x03";
	assert_int_equal(FIELDS("\x08\x01\x10\x03\xca\x06\x05\x0a\x03\x01\x02\x03"), 0);
	assert_int_equal(b.version, 1);
	assert_int_equal(b.rows, 3);
	assert_int_equal(b.columns, 105);
	assert_int_equal(b.field[1].size_bytes, 3);
	assert_int_equal(b.field[1].at[2], 3);
	assert_null(b.field[2].at);
	/* Cut anywhere it is none, but where a field ends. */
	for (size_t n = 0; n < sizeof good - 1; n++)
		assert_int_equal(fields(good, n, &b), n == 0 || n == 2 || n == 4 ? 0 : RD_CORRUPT);
	/* Unknown fields of every kind are passed over: 40 (varint), 41 (8 bytes), 42 (bytes), 43 (4 bytes). */
	assert_int_equal(FIELDS("\xc0\x02\x05\xc9\x02"
				"12345678\xd2\x02\x02xy\xdd\x02"
				"1234\x08\x01"),
			 0);
	assert_int_equal(b.version, 1);
	/* Twice the same, two tables, a number where a column is due, groups, field 0. */
	assert_int_equal(FIELDS("\xca\x06\x06\x0a\x01\x01\x0a\x01\x01"), RD_CORRUPT);
	assert_int_equal(FIELDS("\xca\x06\x00\xd2\x06\x00"), RD_CORRUPT);
	assert_int_equal(FIELDS("\xca\x06\x02\x08\x01"), RD_CORRUPT);
	assert_int_equal(FIELDS("\x0b\x0c"), RD_CORRUPT);
	assert_int_equal(FIELDS("\x02\x00"), RD_CORRUPT);
	assert_int_equal(FIELDS("\x0a\x00"), RD_CORRUPT);
}

/* Every column of every table has a field that fits. */
static void test_every_column_has_a_field(void **state)
{
	static uint64_t row[64];
	struct rd_block_fields none = {.rows = 1};
	struct rd_error err;

	for (uint32_t table = 0; table < RD_TABLE_END; table++) {
		const struct rd_partial_layout *t = rd_partial_layout(table);
		if (t == NULL)
			continue;
		assert_true(t->row_bytes <= sizeof row);
		assert_ok(rd_block_columns(&none, t->message, t->columns, t->columns_n, row, t->row_bytes, 1, &err),
			  &err);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_lengths),
		cmocka_unit_test(test_cut_and_endless),
		cmocka_unit_test(test_zigzag),
		cmocka_unit_test(test_the_fields_of_a_block),
		cmocka_unit_test(test_every_column_has_a_field),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
