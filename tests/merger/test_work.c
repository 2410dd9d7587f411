#include "tests/support.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"
#include "merger/work.h"
#include "profile/partial.h"
#include "tests/blocks.h"

struct fixture {
	struct rd_work *w;
	char folder[4096];
	struct rd_error err;
};

static struct rd_work *open_work(struct fixture *f, uint64_t map_bytes)
{
	struct rd_work_options o = {.map_bytes = map_bytes};
	struct rd_work *w;

	assert_ok(rd_work_open(f->folder, &o, &w, &f->err), &f->err);
	return w;
}

/* For tests of many commits: none waits for the disk. */
static void open_quick(struct fixture *f)
{
	struct rd_work_options o = {.thrown_away = true};

	rd_work_close(f->w);
	assert_ok(rd_work_open(f->folder, &o, &f->w, &f->err), &f->err);
}

static int setup(void **state)
{
	static unsigned number;
	struct fixture *f = calloc(1, sizeof *f);
	char name[32];

	snprintf(name, sizeof name, "work-%u", number++);
	strcpy(f->folder, scratch_path(name));
	f->w = open_work(f, 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	rd_work_close(f->w);
	rd_remove_tree(f->folder, NULL);
	free(f);
	return 0;
}

static struct rd_shard_id id_of(const char *job, uint32_t trace, uint32_t shard)
{
	struct rd_shard_id id = {.trace = trace, .shard = shard};
	snprintf(id.job, sizeof id.job, "%s", job);
	return id;
}

static uint64_t budget = (uint64_t)1 << 30;

/* A spool with the blocks of a partial. */
static void fill(struct rd_spool *s, uint64_t samples, unsigned strings)
{
	test_block_vec blocks = {0};
	struct rd_error err;

	make_blocks(&blocks, samples, strings);
	rd_spool_init(s, NULL, NULL, &budget);
	for (size_t i = 0; i < blocks.n; i++)
		assert_ok(rd_spool_add(s, blocks.at[i].table, blocks.at[i].seq, blocks.at[i].bytes, &err), &err);
	release_blocks(&blocks);
}

static struct rd_ledger_row row_of(const struct rd_spool *s, uint64_t task, uint32_t attempt)
{
	return (struct rd_ledger_row){
		.task = task, .attempt = attempt, .blocks = s->blocks.n, .bytes = s->bytes, .checksum = s->checksum};
}

static int commit(struct fixture *f, const struct rd_shard_id *id, uint64_t samples, unsigned strings)
{
	struct rd_spool s;

	fill(&s, samples, strings);
	struct rd_ledger_row row = row_of(&s, id->shard + 10, 1);
	int code = rd_work_commit(f->w, id, &row, &s, &f->err);
	rd_spool_release(&s);
	return code;
}

/* What the summary of a shard says, through a reader of its own process's making; -1 when the shard is not there. */
static int64_t samples_of(struct fixture *f, const struct rd_shard_id *id)
{
	struct rd_partial p = {0};
	struct rd_ledger_row row;
	struct rd_work *r;
	struct rd_span block;
	int64_t samples = -1;

	/* Never opened twice in one process. */
	rd_work_close(f->w);
	assert_ok(rd_work_open_reader(f->folder, &r, &f->err), &f->err);
	if (rd_work_ledger(r, id, &row, &f->err) == 1) {
		assert_ok(rd_work_check(r, id, &row, NULL, &f->err), &f->err);
		assert_int_equal(rd_work_block(r, id, RD_TABLE_SUMMARY, 0, &block, &f->err), 1);
		assert_ok(rd_partial_unpack(&p, block, &f->err), &f->err);
		assert_int_equal(rd_work_block(r, id, RD_TABLE_SUMMARY, 1, &block, &f->err), 0);
		samples = (int64_t)p.summary.samples;
	}
	rd_partial_release(&p);
	rd_work_close(r);
	f->w = open_work(f, 0);
	return samples;
}

static void a_commit_is_there(void **state)
{
	struct fixture *f = *state;
	struct rd_shard_id id = id_of("job", 1, 2), other = id_of("job", 1, 3);
	struct rd_ledger_row row;

	assert_int_equal(rd_work_ledger(f->w, &id, &row, &f->err), 0);
	assert_ok(commit(f, &id, 77, 6), &f->err);
	assert_int_equal(rd_work_ledger(f->w, &id, &row, &f->err), 1);
	assert_int_equal(row.task, 12);
	assert_int_equal(row.attempt, 1);
	assert_true(row.blocks > 2);
	assert_int_equal(rd_work_ledger(f->w, &other, &row, &f->err), 0);
	assert_int_equal(rd_work_ledger_task(f->w, "job", 12, &f->err), 1);
	assert_int_equal(rd_work_ledger_task(f->w, "job", 13, &f->err), 0);
	assert_int_equal(rd_work_ledger_task(f->w, "jo", 12, &f->err), 0);
	assert_int_equal(rd_work_ledger_task(f->w, "job1", 12, &f->err), 0);
	assert_int_equal(samples_of(f, &id), 77);
	assert_int_equal(samples_of(f, &other), -1);
}

static void the_first_commit_holds(void **state)
{
	struct fixture *f = *state;
	struct rd_shard_id id = id_of("job", 0, 0);

	assert_ok(commit(f, &id, 1, 3), &f->err);
	assert_code(RD_EXISTS, commit(f, &id, 2, 9));
	assert_int_equal(samples_of(f, &id), 1);
	assert_code(RD_EXISTS, commit(f, &id, 3, 0));
	assert_int_equal(samples_of(f, &id), 1);
}

static void the_longest_job_id(void **state)
{
	struct fixture *f = *state;
	char job[RD_JOB_ID_MAX + 1];
	struct rd_ledger_row row;

	memset(job, 'j', RD_JOB_ID_MAX);
	job[RD_JOB_ID_MAX] = 0;
	struct rd_shard_id id = id_of(job, UINT32_MAX, UINT32_MAX);
	assert_ok(commit(f, &id, 5, 0), &f->err);
	assert_int_equal(samples_of(f, &id), 5);
	job[RD_JOB_ID_MAX - 1] = 0;
	id = id_of(job, UINT32_MAX, UINT32_MAX);
	assert_int_equal(rd_work_ledger(f->w, &id, &row, &f->err), 0);
}

static void the_map_grows(void **state)
{
	struct fixture *f = *state;

	rd_work_close(f->w);
	f->w = open_work(f, 1 << 20);
	for (uint32_t i = 0; i < 8; i++) {
		struct rd_shard_id id = id_of("job", 0, i);
		assert_ok(commit(f, &id, i + 1, 10), &f->err);
	}
	assert_true(rd_work_map_bytes(f->w) >= (uint64_t)8 << 20);
	/* A smaller wish does not shrink what is there. */
	rd_work_close(f->w);
	f->w = open_work(f, 1 << 20);
	assert_true(rd_work_map_bytes(f->w) >= (uint64_t)8 << 20);
	for (uint32_t i = 0; i < 8; i++) {
		struct rd_shard_id id = id_of("job", 0, i);
		assert_int_equal(samples_of(f, &id), i + 1);
	}
}

/* ---- crashes */

static const char *fatal_moment;

/* What this process has of address space. */
static uint64_t space_now(void)
{
	unsigned long long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%llu", &pages), 1);
	fclose(f);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* In a child that may have so much more: as many commits as there is room for, to *done. The code that ended it. */
static int commit_within(struct fixture *f, uint64_t more_bytes, uint32_t most, uint32_t *done)
{
	struct rlimit limit = {.rlim_cur = space_now() + more_bytes, .rlim_max = RLIM_INFINITY};
	struct rd_work_options o = {.thrown_away = true};
	struct rd_spool s;
	int code;

	fill(&s, 1000, 10);
	setrlimit(RLIMIT_AS, &limit);
	code = rd_work_open(f->folder, &o, &f->w, &f->err);
	for (*done = 0; code == 0 && *done < most; *done += code == 0) {
		struct rd_shard_id id = id_of("job-1", 0, *done);
		struct rd_ledger_row row = row_of(&s, *done + 10, 1);
		code = rd_work_commit(f->w, &id, &row, &s, &f->err);
	}
	return code;
}

/* Where address space is short the map begins small, grows, and says what stopped it. */
static void the_map_fits_a_limit(void **state)
{
	struct fixture *f = *state;
	int status;

	if (!rd_limits_memory())
		skip_test("the sanitizers need the address space");
	rd_work_close(f->w);
	f->w = NULL;
	pid_t pid = fork();
	if (pid == 0) {
		uint32_t done;
		/* Far more than fits; then what surely fits. */
		int code = commit_within(f, (uint64_t)48 << 20, 1000, &done);
		bool good = code == RD_NOMEM && done > 4 && strstr(f->err.text, "ulimit -v") != NULL;
		rd_work_close(f->w);
		_exit(good ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	/* What was committed is there, for a reader with hardly more room than the file has. */
	pid = fork();
	if (pid == 0) {
		struct stat st;
		char path[4200];
		struct rd_work *r;
		struct rd_ledger_row row;
		struct rd_shard_id id = id_of("job-1", 0, 3);
		snprintf(path, sizeof path, "%s/data.mdb", f->folder);
		stat(path, &st);
		struct rlimit limit = {space_now() + (uint64_t)st.st_size + (1 << 20), RLIM_INFINITY};
		setrlimit(RLIMIT_AS, &limit);
		bool good = rd_work_open_reader(f->folder, &r, &f->err) == 0 &&
			    rd_work_ledger(r, &id, &row, &f->err) == 1 && rd_work_check(r, &id, &row, NULL, &f->err) == 0;
		_exit(good ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	pid = fork();
	if (pid == 0) {
		uint32_t done;
		rd_remove_tree(f->folder, NULL);
		int code = commit_within(f, (uint64_t)16 << 10, 1, &done);
		_exit(code == RD_NOMEM && strstr(f->err.text, "ulimit -v") ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	f->w = NULL;
}

static void die_at(const char *name)
{
	if (strcmp(name, fatal_moment) == 0)
		raise(SIGKILL);
}

/* Commit in a child that is killed at this moment. */
static void commit_and_die(struct fixture *f, const struct rd_shard_id *id, uint64_t samples, const char *moment)
{
	int status;

	rd_work_close(f->w);
	pid_t pid = fork();
	if (pid == 0) {
		f->w = open_work(f, 1 << 20); /* so that the map grows on the way */
		fatal_moment = moment;
		rd_work_moment = die_at;
		commit(f, id, samples, 8);
		_exit(1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	f->w = open_work(f, 0);
}

static void kills_leave_all_or_nothing(void **state)
{
	struct fixture *f = *state;
	struct rd_shard_id id = id_of("job", 0, 0), before = id_of("job", 0, 1);

	assert_ok(commit(f, &before, 9, 2), &f->err);
	commit_and_die(f, &id, 1, "before-put");
	assert_int_equal(samples_of(f, &id), -1);
	commit_and_die(f, &id, 2, "after-put");
	assert_int_equal(samples_of(f, &id), -1);
	commit_and_die(f, &id, 3, "after-commit");
	/* It was not acknowledged and is there: the one that is said again is a duplicate. */
	assert_int_equal(samples_of(f, &id), 3);
	assert_code(RD_EXISTS, commit(f, &id, 4, 1));
	assert_int_equal(samples_of(f, &id), 3);
	assert_int_equal(samples_of(f, &before), 9);
}

/* ---- damage */

static void damage_is_found(void **state)
{
	struct fixture *f = *state;
	struct rd_shard_id id = id_of("job", 0, 0);
	struct rd_ledger_row row;
	struct rd_work *r;
	test_block_vec blocks = {0};
	size_t n;
	char path[4200];

	assert_ok(commit(f, &id, 77, 6), &f->err);
	rd_work_close(f->w);
	f->w = NULL;
	/* Flip a byte of a block, which LMDB has no means to notice: of its head, then of what is behind it. */
	make_blocks(&blocks, 77, 6);
	snprintf(path, sizeof path, "%s/data.mdb", f->folder);
	uint8_t *bytes = read_whole(path, &n);
	uint8_t *name = memmem(bytes, n, blocks.at[1].bytes.at, blocks.at[1].bytes.size_bytes);
	assert_non_null(name);
	int fd = open(path, O_WRONLY);
	release_blocks(&blocks);
	for (size_t at = 10; at < 2000; at += 1000) {
		struct rd_partial p = {0};
		struct rd_span block;
		name[at] ^= 1;
		assert_int_equal(pwrite(fd, name + at, 1, name + at - bytes), 1);
		assert_ok(rd_work_open_reader(f->folder, &r, &f->err), &f->err);
		assert_int_equal(rd_work_ledger(r, &id, &row, &f->err), 1);
		assert_int_equal(rd_work_check(r, &id, &row, NULL, &f->err), at < 64 ? RD_CORRUPT : 0);
		assert_int_equal(rd_work_block(r, &id, RD_TABLE_STRINGS, 0, &block, &f->err), 1);
		assert_code(RD_CORRUPT, rd_partial_unpack(&p, block, &f->err));
		rd_work_close(r);
		name[at] ^= 1;
		assert_int_equal(pwrite(fd, name + at, 1, name + at - bytes), 1);
	}
	close(fd);
	free(bytes);
	f->w = open_work(f, 0);
}

static void no_store_to_read(void **state)
{
	struct fixture *f = *state;
	struct rd_work *r;

	assert_code(RD_NOT_FOUND, rd_work_open_reader(scratch_path("nowhere"), &r, &f->err));
}

/* ---- jobs */

static void jobs_remember_how_they_ended(void **state)
{
	struct fixture *f = *state;
	struct rd_job_record put = {.row = {.state = RD_ROW_DELIVERING, .device = 3, .inode = 4, .samples = 5}}, got;

	assert_int_equal(rd_work_job(f->w, "job", &got, &f->err), 0);
	strcpy(put.output, "/home/a/b.rundown");
	strcpy(put.folder, "/home/a/.b.rundown-x");
	assert_ok(rd_work_job_put(f->w, "job", &put, &f->err), &f->err);
	assert_int_equal(rd_work_job(f->w, "job", &got, &f->err), 1);
	assert_int_equal(got.row.state, RD_ROW_DELIVERING);
	assert_int_equal(got.row.device, 3);
	assert_int_equal(got.row.inode, 4);
	assert_int_equal(got.row.samples, 5);
	assert_string_equal(got.output, "/home/a/b.rundown");
	assert_string_equal(got.folder, "/home/a/.b.rundown-x");
	assert_int_equal(rd_work_job(f->w, "jo", &got, &f->err), 0);
	/* A delivery is not the end: nothing is swept. */
	assert_int_equal(rd_work_sweep(f->w, &f->err), 0);
}

static void end_job(struct fixture *f, const char *job)
{
	struct rd_job_record record = {.row = {.state = RD_ROW_FINISHED}};
	assert_ok(rd_work_job_put(f->w, job, &record, &f->err), &f->err);
}

static void an_ended_job_is_swept(void **state)
{
	struct fixture *f = *state;
	struct rd_job_record record;
	struct rd_ledger_row row;
	int turns = 0;

	open_quick(f);
	for (uint32_t i = 0; i < 400; i++) {
		struct rd_shard_id id = id_of("job", i % 3, i);
		assert_ok(commit(f, &id, 1, 0), &f->err);
	}
	struct rd_shard_id before = id_of("joa", 9, 9), after = id_of("job2", 0, 0), inside = id_of("job", 0, 3);
	assert_ok(commit(f, &before, 2, 4), &f->err);
	assert_ok(commit(f, &after, 3, 4), &f->err);
	end_job(f, "job");
	/* A merger that dies in the middle goes on where it was. */
	assert_int_equal(rd_work_sweep(f->w, &f->err), 1);
	rd_work_close(f->w);
	f->w = open_work(f, 0);
	int more;
	while ((more = rd_work_sweep(f->w, &f->err)) == 1)
		turns++;
	assert_ok(more, &f->err);
	assert_true(turns >= 2);
	assert_int_equal(rd_work_ledger(f->w, &inside, &row, &f->err), 0);
	assert_int_equal(samples_of(f, &inside), -1);
	assert_int_equal(samples_of(f, &before), 2);
	assert_int_equal(samples_of(f, &after), 3);
	assert_int_equal(rd_work_job(f->w, "job", &record, &f->err), 1);
	assert_int_equal(record.row.swept, 1);
	assert_int_equal(record.row.state, RD_ROW_FINISHED);
	rd_work_close(f->w);
	f->w = open_work(f, 0);
	assert_int_equal(rd_work_sweep(f->w, &f->err), 0);
}

static void space_is_used_again(void **state)
{
	struct fixture *f = *state;
	struct stat first, last;
	char path[4200], job[32];

	open_quick(f);
	snprintf(path, sizeof path, "%s/data.mdb", f->folder);
	for (int i = 0; i < 20; i++) {
		snprintf(job, sizeof job, "job-%d", i);
		struct rd_shard_id id = id_of(job, 0, 0);
		assert_ok(commit(f, &id, 1, 12), &f->err);
		end_job(f, job);
		while (rd_work_sweep(f->w, &f->err) == 1)
			;
		if (i == 3)
			assert_int_equal(stat(path, &first), 0);
	}
	assert_int_equal(stat(path, &last), 0);
	assert_true(last.st_size < first.st_size * 2);
}

/* ---- rows alone */

static void rows_know_their_key(void **state)
{
	struct rd_ledger_row row = {.task = 3, .attempt = 4}, got;
	struct rd_ledger_key key, other;
	struct rd_shard_id id = id_of("job", 1, 0x01020304), back;
	struct rd_error err;

	rd_ledger_key(&key, &id);
	assert_memory_equal(key.shard, "\1\2\3\4", 4);
	rd_ledger_key_id(&key, &back);
	assert_string_equal(back.job, "job");
	assert_int_equal(back.shard, 0x01020304);
	rd_ledger_row_seal(&row, &key);
	struct rd_span value = {(const uint8_t *)&row, sizeof row};
	assert_ok(rd_ledger_row_open(&got, &key, value, &err), &err);
	assert_int_equal(got.attempt, 4);
	id.shard++;
	rd_ledger_key(&other, &id);
	assert_code(RD_CORRUPT, rd_ledger_row_open(&got, &other, value, &err));
	for (size_t n = 0; n < sizeof row; n++)
		assert_code(RD_CORRUPT, rd_ledger_row_open(&got, &key, (struct rd_span){value.at, n}, &err));
	for (size_t i = 0; i < sizeof row; i++) {
		((uint8_t *)&row)[i] ^= 0x10;
		assert_code(RD_CORRUPT, rd_ledger_row_open(&got, &key, value, &err));
		((uint8_t *)&row)[i] ^= 0x10;
	}
}

static void job_rows_are_checked(void **state)
{
	struct rd_job_record record = {.row = {.state = RD_ROW_FINISHED}, .output = "/a", .folder = "/bc"}, got;
	static uint8_t buf[RD_JOB_VALUE_MAX];
	struct rd_job_key key;
	struct rd_error err;

	rd_job_key(&key, "job");
	size_t n = rd_job_row_seal(&record, &key, buf);
	assert_int_equal(n, sizeof record.row + 5);
	assert_ok(rd_job_row_open(&got, &key, (struct rd_span){buf, n}, &err), &err);
	assert_string_equal(got.folder, "/bc");
	for (size_t i = 0; i < n; i++) {
		assert_code(RD_CORRUPT, rd_job_row_open(&got, &key, (struct rd_span){buf, i}, &err));
		buf[i] ^= 1;
		assert_code(RD_CORRUPT, rd_job_row_open(&got, &key, (struct rd_span){buf, n}, &err));
		buf[i] ^= 1;
	}
}

int main(void)
{
#define WORK_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		WORK_TEST(a_commit_is_there),
		WORK_TEST(the_first_commit_holds),
		WORK_TEST(the_longest_job_id),
		WORK_TEST(the_map_grows),
		WORK_TEST(the_map_fits_a_limit),
		WORK_TEST(kills_leave_all_or_nothing),
		WORK_TEST(damage_is_found),
		WORK_TEST(no_store_to_read),
		WORK_TEST(jobs_remember_how_they_ended),
		WORK_TEST(an_ended_job_is_swept),
		WORK_TEST(space_is_used_again),
		cmocka_unit_test(rows_know_their_key),
		cmocka_unit_test(job_rows_are_checked),
	};
	rd_log_init(RD_LOG_ERROR, "test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
