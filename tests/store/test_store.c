#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "store/seal.h"
#include "store/store.h"
#include "tests/make_result.h"
#include "tests/random.h"
#include "tests/support.h"

static const char *digest_of(const struct rd_result *r)
{
	static char buf[4][33];
	static unsigned turn;
	char *digest = buf[turn++ % 4];
	assert_ok(rd_result_digest(r, digest, NULL), NULL);
	return digest;
}

/* A result in a fresh folder; its digest. */
static const char *stored(const char *path, void (*make)(struct rd_result *))
{
	struct rd_result r;
	struct rd_error err;

	make(&r);
	rd_remove_tree(path, NULL);
	assert_ok(rd_store_write(path, &r, &err), &err);
	const char *digest = digest_of(&r);
	rd_result_release(&r);
	return digest;
}

static void make_empty(struct rd_result *r)
{
	memset(r, 0, sizeof *r);
	r->first_bucket = 1;
	r->trust.cut_at = RD_NO_OFFSET;
}

static void make_thousands(struct rd_result *r)
{
	large_result(r, 20000, 7);
}

/* What the digest leaves out must come back too. */
static void test_every_field_returns(void **state)
{
	const char *path = scratch_path("whole.rundown");
	struct rd_result a, b;
	struct rd_error err;

	small_result(&a);
	strcpy(a.traces.at[0].member, "inner/shop.nettrace");
	strcpy(a.traces.at[0].info.damage, "a block that lies");
	strcpy(a.traces.at[0].info.recorder, "session");
	a.traces.at[0].info.mtime_ns = -5;
	a.traces.at[0].info.digest = UINT64_MAX;
	a.traces.at[0].cut_at = 77;
	assert_non_null(rd_vec_add(&a.traces));
	a.traces.at[1] = a.traces.at[0];
	a.stats = (struct rd_finish_stats){1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, {13, 14, 15, 16, 17}};
	a.filter = (struct rd_result_filter){"shop", 2, true, true, -7, INT64_MAX};
	a.other[RD_OTHER_CSWITCH] = 12;
	a.trust.missing_rundown = true;
	a.trust.quarantined.at = rd_realloc(NULL, sizeof(struct rd_byte_range));
	a.trust.quarantined.at[0] = (struct rd_byte_range){.trace = 0, .from = 100, .to = UINT64_MAX};
	a.trust.quarantined.n = a.trust.quarantined.cap = 1;
	assert_ok(rd_store_write(path, &a, &err), &err);
	assert_ok(rd_store_read(path, &b, &err), &err);

	assert_int_equal(b.traces.n, 2);
	assert_memory_equal(a.traces.at, b.traces.at, 2 * sizeof *a.traces.at);
	assert_int_equal(b.processes.n, 2);
	assert_memory_equal(a.processes.at, b.processes.at, 2 * sizeof *a.processes.at);
	assert_int_equal(b.frames.n, 4);
	assert_memory_equal(a.frames.at, b.frames.at, 4 * sizeof *a.frames.at);
	assert_int_equal(b.rows.n, 5);
	assert_memory_equal(a.rows.at, b.rows.at, 5 * sizeof *a.rows.at);
	assert_memory_equal(&a.stats, &b.stats, sizeof a.stats);
	assert_memory_equal(&a.filter, &b.filter, sizeof a.filter);
	assert_int_equal(b.trust.quarantined.n, 1);
	assert_true(b.trust.quarantined.at[0].to == UINT64_MAX);
	assert_true(b.trust.missing_rundown && !b.trust.missing_stacks && b.thread_time);
	assert_int_equal(b.strings.at.n, a.strings.at.n);
	assert_span(rd_strings_at(&b.strings, b.processes.at[0].command_line), "./shop --fast");
	assert_string_equal(digest_of(&a), digest_of(&b));
	rd_result_release(&a);
	rd_result_release(&b);
}

static void check_return(const char *name, void (*make)(struct rd_result *))
{
	const char *path = scratch_path(name), *digest = stored(path, make);
	struct rd_result r;
	struct rd_error err;

	assert_ok(rd_store_read(path, &r, &err), &err);
	assert_string_equal(digest_of(&r), digest);
	rd_result_release(&r);
}

static void test_many_chunks_return(void **state)
{
	check_return("large.rundown", make_thousands);
}

static void test_empty_result_returns(void **state)
{
	check_return("empty.rundown", make_empty);
}

