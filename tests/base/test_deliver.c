#include "tests/support.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/deliver.h"

static struct rd_error err;
static char from[256], to[256];

static void expect_file(const char *path, const char *text)
{
	size_t n;
	uint8_t *bytes = read_whole(path, &n);
	assert_string_equal((char *)bytes, text);
	free(bytes);
}

static bool is_there(const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0;
}

/* A folder with one file of that name, which says the same. */
static void make_holding(const char *folder, const char *name)
{
	char path[512];

	assert_int_equal(mkdir(folder, 0700), 0);
	snprintf(path, sizeof path, "%s/%s", folder, name);
	int fd = open(path, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, name, strlen(name)), strlen(name));
	close(fd);
}

static void expect_holding(const char *folder, const char *name)
{
	char path[512];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	expect_file(path, name);
}

/* Ours is what holds "old". */
static int holds_old(const char *path, struct rd_error *e)
{
	char file[512];

	snprintf(file, sizeof file, "%s/old", path);
	return is_there(file) ? 0 : rd_fail(e, RD_EXISTS, "it is not ours");
}

/* ---- what others do meanwhile */

static const char *when;
static void (*what)(void);

static void meanwhile(const char *moment)
{
	if (strcmp(moment, when) == 0 && what) {
		void (*now)(void) = what;
		what = NULL;
		now();
	}
}

static void to_becomes_theirs(void)
{
	assert_int_equal(rename(to, scratch_path("moved-away")), 0);
	make_holding(to, "theirs");
}

static void to_appears(void)
{
	make_holding(to, "theirs");
}

static void ours_appears(void)
{
	make_holding(to, "old");
}

/* It came out of the place and is somebody's by now. */
static void out_becomes_theirs(void)
{
	char file[512];

	snprintf(file, sizeof file, "%s%s/old", from, rd_deliver_tests.plain ? "-old" : "");
	unlink(file);
}

/* And a third thing stands where ours was put. */
static void out_becomes_theirs_and_a_third_comes(void)
{
	out_becomes_theirs();
	assert_int_equal(rename(to, scratch_path("moved-away")), 0);
	make_holding(to, "third");
}

static int setup(void **state)
{
	static unsigned turn;
	char name[32];

	snprintf(name, sizeof name, "turn-%u", turn++);
	assert_int_equal(mkdir(scratch_path(name), 0700), 0);
	snprintf(from, sizeof from, "%s/fresh", scratch_path(name));
	snprintf(to, sizeof to, "%s/place", scratch_path(name));
	rd_deliver_tests = (struct rd_deliver_tests){.moment = meanwhile};
	when = "";
	what = NULL;
	return 0;
}

static int setup_plain(void **state)
{
	setup(state);
	rd_deliver_tests.plain = true;
	return 0;
}

static int teardown(void **state)
{
	char away[256];

	rd_deliver_tests = (struct rd_deliver_tests){0};
	strcpy(away, scratch_path("moved-away"));
	if (is_there(away)) {
		char old[300];
		snprintf(old, sizeof old, "%s/old", away);
		unlink(old);
		snprintf(old, sizeof old, "%s/new", away);
		unlink(old);
		rmdir(away);
	}
	return 0;
}

/* The one name beside `to` that says it was kept. */
static void expect_kept(const char *holds)
{
	char path[512], file[600];

	snprintf(path, sizeof path, "%s.kept-%ld-0", to, (long)getpid());
	assert_true(is_there(path));
	assert_non_null(strstr(err.context, strrchr(path, '/') + 1));
	if (holds) {
		snprintf(file, sizeof file, "%s/%s", path, holds);
		assert_true(is_there(file));
	}
}

static void a_folder_takes_its_place(void **state)
{
	make_holding(from, "new");
	assert_ok(rd_deliver(from, to, NULL, &err), &err);
	expect_holding(to, "new");
	assert_false(is_there(from));
	make_holding(from, "newer");
	assert_code(RD_EXISTS, rd_deliver(from, to, NULL, &err));
	assert_string_equal(err.file, to);
	expect_holding(to, "new");
	expect_holding(from, "newer");
}

