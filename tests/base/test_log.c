#include "tests/support.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

static uint64_t test_now_ns;

static uint64_t test_clock(void)
{
	return test_now_ns;
}

static void real_time_goes_on(void **state)
{
	uint64_t before = rd_now_ns();

	assert_true(before > 0);
	assert_true(rd_now_ns() >= before);
	rd_clock_replace(test_clock);
	test_now_ns = 42;
	assert_true(rd_now_ns() == 42);
	rd_clock_replace(NULL);
	assert_true(rd_now_ns() >= before);
}

/* What the calls in `write` put on stderr. */
static char *logged(void (*write_lines)(void))
{
	size_t n;
	const char *path = scratch_path("stderr");
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	int saved = dup(STDERR_FILENO);

	dup2(fd, STDERR_FILENO);
	write_lines();
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(fd);
	return (char *)read_whole(path, &n);
}

static void some_lines(void)
{
	rd_clock_replace(test_clock);
	test_now_ns = 1000000000;
	rd_log_init(RD_LOG_INFO, "worker 3");
	test_now_ns += 12345678900;
	rd_log(RD_LOG_INFO, "shard_done", "job=%s shard=%u", "j1", 3u);
	rd_log(RD_LOG_DEBUG, "unseen", "a=1");
	rd_log(RD_LOG_ERROR, "bare", NULL);
	rd_log_init(RD_LOG_WARN, "broker");
	rd_log(RD_LOG_INFO, "unseen", NULL);
	rd_log(RD_LOG_WARN, "odd", "text=%s", "a\nlevel=error\tb");
	rd_clock_replace(NULL);
}

static void lines_have_a_fixed_grammar(void **state)
{
	char *text = logged(some_lines);

	assert_string_equal(text, "level=info t=12.345 role=\"worker 3\" event=shard_done job=j1 shard=3\n"
				  "level=error t=12.345 role=\"worker 3\" event=bare\n"
				  "level=warn t=0.000 role=broker event=odd text=a\\nlevel=error\\tb\n");
	free(text);
}

static void a_long_line(void)
{
	rd_log_init(RD_LOG_WARN, NULL);
	rd_log(RD_LOG_WARN, "long", "%10000d", 7);
}

static void a_long_line_is_cut_and_ends(void **state)
{
	char *text = logged(a_long_line);
	size_t n = strlen(text);

	assert_true(n > 1000 && n < 3000);
	assert_int_equal(text[n - 1], '\n');
	assert_ptr_equal(strchr(text, '\n'), text + n - 1);
	free(text);
}

static void quotes(void **state)
{
	char buf[32], small[8];

	assert_string_equal(rd_log_quote("a b", buf, sizeof buf), "\"a b\"");
	assert_string_equal(rd_log_quote("", buf, sizeof buf), "\"\"");
	assert_string_equal(rd_log_quote("\"\\\n\t", buf, sizeof buf), "\"\\\"\\\\\\n \"");
	assert_string_equal(rd_log_quote("abcdefghij", small, sizeof small), "\"abcde\"");
	assert_string_equal(rd_log_quote("abcd\"fghij", small, sizeof small), "\"abcd\"");
	assert_string_equal(rd_log_quote("abc", small, 2), "");
	assert_string_equal(rd_log_quote("abc", small, 3), "\"\"");
	small[0] = 'x';
	rd_log_quote("abc", small, 0);
	assert_int_equal(small[0], 'x');
}

static void lines_that_others_cause_are_counted(void **state)
{
	struct rd_log_limit l = {0};
	uint64_t unsaid = 99, said = 0;

	rd_clock_replace(test_clock);
	test_now_ns = 1;
	for (int i = 0; i < 1000; i++)
		said += rd_log_may(&l, &unsaid);
	assert_int_equal(said, RD_LOG_BURST);
	assert_int_equal(unsaid, 0);
	/* A hundred seconds of a thousand each: one line in ten seconds, and none is lost in the count. */
	said = 0;
	uint64_t counted = 0;
	for (int i = 0; i < 100000; i++) {
		test_now_ns += 1000000;
		if (rd_log_may(&l, &unsaid)) {
			said++;
			counted += unsaid + 1;
		}
	}
	assert_int_equal(said, 10);
	assert_int_equal(counted + l.unsaid, 100000 + 1000 - RD_LOG_BURST);
	test_now_ns += UINT64_C(60000000000);
	assert_true(rd_log_may(&l, &unsaid));
	assert_true(rd_log_may(&l, &unsaid));
	assert_int_equal(unsaid, 0);
	rd_clock_replace(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_that_others_cause_are_counted),
		cmocka_unit_test(real_time_goes_on),
		cmocka_unit_test(lines_have_a_fixed_grammar),
		cmocka_unit_test(a_long_line_is_cut_and_ends),
		cmocka_unit_test(quotes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
