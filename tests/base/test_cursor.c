#include "tests/support.h"

#include "base/cursor.h"

static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 0x88, 9, 10};

static void numbers_are_little_endian(void **state)
{
	struct rd_cursor c = rd_cursor_of(bytes, sizeof bytes);

	assert_int_equal(rd_u8(&c), 1);
	assert_int_equal(rd_u16(&c), 0x0302);
	assert_int_equal(rd_u24(&c), 0x060504);
	assert_int_equal(rd_tell(&c), 6);
	assert_int_equal(rd_u32(&c), 0x0a098807);
	assert_int_equal(rd_left(&c), 0);
	assert_false(c.failed);
	rd_seek(&c, 0);
	assert_true(rd_u64(&c) == 0x8807060504030201u);
	rd_seek(&c, 1);
	assert_true(rd_pointer(&c, 8) == 0x0988070605040302u);
	rd_seek(&c, 4);
	assert_true(rd_pointer(&c, 4) == 0x88070605u);
	rd_seek(&c, 4);
	assert_int_equal(rd_i32(&c), (int32_t)0x88070605u);
	assert_false(c.failed);
}

/* Each reader, one byte short: 0, the end, failed, and all later reads too. */
static void one_byte_short_is_sticky(void **state)
{
	for (unsigned n = 1; n <= 8; n++) {
		struct rd_cursor c = rd_cursor_of(bytes, n - 1);
		uint64_t v = n == 1   ? rd_u8(&c)
			     : n == 2 ? rd_u16(&c)
			     : n == 3 ? rd_u24(&c)
			     : n == 4 ? rd_u32(&c)
			     : n == 8 ? rd_u64(&c)
				      : (uint64_t)(uintptr_t)rd_take(&c, n);
		assert_true(v == 0);
		assert_true(c.failed);
		assert_int_equal(rd_left(&c), 0);
		assert_int_equal(rd_u8(&c), 0);
		assert_true(c.failed);
	}
}

static void takes_and_seeks_stay_inside(void **state)
{
	struct rd_cursor c = rd_cursor_of(bytes, sizeof bytes);

	assert_ptr_equal(rd_take(&c, 0), bytes);
	assert_ptr_equal(rd_take(&c, 10), bytes);
	assert_non_null(rd_take(&c, 0));
	assert_false(c.failed);
	rd_seek(&c, 10);
	assert_false(c.failed);
	rd_seek(&c, 11);
	assert_true(c.failed);
	c = rd_cursor_of(bytes, sizeof bytes);
	assert_null(rd_take(&c, SIZE_MAX));
	assert_true(c.failed);
	c = rd_cursor_of(bytes, sizeof bytes);
	rd_skip(&c, 3);
	assert_int_equal(rd_u8(&c), 4);
	rd_seek(&c, SIZE_MAX);
	assert_true(c.failed);
	c = rd_cursor_of(bytes, 0);
	assert_int_equal(rd_u8(&c), 0);
	assert_true(c.failed);
}

static void a_part_is_a_cursor_of_its_own(void **state)
{
	struct rd_cursor c = rd_cursor_of(bytes, sizeof bytes);

	rd_skip(&c, 2);
	struct rd_cursor part = rd_sub(&c, 3);
	assert_int_equal(rd_left(&part), 3);
	assert_int_equal(rd_tell(&part), 0);
	assert_int_equal(rd_u24(&part), 0x050403);
	assert_int_equal(rd_u8(&part), 0);
	assert_true(part.failed);
	assert_false(c.failed);
	assert_int_equal(rd_u8(&c), 6);
	part = rd_sub(&c, 5);
	assert_true(part.failed);
	assert_true(c.failed);
	assert_int_equal(rd_left(&part), 0);
	assert_int_equal(rd_u8(&part), 0);
}

struct varint {
	uint8_t bytes[12];
	uint8_t size_bytes;
	uint64_t value;
	bool fails32, fails64;
};

