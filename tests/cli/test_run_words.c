#include "tests/support.h"

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/run_words.h"
#include "store/store.h"
#include "tests/make_result.h"

static struct rd_run_words w;

/* The words behind "run", NULL-ended; the exit code, or -1 to go on. */
static int words(char *const *given)
{
	char *argv[16] = {(char *)"run"};
	int argc = 1, exit_code = -1;

	while (given[argc - 1])
		argv[argc] = given[argc - 1], argc++;
	/* The complaint is not what is tested. */
	fflush(stderr);
	int kept = dup(STDERR_FILENO);
	assert_non_null(freopen("/dev/null", "w", stderr));
	if (rd_run_read_words(&w, argc, argv, &exit_code)) {
		exit_code = rd_run_check(&w);
		exit_code = exit_code ? exit_code : -1;
	}
	fflush(stderr);
	dup2(kept, STDERR_FILENO);
	close(kept);
	return exit_code;
}
#define WORDS(...) words((char *const[]){__VA_ARGS__, NULL})

static char *trace(const char *name, size_t size_bytes)
{
	char *bytes = calloc(1, size_bytes + 1);
	char *path = strdup(scratch_file(name, bytes, size_bytes));
	free(bytes);
	return path;
}

static void inputs_that_cannot_be_traces(void **state)
{
	char *good = trace("a.nettrace", 10), *empty = trace("empty", 0);

	assert_int_equal(-1, WORDS(good, "-o", (char *)scratch_path("r")));
	assert_int_equal(1, w.inputs.files.n);
	assert_string_equal(good, w.inputs.files.at[0].path);
	assert_int_equal(10, w.inputs.files.at[0].size_bytes);
	rd_run_words_release(&w);
	assert_int_equal(RD_EXIT_FAILED, WORDS((char *)scratch_path("missing")));
	rd_run_words_release(&w);
	assert_int_equal(RD_EXIT_FAILED, WORDS(empty));
	rd_run_words_release(&w);
	assert_int_equal(0, mkdir(scratch_path("folder"), 0700));
	assert_int_equal(RD_EXIT_FAILED, WORDS((char *)scratch_path("folder")));
	rd_run_words_release(&w);
	assert_int_equal(RD_EXIT_FAILED, WORDS("/dev/null"));
	rd_run_words_release(&w);
	assert_int_equal(0, mkfifo(scratch_path("fifo"), 0600));
	assert_int_equal(RD_EXIT_FAILED, WORDS((char *)scratch_path("fifo")));
	rd_run_words_release(&w);
	assert_int_equal(RD_EXIT_FAILED, WORDS(good, good));
	rd_run_words_release(&w);
	/* The same one by another name. */
	assert_int_equal(0, symlink(good, scratch_path("link")));
	assert_int_equal(RD_EXIT_FAILED, WORDS(good, (char *)scratch_path("link")));
	rd_run_words_release(&w);
	free(good);
	free(empty);
}

