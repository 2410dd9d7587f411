#include "tests/support.h"

#include <fcntl.h>
#include <unistd.h>

#include "profile/partial.h"
#include "tests/blocks.h"
#include "worker/answer.h"

struct fixture {
	struct rd_answer answer;
	struct rd_pipe pipe;
	int write_fd;
	test_block_vec blocks;
	struct rd_error err;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	/* A file in the pipe's place: one process writes and reads in turns, and must not wait for itself. */
	f->write_fd = open(scratch_path("answer"), O_RDWR | O_CREAT | O_TRUNC, 0600);
	int read_fd = open(scratch_path("answer"), O_RDONLY);
	assert_true(f->write_fd >= 0 && read_fd >= 0);
	rd_pipe_init(&f->pipe, read_fd, RD_ANSWER_BODY_MAX);
	make_blocks(&f->blocks, 5, 4);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	rd_pipe_release(&f->pipe);
	close(f->write_fd);
	rd_answer_release(&f->answer);
	release_blocks(&f->blocks);
	free(f);
	return 0;
}

/* Take the one frame that was written. */
static int take(struct fixture *f)
{
	struct rd_pipe_frame frame;
	int got;

	while ((got = rd_pipe_next(&f->pipe, &frame, &f->err)) == 0)
		assert_true(rd_pipe_fill(&f->pipe, &f->err) > 0);
	assert_ok(got, &f->err);
	return rd_answer_take(&f->answer, &frame, &f->err);
}

static int take_block(struct fixture *f, uint32_t table, uint32_t seq, struct rd_span block)
{
	assert_ok(rd_answer_block(f->write_fd, table, seq, block, &f->err), &f->err);
	return take(f);
}

static int take_raw(struct fixture *f, uint8_t type, const void *body, size_t n)
{
	struct rd_span none = {0};
	assert_ok(rd_pipe_write(f->write_fd, type, none, (struct rd_span){body, n}, &f->err), &f->err);
	return take(f);
}

static void a_decode(void **state)
{
	struct fixture *f = *state;

	rd_answer_init(&f->answer, RD__WORK__DECODE, "");
	assert_code(RD_PROTOCOL, rd_answer_complete(&f->answer, &f->err));
	rd_answer_progress(f->write_fd, 4096, &f->err);
	assert_int_equal(take(f), RD_ANSWER_PROGRESS);
	assert_int_equal(f->answer.bytes, 4096);
	assert_true(f->blocks.n >= 3);
	for (size_t i = 0; i < f->blocks.n; i++) {
		const struct test_block *b = &f->blocks.at[i];
		assert_int_equal(take_block(f, b->table, b->seq, b->bytes), RD_ANSWER_BLOCK);
		assert_int_equal(f->answer.table, b->table);
		assert_int_equal(f->answer.seq, b->seq);
		assert_int_equal(f->answer.block.size_bytes, b->bytes.size_bytes);
		assert_memory_equal(f->answer.block.at, b->bytes.at, b->bytes.size_bytes);
	}
	rd_answer_end(f->write_fd, &f->err);
	assert_int_equal(take(f), RD_ANSWER_END);
	assert_ok(rd_answer_complete(&f->answer, &f->err), &f->err);
	assert_int_equal(f->answer.blocks, f->blocks.n);
	rd_answer_progress(f->write_fd, 1, &f->err);
	assert_code(RD_PROTOCOL, take(f));
	assert_string_equal(f->err.text, "the parser's answer is off: a frame behind the last one");
}

static void blocks_out_of_order(void **state)
{
	struct fixture *f = *state;
	const struct test_block *b = f->blocks.at;

	rd_answer_init(&f->answer, RD__WORK__DECODE, "");
	assert_int_equal(b[1].table, RD_TABLE_STRINGS);
	assert_code(RD_PROTOCOL, take_block(f, b[1].table, 1, b[1].bytes));
	assert_int_equal(take_block(f, b[1].table, 0, b[1].bytes), RD_ANSWER_BLOCK);
	assert_code(RD_PROTOCOL, take_block(f, b[1].table, 0, b[1].bytes));
	assert_code(RD_PROTOCOL, take_block(f, b[1].table, 2, b[2].bytes));
	assert_code(RD_PROTOCOL, take_block(f, b[0].table, 0, b[0].bytes));
	assert_int_equal(take_block(f, b[2].table, 1, b[2].bytes), RD_ANSWER_BLOCK);
	assert_int_equal(f->answer.blocks, 2);
}

static void blocks_that_are_none(void **state)
{
	struct fixture *f = *state;
	const struct test_block *b = f->blocks.at;
	uint8_t *bytes = (uint8_t *)(uintptr_t)b[0].bytes.at;

	rd_answer_init(&f->answer, RD__WORK__DECODE, "");
	assert_code(RD_PROTOCOL, take_block(f, 0, 0, b[0].bytes));
	assert_code(RD_PROTOCOL, take_block(f, RD_TABLE_END, 0, b[0].bytes));
	assert_code(RD_PROTOCOL, take_block(f, RD_TABLE_STACKS, 0, b[0].bytes));
	assert_code(RD_PROTOCOL, take_block(f, b[0].table, 0, (struct rd_span){0}));
	for (size_t n = 0; n < 7; n++)
		assert_code(RD_PROTOCOL, take_raw(f, RD_ANSWER_BLOCK, "\1\0\0\0\0\0\0", n));
	bytes[b[0].bytes.size_bytes - 1] ^= 1;
	assert_code(RD_PROTOCOL, take_block(f, b[0].table, 0, b[0].bytes));
	bytes[b[0].bytes.size_bytes - 1] ^= 1;
	assert_int_equal(take_block(f, b[0].table, 0, b[0].bytes), RD_ANSWER_BLOCK);
}

