#include "tests/support.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/out.h"

static void memory_keeps_all(void **state)
{
	struct rd_out o;
	char large[1000];

	rd_out_init(&o, -1);
	rd_out_text(&o, "a");
	rd_out_bytes(&o, "b\0c", 3);
	rd_out_printf(&o, "%d-%s", 5, "x");
	memset(large, 'l', sizeof large - 1);
	large[sizeof large - 1] = 0;
	rd_out_printf(&o, "<%s>", large);
	assert_int_equal(rd_out_flush(&o, NULL), 0);
	assert_int_equal(o.buffer.n, 1 + 3 + 3 + 1001);
	assert_memory_equal(o.buffer.at, "ab\0c5-x<lll", 11);
	assert_int_equal(o.buffer.at[o.buffer.n - 1], '>');
	assert_int_equal(rd_out_close(&o, NULL), 0);
}

static void a_descriptor_gets_all_in_order(void **state)
{
	struct rd_error err;
	struct rd_out o;
	int fd = open(scratch_path("out"), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	rd_out_init(&o, fd);
	for (unsigned i = 0; i < 50000; i++)
		rd_out_printf(&o, "%05u\n", i);
	assert_true(o.buffer.cap < 200000);
	assert_ok(rd_out_close(&o, &err), &err);
	assert_true(o.written_bytes == 300000);
	assert_int_equal(close(fd), 0); /* it was still open */
	size_t n;
	char *text = (char *)read_whole(scratch_path("out"), &n);
	assert_int_equal(n, 300000);
	for (unsigned i = 0; i < 50000; i += 7)
		assert_int_equal(atoi(text + 6 * i), i);
	free(text);
}

static void a_failed_write_sticks(void **state)
{
	struct rd_error err;
	struct rd_out o;
	int fd = open("/dev/full", O_WRONLY);

	if (fd < 0)
		skip_test("no /dev/full");
	rd_out_init(&o, fd);
	for (unsigned i = 0; i < 100000; i++)
		rd_out_text(&o, "full ");
	assert_int_equal(rd_out_flush(&o, &err), RD_IO);
	assert_int_equal(err.sys_errno, ENOSPC);
	assert_string_equal(err.text, "writing the output: No space left on device");
	rd_out_text(&o, "more");
	assert_int_equal(rd_out_close(&o, &err), RD_IO);
	assert_true(o.written_bytes == 0);
	close(fd);
}

static void no_memory_sticks(void **state)
{
	struct rd_error err;
	struct rd_out o;

	rd_out_init(&o, -1);
	rd_out_text(&o, "kept");
	rd_fail_allocation(1);
	rd_out_printf(&o, "%500d", 1);
	rd_fail_allocation(0);
	rd_out_text(&o, "lost");
	assert_int_equal(o.buffer.n, 4);
	assert_int_equal(rd_out_close(&o, &err), RD_NOMEM);
}

static void check_words(const char *text, size_t column, size_t indent, size_t columns, const char *expected,
			size_t end)
{
	struct rd_out o;

	rd_out_init(&o, -1);
	assert_int_equal(rd_out_words(&o, text, column, indent, columns), end);
	rd_out_bytes(&o, "", 1);
	assert_string_equal((const char *)o.buffer.at, expected);
	rd_out_close(&o, NULL);
}

static void words_are_wrapped(void **state)
{
	check_words("one two three", 0, 0, 0, "one two three", 13);
	check_words("one two three", 0, 2, 7, "one two\n  three", 7);
	check_words("one two three", 0, 2, 6, "one\n  two\n  three", 7);
	check_words("one two", 3, 2, 10, "one two", 10);
	check_words("one two", 3, 2, 9, "one\n  two", 5);
	check_words("  blanks   between  ", 0, 0, 80, "blanks between", 14);
	check_words("", 5, 2, 10, "", 5);
	/* A word that is too long alone stands alone. */
	check_words("a verylongword b", 0, 0, 5, "a\nverylongword\nb", 1);
	/* Characters count, not bytes. */
	check_words("\xc3\xa4\xc3\xa4 \xe2\x82\xac", 0, 0, 4, "\xc3\xa4\xc3\xa4 \xe2\x82\xac", 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_keeps_all),      cmocka_unit_test(a_descriptor_gets_all_in_order),
		cmocka_unit_test(a_failed_write_sticks), cmocka_unit_test(no_memory_sticks),
		cmocka_unit_test(words_are_wrapped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
