#include "base/limits.h"
#include "base/memory.h"
#include "tests/support.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* A child's exit code: limits cannot be had back. */
static int in_child(int (*probe)(void))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(probe());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int probe_never_higher(void)
{
	struct rlimit r;
	struct rd_error err;

	if (rd_limit(RLIMIT_NOFILE, 40, "descriptors", &err) != 0 || getrlimit(RLIMIT_NOFILE, &r) != 0 ||
	    r.rlim_cur != 40 || r.rlim_max != 40)
		return 1;
	if (rd_limit(RLIMIT_NOFILE, UINT64_MAX, "descriptors", &err) != 0 || getrlimit(RLIMIT_NOFILE, &r) != 0)
		return 2;
	return r.rlim_cur == 40 && r.rlim_max == 40 ? 0 : 3;
}

static void a_limit_is_never_raised(void **state)
{
	assert_int_equal(in_child(probe_never_higher), 0);
}

static int probe_memory(void)
{
	struct rd_error err;

	if (rd_limit(RLIMIT_DATA, (uint64_t)64 << 20, "memory", &err) != 0)
		return 1;
	void *some = rd_realloc(NULL, (size_t)4 << 20);
	return some != NULL && rd_realloc(NULL, (size_t)100 << 20) == NULL ? 0 : 2;
}

static void memory_beyond_it_is_refused(void **state)
{
	if (!rd_limits_memory())
		skip_test("the sanitizers need the address space");
	assert_int_equal(in_child(probe_memory), 0);
}

static void an_unknown_limit_is_an_error(void **state)
{
	struct rd_error err;

	assert_code(RD_IO, rd_limit(9999, 1, "wishes", &err));
	assert_non_null(strstr(err.text, "the limit of wishes"));
}

static int probe_first_to_go(void)
{
	char text[16] = "";
	rd_limit_first_to_go();
	FILE *f = fopen("/proc/self/oom_score_adj", "r");
	bool read = f && fgets(text, sizeof text, f);

	return read && strcmp(text, "1000\n") == 0 ? 0 : 1;
}

static void a_child_offers_itself(void **state)
{
	assert_int_equal(in_child(probe_first_to_go), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_limit_is_never_raised),
		cmocka_unit_test(memory_beyond_it_is_refused),
		cmocka_unit_test(an_unknown_limit_is_an_error),
		cmocka_unit_test(a_child_offers_itself),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