static const struct varint varints[] = {
	{{0x00}, 1, 0, false, false},
	{{0x7f}, 1, 127, false, false},
	{{0x80, 0x01}, 2, 128, false, false},
	{{0x80, 0x00}, 2, 0, false, false}, /* longer than needed is allowed */
	{{0xff, 0xff, 0xff, 0xff, 0x0f}, 5, UINT32_MAX, false, false},
	{{0xff, 0xff, 0xff, 0xff, 0x1f}, 5, 0x1ffffffffu, true, false},
	{{0x80, 0x80, 0x80, 0x80, 0x80, 0x00}, 6, 0, true, false},
	{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, 10, UINT64_MAX, true, false},
	{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02}, 10, 0, true, true},
	{{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00}, 11, 0, true, true},
};

static void leb128_to_the_last_bit(void **state)
{
	for (size_t i = 0; i < sizeof varints / sizeof *varints; i++) {
		const struct varint *v = &varints[i];
		struct rd_cursor c = rd_cursor_of(v->bytes, v->size_bytes);
		uint64_t got = rd_varu64(&c);
		assert_int_equal(c.failed, v->fails64);
		assert_true(got == (v->fails64 ? 0 : v->value));
		assert_int_equal(rd_left(&c), 0);
		c = rd_cursor_of(v->bytes, v->size_bytes);
		got = rd_varu32(&c);
		assert_int_equal(c.failed, v->fails32);
		assert_true(got == (v->fails32 ? 0 : v->value));
		/* Short by each number of bytes. */
		for (size_t n = 0; n < v->size_bytes; n++) {
			c = rd_cursor_of(v->bytes, n);
			assert_true(rd_varu64(&c) == 0);
			assert_true(c.failed);
		}
	}
}

static void utf16_strings_end_at_a_pair_of_zeros(void **state)
{
	/* The NUL at every place of the eight bytes that are looked at together. */
	for (size_t units = 0; units < 20; units++) {
		uint8_t text[64];
		memset(text, 'x', sizeof text);
		for (size_t i = 0; i < units; i++) {
			/* Zero bytes that are no NUL: high halves here, low halves there. */
			text[2 * i] = i % 3 ? 'a' : 0;
			text[2 * i + 1] = i % 3 ? 0 : 1;
		}
		text[2 * units] = text[2 * units + 1] = 0;
		struct rd_cursor c = rd_cursor_of(text, 2 * units + 4);
		struct rd_span s = rd_utf16z(&c);
		assert_false(c.failed);
		assert_ptr_equal(s.at, text);
		assert_int_equal(s.size_bytes, 2 * units);
		assert_int_equal(rd_tell(&c), 2 * units + 2);
		c = rd_cursor_of(text, 2 * units + 1);
		s = rd_utf16z(&c);
		assert_true(c.failed);
		assert_int_equal(s.size_bytes, 0);
		assert_int_equal(rd_left(&c), 0);
	}
	/* An odd place is as good as an even one. */
	static const uint8_t odd[] = {9, 'a', 0, 0, 0, 7};
	struct rd_cursor c = rd_cursor_of(odd, sizeof odd);
	rd_skip(&c, 1);
	assert_int_equal(rd_utf16z(&c).size_bytes, 2);
	assert_int_equal(rd_u8(&c), 7);
}

static void strings_end_at_a_zero(void **state)
{
	struct rd_cursor c = rd_cursor_of("ab\0\0c", 5);

	assert_span(rd_strz(&c), "ab");
	assert_span(rd_strz(&c), "");
	assert_false(c.failed);
	assert_int_equal(rd_strz(&c).size_bytes, 0);
	assert_true(c.failed);
	c = rd_cursor_of("", 0);
	assert_int_equal(rd_strz(&c).size_bytes, 0);
	assert_true(c.failed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_little_endian),   cmocka_unit_test(one_byte_short_is_sticky),
		cmocka_unit_test(takes_and_seeks_stay_inside), cmocka_unit_test(a_part_is_a_cursor_of_its_own),
		cmocka_unit_test(leb128_to_the_last_bit),      cmocka_unit_test(utf16_strings_end_at_a_pair_of_zeros),
		cmocka_unit_test(strings_end_at_a_zero),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
