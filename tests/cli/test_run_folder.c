#include "tests/support.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/run_folder.h"

static struct rd_error err;

static const char *make_root(const char *name)
{
	const char *root = scratch_path(name);
	assert_int_equal(0, mkdir(root, 0700));
	assert_int_equal(0, setenv("TMPDIR", root, 1));
	return root;
}

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

static void a_living_run_keeps_its_folder(void **state)
{
	char one[4096], two[4096], file[4200];
	int one_lock, two_lock;

	make_root("a");
	assert_ok(rd_run_folder_make(one, sizeof one, 60, &one_lock, &err), &err);
	snprintf(file, sizeof file, "%s/trace", one);
	close(open(file, O_CREAT | O_WRONLY, 0600));
	assert_ok(rd_run_folder_make(two, sizeof two, 60, &two_lock, &err), &err);
	assert_true(is_there(file));
	/* It dies. */
	close(one_lock);
	close(two_lock);
	assert_ok(rd_run_folder_make(one, sizeof one, 60, &one_lock, &err), &err);
	assert_false(is_there(file));
	assert_false(is_there(two));
	assert_true(is_there(one));
	close(one_lock);
}

static void what_is_not_ours_stays(void **state)
{
	/* Without a lock; with a lock that is a folder or a link; with another name. */
	static const char *const folders[] = {"rundown-nolock", "rundown-folder", "rundown-linked", "rundown-toolong",
					      "otherxx-abcdef"};
	const char *root = make_root("b");
	char path[4096], at[4300];
	int lock;

	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		snprintf(at, sizeof at, "%s/%s", root, folders[i]);
		assert_int_equal(0, mkdir(at, 0700));
		snprintf(at, sizeof at, "%s/%s/lock", root, folders[i]);
		if (i == 1)
			assert_int_equal(0, mkdir(at, 0700));
		else if (i == 2)
			assert_int_equal(0, symlink("/dev/null", at));
		else if (i > 2)
			close(open(at, O_CREAT | O_WRONLY, 0600));
	}
	snprintf(at, sizeof at, "%s/rundown-alinkx", root);
	assert_int_equal(0, symlink("otherxx-abcdef", at));
	assert_ok(rd_run_folder_make(path, sizeof path, 60, &lock, &err), &err);
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		snprintf(at, sizeof at, "%s/%s", root, folders[i]);
		assert_true(is_there(at));
	}
	snprintf(at, sizeof at, "%s/rundown-alinkx/lock", root);
	assert_true(is_there(at));
	close(lock);
}

static void where_it_lies(void **state)
{
	char path[4096], name[80];
	int lock;
	struct stat st;

	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = 0;
	make_root(name);
	/* A socket's address would not fit. */
	assert_ok(rd_run_folder_make(path, sizeof path, 60, &lock, &err), &err);
	assert_int_equal(0, strncmp(path, "/tmp/rundown-", 13));
	assert_int_equal(0, stat(path, &st));
	assert_int_equal(0700, st.st_mode & 0777);
	assert_ok(rd_remove_tree(path, &err), &err);
	close(lock);
	/* Nor need it. */
	assert_ok(rd_run_folder_make(path, sizeof path, 0, &lock, &err), &err);
	assert_non_null(strstr(path, name));
	close(lock);
	setenv("TMPDIR", "/no/such/folder", 1);
	assert_code(RD_IO, rd_run_folder_make(path, sizeof path, 60, &lock, &err));
	assert_string_equal("/no/such/folder", err.file);
	assert_int_equal(-1, lock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_living_run_keeps_its_folder),
		cmocka_unit_test(what_is_not_ours_stays),
		cmocka_unit_test(where_it_lies),
	};
	/* Made before TMPDIR changes. */
	scratch_folder();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
