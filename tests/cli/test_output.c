#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/output.h"
#include "cli/scratch.h"
#include "tests/support.h"

static char folder[4096];

/* Names in the folder, "." and ".." aside. */
static unsigned entries(const char *path)
{
	unsigned n = 0;
	struct dirent *e;
	DIR *d = opendir(path);
	assert_non_null(d);
	while ((e = readdir(d)) != NULL)
		n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	closedir(d);
	return n;
}

static const char *in_folder(const char *name)
{
	static char path[4200];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

static void check_content(const char *path, const char *content)
{
	size_t n;
	uint8_t *bytes = read_whole(path, &n);
	assert_string_equal((char *)bytes, content);
	free(bytes);
}

static int set_up(void **state)
{
	char name[32];
	static unsigned turn;
	snprintf(name, sizeof name, "output-%u", turn++);
	strcpy(folder, scratch_path(name));
	return mkdir(folder, 0700);
}

static void write_file(const char *path, const char *text)
{
	struct rd_output o;
	struct rd_error err;
	assert_ok(rd_output_open(&o, path, &err), &err);
	rd_out_text(&o.out, text);
	assert_ok(rd_output_close(&o, true, &err), &err);
}

static void test_appears_whole(void **state)
{
	struct rd_output o;
	struct rd_error err;
	const char *path = in_folder("a");
	struct stat st;
	mode_t mask = umask(027);

	assert_ok(rd_output_open(&o, path, &err), &err);
	rd_out_text(&o.out, "one\n");
	assert_ok(rd_out_flush(&o.out, &err), &err);
	assert_int_not_equal(access(path, F_OK), 0);
	assert_ok(rd_output_close(&o, true, &err), &err);
	umask(mask);
	check_content(path, "one\n");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	write_file(path, "two\n");
	check_content(path, "two\n");
	assert_int_equal(entries(folder), 1);
}

static void test_a_failure_leaves_the_old_file(void **state)
{
	struct rd_output o;
	struct rd_error err;
	const char *path = in_folder("a");

	write_file(path, "old\n");
	assert_ok(rd_output_open(&o, path, &err), &err);
	rd_out_text(&o.out, "half");
	assert_ok(rd_output_close(&o, false, &err), &err);
	check_content(path, "old\n");
	assert_int_equal(entries(folder), 1);
}

static void test_links_stay(void **state)
{
	char target[4200], link[4200];
	struct stat st;

	strcpy(target, in_folder("target"));
	strcpy(link, in_folder("link"));
	write_file(target, "old\n");
	assert_int_equal(symlink("target", link), 0);
	write_file(link, "new\n");
	check_content(target, "new\n");
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
}

/* What a link leads to need not be there. */
static void test_dangling_links_stay(void **state)
{
	char link[4200];
	struct stat st;

	strcpy(link, in_folder("link"));
	assert_int_equal(symlink("another", link), 0);
	assert_int_equal(symlink("target", in_folder("another")), 0);
	write_file(link, "new\n");
	check_content(in_folder("target"), "new\n");
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(entries(folder), 3);
	/* Into no folder. */
	assert_int_equal(symlink("missing/a", in_folder("lost")), 0);
	struct rd_output o;
	struct rd_error err;
	assert_code(RD_IO, rd_output_open(&o, in_folder("lost"), &err));
	assert_string_equal(err.file, in_folder("lost"));
}

/* Written where its file stands, not from the start, and not replaced. */
static void check_descriptor(const char *among)
{
	char name[64];
	struct stat before, after;
	const char *path = in_folder("log");

	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert_int_equal(write(fd, "first\n", 6), 6);
	assert_int_equal(fstat(fd, &before), 0);
	snprintf(name, sizeof name, "%s/%d", among, fd);
	write_file(name, "second\n");
	assert_int_equal(write(fd, "third\n", 6), 6);
	check_content(path, "first\nsecond\nthird\n");
	assert_int_equal(stat(path, &after), 0);
	assert_true(before.st_ino == after.st_ino);
	close(fd);
	assert_int_equal(entries(folder), 1);
}

static void test_open_files_are_written_where_they_stand(void **state)
{
	char link[64];

	check_descriptor("/dev/fd");
	check_descriptor("/proc/self/fd");
	check_descriptor("/proc/thread-self/fd");
	/* By a link of our own, as /dev/stdout is one. */
	int fd = open(in_folder("log"), O_RDWR | O_CREAT | O_TRUNC, 0600);
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	assert_int_equal(symlink(link, in_folder("link")), 0);
	write_file(in_folder("link"), "one\n");
	write_file(in_folder("link"), "two\n");
	check_content(in_folder("log"), "one\ntwo\n");
	close(fd);
	struct rd_output o;
	struct rd_error err;
	assert_code(RD_IO, rd_output_open(&o, "/dev/fd/987", &err));
	assert_string_equal(err.file, "/dev/fd/987");
}

static void test_pipes_and_devices_are_written_to(void **state)
{
	char text[8] = {0};
	struct stat st;
	int ends[2];
	char name[64];

	assert_int_equal(mkfifo(in_folder("fifo"), 0600), 0);
	int reader = open(in_folder("fifo"), O_RDONLY | O_NONBLOCK);
	write_file(in_folder("fifo"), "fifo\n");
	assert_int_equal(read(reader, text, sizeof text), 5);
	assert_string_equal(text, "fifo\n");
	close(reader);
	assert_int_equal(lstat(in_folder("fifo"), &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
	assert_int_equal(pipe(ends), 0);
	snprintf(name, sizeof name, "/dev/fd/%d", ends[1]);
	write_file(name, "pipe\n");
	assert_int_equal(read(ends[0], text, sizeof text), 5);
	assert_string_equal(text, "pipe\n");
	close(ends[0]);
	close(ends[1]);
	write_file("/dev/null", "nothing\n");
	assert_int_equal(lstat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(entries(folder), 1);
}

static void test_what_cannot_be_written(void **state)
{
	struct rd_output o;
	struct rd_error err;

	assert_code(RD_USAGE, rd_output_open(&o, folder, &err));
	assert_code(RD_IO, rd_output_open(&o, in_folder("missing/a"), &err));
	assert_ok(rd_output_open(&o, "/dev/full", &err), &err);
	rd_out_text(&o.out, "x");
	assert_code(RD_IO, rd_output_close(&o, true, &err));
	assert_string_equal(err.file, "/dev/full");
	assert_int_equal(entries(folder), 0);
}

static void test_no_room(void **state)
{
	const char *path = in_folder("a");
	write_file(path, "old\n");
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		struct rd_output o;
		struct rd_error err;
		struct rlimit limit = {1000, 1000};
		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &limit);
		rd_output_open(&o, path, &err);
		for (int i = 0; i < 1000; i++)
			rd_out_text(&o.out, "too much\n");
		_exit(rd_output_close(&o, true, &err) == RD_IO ? 0 : 1);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	check_content(path, "old\n");
	assert_int_equal(entries(folder), 1);
}

/* ---- scratch folders */

static void test_scratch_goes_away(void **state)
{
	struct rd_error err;
	setenv("TMPDIR", folder, 1);
	for (int i = 0; i < 3; i++) {
		const char *path = rd_scratch_open(&err);
		assert_non_null(path);
		assert_int_equal(entries(folder), 1);
		rd_scratch_close();
		rd_scratch_close();
		assert_int_equal(entries(folder), 0);
	}
	unsetenv("TMPDIR");
}

static void check_signal(int signal_number)
{
	int pipes[2], status;
	char byte;

	assert_int_equal(pipe(pipes), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct rd_error err;
		char path[4200];
		setenv("TMPDIR", folder, 1);
		snprintf(path, sizeof path, "%s/01.trace", rd_scratch_open(&err));
		FILE *f = fopen(path, "w");
		fputs("half", f);
		fclose(f);
		if (write(pipes[1], "x", 1) != 1)
			_exit(2);
		for (;;)
			pause();
	}
	assert_int_equal(read(pipes[0], &byte, 1), 1);
	assert_int_equal(entries(folder), 1);
	kill(pid, signal_number);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == signal_number);
	assert_int_equal(entries(folder), 0);
	close(pipes[0]);
	close(pipes[1]);
}

static void test_scratch_goes_away_by_signal(void **state)
{
	check_signal(SIGINT);
	check_signal(SIGTERM);
	check_signal(SIGHUP);
}

static void test_scratch_of_the_killed_goes_with_the_next(void **state)
{
	struct rd_error err;
	int pipes[2], status;
	char byte;

	assert_int_equal(pipe(pipes), 0);
	setenv("TMPDIR", folder, 1);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (rd_scratch_open(&err) == NULL || write(pipes[1], "x", 1) != 1)
			_exit(2);
		for (;;)
			pause();
	}
	assert_int_equal(read(pipes[0], &byte, 1), 1);
	assert_non_null(rd_scratch_open(&err));
	assert_int_equal(entries(folder), 2);
	rd_scratch_close();
	assert_int_equal(entries(folder), 1);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(entries(folder), 1);
	assert_non_null(rd_scratch_open(&err));
	assert_int_equal(entries(folder), 1);
	rd_scratch_close();
	assert_int_equal(entries(folder), 0);
	unsetenv("TMPDIR");
	close(pipes[0]);
	close(pipes[1]);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, set_up)
	const struct CMUnitTest tests[] = {
		TEST(test_appears_whole),
		TEST(test_a_failure_leaves_the_old_file),
		TEST(test_links_stay),
		TEST(test_dangling_links_stay),
		TEST(test_open_files_are_written_where_they_stand),
		TEST(test_pipes_and_devices_are_written_to),
		TEST(test_what_cannot_be_written),
		TEST(test_no_room),
		TEST(test_scratch_goes_away),
		TEST(test_scratch_goes_away_by_signal),
		TEST(test_scratch_of_the_killed_goes_with_the_next),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
