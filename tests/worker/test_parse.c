#include "tests/support.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "net/task.h"
#include "profile/index_codec.h"
#include "profile/partial.h"
#include "worker/answer.h"
#include "worker/parse.h"

/* A real parser child on real traces; this program is its worker. */

struct fixture {
	struct rd_answer answer;
	RD_VEC(uint32_t) tables; /* of the blocks, in order */
	struct rd_partial_summary summary;
	int status;
	uint64_t memory_bytes; /* of a child that decodes; 0: enough */
	struct rd_error err;
};

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct fixture));
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	rd_answer_release(&f->answer);
	rd_vec_release(&f->tables);
	free(f);
	return 0;
}

static void keep(struct fixture *f, int type)
{
	struct rd_partial p = {0};

	assert_ok(type, &f->err);
	if (type != RD_ANSWER_BLOCK)
		return;
	uint32_t *table = rd_vec_add(&f->tables);
	*table = f->answer.table;
	if (*table != RD_TABLE_SUMMARY)
		return;
	assert_ok(rd_partial_unpack(&p, f->answer.block, &f->err), &f->err);
	f->summary = p.summary;
	rd_partial_release(&p);
}

/* Let a child do the task, and hear all of it. */
static void run(struct fixture *f, const struct rd_message *task, const char *folder)
{
	struct rd_parse_limits limits = {.sandbox = RD_SANDBOX_FENCED, .memory_bytes = (uint64_t)4 << 30};
	struct rd_pipe_frame frame;
	struct rd_pipe pipe;
	int ends[2], got;

	if (task->envelope->work->work == RD__WORK__DECODE && f->memory_bytes)
		limits.memory_bytes = f->memory_bytes;
	rd_answer_release(&f->answer);
	rd_answer_init(&f->answer, task->envelope->work->work, folder);
	f->tables.n = 0;
	assert_ok(rd_pipe_make(ends, &f->err), &f->err);
	int fd = rd_parse_task_file(task, folder, &f->err);
	assert_ok(fd, &f->err);
	pid_t pid = fork();
	if (pid == 0) {
		struct rd_forker_child child = {.fds = {fd, ends[1]}, .fds_n = 2};
		_exit(rd_parse_child(&child, &limits));
	}
	close(fd);
	close(ends[1]);
	assert_int_equal(fcntl(ends[0], F_SETFL, 0), 0);
	rd_pipe_init(&pipe, ends[0], RD_ANSWER_BODY_MAX);
	while (!pipe.ended) {
		while ((got = rd_pipe_next(&pipe, &frame, &f->err)) == 1)
			keep(f, rd_answer_take(&f->answer, &frame, &f->err));
		assert_ok(got, &f->err);
		assert_ok(rd_pipe_fill(&pipe, &f->err), &f->err);
	}
	assert_int_equal(rd_pipe_left(&pipe), 0);
	rd_pipe_release(&pipe);
	assert_int_equal(waitpid(pid, &f->status, 0), pid);
	assert_int_equal(f->status, 0);
	assert_true(f->answer.over);
}

static void run_work(struct fixture *f, Rd__Work work, const char *path, const char *folder)
{
	Rd__Envelope e = rd_envelope(RD__KIND__TASK);
	Rd__Assignment a = RD__ASSIGNMENT__INIT;

	a.work = work;
	a.path = rd_field(path);
	e.job = rd_field("job");
	e.task = e.attempt = 1;
	e.work = &a;
	run(f, &(struct rd_message){.envelope = &e}, folder);
}

static void get_index(struct fixture *f, struct rd_index *index)
{
	struct rd_bytes room = {0};
	struct rd_span whole;

	assert_int_equal(f->answer.error.code, RD_OK);
	assert_ok(rd_answer_complete(&f->answer, &f->err), &f->err);
	assert_ok(rd_blob_whole(&f->answer.index, &room, &whole, &f->err), &f->err);
	assert_ok(rd_index_unpack(index, whole, &f->err), &f->err);
	rd_bytes_release(&room);
}

/* The plain trace out of the repository's packed one. */
static const char *plain_trace(struct fixture *f)
{
	static char path[4096];

	run_work(f, RD__WORK__OPEN, repository_path("tests/traces/shop-small.nettrace.zst"), scratch_path("5-1"));
	assert_int_equal(f->answer.error.code, RD_OK);
	assert_int_equal(f->answer.members.n, 1);
	assert_string_equal(f->answer.members.at[0].name, "");
	snprintf(path, sizeof path, "%s", f->answer.members.at[0].path);
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal((uint64_t)st.st_size, f->answer.members.at[0].size_bytes);
	return path;
}

static void an_archive_is_unpacked_into_its_folder(void **state)
{
	struct fixture *f = *state;
	const char *path = plain_trace(f);

	assert_int_equal(strncmp(path, scratch_path("5-1/"), strlen(scratch_path("5-1/"))), 0);
}

/* OPEN of a plain trace is its index. */
static void a_plain_trace_is_indexed(void **state)
{
	struct fixture *f = *state;
	struct rd_index opened = {0}, indexed = {0};
	const char *path = plain_trace(f);

	run_work(f, RD__WORK__OPEN, path, scratch_path("6-1"));
	get_index(f, &opened);
	run_work(f, RD__WORK__INDEX, path, "");
	get_index(f, &indexed);
	assert_true(indexed.blocks.n > 10);
	assert_int_equal(indexed.blocks.n, opened.blocks.n);
	assert_int_equal(indexed.info.digest, opened.info.digest);
	assert_true(indexed.info.complete);
	assert_int_not_equal(access(scratch_path("6-1"), F_OK), 0);
	rd_index_release(&opened);
	rd_index_release(&indexed);
}

