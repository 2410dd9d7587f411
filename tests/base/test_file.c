#include "tests/support.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

static bool is_there(const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0;
}

static void make_folder(const char *path)
{
	assert_int_equal(mkdir(path, 0700), 0);
}

static void expect_file(const char *path, const char *text)
{
	size_t n;
	uint8_t *bytes = read_whole(path, &n);
	assert_string_equal((char *)bytes, text);
	free(bytes);
}

static void reads_are_whole_or_truncated(void **state)
{
	struct rd_error err;
	char buf[16] = "";
	int fd = open(scratch_file("ten", "0123456789", 10), O_RDONLY);

	assert_ok(rd_pread_all(fd, buf, 10, 0, &err), &err);
	assert_memory_equal(buf, "0123456789", 10);
	assert_ok(rd_pread_all(fd, buf, 3, 7, &err), &err);
	assert_memory_equal(buf, "789", 3);
	assert_ok(rd_pread_all(fd, buf, 0, 10, &err), &err);
	assert_code(RD_TRUNCATED, rd_pread_all(fd, buf, 4, 7, &err));
	assert_true(err.offset == 7);
	assert_string_equal(err.text, "4 bytes wanted, 3 there");
	assert_int_equal(rd_pread_some(fd, buf, 16, 8, &err), 2);
	assert_int_equal(rd_pread_some(fd, buf, 16, 11, &err), 0);
	assert_code(RD_TRUNCATED, rd_pread_some(fd, buf, 1, (uint64_t)INT64_MAX, &err));
	assert_code(RD_TRUNCATED, rd_pread_all(fd, buf, 1, UINT64_MAX, &err));
	close(fd);
	assert_code(RD_IO, rd_pread_all(fd, buf, 1, 5, &err));
	assert_int_equal(err.sys_errno, EBADF);
	assert_true(err.offset == 5);
	fd = open(scratch_folder(), O_RDONLY);
	assert_code(RD_IO, rd_pread_some(fd, buf, 1, 0, NULL));
	close(fd);
}

/* All of a short file, the start of a longer one, behind what was there; on failure nothing more. */
static void starts_are_read(void **state)
{
	struct rd_bytes out = {0};
	struct rd_error err;
	char path[4096];

	snprintf(path, sizeof path, "%s", scratch_path("start"));
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_ok(rd_write_all(fd, "abcdef", 6, &err), &err);
	close(fd);
	assert_ok(rd_read_start(path, 4, &out, &err), &err);
	assert_ok(rd_read_start(path, 100, &out, &err), &err);
	assert_int_equal(out.n, 10);
	assert_memory_equal(out.at, "abcdabcdef", 10);
	rd_error_clear(&err);
	assert_code(RD_IO, rd_read_start(scratch_path("no start"), 4, &out, &err));
	assert_non_null(strstr(err.file, "no start"));
	assert_code(RD_IO, rd_read_start(scratch_folder(), 4, &out, &err));
	rd_fail_allocation(1);
	assert_code(RD_NOMEM, rd_read_start(path, 1000, &out, &err));
	rd_fail_allocation(0);
	assert_int_equal(out.n, 10);
	rd_bytes_release(&out);
}

static void writes_are_whole(void **state)
{
	struct rd_error err;
	int fds[2];
	static uint8_t bytes[300000];

	/* A pipe takes less than this at once: the child reads it away in small pieces. */
	assert_int_equal(pipe(fds), 0);
	pid_t child = fork();
	if (child == 0) {
		char piece[7000];
		size_t n = 0;
		ssize_t got;
		close(fds[1]);
		while ((got = read(fds[0], piece, sizeof piece)) > 0)
			n += (size_t)got;
		_exit(n == sizeof bytes ? 0 : 1);
	}
	close(fds[0]);
	assert_ok(rd_write_all(fds[1], bytes, sizeof bytes, &err), &err);
	close(fds[1]);
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_code(RD_IO, rd_write_all(-1, "x", 1, &err));
	assert_ok(rd_write_all(-1, "x", 0, &err), &err);
}