static void test_long_strings_return(void **state)
{
	const char *path = scratch_path("long.rundown");
	struct rd_result a, b;
	struct rd_error err;
	size_t n = 300000;
	char *name = malloc(n);

	small_result(&a);
	memset(name, 'x', n);
	for (int i = 0; i < 4; i++) {
		name[n - 1] = (char)('a' + i);
		assert_int_not_equal(rd_strings_id(&a.strings, name, n), RD_NONE);
	}
	assert_ok(rd_store_write(path, &a, &err), &err);
	assert_ok(rd_store_read(path, &b, &err), &err);
	assert_string_equal(digest_of(&a), digest_of(&b));
	rd_result_release(&a);
	rd_result_release(&b);
	free(name);
}

/* Nothing beside the two files, and readable by others as the umask says. */
static void test_a_result_is_two_files(void **state)
{
	const char *path = scratch_path("files.rundown");
	unsigned files = 0;
	struct dirent *e;

	stored(path, small_result);
	DIR *d = opendir(path);
	assert_non_null(d);
	while ((e = readdir(d)) != NULL)
		files += e->d_name[0] != '.';
	closedir(d);
	assert_int_equal(files, 2);
	assert_ok(rd_store_own(path, NULL), NULL);
}

static void test_refuses_to_overwrite(void **state)
{
	const char *path = scratch_path("twice.rundown");
	struct rd_result r;
	struct rd_error err;

	stored(path, small_result);
	small_result(&r);
	assert_code(RD_EXISTS, rd_store_write(path, &r, &err));
	assert_ok(rd_store_own(path, &err), &err);
	rd_result_release(&r);
}

static void test_what_is_no_result(void **state)
{
	struct rd_result r;
	struct rd_error err;

	assert_code(RD_NOT_FOUND, rd_store_read(scratch_path("nowhere"), &r, &err));
	assert_string_equal(err.text, "no such result");
	assert_code(RD_NOT_FOUND, rd_store_read(scratch_file("file", "x", 1), &r, &err));
	assert_code(RD_NOT_FOUND, rd_store_read(scratch_folder(), &r, &err));
	assert_non_null(strstr(err.file, "rundown-test"));
}

static void write_seal(const char *path, const char *text)
{
	char name[64];
	snprintf(name, sizeof name, "%s/" RD_SEAL_NAME, strrchr(path, '/') + 1);
	scratch_file(name, text, strlen(text));
}

#define TEXT_OF(n) #n
#define TEXT(n)    TEXT_OF(n)
#define VERSION    TEXT(RD_STORE_VERSION)
#define NEWER      "rundown result 99\n"

static void test_another_version_is_named(void **state)
{
	const char *path = scratch_path("newer.rundown");
	struct rd_result r;
	struct rd_error err;

	stored(path, small_result);
	write_seal(path, NEWER "whatever\n");
	assert_code(RD_UNSUPPORTED, rd_store_read(path, &r, &err));
	assert_string_equal(err.text, "a result of version 99; this rundown reads version " VERSION);
	write_seal(path, "rundown result " VERSION "\nsize 3\n");
	assert_code(RD_CORRUPT, rd_store_read(path, &r, &err));
	write_seal(path, "");
	assert_code(RD_CORRUPT, rd_store_read(path, &r, &err));
}

