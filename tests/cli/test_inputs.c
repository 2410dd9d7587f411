/* From words to files: folders, unmerged sets, and what is refused. */
#include "tests/support.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/inputs.h"
#include "tests/trace/etl/etl_build.h"

static struct etl_build etl;
static struct rd_inputs in;
static char folder[4096]; /* new for each test, and the one that we are in */

static int setup_all(void **state)
{
	etl_begin(&etl, NULL);
	etl_buffer(&etl, 0, 1000000);
	etl_end(&etl);
	return 0;
}

static int teardown_all(void **state)
{
	etl_release(&etl);
	return 0;
}

static int setup(void **state)
{
	assert_int_equal(0, rd_private_folder(scratch_folder(), "inputs", folder, sizeof folder, NULL));
	assert_int_equal(0, chdir(folder));
	return 0;
}

static int teardown(void **state)
{
	rd_inputs_release(&in);
	assert_int_equal(0, chdir("/"));
	return 0;
}

static void put(const char *name, const void *bytes, size_t n)
{
	FILE *f = fopen(name, "w");
	assert_non_null(f);
	assert_int_equal(n, fwrite(bytes, 1, n, f));
	fclose(f);
}

static void put_etls(const char *const *names)
{
	for (; *names; names++)
		put(*names, etl.file.at, etl.file.n);
}
#define ETLS(...) put_etls((const char *const[]){__VA_ARGS__, NULL})

static int find(bool sets, size_t n, const char *const *words)
{
	rd_inputs_release(&in);
	/* The complaint is not what is tested. */
	fflush(stderr);
	int kept = dup(STDERR_FILENO);
	assert_non_null(freopen("/dev/null", "w", stderr));
	int exit_code = rd_inputs_find(&in, "test", words, n, sets);
	fflush(stderr);
	dup2(kept, STDERR_FILENO);
	close(kept);
	return exit_code;
}
#define FIND(sets, ...)                                                                                                \
	find(sets, sizeof((const char *[]){__VA_ARGS__}) / sizeof(const char *), (const char *[]){__VA_ARGS__})

/* "NAME set NAME set …", a name that no word has with a +. */
static void expect(const char *wanted)
{
	char got[1024] = "";
	size_t at = 0;
	for (size_t i = 0; i < in.files.n; i++)
		at += (size_t)snprintf(got + at, sizeof got - at, "%s%s%s %u", i ? " " : "",
				       in.files.at[i].found ? "+" : "", in.files.at[i].shown, in.files.at[i].set);
	assert_string_equal(wanted, got);
}

static void a_set_given_by_any_of_its_files(void **state)
{
	ETLS("X.kernel.etl", "X.etl", "X.clrRundown.etl", "Y.etl", "Xtra.clr.etl", "X.kernelRundown.1.etl",
	     "Z.clr.etl");
	/* By its name it is of the set; that it is none is told by whoever reads it. */
	put("X.user.etl", "this is no ETL", 14);
	assert_int_equal(0, FIND(true, "X.etl"));
	expect("X.etl 1 +X.clrRundown.etl 1 +X.kernel.etl 1 +X.kernelRundown.1.etl 1 +X.user.etl 1");
	assert_true(in.files.at[4].optional && !in.files.at[0].optional);
	assert_int_equal(0, FIND(true, "./X.kernel.etl"));
	expect("+./X.etl 1 +./X.clrRundown.etl 1 ./X.kernel.etl 1 +./X.kernelRundown.1.etl 1 +./X.user.etl 1");
	char path[4200];
	snprintf(path, sizeof path, "%s/X.etl", folder);
	assert_string_equal(path, in.files.at[0].path);
	/* By several of them, it is still one. */
	assert_int_equal(0, FIND(true, "X.kernel.etl", "X.clrRundown.etl"));
	expect("+X.etl 1 X.clrRundown.etl 1 X.kernel.etl 1 +X.kernelRundown.1.etl 1 +X.user.etl 1");
	assert_int_equal(RD_EXIT_FAILED, FIND(true, "X.etl", "X.etl"));
	/* Without a main file there is no set, and without wanting one neither. */
	assert_int_equal(0, FIND(true, "Z.clr.etl"));
	expect("Z.clr.etl 0");
	assert_int_equal(0, FIND(false, "X.etl"));
	expect("X.etl 0");
}

static void a_set_within_a_set(void **state)
{
	ETLS("a.etl", "a.user.etl", "a.user.kernel.etl");
	for (size_t i = 0; i < 3; i++) {
		const char *const names[] = {"a.etl", "a.user.etl", "a.user.kernel.etl"};
		assert_int_equal(0, FIND(true, names[i]));
		assert_int_equal(3, in.files.n);
		assert_string_equal("a.etl", in.files.at[0].shown);
	}
}

static void a_folder_of_traces(void **state)
{
	assert_int_equal(0, mkdir("t", 0700));
	assert_int_equal(RD_EXIT_FAILED, FIND(true, "t"));
	ETLS("t/b.etl", "t/X.clr.etl", "t/X.etl", "t/no ending", "t/.hidden.etl");
	put("t/readme.txt", "hello", 5);
	put("t/empty.etl", "", 0);
	/* Broken, so that nobody knows what is in it; as with the empty one, whoever reads it says so. */
	put("t/broken.zip", "PK\3\4", 4);
	assert_int_equal(0, mkdir("t/inner", 0700));
	ETLS("t/inner/c.etl");
	assert_int_equal(0, mkfifo("t/fifo.etl", 0600));
	assert_int_equal(0, FIND(true, "t"));
	expect("t/X.etl 1 t/X.clr.etl 1 t/b.etl 0 t/broken.zip 0 t/empty.etl 0 t/no ending 0");
	for (size_t i = 0; i < in.files.n; i++)
		assert_true(in.files.at[i].optional);
	assert_int_equal(0, FIND(true, "t/"));
	expect("t/X.etl 1 t/X.clr.etl 1 t/b.etl 0 t/broken.zip 0 t/empty.etl 0 t/no ending 0");
	assert_int_equal(0, FIND(false, "t/", "t/inner"));
	expect("t/X.etl 0 t/X.clr.etl 0 t/b.etl 0 t/broken.zip 0 t/empty.etl 0 t/no ending 0 t/inner/c.etl 0");
	assert_int_equal(RD_EXIT_FAILED, FIND(true, "t", "t/b.etl"));
}

static void a_link_has_the_name_that_it_has_here(void **state)
{
	assert_int_equal(0, mkdir("store", 0700));
	ETLS("store/1", "store/2");
	assert_int_equal(0, symlink("store/1", "X.etl"));
	assert_int_equal(0, symlink("store/2", "X.clr.etl"));
	assert_int_equal(0, FIND(true, "X.clr.etl"));
	expect("+X.etl 1 X.clr.etl 1");
	assert_int_equal(RD_EXIT_FAILED, FIND(true, "X.etl", "store/1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_set_given_by_any_of_its_files, setup, teardown),
		cmocka_unit_test_setup_teardown(a_set_within_a_set, setup, teardown),
		cmocka_unit_test_setup_teardown(a_folder_of_traces, setup, teardown),
		cmocka_unit_test_setup_teardown(a_link_has_the_name_that_it_has_here, setup, teardown),
	};
	return cmocka_run_group_tests_name("inputs", tests, setup_all, teardown_all);
}
