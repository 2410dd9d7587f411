#include "tests/support.h"

#include <signal.h>
#include <unistd.h>

#include "base/signals.h"

static void signals_are_told_once(void **state)
{
	const int numbers[] = {SIGUSR1, SIGUSR2};
	struct rd_error err;
	int fd = rd_signals_open(numbers, 2, &err);

	assert_ok(fd, &err);
	assert_int_equal(rd_signals_next(fd), 0);
	raise(SIGUSR2);
	assert_int_equal(rd_signals_next(fd), SIGUSR2);
	raise(SIGUSR1);
	raise(SIGUSR1);
	assert_int_equal(rd_signals_next(fd), SIGUSR1);
	assert_int_equal(rd_signals_next(fd), 0);
	close(fd);
	assert_int_equal(rd_signals_next(fd), 0);
}

static void a_broken_pipe_is_no_end(void **state)
{
	struct rd_error err;
	int fd = rd_signals_open(NULL, 0, &err);

	assert_ok(fd, &err);
	raise(SIGPIPE);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signals_are_told_once),
		cmocka_unit_test(a_broken_pipe_is_no_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
