#include "tests/support.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/owned.h"
#include "merger/beside.h"
#include "store/store.h"
#include "tests/make_result.h"

static struct rd_error err;
static char root[512], output[600];

static int setup(void **state)
{
	static unsigned turn;
	char name[32];

	snprintf(name, sizeof name, "out-%u", turn++);
	snprintf(root, sizeof root, "%s", scratch_path(name));
	snprintf(output, sizeof output, "%s/shop.rundown", root);
	return mkdir(root, 0700);
}

static const char *at(const char *folder, const char *name)
{
	static char buf[4][1024];
	static unsigned turn;
	char *path = buf[turn++ % 4];

	snprintf(path, sizeof buf[0], "%s/%s", folder, name);
	return path;
}

static void put_file(const char *folder, const char *name)
{
	int fd = open(at(folder, name), O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_int_equal(write(fd, "mine", 4), 4);
	close(fd);
}

static void put_folder(const char *folder, const char *name)
{
	assert_int_equal(mkdir(at(folder, name), 0700), 0);
}

static void put_result(const char *folder, const char *name)
{
	struct rd_result r;

	small_result(&r);
	assert_ok(rd_store_write(at(folder, name), &r, &err), &err);
	rd_result_release(&r);
}

static bool is_there(const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0;
}

/* The folder of a job that is at work; *lock goes when it dies. */
static const char *work(const char *job, int *lock)
{
	static char path[1024];

	assert_ok(rd_beside_folder(path, sizeof path, output, job, "deadbeef", &err), &err);
	assert_ok(rd_beside_make(path, lock, &err), &err);
	assert_true(*lock >= 0);
	return path;
}

static const char *leave(const char *job)
{
	int lock;
	const char *path = work(job, &lock);

	close(lock);
	return path;
}

static void sweep(void)
{
	assert_ok(rd_beside_sweep(output, NULL, &err), &err);
}

/* ---- a process that is killed before the nth change of the file system: these stand before the C library's */

static int lives_for = -1; /* changes; -1: for ever */

static void live_or_die(void)
{
	if (lives_for == 0)
		_exit(9);
	if (lives_for > 0)
		lives_for--;
}

int unlink(const char *path)
{
	live_or_die();
	return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int unlinkat(int folder, const char *path, int flags)
{
	live_or_die();
	return (int)syscall(SYS_unlinkat, folder, path, flags);
}

int rmdir(const char *path)
{
	live_or_die();
	return (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}

int rename(const char *from, const char *to)
{
	live_or_die();
	return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

/* Whoever is killed while he removes leaves what the next one can judge, wherever he was. */
static void a_removal_that_is_killed_is_ended_by_the_next(void **state)
{
	int status = -1, moments = 0;

	for (; status != 0; moments++) {
		int lock;
		const char *path = work("removed", &lock);
		put_result(path, RD_BESIDE_RESULT);
		put_result(path, RD_BESIDE_RESULT "-old");
		put_result(path, RD_BESIDE_MAKING);
		pid_t pid = fork();
		if (pid == 0) {
			lives_for = moments;
			_exit(rd_beside_remove(path, NULL) == 0 ? 0 : 1);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) != 1);
		close(lock);
		sweep();
		if (is_there(path))
			fail_msg("killed before change %d, the folder stays", moments);
	}
	/* Two files and a folder of each result, the lock, the folder of all. */
	assert_true(moments > 3 * 3 + 2);
}

static void names(void **state)
{
	char buf[4096], long_name[400];

	assert_ok(rd_beside_folder(buf, sizeof buf, "/a/b", "j", "t", &err), &err);
	assert_string_equal(buf, "/a/.b.rundown-j-t");
	assert_ok(rd_beside_folder(buf, sizeof buf, "/b", "j", "t", &err), &err);
	assert_string_equal(buf, "//.b.rundown-j-t");
	assert_code(RD_USAGE, rd_beside_folder(buf, sizeof buf, "/a/", "j", "t", &err));
	assert_code(RD_PROTOCOL, rd_beside_folder(buf, sizeof buf, "/a/b", "j/../k", "t", &err));
	memset(long_name, 'n', sizeof long_name - 1);
	long_name[0] = '/';
	long_name[255] = 0;
	assert_ok(rd_beside_folder(buf, sizeof buf, long_name, "j", "t", &err), &err);
	assert_true(strlen(buf) < 200);
}

static void what_the_dead_left_goes(void **state)
{
	const char *path = leave("just-begun");

	assert_true(is_there(path));
	sweep();
	assert_false(is_there(path));
	path = leave("half-written");
	put_folder(path, "making");
	put_file(at(path, "making"), "data.mdb");
	sweep();
	assert_false(is_there(path));
	path = leave("whole");
	put_result(path, "result");
	sweep();
	assert_false(is_there(path));
	path = leave("between-two-renames");
	put_result(path, "result-old");
	put_result(path, "result");
	sweep();
	assert_false(is_there(path));
	/* Before its lock was there. */
	put_folder(root, ".shop.rundown.rundown-job-1-deadbeef");
	sweep();
	assert_false(is_there(at(root, ".shop.rundown.rundown-job-1-deadbeef")));
}

static void what_the_living_hold_stays(void **state)
{
	int lock;
	const char *path = work("job-1", &lock);

	put_result(path, "making");
	sweep();
	assert_ok(rd_store_own(at(path, "making"), &err), &err);
	close(lock);
	sweep();
	assert_false(is_there(path));
}

/* Of this job's there can be only the dying. */
static void the_dying_are_waited_for(void **state)
{
	int status, lock, ends[2];
	char byte;
	const char *path = leave("job-1");

	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();
	if (pid == 0) {
		if (rd_beside_take(path, &lock, NULL) < 0 || write(ends[1], "x", 1) != 1)
			_exit(1);
		usleep(30000);
		_exit(0);
	}
	assert_int_equal(read(ends[0], &byte, 1), 1);
	assert_ok(rd_beside_sweep(output, "job-2", &err), &err);
	assert_true(is_there(path));
	assert_ok(rd_beside_sweep(output, "job-1", &err), &err);
	assert_false(is_there(path));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(ends[0]);
	close(ends[1]);
}

static void another_outputs_stays(void **state)
{
	const char *path = leave("job-1");

	assert_ok(rd_beside_sweep(at(root, "shop"), NULL, &err), &err);
	assert_ok(rd_beside_sweep(at(root, "shop.rundown2"), NULL, &err), &err);
	assert_true(is_there(path));
	assert_code(RD_IO, rd_beside_sweep(at(root, "no/such"), NULL, &err));
}

static void what_only_looks_so_stays(void **state)
{
	static const char *const folders[] = {".shop.rundown.rundown-job-1-0000000", ".shop.rundown.rundown-deadbeef",
					      ".shop.rundown.rundown-job-1-deadbeeg",
					      "shop.rundown.rundown-j-deadbeef"};

	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
		put_folder(root, folders[i]);
	put_folder(root, ".shop.rundown.rundown-job-1-00000001");
	put_file(at(root, ".shop.rundown.rundown-job-1-00000001"), "file");
	put_file(root, ".shop.rundown.rundown-job-1-00000002");
	assert_int_equal(symlink("/tmp", at(root, ".shop.rundown.rundown-job-1-00000003")), 0);
	sweep();
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
		assert_true(is_there(at(root, folders[i])));
	assert_true(is_there(at(root, ".shop.rundown.rundown-job-1-00000001/file")));
	assert_true(is_there(at(root, ".shop.rundown.rundown-job-1-00000002")));
	assert_true(is_there(at(root, ".shop.rundown.rundown-job-1-00000003")));
}

/* Somebody's things in a folder of the dead, and all that is with them. */
static void check_stays(const char *path, const char *file, const char *why)
{
	assert_code(RD_EXISTS, rd_beside_remove(path, &err));
	assert_string_equal(err.text, why);
	sweep();
	assert_true(is_there(at(path, file)));
}

static void somebodys_things_stay(void **state)
{
	const char *path = leave("a");

	put_file(path, "file");
	put_result(path, "result");
	check_stays(path, "file", "it holds file, which is none of ours");
	assert_ok(rd_store_own(at(path, "result"), &err), &err);
	path = leave("b");
	put_folder(path, "making");
	put_file(at(path, "making"), "file");
	check_stays(path, "making/file", "it holds file, which is no part of a result");
	path = leave("c");
	put_result(path, "result");
	put_file(at(path, "result"), "file");
	check_stays(path, "result/file", "it holds file, which is no part of a result");
	assert_true(is_there(at(path, "result/data.mdb")));
	/* An unsealed database where only what is whole may lie. */
	path = leave("d");
	put_folder(path, "result");
	put_file(at(path, "result"), "data.mdb");
	check_stays(path, "result/data.mdb", "not a result: the folder has no seal");
	path = leave("e");
	put_file(path, "result-old");
	check_stays(path, "result-old", "not a result: it is no folder");
}

static void a_folder_is_taken_again(void **state)
{
	int lock, again;
	const char *path = work("job-1", &lock);

	assert_code(RD_NOT_FOUND, rd_beside_take(path, &again, &err));
	close(lock);
	assert_ok(rd_beside_take(path, &again, &err), &err);
	sweep();
	assert_true(is_there(path));
	close(again);
	/* Where nothing can be locked there is no lock. */
	assert_int_equal(unlink(at(path, RD_OWNED_LOCK)), 0);
	assert_ok(rd_beside_take(path, &again, &err), &err);
	assert_int_equal(again, -1);
	assert_ok(rd_beside_remove(path, &err), &err);
	assert_code(RD_NOT_FOUND, rd_beside_take(path, &again, &err));
	assert_ok(rd_beside_remove(path, &err), &err);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, setup)
	const struct CMUnitTest tests[] = {
		TEST(names),
		TEST(what_the_dead_left_goes),
		TEST(a_removal_that_is_killed_is_ended_by_the_next),
		TEST(what_the_living_hold_stays),
		TEST(the_dying_are_waited_for),
		TEST(another_outputs_stays),
		TEST(what_only_looks_so_stays),
		TEST(somebodys_things_stay),
		TEST(a_folder_is_taken_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
