#include "tests/support.h"

#include <sys/wait.h>
#include <unistd.h>

#include "base/signals.h"

static int opened(int one, int other)
{
	struct rd_error err;
	sigset_t set;

	sigemptyset(&set);
	if (one)
		sigaddset(&set, one);
	if (other)
		sigaddset(&set, other);
	int fd = rd_signals_open(&set, &err);
	assert_ok(fd, &err);
	return fd;
}

static void signals_are_told_once(void **state)
{
	int fd = opened(SIGUSR1, SIGUSR2);

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
	int fd = opened(0, 0);

	raise(SIGPIPE);
	close(fd);
}

static void what_is_ignored_does_not_end_us(void **state)
{
	static const int all[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,  SIGUSR1,
				  SIGUSR2, SIGALRM, SIGXCPU, SIGVTALRM};
	sigset_t set;

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		signal(all[i], SIG_DFL);
	rd_signals_ending(&set);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		assert_int_equal(sigismember(&set, all[i]), 1);
	assert_int_equal(sigismember(&set, SIGCHLD), 0);
	signal(SIGHUP, SIG_IGN);
	rd_signals_ending(&set);
	assert_int_equal(sigismember(&set, SIGHUP), 0);
	assert_int_equal(sigismember(&set, SIGTERM), 1);
	signal(SIGHUP, SIG_DFL);
}

static void a_process_dies_of_what_it_took(void **state)
{
	static const int all[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,  SIGUSR1,
				  SIGUSR2, SIGALRM, SIGXCPU, SIGVTALRM};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		int status = 0;
		pid_t pid = fork();
		if (pid == 0) {
			sigset_t set;
			rd_signals_ending(&set);
			(void)rd_signals_open(&set, NULL);
			rd_signals_die(all[i]);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), all[i]);
		assert_false(WCOREDUMP(status));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signals_are_told_once),
		cmocka_unit_test(a_broken_pipe_is_no_end),
		cmocka_unit_test(what_is_ignored_does_not_end_us),
		cmocka_unit_test(a_process_dies_of_what_it_took),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
