#include "tests/support.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/start.h"

/* What `body` returns in a process of its own. */
static int in_child(int (*body)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(body());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int without_streams(void)
{
	char c;

	close(0);
	close(1);
	close(2);
	if (rd_start(NULL) != 0)
		return 1;
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			return 2;
	if (read(0, &c, 1) != -1 || errno != EBADF)
		return 3;
	if (write(1, "x", 1) != -1 || errno != EBADF)
		return 4;
	if (write(2, "x", 1) != 1)
		return 5;
	int next = open("/dev/null", O_RDONLY);
	return next > 2 ? 0 : 6;
}

static int with_one_missing(void)
{
	close(1);
	if (rd_start(NULL) != 0)
		return 1;
	return fcntl(1, F_GETFD) < 0 ? 2 : 0;
}

static int with_all(void)
{
	int before = fcntl(1, F_GETFL);
	return rd_start(NULL) == 0 && fcntl(1, F_GETFL) == before ? 0 : 1;
}

static void standard_streams_are_there(void **state)
{
	assert_int_equal(in_child(without_streams), 0);
	assert_int_equal(in_child(with_one_missing), 0);
	assert_int_equal(in_child(with_all), 0);
}

static int with_limit(rlim_t soft, rlim_t hard)
{
	struct rlimit limit = {soft, hard};
	return setrlimit(RLIMIT_NOFILE, &limit);
}

static int a_low_soft_limit(void)
{
	struct rlimit now;

	if (with_limit(8, 100) != 0 || rd_start(NULL) != 0 || rd_descriptors_max() != 100)
		return 1;
	return getrlimit(RLIMIT_NOFILE, &now) == 0 && now.rlim_cur == 100 ? 0 : 2;
}

static int a_low_hard_limit(void)
{
	struct rd_error err;

	if (with_limit(RD_DESCRIPTORS_LEAST - 1, RD_DESCRIPTORS_LEAST - 1) != 0 || rd_start(&err) != RD_LIMIT)
		return 1;
	return strcmp(err.text, "only 63 files may be open at a time, 64 are needed (see ulimit -n)") == 0 ? 0 : 2;
}

static int just_enough(void)
{
	return with_limit(8, RD_DESCRIPTORS_LEAST) == 0 && rd_start(NULL) == 0 ? 0 : 1;
}

static void as_many_files_as_allowed(void **state)
{
	assert_int_equal(in_child(a_low_soft_limit), 0);
	assert_int_equal(in_child(a_low_hard_limit), 0);
	assert_int_equal(in_child(just_enough), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(standard_streams_are_there),
		cmocka_unit_test(as_many_files_as_allowed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