static void an_index_in_parts(void **state)
{
	struct fixture *f = *state;
	static uint8_t packed[2500000];

	memset(packed, 7, sizeof packed);
	rd_answer_init(&f->answer, RD__WORK__INDEX, "");
	assert_ok(rd_answer_index(f->write_fd, (struct rd_span){packed, sizeof packed}, &f->err), &f->err);
	for (int i = 0; i < 3; i++)
		assert_int_equal(take(f), RD_ANSWER_RESULT);
	assert_int_equal(f->answer.index.size_bytes, sizeof packed);
	assert_ok(rd_answer_complete(&f->answer, &f->err), &f->err);
	assert_code(RD_PROTOCOL, take_raw(f, RD_ANSWER_RESULT, "", 0));
	assert_code(RD_PROTOCOL, take_block(f, 1, 0, f->blocks.at[0].bytes));
}

static int take_member(struct fixture *f, const char *path, const char *name)
{
	struct rd_answer_member m = {.size_bytes = 77, .damage = "cut"};
	snprintf(m.path, sizeof m.path, "%s", path);
	snprintf(m.name, sizeof m.name, "%s", name);
	assert_ok(rd_answer_member(f->write_fd, &m, &f->err), &f->err);
	return take(f);
}

static void members_lie_in_the_folder(void **state)
{
	struct fixture *f = *state;

	rd_answer_init(&f->answer, RD__WORK__OPEN, "/scratch/3-1");
	assert_int_equal(take_member(f, "/scratch/3-1/00.trace", "a/../b.nettrace"), RD_ANSWER_MEMBER);
	assert_int_equal(take_member(f, "/scratch/3-1/01.trace", ""), RD_ANSWER_MEMBER);
	assert_code(RD_PROTOCOL, take_member(f, "/etc/passwd", ""));
	assert_code(RD_PROTOCOL, take_member(f, "/scratch/3-1", ""));
	assert_code(RD_PROTOCOL, take_member(f, "/scratch/3-1/", ""));
	assert_code(RD_PROTOCOL, take_member(f, "/scratch/3-1/..", ""));
	assert_code(RD_PROTOCOL, take_member(f, "/scratch/3-1/../../x", ""));
	assert_code(RD_PROTOCOL, take_member(f, "/scratch/3-11/00.trace", ""));
	assert_code(RD_PROTOCOL, take_member(f, "", ""));
	assert_int_equal(f->answer.members.n, 2);
	assert_int_equal(f->answer.members.at[0].size_bytes, 77);
	assert_string_equal(f->answer.members.at[0].path, "/scratch/3-1/00.trace");
	assert_string_equal(f->answer.members.at[0].name, "a/../b.nettrace");
	assert_string_equal(f->answer.members.at[0].damage, "cut");
	/* Traces or an index, never both. */
	assert_code(RD_PROTOCOL, take_raw(f, RD_ANSWER_RESULT, "x", 1));
}

static void a_typed_error(void **state)
{
	struct fixture *f = *state;
	struct rd_error e;

	rd_fail(&e, RD_UNSUPPORTED, "nettrace version 9");
	rd_error_at(&e, e.code, "/a/b", 12);
	rd_answer_init(&f->answer, RD__WORK__INDEX, "");
	assert_int_equal(rd_answer_error(f->write_fd, &e), 0);
	assert_int_equal(take(f), RD_ANSWER_ERROR);
	assert_int_equal(f->answer.error.code, RD_UNSUPPORTED);
	assert_string_equal(f->answer.error.text, "nettrace version 9");
	assert_int_equal(f->answer.error.offset, 12);
	assert_true(f->answer.over);
}

static void nonsense(void **state)
{
	struct fixture *f = *state;

	rd_answer_init(&f->answer, RD__WORK__INDEX, "");
	assert_code(RD_PROTOCOL, take_raw(f, 0, "", 0));
	assert_code(RD_PROTOCOL, take_raw(f, 7, "", 0));
	assert_code(RD_PROTOCOL, take_raw(f, 255, "abc", 3));
	assert_code(RD_PROTOCOL, take_raw(f, RD_ANSWER_END, "x", 1));
	assert_code(RD_PROTOCOL, take_raw(f, RD_ANSWER_PROGRESS, "1234567", 7));
	assert_code(RD_PROTOCOL, take_raw(f, RD_ANSWER_PROGRESS, "123456789", 9));
	assert_code(RD_PROTOCOL, take_raw(f, RD_ANSWER_ERROR, "junk", 4));
	assert_false(f->answer.over);
	assert_int_equal(f->answer.error.code, RD_OK);
}

int main(void)
{
#define ANSWER_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		ANSWER_TEST(a_decode),
		ANSWER_TEST(blocks_out_of_order),
		ANSWER_TEST(blocks_that_are_none),
		ANSWER_TEST(an_index_in_parts),
		ANSWER_TEST(members_lie_in_the_folder),
		ANSWER_TEST(a_typed_error),
		ANSWER_TEST(nonsense),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