static void where_the_result_goes(void **state)
{
	char *good = trace("a.nettrace", 10), *other = trace("b.etl", 10);
	char here[4096], place[4096];

	assert_non_null(getcwd(here, sizeof here));
	assert_int_equal(0, chdir(scratch_folder()));
	/* Named after the first trace, in this folder, wherever that trace is. */
	assert_int_equal(-1, WORDS(other, good));
	assert_string_equal("b.etl.rundown", w.result_shown);
	assert_string_equal(scratch_path("b.etl.rundown"), w.result);
	rd_run_words_release(&w);
	assert_int_equal(-1, WORDS(good, "-o", "sub//"));
	assert_string_equal(scratch_path("sub"), w.result);
	rd_run_words_release(&w);
	snprintf(place, sizeof place, "%s", scratch_path("x.rundown"));
	assert_int_equal(-1, WORDS(good, "-o", place));
	assert_string_equal(place, w.result);
	rd_run_words_release(&w);
	/* The root is a folder like others, for whoever may write to it. */
	if (access("/", W_OK) == 0) {
		assert_int_equal(-1, WORDS(good, "-o", "/x.rundown"));
		assert_string_equal("/x.rundown", w.result);
		rd_run_words_release(&w);
	}
	assert_int_equal(RD_EXIT_FAILED, WORDS(good, "-o", "no/such/folder"));
	rd_run_words_release(&w);
	/* Nothing is replaced without --force, and with it only a result. */
	assert_int_equal(0, mkdir(scratch_path("taken"), 0700));
	assert_int_equal(RD_EXIT_FAILED, WORDS(good, "-o", "taken"));
	rd_run_words_release(&w);
	assert_int_equal(RD_EXIT_FAILED, WORDS(good, "-o", "taken", "--force"));
	rd_run_words_release(&w);
	assert_int_equal(RD_EXIT_FAILED, WORDS(good, "-o", good, "--force"));
	rd_run_words_release(&w);
	/* A link stays: the result is where it leads. */
	assert_int_equal(0, symlink("sub/", scratch_path("dangling")));
	assert_int_equal(-1, WORDS(good, "-o", "dangling/"));
	assert_string_equal(scratch_path("sub"), w.result);
	assert_string_equal("dangling", w.result_shown);
	rd_run_words_release(&w);
	assert_int_equal(0, symlink("no/such/folder", scratch_path("lost")));
	assert_int_equal(RD_EXIT_FAILED, WORDS(good, "-o", "lost"));
	rd_run_words_release(&w);
	assert_int_equal(0, symlink("circle", scratch_path("circle")));
	assert_int_equal(RD_EXIT_FAILED, WORDS(good, "-o", "circle"));
	rd_run_words_release(&w);
	struct rd_result r;
	small_result(&r);
	assert_int_equal(0, rd_store_write(scratch_path("old.rundown"), &r, NULL));
	rd_result_release(&r);
	assert_int_equal(0, symlink("old.rundown", scratch_path("to-old")));
	assert_int_equal(RD_EXIT_FAILED, WORDS(good, "-o", "to-old"));
	rd_run_words_release(&w);
	assert_int_equal(-1, WORDS(good, "-o", "to-old", "--force"));
	assert_string_equal(scratch_path("old.rundown"), w.result);
	rd_run_words_release(&w);
	/* With a file of one's own in it, it is more than a result. */
	scratch_file("old.rundown/notes", "mine", 4);
	assert_int_equal(RD_EXIT_FAILED, WORDS(good, "-o", "to-old", "--force"));
	rd_run_words_release(&w);
	if (geteuid() != 0) {
		assert_int_equal(0, mkdir(scratch_path("sealed"), 0500));
		assert_int_equal(RD_EXIT_FAILED, WORDS(good, "-o", "sealed/r"));
		rd_run_words_release(&w);
	}
	assert_int_equal(0, chdir(here));
	free(good);
	free(other);
}

static void words_that_contradict(void **state)
{
	assert_int_equal(RD_EXIT_USAGE, WORDS("a", "--shards", "3", "--shard-size", "1M"));
	assert_int_equal(RD_EXIT_USAGE, WORDS("a", "--from", "3", "--to", "3"));
	assert_int_equal(RD_EXIT_USAGE, WORDS("a", "--workers", "0"));
	assert_int_equal(RD_EXIT_USAGE, WORDS("a", "--progress", "loud"));
	assert_int_equal(RD_EXIT_USAGE, WORDS("--quiet"));
}

static void as_many_workers_as_are_worth_it(void **state)
{
	struct rd_input_file files[] = {{.path = (char *)"/t/a.nettrace", .size_bytes = 1000000},
					{.path = (char *)"/t/b.etl.zip"}};
	struct rd_run_words v = {.inputs.files = {.at = files, .n = 1}};
	cpu_set_t set;

	assert_int_equal(0, sched_getaffinity(0, sizeof set, &set));
	unsigned cpus = (unsigned)CPU_COUNT(&set);
	assert_int_equal(1, rd_run_workers(&v));
	files[0].size_bytes = UINT64_MAX;
	assert_int_equal(cpus < 1024 ? cpus : 1024, rd_run_workers(&v));
	/* Packed, it may be more than it seems. */
	files[0].size_bytes = 10;
	files[1].size_bytes = UINT64_C(8) << 20;
	v.inputs.files.n = 2;
	assert_int_equal(cpus < 11 ? cpus : 11, rd_run_workers(&v));
	v.workers = 7;
	assert_int_equal(7, rd_run_workers(&v));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inputs_that_cannot_be_traces),
		cmocka_unit_test(where_the_result_goes),
		cmocka_unit_test(words_that_contradict),
		cmocka_unit_test(as_many_workers_as_are_worth_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
