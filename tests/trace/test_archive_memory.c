/* How much of a large trace stays in memory while it is unpacked. */
#include "tests/support.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/archive.h"

/* In a process of its own: what it peaked at is told when it ends. Returns 0, or the test fails. */
static int unpack(const char *packed, const char *folder)
{
	struct rd_error err;
	struct rd_source s;
	rd_unpacked_vec files = {0};

	if (rd_source_open(&s, packed, &err) != 0 ||
	    rd_archive_unpack(&s, folder, NULL, &files, NULL, NULL, &err) != 0)
		return 1;
	bool large = files.n == 1 && files.at[0].size_bytes > 100 << 20;
	unlink(files.at[0].path);
	return large ? 0 : 1;
}

/* Its matches reach back 128 MiB. */
static void a_large_window_takes_little(void **state)
{
#ifdef __SANITIZE_ADDRESS__
	skip_test("AddressSanitizer takes memory of its own");
#endif
	const char *packed = shared_path("traces/own/shop-large.nettrace.zst");
	const char *folder = scratch_path("unpacked");
	struct rusage used;
	int status;

	assert_int_equal(mkdir(folder, 0700), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(unpack(packed, folder));
	assert_int_equal(wait4(child, &status, 0, &used), child);
	assert_int_equal(status, 0);
	/* Kilobytes. Measured: 41 MB, and nearly the whole file without care. */
	assert_in_range(used.ru_maxrss, 1, 64 << 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_large_window_takes_little),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
