#include "tests/support.h"

#include <errno.h>

static void clear_forgets_everything(void **state)
{
	struct rd_error err;

	rd_fail(&err, RD_CORRUPT, "x");
	rd_error_at(&err, err.code, "f", 3);
	rd_error_in(&err, err.code, "layer");
	rd_error_clear(&err);
	assert_int_equal(err.code, RD_OK);
	assert_int_equal(err.sys_errno, 0);
	assert_true(err.offset == RD_NO_OFFSET);
	assert_string_equal(err.file, "");
	assert_string_equal(err.text, "");
	assert_string_equal(err.context, "");
	rd_error_clear(NULL);
}

static void fail_records_and_returns(void **state)
{
	struct rd_error err;

	memset(&err, 0x5a, sizeof err);
	assert_int_equal(rd_fail(&err, RD_TRUNCATED, "%d of %s", 3, "four"), RD_TRUNCATED);
	assert_int_equal(err.code, RD_TRUNCATED);
	assert_string_equal(err.text, "3 of four");
	assert_true(err.offset == RD_NO_OFFSET);
	assert_int_equal(rd_fail(NULL, RD_LIMIT, "x"), RD_LIMIT);
	assert_int_equal(rd_fail_nomem(&err), RD_NOMEM);
	assert_string_equal(err.text, "out of memory");
	assert_int_equal(rd_fail_nomem(NULL), RD_NOMEM);
}

static void one_line_stays_one(void **state)
{
	struct rd_error err;

	rd_fail(&err, RD_CORRUPT, "a\nb\tc\x1b[0m");
	assert_string_equal(err.text, "a\\nb\\tc\\x1b[0m");
	rd_error_at(&err, err.code, "x\ny", 0);
	assert_string_equal(err.file, "x\\ny");
	rd_error_in(&err, err.code, "l\n1");
	assert_string_equal(err.context, "l\\n1: ");
}

static void errno_is_told(void **state)
{
	struct rd_error err;
	char line[512];

	errno = ENOENT;
	assert_int_equal(rd_fail_errno(&err, "opening %s", "t"), RD_IO);
	assert_int_equal(err.sys_errno, ENOENT);
	assert_int_equal(errno, ENOENT);
	assert_string_equal(err.text, "opening t: No such file or directory");
	errno = ENOMEM;
	assert_int_equal(rd_fail_errno(&err, "mapping"), RD_NOMEM);
	errno = EIO;
	assert_int_equal(rd_fail_errno(NULL, "x"), RD_IO);
	/* A long text loses its end, not the reason. */
	memset(line, 'n', sizeof line - 1);
	line[sizeof line - 1] = 0;
	errno = ENOSPC;
	rd_fail_errno(&err, "%s", line);
	assert_int_equal(strlen(err.text), sizeof err.text - 1);
	assert_string_equal(err.text + strlen(err.text) - 25, ": No space left on device");
}

static void what_nobody_recorded_is_settled(void **state)
{
	struct rd_error err;
	char line[64];

	rd_error_clear(&err);
	assert_int_equal(rd_error_settle(&err, 3), 3);
	assert_int_equal(err.code, RD_OK);
	rd_error_at(&err, RD_NOMEM, "/a", 7);
	assert_int_equal(rd_error_settle(&err, RD_NOMEM), RD_NOMEM);
	assert_int_equal(err.code, RD_NOMEM);
	assert_string_equal(rd_error_line(&err, line, sizeof line), "out of memory (/a, at byte 7)");
	/* What somebody said is better. */
	rd_fail(&err, RD_CORRUPT, "because");
	assert_int_equal(rd_error_settle(&err, RD_NOMEM), RD_NOMEM);
	assert_int_equal(err.code, RD_CORRUPT);
	assert_string_equal(err.text, "because");
	rd_error_clear(&err);
	rd_error_settle(&err, RD_LIMIT);
	assert_string_equal(err.text, "limit");
	assert_int_equal(rd_error_settle(NULL, RD_IO), RD_IO);
}

static void place_is_named_once(void **state)
{
	struct rd_error err;
	char path[400];

	rd_fail(&err, RD_CORRUPT, "bad");
	assert_int_equal(rd_error_at(&err, RD_CORRUPT, NULL, 7), RD_CORRUPT);
	assert_int_equal(rd_error_at(&err, RD_CORRUPT, "inner", RD_NO_OFFSET), RD_CORRUPT);
	assert_int_equal(rd_error_at(&err, RD_LIMIT, "outer", 9), RD_LIMIT);
	assert_int_equal(err.code, RD_CORRUPT);
	assert_string_equal(err.file, "inner");
	assert_true(err.offset == 7);
	assert_int_equal(rd_error_at(NULL, RD_LIMIT, "x", 1), RD_LIMIT);
	/* A long path keeps its end. */
	memset(path, 'p', sizeof path);
	strcpy(path + 390, "/the.end");
	rd_fail(&err, RD_CORRUPT, "bad");
	rd_error_at(&err, err.code, path, 0);
	assert_int_equal(strlen(err.file), sizeof err.file - 1);
	assert_string_equal(err.file + strlen(err.file) - 9, "p/the.end");
}

