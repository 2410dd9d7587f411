/* Sources, the probe's words, the clock. */
#include "tests/support.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/trace.h"

static void a_source_reads_by_place(void **state)
{
	struct rd_source s;
	struct rd_error err;
	char text[8];
	const char *path = scratch_file("source", "0123456789", 10);
	assert_ok(rd_source_open(&s, path, &err), &err);
	assert_int_equal(s.size_bytes, 10);
	assert_string_equal(s.path, path);
	assert_ok(rd_source_read(&s, text, 4, 3, &err), &err);
	assert_memory_equal(text, "3456", 4);
	assert_code(RD_TRUNCATED, rd_source_read(&s, text, 4, 7, &err));
	assert_non_null(strstr(err.file, "source"));
	assert_int_equal(err.offset, 7);
	assert_code(RD_TRUNCATED, rd_source_read(&s, text, 1, UINT64_MAX, NULL));
	assert_int_equal(rd_source_some(&s, text, 4, 7, &err), 3);
	assert_int_equal(rd_source_some(&s, text, 4, 10, &err), 0);
	assert_int_equal(rd_source_some(&s, text, 4, UINT64_MAX, &err), 0);
	/* It grows: what it was when it was opened is all there is. */
	scratch_file("source", "0123456789abcdef", 16);
	assert_code(RD_TRUNCATED, rd_source_read(&s, text, 4, 7, &err));
	assert_int_equal(rd_source_some(&s, text, 4, 8, &err), 2);
	assert_int_equal(rd_source_some(&s, text, 4, 12, &err), 0);
	rd_source_close(&s);
	rd_source_close(&s);
}

static void a_source_that_changes_is_noticed(void **state)
{
	struct rd_source s;
	struct rd_error err;
	const char *path = scratch_file("changing", "0123456789", 10);
	assert_ok(rd_source_open(&s, path, &err), &err);
	assert_ok(rd_source_same(&s, s.size_bytes, s.mtime_ns, &err), &err);
	assert_code(RD_CHANGED, rd_source_same(&s, 11, s.mtime_ns, &err));
	assert_code(RD_CHANGED, rd_source_same(&s, 10, s.mtime_ns - 1, &err));
	struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	assert_code(RD_CHANGED, rd_source_same(&s, s.size_bytes, s.mtime_ns, NULL));
	rd_source_close(&s);
	assert_ok(rd_source_open(&s, path, &err), &err);
	assert_int_equal(s.mtime_ns, 1000000000);
	assert_int_equal(truncate(path, 5), 0);
	assert_code(RD_CHANGED, rd_source_same(&s, s.size_bytes, s.mtime_ns, &err));
	rd_source_close(&s);
}

static void what_is_no_file_is_refused(void **state)
{
	struct rd_source s;
	struct rd_error err;
	char longest[5000];
	const char *pipe = scratch_path("pipe");
	assert_code(RD_USAGE, rd_source_open(&s, scratch_folder(), &err));
	assert_non_null(strstr(err.text, "a folder"));
	assert_int_equal(mkfifo(pipe, 0600), 0);
	assert_code(RD_USAGE, rd_source_open(&s, pipe, &err));
	assert_non_null(strstr(err.text, "a pipe"));
	assert_code(RD_USAGE, rd_source_open(&s, "/dev/null", &err));
	assert_non_null(strstr(err.text, "a device"));
	assert_code(RD_NOT_FOUND, rd_source_open(&s, scratch_path("missing"), &err));
	assert_non_null(strstr(err.file, "missing"));
	memset(longest, 'x', sizeof longest);
	longest[sizeof longest - 1] = 0;
	assert_code(RD_USAGE, rd_source_open(&s, longest, &err));
	rd_source_close(&s);
}

static void check_refused(const void *bytes, size_t n, const char *words)
{
	const struct rd_format *f;
	struct rd_source s;
	struct rd_error err;
	assert_ok(rd_source_open(&s, scratch_file("probe", bytes, n), &err), &err);
	assert_code(RD_UNSUPPORTED, rd_trace_probe(&s, &f, &err));
	if (strstr(err.text, words) == NULL)
		print_error("\"%s\" lacks \"%s\"\n", err.text, words);
	assert_non_null(strstr(err.text, words));
	rd_source_close(&s);
}

static void the_probe_says_what_it_sees(void **state)
{
	check_refused("", 0, "an empty file");
	check_refused("x", 1, "not a trace");
	check_refused("Hello, this is some text.\n", 26, "not a trace");
	static const char etlx[] = "\x14\0\0\0!FastSerialization.1\4\4\1\x4c\0\0\0\x4c\0\0\0\x2b\0\0\0"
				   "Microsoft.Diagnostics.Tracing.Etlx.TraceLog\6";
	check_refused(etlx, sizeof etlx - 1, ".etlx");
	check_refused("PERFILE2\0\0\0\0", 12, "Linux perf");
	check_refused("\x7f"
		      "ELF\2\1\1",
		      7, "a program");
	check_refused("PK\3\4", 4, "zip");
	check_refused("Nettrac", 7, "not a trace");
}

static void formats_by_number(void **state)
{
	assert_string_equal(rd_format_by_id(RD_FORMAT_NETTRACE)->name, "nettrace");
	assert_string_equal(rd_format_by_id(RD_FORMAT_ETL)->name, "etl");
	assert_string_equal(rd_format_by_id(RD_FORMAT_NETPERF)->name, "netperf");
	assert_null(rd_format_by_id(0));
	assert_null(rd_format_by_id(99));
	assert_null(rd_format_of((const uint8_t *)"", 0));
}

static void ticks_become_nanoseconds(void **state)
{
	struct rd_clock c = {.frequency_hz = 3124099, .start_ticks = 1000};
	assert_int_equal(rd_clock_ns(&c, 1000), 0);
	assert_int_equal(rd_clock_ns(&c, 1000 + 3124099), 1000000000);
	assert_int_equal(rd_clock_ns(&c, 1001), 320);
	assert_int_equal(rd_clock_ns(&c, 999), -320);
	assert_true(rd_clock_ns(&c, 1000 + (uint64_t)INT64_MAX) == INT64_MAX);
	assert_true(rd_clock_ns(&c, 1000 - (uint64_t)INT64_MAX) == INT64_MIN);
	c.frequency_hz = 1000000000;
	assert_int_equal(rd_clock_ns(&c, 1000 + (uint64_t)INT64_MAX), INT64_MAX);
	/* Across 2^64: times are a circle. */
	c.start_ticks = UINT64_MAX - 9;
	assert_int_equal(rd_clock_ns(&c, 10), 20);
	c.frequency_hz = 0;
	assert_int_equal(rd_clock_ns(&c, 10), INT64_C(20000000000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_source_reads_by_place),    cmocka_unit_test(a_source_that_changes_is_noticed),
		cmocka_unit_test(what_is_no_file_is_refused), cmocka_unit_test(the_probe_says_what_it_sees),
		cmocka_unit_test(formats_by_number),          cmocka_unit_test(ticks_become_nanoseconds),
	};
	return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
