#include "tests/support.h"

#include <sys/wait.h>
#include <unistd.h>

#include "base/place.h"

static void one_owner_a_folder(void **state)
{
	struct rd_error err;
	char folder[4096];

	strcpy(folder, scratch_path("state"));
	int fd = rd_place_own(folder, "merger", false, &err);
	assert_ok(fd, &err);
	pid_t pid = fork();
	if (pid == 0) {
		int code = rd_place_own(folder, "merger", false, &err);
		_exit(code == RD_EXISTS && strcmp(err.text, "another merger works in this folder") == 0 ? 0 : 1);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(fd);
	fd = rd_place_own(folder, "merger", false, &err);
	assert_ok(fd, &err);
	close(fd);
}

static void file_systems_are_named(void **state)
{
	struct rd_error err;
	const char *name = "?";

	assert_ok(rd_place_shared("/proc", &name, &err), &err);
	assert_null(name);
	assert_code(RD_IO, rd_place_shared(scratch_path("nowhere"), &name, &err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_owner_a_folder),
		cmocka_unit_test(file_systems_are_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
