#include "tests/support.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "worker/sandbox.h"

/* Each probe runs in a child that has entered; its exit code is 0 when all is as it should be. */
static int in_sandbox(enum rd_sandbox_level level, int (*probe)(int kept), uint64_t memory_bytes, bool maps_files)
{
	int status;
	int kept = open("/dev/null", O_WRONLY);
	int other = open("/dev/null", O_WRONLY);
	pid_t pid = fork();

	assert_true(kept > 2 && other > kept);
	if (pid == 0) {
		struct rd_sandbox s = {.memory_bytes = memory_bytes,
				       .maps_files = maps_files,
				       .cpu_s = 5,
				       .file_bytes = 0,
				       .keep = &kept,
				       .keep_n = 1};
		_exit(rd_sandbox_enter(level, &s, NULL) < 0 ? 99 : probe(kept));
	}
	close(other);
	close(kept);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int probe_limits(int kept)
{
	struct rlimit r;

	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return 1;
	if (getrlimit(RLIMIT_CORE, &r) != 0 || r.rlim_max != 0)
		return 2;
	if (getrlimit(RLIMIT_CPU, &r) != 0 || r.rlim_max != 5)
		return 3;
	if (getrlimit(RLIMIT_FSIZE, &r) != 0 || r.rlim_max != 0)
		return 4;
	if (getrlimit(RLIMIT_NOFILE, &r) != 0 || r.rlim_max > 64)
		return 5;
	return write(kept, "x", 1) == 1 ? 0 : 6;
}

static int probe_descriptors(int kept)
{
	for (int fd = 3; fd < 64; fd++)
		if ((fcntl(fd, F_GETFD) >= 0) != (fd == kept))
			return fd;
	return fcntl(2, F_GETFD) >= 0 ? 0 : 2;
}

static int probe_memory(int kept)
{
	(void)kept;
	errno = 0;
	void *p = malloc((size_t)200 << 20);
	return p == NULL && errno == ENOMEM ? 0 : 1;
}

/* A file larger than the memory allowed. */
static int probe_map(int kept)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	void *p = mmap(NULL, (size_t)200 << 20, PROT_READ, MAP_SHARED, fd, 0);

	(void)kept;
	return p == MAP_FAILED ? 1 : 0;
}

static int probe_nothing(int kept)
{
	(void)kept;
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0 ? 0 : 1;
}

static void limits_hold(void **state)
{
	assert_int_equal(in_sandbox(RD_SANDBOX_LIMITS, probe_limits, 0, false), 0);
}

static void only_the_kept_descriptors_stay(void **state)
{
	assert_int_equal(in_sandbox(RD_SANDBOX_LIMITS, probe_descriptors, 0, false), 0);
}

static void memory_is_limited(void **state)
{
	if (!rd_limits_memory())
		skip_test("the sanitizers need the address space");
	assert_int_equal(in_sandbox(RD_SANDBOX_LIMITS, probe_memory, (uint64_t)100 << 20, false), 0);
	assert_int_equal(in_sandbox(RD_SANDBOX_LIMITS, probe_memory, (uint64_t)100 << 20, true), 0);
	assert_int_equal(in_sandbox(RD_SANDBOX_LIMITS, probe_map, (uint64_t)100 << 20, false), 1);
	assert_int_equal(in_sandbox(RD_SANDBOX_LIMITS, probe_map, (uint64_t)100 << 20, true), 0);
}

static void no_sandbox_changes_nothing(void **state)
{
	assert_int_equal(in_sandbox(RD_SANDBOX_NONE, probe_nothing, 1, false), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limits_hold),
		cmocka_unit_test(only_the_kept_descriptors_stay),
		cmocka_unit_test(memory_is_limited),
		cmocka_unit_test(no_sandbox_changes_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