static void writes_go_to_their_place(void **state)
{
	struct rd_error err;
	char got[6] = "";
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_ok(rd_pwrite_all(fd, "abc", 3, 2, &err), &err);
	assert_ok(rd_pwrite_all(fd, "xy", 2, 0, &err), &err);
	assert_ok(rd_pread_all(fd, got, 5, 0, &err), &err);
	assert_string_equal(got, "xyabc");
	assert_int_equal(lseek(fd, 0, SEEK_CUR), 0);
	close(fd);
	assert_code(RD_IO, rd_pwrite_all(-1, "x", 1, 0, &err));
	assert_int_equal(err.sys_errno, EBADF);
	assert_ok(rd_pwrite_all(-1, "x", 0, 0, &err), &err);
}

static void paths_fit_or_fail(void **state)
{
	struct rd_error err;
	char buf[6];

	assert_ok(rd_path(buf, sizeof buf, &err, "%s/%d", "abc", 1), &err);
	assert_string_equal(buf, "abc/1");
	assert_code(RD_LIMIT, rd_path(buf, sizeof buf, &err, "%s/%d", "abcd", 1));
	assert_string_equal(buf, "");
	assert_code(RD_LIMIT, rd_path(NULL, 0, &err, "x"));
}

static void private_folders_are_private(void **state)
{
	struct rd_error err;
	char path[4096], small[8];
	struct stat st;

	assert_ok(rd_private_folder(scratch_folder(), "pre", path, sizeof path, &err), &err);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_non_null(strstr(path, "/pre-"));
	assert_code(RD_LIMIT, rd_private_folder(scratch_folder(), "pre", small, sizeof small, &err));
	assert_code(RD_IO, rd_private_folder(scratch_path("missing"), "pre", path, sizeof path, &err));
	assert_int_equal(err.sys_errno, ENOENT);
	assert_string_equal(path, "");
}

static void trees_go_links_stay(void **state)
{
	struct rd_error err;
	char root[256], outside[256];

	strcpy(outside, scratch_path("outside"));
	make_folder(outside);
	scratch_file("outside/kept", "kept", 4);
	strcpy(root, scratch_path("tree"));
	make_folder(root);
	make_folder(scratch_path("tree/a"));
	make_folder(scratch_path("tree/a/b"));
	make_folder(scratch_path("tree/a/empty"));
	scratch_file("tree/a/b/f", "x", 1);
	scratch_file("tree/f", "x", 1);
	assert_int_equal(symlink(outside, scratch_path("tree/link")), 0);
	assert_int_equal(symlink("nowhere", scratch_path("tree/a/dangling")), 0);
	assert_int_equal(chmod(scratch_path("tree/a/b"), 0500), 0);
	if (geteuid() != 0) {
		assert_code(RD_IO, rd_remove_tree(root, &err));
		assert_int_equal(chmod(scratch_path("tree/a/b"), 0700), 0);
	}
	assert_ok(rd_remove_tree(root, &err), &err);
	assert_false(is_there(root));
	expect_file(scratch_path("outside/kept"), "kept");
	assert_ok(rd_remove_tree(root, &err), &err); /* already gone */
	/* A link itself goes, not what it names. A file goes too. */
	assert_int_equal(symlink(outside, root), 0);
	assert_ok(rd_remove_tree(root, &err), &err);
	assert_false(is_there(root));
	assert_ok(rd_remove_tree(scratch_path("outside/kept"), &err), &err);
	assert_false(is_there(scratch_path("outside/kept")));
}

static void deep_trees_need_no_recursion(void **state)
{
	struct rd_error err;
	char top[4096];

	strcpy(top, scratch_path("deep"));
	make_folder(top);
	int at = open(top, O_RDONLY | O_DIRECTORY);
	for (int i = 0; i < 200; i++) {
		assert_int_equal(mkdirat(at, "a-rather-long-name-of-a-folder", 0700), 0);
		int next = openat(at, "a-rather-long-name-of-a-folder", O_RDONLY | O_DIRECTORY);
		assert_true(next >= 0);
		close(at);
		at = next;
	}
	close(at);
	assert_ok(rd_remove_tree(top, &err), &err);
	assert_false(is_there(top));
}

static void check_follow(const char *path, int wanted, const char *leads_to)
{
	struct rd_error err;
	char buf[4096];

	assert_int_equal(rd_follow(path, buf, sizeof buf, &err), wanted);
	assert_string_equal(buf, leads_to);
}