/* DECODE of all blocks as one shard, with the plan changed by `change`. */
static void decode(struct fixture *f, void (*change)(Rd__Assignment *a))
{
	Rd__Envelope e = rd_envelope(RD__KIND__TASK);
	Rd__Assignment a = RD__ASSIGNMENT__INIT;
	struct rd_bytes info = {0}, none = {0}, blocks = {0};
	struct rd_index index = {0};
	struct rd_message task = {.envelope = &e};
	char path[4096];

	strcpy(path, plain_trace(f));
	run_work(f, RD__WORK__INDEX, path, "");
	get_index(f, &index);
	assert_ok(rd_info_pack(&index.info, &info, &f->err), &f->err);
	assert_ok(rd_blocks_pack(NULL, 0, &none, &f->err), &f->err);
	assert_ok(rd_blocks_pack(index.blocks.at, index.blocks.n, &blocks, &f->err), &f->err);
	a.work = RD__WORK__DECODE;
	a.path = rd_field(path);
	a.size_bytes = index.info.size_bytes;
	a.mtime_ns = index.info.mtime_ns;
	a.digest = index.info.digest;
	a.window = 8;
	struct rd_task_parts parts = {{info.at, info.n}, {none.at, none.n}, {blocks.at, blocks.n}};
	assert_ok(rd_task_pack(&task.blob, &a, &parts, &f->err), &f->err);
	if (change)
		change(&a);
	e.job = rd_field("job");
	e.task = e.attempt = 1;
	e.work = &a;
	run(f, &task, "");
	rd_blob_release(&task.blob);
	rd_bytes_release(&info);
	rd_bytes_release(&none);
	rd_bytes_release(&blocks);
	rd_index_release(&index);
}

static void a_shard_is_decoded(void **state)
{
	struct fixture *f = *state;

	decode(f, NULL);
	assert_int_equal(f->answer.error.code, RD_OK);
	assert_ok(rd_answer_complete(&f->answer, &f->err), &f->err);
	assert_int_equal(f->tables.at[0], RD_TABLE_SUMMARY);
	assert_int_equal(f->summary.samples, 9065);
	assert_true(f->answer.bytes == 0 || f->answer.bytes <= 10000000);
}

/* An error that has its code and says what to change, wherever on the way it was. */
static void a_child_without_memory_names_its_limit(void **state)
{
	struct fixture *f = *state;

	if (!rd_limits_memory())
		skip_test("the sanitizers need the address space");
	f->memory_bytes = 1;
	decode(f, NULL);
	assert_int_equal(f->answer.error.code, RD_NOMEM);
	assert_string_equal(f->answer.error.text, "out of memory (a parser may have 1 B; --memory allows more)");
	assert_int_equal(f->answer.blocks, 0);
}

static void other_size(Rd__Assignment *a)
{
	a->size_bytes++;
}

static void other_time(Rd__Assignment *a)
{
	a->mtime_ns--;
}

static void other_digest(Rd__Assignment *a)
{
	a->digest ^= 1;
}

static void other_parts(Rd__Assignment *a)
{
	a->blocks_bytes--;
}

/* A trace that changed is an error, never a mix. */
static void a_changed_trace_is_refused(void **state)
{
	struct fixture *f = *state;

	decode(f, other_size);
	assert_int_equal(f->answer.error.code, RD_CHANGED);
	assert_int_equal(f->answer.blocks, 0);
	decode(f, other_time);
	assert_int_equal(f->answer.error.code, RD_CHANGED);
	decode(f, other_digest);
	assert_int_equal(f->answer.error.code, RD_PROTOCOL);
	decode(f, other_parts);
	assert_int_equal(f->answer.error.code, RD_PROTOCOL);
}

static void errors_name_the_file(void **state)
{
	struct fixture *f = *state;
	const char *missing = scratch_path("missing");

	run_work(f, RD__WORK__OPEN, missing, scratch_path("7-1"));
	assert_true(f->answer.error.code == RD_NOT_FOUND || f->answer.error.code == RD_IO);
	assert_string_equal(f->answer.error.file, missing);
	const char *junk = scratch_file("junk", "this is no trace at all", 23);
	run_work(f, RD__WORK__OPEN, junk, scratch_path("7-1"));
	assert_int_equal(f->answer.error.code, RD_UNSUPPORTED);
	assert_string_equal(f->answer.error.file, junk);
	run_work(f, RD__WORK__INDEX, scratch_folder(), "");
	assert_int_equal(f->answer.error.code, RD_USAGE);
	assert_int_not_equal(access(scratch_path("7-1"), F_OK), 0);
}

/* The sandbox lets INDEX and DECODE write no file; OPEN may, and a full disk is an error like others. */
static void a_folder_that_cannot_be(void **state)
{
	struct fixture *f = *state;

	scratch_file("file", "x", 1);
	run_work(f, RD__WORK__OPEN, repository_path("tests/traces/shop-small.nettrace.zst"), scratch_path("file/1-1"));
	assert_int_equal(f->answer.error.code, RD_IO);
	run_work(f, RD__WORK__OPEN, repository_path("tests/traces/shop-small.nettrace.zst"),
		 scratch_path("no/such/1-1"));
	assert_int_equal(f->answer.error.code, RD_IO);
	assert_string_equal(f->answer.error.text, "there is no folder to unpack into");
}

int main(void)
{
#define PARSE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		PARSE_TEST(an_archive_is_unpacked_into_its_folder),
		PARSE_TEST(a_plain_trace_is_indexed),
		PARSE_TEST(a_shard_is_decoded),
		PARSE_TEST(a_child_without_memory_names_its_limit),
		PARSE_TEST(a_changed_trace_is_refused),
		PARSE_TEST(errors_name_the_file),
		PARSE_TEST(a_folder_that_cannot_be),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