static void put_bytes(const char *path, const char *part, const uint8_t *bytes, size_t n)
{
	char file[4200];
	snprintf(file, sizeof file, "%s/%s", path, part);
	/* Not emptied first: some file systems then wait for their disk. */
	int fd = open(file, O_WRONLY | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_ok(rd_write_all(fd, bytes, n, NULL), NULL);
	assert_int_equal(ftruncate(fd, (off_t)n), 0);
	close(fd);
}

/* A seal that fits whatever the bytes are. */
static void forge_seal(const char *path, const uint8_t *bytes, size_t n)
{
	struct rd_seal seal;
	char text[256];

	rd_seal_of((struct rd_span){bytes, n}, &seal);
	snprintf(text, sizeof text, "rundown result %u\nsize %zu\nxxh3-128 %016llx%016llx\n", RD_STORE_VERSION, n,
		 (unsigned long long)seal.hash[0], (unsigned long long)seal.hash[1]);
	put_bytes(path, RD_SEAL_NAME, (const uint8_t *)text, strlen(text));
}

/* Damage is found, or it is harmless: the same digest. */
static void check_damaged(const char *path, const char *digest)
{
	struct rd_result r;
	struct rd_error err;
	int code = rd_store_read(path, &r, &err);

	if (code == 0) {
		assert_string_equal(digest_of(&r), digest);
		rd_result_release(&r);
	} else if (code != RD_CORRUPT && code != RD_UNSUPPORTED) {
		assert_code(RD_CORRUPT, code);
	}
}

static void flip_and_cut(const char *name, const char *part, unsigned flips, unsigned cuts)
{
	const char *path = scratch_path(name), *digest = stored(path, small_result);
	char file[4200];
	size_t n;

	snprintf(file, sizeof file, "%s/%s", path, part);
	uint8_t *bytes = read_whole(file, &n);
	uint64_t seed = 42;
	for (unsigned i = 0; i < flips; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		size_t at = (size_t)((seed >> 33) % n);
		uint8_t bit = (uint8_t)(1u << (seed >> 20) % 8);
		bytes[at] ^= bit;
		put_bytes(path, part, bytes, n);
		check_damaged(path, digest);
		bytes[at] ^= bit;
	}
	for (unsigned i = 0; i < cuts; i++) {
		put_bytes(path, part, bytes, n * i / cuts);
		check_damaged(path, digest);
	}
	/* Behind the end too. */
	bytes[n] = 1;
	put_bytes(path, part, bytes, n + 1);
	check_damaged(path, digest);
	free(bytes);
}

static void test_damaged_data_is_found(void **state)
{
	flip_and_cut("flipped.rundown", RD_DATA_NAME, 250, 60);
}

static void test_damaged_seal_is_found(void **state)
{
	flip_and_cut("seal.rundown", RD_SEAL_NAME, 250, 50);
}

/* Values have checksums of their own: a forged seal does not make a wrong number. */
static void test_damage_under_a_new_seal_is_found(void **state)
{
	const char *path = scratch_path("forged.rundown"), *digest = stored(path, small_result);
	char file[4200];
	struct rd_seal seal;
	size_t n, found = 0;

	snprintf(file, sizeof file, "%s/" RD_DATA_NAME, path);
	uint8_t *bytes = read_whole(file, &n);
	/* The texts of the result: each byte of a name, where LMDB's own pages are not touched. */
	for (size_t at = 0; at + 12 < n; at++) {
		if (memcmp(bytes + at, "./shop --fas", 12) != 0)
			continue;
		bytes[at + 3] ^= 1;
		put_bytes(path, RD_DATA_NAME, bytes, n);
		int fd = open(file, O_RDONLY);
		assert_ok(rd_seal_measure(fd, &seal, NULL), NULL);
		close(fd);
		char seal_file[4200];
		snprintf(seal_file, sizeof seal_file, "%s/" RD_SEAL_NAME, path);
		unlink(seal_file);
		assert_ok(rd_seal_write(path, &seal, NULL), NULL);
		struct rd_result r;
		struct rd_error err;
		assert_code(RD_CORRUPT, rd_store_read(path, &r, &err));
		assert_non_null(strstr(err.text, "checksum"));
		bytes[at + 3] ^= 1;
		found++;
	}
	assert_true(found > 0);
	free(bytes);
	(void)digest;
}

/* Whatever stands in the file's pages, under whatever seal: the result that was written, or an error. */
static void test_forged_pages_are_found(void **state)
{
	const char *path = scratch_path("pages.rundown"), *digest = stored(path, small_result);
	char file[4200];
	size_t n;

	snprintf(file, sizeof file, "%s/" RD_DATA_NAME, path);
	uint8_t *bytes = read_whole(file, &n), *forged = malloc(n);
	random_begin(11);
	for (unsigned turn = 0; turn < 1500; turn++) {
		memcpy(forged, bytes, n);
		for (unsigned i = 0; i < 1 + turn % 3; i++) {
			/* Most of what leads somewhere stands at the beginnings and ends of pages. */
			size_t at = pick((uint32_t)(n / 4096)) * 4096 + (turn % 2 ? pick(160) : 4094 - pick(300));
			uint16_t v = (uint16_t)(next_random() >> 40 >> pick(16));
			memcpy(forged + at, &v, 2);
		}
		put_bytes(path, RD_DATA_NAME, forged, n);
		forge_seal(path, forged, n);
		check_damaged(path, digest);
	}
	for (size_t end = 0; end < n; end += 1021) {
		put_bytes(path, RD_DATA_NAME, bytes, end);
		forge_seal(path, bytes, end);
		check_damaged(path, digest);
	}
	free(forged);
	free(bytes);
}

static void test_missing_parts(void **state)
{
	const char *path = scratch_path("parts.rundown");
	char file[4200];
	struct rd_result r;
	struct rd_error err;

	stored(path, small_result);
	snprintf(file, sizeof file, "%s/" RD_DATA_NAME, path);
	unlink(file);
	assert_code(RD_CORRUPT, rd_store_read(path, &r, &err));
}

/* A full disk, by a limit on the size of files: an error, and nothing left behind. */
static void test_no_room(void **state)
{
	const char *path = scratch_path("full.rundown");
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		struct rd_result r;
		struct rd_error err;
		struct rlimit limit = {64 << 10, 64 << 10};
		signal(SIGXFSZ, SIG_IGN);
		large_result(&r, 20000, 1);
		setrlimit(RLIMIT_FSIZE, &limit);
		int code = rd_store_write(path, &r, &err);
		_exit(code == RD_IO && access(path, F_OK) != 0 ? 0 : 1);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* In a child that may have so much more address space; its exit code. */
static int write_within(const char *path, const struct rd_result *r, uint64_t more_bytes)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		unsigned long long pages = 0;
		struct rd_error err;
		FILE *f = fopen("/proc/self/statm", "r");
		if (f == NULL || fscanf(f, "%llu", &pages) != 1)
			_exit(3);
		fclose(f);
		struct rlimit limit = {pages * (uint64_t)sysconf(_SC_PAGESIZE) + more_bytes, RLIM_INFINITY};
		setrlimit(RLIMIT_AS, &limit);
		int code = rd_store_write(path, r, &err);
		_exit(code == 0 ? 0 : code == RD_NOMEM && strstr(err.text, "ulimit -v") ? 1 : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* An upper bound of the file is reserved, and less where there is less. */
static void test_little_address_space(void **state)
{
	const char *path = scratch_path("space.rundown");
	struct rd_result r, back;
	struct rd_error err;

	if (!rd_limits_memory())
		skip_test("the sanitizers need the address space");
	large_result(&r, 320000, 3);
	/* Much too little for the bound, and at first for the file. */
	assert_int_equal(write_within(path, &r, (uint64_t)24 << 20), 0);
	assert_ok(rd_store_read(path, &back, &err), &err);
	assert_string_equal(digest_of(&r), digest_of(&back));
	rd_result_release(&back);
	assert_ok(rd_store_remove(path, &err), &err);
	assert_int_equal(write_within(path, &r, 64 << 10), 1);
	assert_int_not_equal(access(path, F_OK), 0);
	rd_result_release(&r);
}

static void test_no_memory(void **state)
{
	const char *path = scratch_path("memory.rundown"), *digest = stored(path, small_result);
	struct rd_error err;
	struct rd_result r;

	for (uint64_t nth = 1; nth < 1000; nth++) {
		rd_fail_allocation(nth);
		int code = rd_store_read(path, &r, &err);
		rd_fail_allocation(0);
		if (code == 0) {
			assert_string_equal(digest_of(&r), digest);
			rd_result_release(&r);
			assert_true(nth > 3);
			return;
		}
		assert_code(RD_NOMEM, code);
	}
	fail_msg("reading never ran out of allocations");
}

static void test_no_memory_to_write(void **state)
{
	const char *path = scratch_path("memory-write.rundown");
	struct rd_error err;
	struct rd_result r;
	uint64_t nth = 0;
	int code;

	small_result(&r);
	do {
		rd_fail_allocation(++nth);
		code = rd_store_write(path, &r, &err);
		rd_fail_allocation(0);
		if (code != 0) {
			assert_code(RD_NOMEM, code);
			assert_int_not_equal(access(path, F_OK), 0);
		}
	} while (code != 0 && nth < 1000);
	assert_code(0, code);
	rd_result_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_field_returns),
		cmocka_unit_test(test_many_chunks_return),
		cmocka_unit_test(test_empty_result_returns),
		cmocka_unit_test(test_long_strings_return),
		cmocka_unit_test(test_a_result_is_two_files),
		cmocka_unit_test(test_refuses_to_overwrite),
		cmocka_unit_test(test_what_is_no_result),
		cmocka_unit_test(test_another_version_is_named),
		cmocka_unit_test(test_damaged_data_is_found),
		cmocka_unit_test(test_damaged_seal_is_found),
		cmocka_unit_test(test_damage_under_a_new_seal_is_found),
		cmocka_unit_test(test_forged_pages_are_found),
		cmocka_unit_test(test_missing_parts),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_little_address_space),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_no_memory_to_write),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