static void links_are_followed_to_their_end(void **state)
{
	struct rd_error err;
	char folder[256], link[300], target[300], small[8];

	strcpy(folder, scratch_path("links"));
	make_folder(folder);
	snprintf(link, sizeof link, "%s/one", folder);
	snprintf(target, sizeof target, "%s/file", folder);
	assert_int_equal(symlink("two", link), 0);
	assert_int_equal(symlink("file", scratch_path("links/two")), 0);
	/* Whether there is something or not. */
	check_follow(link, 0, target);
	scratch_file("links/file", "x", 1);
	check_follow(link, 0, target);
	check_follow(target, 0, target);
	check_follow("/no/such/thing", 0, "/no/such/thing");
	/* Absolute; with a slash at its end. */
	assert_int_equal(symlink(folder, scratch_path("to-folder")), 0);
	check_follow(scratch_path("to-folder"), 0, folder);
	assert_int_equal(symlink("links/", scratch_path("with-slash")), 0);
	check_follow(scratch_path("with-slash"), 0, folder);
	/* Through a folder that is a link: its own .. counts. */
	assert_int_equal(symlink("../to", scratch_path("links/up")), 0);
	snprintf(target, sizeof target, "%s/../to", scratch_path("to-folder"));
	check_follow(scratch_path("to-folder/up"), 0, target);
	assert_int_equal(symlink("circle", scratch_path("links/circle")), 0);
	assert_code(RD_IO, rd_follow(scratch_path("links/circle"), link, sizeof link, &err));
	assert_int_equal(err.sys_errno, ELOOP);
	assert_code(RD_LIMIT, rd_follow("/longer/than/that", small, sizeof small, &err));
	if (access("/proc/self/fd/1", F_OK) == 0)
		check_follow("/proc/self/fd/1", 1, "/proc/self/fd/1");
}

static void folders_are_made_with_those_above(void **state)
{
	struct rd_error err;
	struct stat st;
	char deep[4200], slashes[4300];

	(void)state;
	snprintf(deep, sizeof deep, "%s/one/two/three", scratch_folder());
	assert_ok(rd_make_folders(deep, 0700, &err), &err);
	assert_int_equal(0, stat(deep, &st));
	assert_int_equal(0700, st.st_mode & 07777);
	assert_ok(rd_make_folders(deep, 0700, &err), &err);
	assert_ok(rd_make_folders("/", 0700, &err), &err);
	assert_ok(rd_make_folders(".", 0700, &err), &err);
	snprintf(slashes, sizeof slashes, "%s//four///five//", deep);
	assert_ok(rd_make_folders(slashes, 0700, &err), &err);
	/* A file is no folder, and nothing is made below it. */
	scratch_file("file", "f", 1);
	assert_code(RD_IO, rd_make_folders(scratch_path("file"), 0700, &err));
	assert_int_equal(ENOTDIR, err.sys_errno);
	assert_code(RD_IO, rd_make_folders(scratch_path("file/below"), 0700, &err));
	assert_int_equal(ENOTDIR, err.sys_errno);
	/* As is a link that leads to nothing. */
	assert_int_equal(0, symlink("nothing", scratch_path("astray")));
	assert_code(RD_IO, rd_make_folders(scratch_path("astray/below"), 0700, &err));
	assert_code(RD_IO, rd_make_folders("", 0700, &err));
}

static void syncs_and_says_what_it_cannot(void **state)
{
	struct rd_error err;

	assert_ok(rd_sync_path(scratch_file("s", "s", 1), &err), &err);
	assert_ok(rd_sync_path(scratch_folder(), &err), &err);
	assert_code(RD_IO, rd_sync_path(scratch_path("missing"), &err));
	assert_int_equal(err.sys_errno, ENOENT);
	assert_non_null(strstr(err.file, "missing"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_are_whole_or_truncated),  cmocka_unit_test(starts_are_read),
		cmocka_unit_test(writes_are_whole),
		cmocka_unit_test(writes_go_to_their_place),      cmocka_unit_test(paths_fit_or_fail),
		cmocka_unit_test(private_folders_are_private),   cmocka_unit_test(trees_go_links_stay),
		cmocka_unit_test(deep_trees_need_no_recursion),  cmocka_unit_test(links_are_followed_to_their_end),
		cmocka_unit_test(syncs_and_says_what_it_cannot),
		cmocka_unit_test(folders_are_made_with_those_above),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
