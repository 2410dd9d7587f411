#include "tests/support.h"

#include <sys/stat.h>
#include <unistd.h>

#include "store/seal.h"
#include "store/store.h"
#include "tests/make_result.h"

static struct rd_error err;
static char path[256];

static bool is_there(const char *part)
{
	char file[4096];
	struct stat st;

	snprintf(file, sizeof file, "%s/%s", path, part);
	return lstat(file, &st) == 0;
}

static void put(const char *part, const char *text)
{
	char name[256];

	snprintf(name, sizeof name, "%s/%s", strrchr(path, '/') + 1, part);
	scratch_file(name, text, strlen(text));
}

static int setup(void **state)
{
	static unsigned turn;
	struct rd_result r;
	char name[32];

	snprintf(name, sizeof name, "own-%u", turn++);
	strcpy(path, scratch_path(name));
	small_result(&r);
	assert_ok(rd_store_write(path, &r, &err), &err);
	rd_result_release(&r);
	return 0;
}

/* Not ours to replace, and why. */
static void check_not_own(const char *why)
{
	assert_code(RD_EXISTS, rd_store_own(path, &err));
	assert_string_equal(err.text, why);
	assert_string_equal(err.file, path);
}

static void a_result_goes(void **state)
{
	assert_ok(rd_store_own(path, &err), &err);
	assert_ok(rd_store_remove(path, &err), &err);
	assert_false(is_there(""));
	assert_code(RD_NOT_FOUND, rd_store_own(path, &err));
	assert_ok(rd_store_remove(path, &err), &err);
}

static void a_half_written_one_goes(void **state)
{
	char file[300];

	snprintf(file, sizeof file, "%s/" RD_SEAL_NAME, path);
	unlink(file);
	check_not_own("not a result: the folder has no seal");
	assert_ok(rd_store_remove(path, &err), &err);
	assert_false(is_there(""));
	assert_int_equal(mkdir(path, 0700), 0);
	check_not_own("not a result: the folder has no seal");
	assert_ok(rd_store_remove(path, &err), &err);
	assert_false(is_there(""));
}

static void other_versions_and_damaged_ones_are_ours(void **state)
{
	put(RD_SEAL_NAME, "rundown result 999\nwhatever\n");
	assert_ok(rd_store_own(path, &err), &err);
	put(RD_SEAL_NAME, "rundown result 1\n");
	put(RD_DATA_NAME, "");
	assert_ok(rd_store_own(path, &err), &err);
}

/* Somebody else's database may have a seal, too. */
static void another_seal_is_none(void **state)
{
	static const char *const seals[] = {"",
					    "of approval\n",
					    "rundown result\n",
					    "rundown result one\n",
					    "rundown result 1",
					    "rundown result 1 \n",
					    "rundown results 1\n",
					    " rundown result 1\n"};

	for (size_t i = 0; i < sizeof seals / sizeof *seals; i++) {
		put(RD_SEAL_NAME, seals[i]);
		check_not_own("not a result: its seal is another file");
	}
	assert_true(is_there(RD_DATA_NAME));
}

static void check_foreign(const char *why)
{
	check_not_own(why);
	assert_code(RD_EXISTS, rd_store_remove(path, &err));
	assert_string_equal(err.text, why);
	assert_true(is_there(RD_SEAL_NAME) && is_there(RD_DATA_NAME));
}

static void what_is_added_keeps_the_folder(void **state)
{
	char file[300];

	put("notes.txt", "mine");
	check_foreign("it holds notes.txt, which is no part of a result");
	snprintf(file, sizeof file, "%s/notes.txt", path);
	unlink(file);
	snprintf(file, sizeof file, "%s/.hidden", path);
	assert_int_equal(mkdir(file, 0700), 0);
	check_foreign("it holds .hidden, which is no part of a result");
	rmdir(file);
	assert_ok(rd_store_own(path, &err), &err);
}

static void parts_that_are_no_files_are_not_ours(void **state)
{
	char file[300], away[300];

	snprintf(file, sizeof file, "%s/" RD_DATA_NAME, path);
	snprintf(away, sizeof away, "%s.away", path);
	assert_int_equal(rename(file, away), 0);
	check_not_own("not a result: the folder has no data.mdb");
	assert_int_equal(symlink(away, file), 0);
	check_not_own("not a result: the folder has no data.mdb");
	assert_code(RD_EXISTS, rd_store_remove(path, &err));
	unlink(file);
	assert_int_equal(mkdir(file, 0700), 0);
	check_not_own("not a result: the folder has no data.mdb");
	assert_code(RD_EXISTS, rd_store_remove(path, &err));
	rmdir(file);
	assert_int_equal(rename(away, file), 0);
	/* A seal that would wait for somebody. */
	snprintf(file, sizeof file, "%s/" RD_SEAL_NAME, path);
	unlink(file);
	assert_int_equal(mkfifo(file, 0600), 0);
	check_not_own("not a result: its seal is another file");
}

static void what_is_no_folder_is_not_ours(void **state)
{
	char link[300];

	snprintf(link, sizeof link, "%s.link", path);
	assert_int_equal(symlink(path, link), 0);
	assert_code(RD_EXISTS, rd_store_own(link, &err));
	assert_string_equal(err.text, "not a result: it is no folder");
	assert_code(RD_EXISTS, rd_store_remove(link, &err));
	assert_code(RD_EXISTS, rd_store_own(scratch_file("file", "x", 1), &err));
	assert_code(RD_EXISTS, rd_store_remove(scratch_path("file"), &err));
	assert_ok(rd_store_own(path, &err), &err);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, setup)
	const struct CMUnitTest tests[] = {
		TEST(a_result_goes),
		TEST(a_half_written_one_goes),
		TEST(other_versions_and_damaged_ones_are_ours),
		TEST(another_seal_is_none),
		TEST(what_is_added_keeps_the_folder),
		TEST(parts_that_are_no_files_are_not_ours),
		TEST(what_is_no_folder_is_not_ours),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
