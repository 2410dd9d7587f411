#include "tests/support.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/owned.h"

static struct rd_error err;

static void make(const char *name)
{
	assert_int_equal(mkdir(scratch_path(name), 0700), 0);
}

static void the_living_keep_what_they_own(void **state)
{
	make("mine");
	int lock = rd_owned_lock(scratch_path("mine"), &err);
	assert_ok(lock, &err);
	assert_int_equal(fcntl(lock, F_GETFD), FD_CLOEXEC);
	assert_int_equal(rd_owned_take(AT_FDCWD, scratch_path("mine")), -1);
	close(lock);
	lock = rd_owned_take(AT_FDCWD, scratch_path("mine"));
	assert_true(lock >= 0);
	/* It is taken now. */
	assert_int_equal(rd_owned_take(AT_FDCWD, scratch_path("mine")), -1);
	close(lock);
}

static void the_dead_do_not(void **state)
{
	int status, ends[2];
	char byte;

	make("theirs");
	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();
	if (pid == 0) {
		if (rd_owned_lock(scratch_path("theirs"), NULL) < 0 || write(ends[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ends[0], &byte, 1), 1);
	assert_int_equal(rd_owned_take(AT_FDCWD, scratch_path("theirs")), -1);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	int lock = rd_owned_take(AT_FDCWD, scratch_path("theirs"));
	assert_true(lock >= 0);
	close(lock);
	close(ends[0]);
	close(ends[1]);
}

static void what_has_no_lock_is_nobodys(void **state)
{
	make("plain");
	assert_int_equal(rd_owned_take(AT_FDCWD, scratch_path("plain")), -1);
	assert_int_equal(rd_owned_take(AT_FDCWD, scratch_path("missing")), -1);
	/* A lock that is a folder or a link. */
	make("odd");
	make("odd/lock");
	assert_int_equal(rd_owned_take(AT_FDCWD, scratch_path("odd")), -1);
	assert_int_equal(rmdir(scratch_path("odd/lock")), 0);
	assert_int_equal(symlink("/dev/null", scratch_path("odd/lock")), 0);
	assert_int_equal(rd_owned_take(AT_FDCWD, scratch_path("odd")), -1);
	/* A folder that is a link. */
	make("real");
	close(rd_owned_lock(scratch_path("real"), &err));
	assert_int_equal(symlink("real", scratch_path("linked")), 0);
	assert_int_equal(rd_owned_take(AT_FDCWD, scratch_path("linked")), -1);
	int lock = rd_owned_take(AT_FDCWD, scratch_path("real"));
	assert_true(lock >= 0);
	close(lock);
}

/* Between two system calls. */
static void who_died_young_is_dead(void **state)
{
	make("newborn");
	scratch_file("newborn/" RD_OWNED_FRESH, "", 0);
	int lock = rd_owned_take(AT_FDCWD, scratch_path("newborn"));
	assert_true(lock >= 0);
	assert_int_equal(rd_owned_take(AT_FDCWD, scratch_path("newborn")), -1);
	/* Whoever was only slow finds it out. */
	unlink(scratch_path("newborn/" RD_OWNED_FRESH));
	rmdir(scratch_path("newborn"));
	assert_code(RD_NOT_FOUND, rd_owned_lock(scratch_path("newborn"), &err));
	close(lock);
}

static void the_lock_goes_last(void **state)
{
	char name[64];

	make("full");
	int lock = rd_owned_lock(scratch_path("full"), &err);
	for (int i = 0; i < 50; i++) {
		snprintf(name, sizeof name, "full/%d", i);
		make(name);
		strcat(name, "/file");
		scratch_file(name, "x", 1);
	}
	/* What cannot go keeps the lock with it. */
	if (geteuid() == 0) {
		assert_int_equal(mkdir(scratch_path("full/held"), 0700), 0);
		if (mount("none", scratch_path("full/held"), "tmpfs", 0, "size=4k") == 0) {
			assert_code(RD_IO, rd_owned_remove(scratch_path("full"), &err));
			assert_int_equal(access(scratch_path("full/lock"), F_OK), 0);
			assert_int_equal(umount(scratch_path("full/held")), 0);
		}
	}
	assert_ok(rd_owned_remove(scratch_path("full"), &err), &err);
	assert_int_not_equal(access(scratch_path("full"), F_OK), 0);
	assert_ok(rd_owned_remove(scratch_path("full"), &err), &err);
	close(lock);
}

static void what_cannot_be_owned(void **state)
{
	assert_code(RD_NOT_FOUND, rd_owned_lock(scratch_path("missing"), &err));
	/* Somebody makes its lock just now. */
	make("young");
	scratch_file("young/" RD_OWNED_FRESH, "", 0);
	assert_code(RD_IO, rd_owned_lock(scratch_path("young"), &err));
	assert_string_equal(err.file, scratch_path("young"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_living_keep_what_they_own),
		cmocka_unit_test(the_dead_do_not),
		cmocka_unit_test(what_has_no_lock_is_nobodys),
		cmocka_unit_test(who_died_young_is_dead),
		cmocka_unit_test(the_lock_goes_last),
		cmocka_unit_test(what_cannot_be_owned),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