static void ours_is_replaced(void **state)
{
	/* Nothing to replace. */
	make_holding(from, "old");
	assert_ok(rd_deliver(from, to, holds_old, &err), &err);
	make_holding(from, "new");
	assert_ok(rd_deliver(from, to, holds_old, &err), &err);
	expect_holding(to, "new");
	expect_holding(from, "old");
}

static void theirs_is_refused(void **state)
{
	make_holding(from, "new");
	make_holding(to, "theirs");
	assert_code(RD_EXISTS, rd_deliver(from, to, holds_old, &err));
	assert_string_equal(err.text, "it is not ours");
	assert_string_equal(err.file, to);
	expect_holding(to, "theirs");
	expect_holding(from, "new");
}

static void what_comes_before_the_exchange_goes_back(void **state)
{
	make_holding(from, "new");
	make_holding(to, "old");
	when = "asked";
	what = to_becomes_theirs;
	assert_code(RD_EXISTS, rd_deliver(from, to, holds_old, &err));
	expect_holding(to, "theirs");
	expect_holding(from, "new");
	assert_string_equal(err.context, "");
}

static void what_appears_is_looked_at(void **state)
{
	make_holding(from, "new");
	when = "asked";
	what = to_appears;
	assert_code(RD_EXISTS, rd_deliver(from, to, holds_old, &err));
	expect_holding(to, "theirs");
	expect_holding(from, "new");
}

static void ours_that_appears_is_replaced(void **state)
{
	make_holding(from, "new");
	when = "asked";
	what = ours_appears;
	assert_ok(rd_deliver(from, to, holds_old, &err), &err);
	expect_holding(to, "new");
	expect_holding(from, "old");
}

static void what_turns_out_theirs_goes_back(void **state)
{
	make_holding(from, "new");
	make_holding(to, "old");
	when = "exchanged";
	what = out_becomes_theirs;
	assert_code(RD_EXISTS, rd_deliver(from, to, holds_old, &err));
	expect_holding(from, "new");
	assert_true(is_there(to));
	assert_int_equal(rmdir(to), 0);
}

static void a_third_thing_is_kept(void **state)
{
	make_holding(from, "new");
	make_holding(to, "old");
	when = "exchanged";
	what = out_becomes_theirs_and_a_third_comes;
	assert_code(RD_EXISTS, rd_deliver(from, to, holds_old, &err));
	/* One of the two is back in the place, the other beside it. */
	if (rd_deliver_tests.plain) {
		expect_holding(to, "third");
		expect_kept(NULL);
	} else {
		expect_kept("third");
		assert_int_equal(rmdir(to), 0);
	}
}

static void files_replace_files(void **state)
{
	scratch_file("new", "new", 3);
	assert_ok(rd_deliver_file(scratch_path("new"), to, &err), &err);
	expect_file(to, "new");
	scratch_file("new", "newer", 5);
	assert_ok(rd_deliver_file(scratch_path("new"), to, &err), &err);
	expect_file(to, "newer");
	assert_false(is_there(scratch_path("new")));
	assert_code(RD_IO, rd_deliver_file(scratch_path("new"), to, &err));
	assert_string_equal(err.file, to);
	expect_file(to, "newer");
	scratch_file("new", "new", 3);
	make_holding(from, "theirs");
	assert_code(RD_IO, rd_deliver_file(scratch_path("new"), from, &err));
	assert_int_equal(err.sys_errno, EISDIR);
	expect_holding(from, "theirs");
}

int main(void)
{
#define BOTH(test)                                                                                                     \
	cmocka_unit_test_setup_teardown(test, setup, teardown),                                                        \
		cmocka_unit_test_setup_teardown(test, setup_plain, teardown)
	const struct CMUnitTest tests[] = {
		BOTH(a_folder_takes_its_place),
		BOTH(ours_is_replaced),
		BOTH(theirs_is_refused),
		BOTH(what_comes_before_the_exchange_goes_back),
		BOTH(what_appears_is_looked_at),
		BOTH(ours_that_appears_is_replaced),
		BOTH(what_turns_out_theirs_goes_back),
		cmocka_unit_test_setup_teardown(a_third_thing_is_kept, setup, teardown),
		BOTH(files_replace_files),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