static void layers_come_in_front(void **state)
{
	struct rd_error err;
	char line[600];

	rd_fail(&err, RD_CORRUPT, "bad tag %d", 9);
	assert_int_equal(rd_error_in(&err, RD_CORRUPT, "shard %d", 3), RD_CORRUPT);
	assert_int_equal(rd_error_in(&err, RD_LIMIT, "reading the index"), RD_LIMIT);
	assert_int_equal(err.code, RD_CORRUPT);
	assert_string_equal(err.context, "reading the index: shard 3: ");
	assert_string_equal(rd_error_line(&err, line, sizeof line), "reading the index: shard 3: bad tag 9");
	rd_error_at(&err, err.code, "t.etl", RD_NO_OFFSET);
	assert_string_equal(rd_error_line(&err, line, sizeof line), "reading the index: shard 3: bad tag 9 (t.etl)");
	rd_error_at(&err, err.code, NULL, 4096);
	assert_string_equal(rd_error_line(&err, line, sizeof line),
			    "reading the index: shard 3: bad tag 9 (t.etl, at byte 4096)");
	assert_int_equal(rd_error_in(NULL, RD_LIMIT, "x"), RD_LIMIT);
	assert_int_equal(rd_error_in(&err, RD_CORRUPT, "%s", ""), RD_CORRUPT);
	assert_string_equal(err.context, "reading the index: shard 3: ");
}

static void too_many_layers_keep_the_outer_ones(void **state)
{
	struct rd_error err;
	char long_layer[400];

	rd_fail(&err, RD_CORRUPT, "bad");
	for (int i = 0; i < 100; i++)
		rd_error_in(&err, err.code, "layer %d", i);
	assert_int_equal(strlen(err.context), sizeof err.context - 1);
	assert_memory_equal(err.context, "layer 99: layer 98: ", 20);
	memset(long_layer, 'l', sizeof long_layer - 1);
	long_layer[sizeof long_layer - 1] = 0;
	rd_error_in(&err, err.code, "%s", long_layer);
	assert_int_equal(strlen(err.context), sizeof err.context - 1);
	assert_string_equal(err.context + strlen(err.context) - 3, "l: ");
}

static void a_line_fits_any_buffer(void **state)
{
	struct rd_error err;
	char buf[8];

	rd_fail(&err, RD_IO, "something long");
	assert_string_equal(rd_error_line(&err, buf, sizeof buf), "somethi");
	buf[0] = 'x';
	rd_error_line(&err, buf, 0);
	assert_int_equal(buf[0], 'x');
	/* Without a text the code speaks, without a file the byte does. */
	rd_error_clear(&err);
	err.code = RD_CHANGED;
	err.offset = 5;
	char line[64];
	assert_string_equal(rd_error_line(&err, line, sizeof line), "changed (at byte 5)");
}

static void codes_have_names(void **state)
{
	assert_string_equal(rd_code_name(RD_OK), "ok");
	assert_string_equal(rd_code_name(RD_TRUNCATED), "truncated");
	assert_string_equal(rd_code_name(RD_CORRUPT), "corrupt");
	assert_string_equal(rd_code_name(RD_INTERNAL), "internal");
	assert_string_equal(rd_code_name(-14), "unknown");
	assert_string_equal(rd_code_name(1), "unknown");
	assert_string_equal(rd_code_name(INT32_MIN), "unknown");
	for (int code = 0; code >= RD_INTERNAL; code--)
		assert_string_not_equal(rd_code_name(code), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clear_forgets_everything),
		cmocka_unit_test(fail_records_and_returns),
		cmocka_unit_test(one_line_stays_one),
		cmocka_unit_test(errno_is_told),
		cmocka_unit_test(what_nobody_recorded_is_settled),
		cmocka_unit_test(place_is_named_once),
		cmocka_unit_test(layers_come_in_front),
		cmocka_unit_test(too_many_layers_keep_the_outer_ones),
		cmocka_unit_test(a_line_fits_any_buffer),
		cmocka_unit_test(codes_have_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
