#include "tests/support.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/pipe.h"

#define BODY_MAX 100

struct fixture {
	int ends[2];
	struct rd_pipe pipe;
	struct rd_error err;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	assert_ok(rd_pipe_make(f->ends, &f->err), &f->err);
	rd_pipe_init(&f->pipe, f->ends[0], BODY_MAX);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	rd_pipe_release(&f->pipe);
	if (f->ends[1] >= 0)
		close(f->ends[1]);
	free(f);
	return 0;
}

static struct rd_span text(const char *t)
{
	return (struct rd_span){(const uint8_t *)t, strlen(t)};
}

static void frames_come_whole(void **state)
{
	struct fixture *f = *state;
	struct rd_pipe_frame frame;

	assert_int_equal(rd_pipe_fill(&f->pipe, &f->err), 0);
	assert_false(f->pipe.ended);
	assert_ok(rd_pipe_write(f->ends[1], 7, text("he"), text("llo"), &f->err), &f->err);
	assert_ok(rd_pipe_write(f->ends[1], 9, text(""), text(""), &f->err), &f->err);
	assert_int_equal(rd_pipe_fill(&f->pipe, &f->err), 2 * RD_PIPE_HEAD_BYTES + 5);
	assert_int_equal(rd_pipe_next(&f->pipe, &frame, &f->err), 1);
	assert_int_equal(frame.type, 7);
	assert_span(frame.body, "hello");
	assert_int_equal(rd_pipe_next(&f->pipe, &frame, &f->err), 1);
	assert_int_equal(frame.type, 9);
	assert_int_equal(frame.body.size_bytes, 0);
	assert_int_equal(rd_pipe_next(&f->pipe, &frame, &f->err), 0);
	assert_int_equal(rd_pipe_left(&f->pipe), 0);
}

static void a_frame_comes_byte_by_byte(void **state)
{
	struct fixture *f = *state;
	struct rd_pipe_frame frame;
	const uint8_t bytes[] = {3, 0, 0, 0, 5, 'a', 'b', 'c'};

	for (size_t i = 0; i < sizeof bytes; i++) {
		assert_int_equal(rd_pipe_next(&f->pipe, &frame, &f->err), 0);
		assert_int_equal(write(f->ends[1], bytes + i, 1), 1);
		assert_int_equal(rd_pipe_fill(&f->pipe, &f->err), 1);
	}
	assert_int_equal(rd_pipe_next(&f->pipe, &frame, &f->err), 1);
	assert_span(frame.body, "abc");
}

static void a_size_above_the_limit_is_refused(void **state)
{
	struct fixture *f = *state;
	struct rd_pipe_frame frame;
	const uint8_t bytes[] = {BODY_MAX + 1, 0, 0, 0, 5};
	const uint8_t huge[] = {0xff, 0xff, 0xff, 0xff, 5};

	assert_int_equal(write(f->ends[1], bytes, sizeof bytes), sizeof bytes);
	assert_int_equal(rd_pipe_fill(&f->pipe, &f->err), sizeof bytes);
	assert_code(RD_PROTOCOL, rd_pipe_next(&f->pipe, &frame, &f->err));
	assert_string_equal(f->err.text, "a frame of 101 bytes, at most 100 are allowed");
	f->pipe.at = f->pipe.buffer.n;
	assert_int_equal(write(f->ends[1], huge, sizeof huge), sizeof huge);
	assert_int_equal(rd_pipe_fill(&f->pipe, &f->err), sizeof huge);
	assert_code(RD_PROTOCOL, rd_pipe_next(&f->pipe, &frame, &f->err));
}

static void the_end_leaves_a_cut_frame(void **state)
{
	struct fixture *f = *state;
	struct rd_pipe_frame frame;
	const uint8_t bytes[] = {3, 0, 0, 0, 5, 'a', 'b'};

	assert_int_equal(write(f->ends[1], bytes, sizeof bytes), sizeof bytes);
	close(f->ends[1]);
	f->ends[1] = -1;
	assert_int_equal(rd_pipe_fill(&f->pipe, &f->err), sizeof bytes);
	assert_int_equal(rd_pipe_fill(&f->pipe, &f->err), 0);
	assert_true(f->pipe.ended);
	assert_int_equal(rd_pipe_next(&f->pipe, &frame, &f->err), 0);
	assert_int_equal(rd_pipe_left(&f->pipe), sizeof bytes);
}

static void hearing_tells_frames_and_the_end(void **state)
{
	struct fixture *f = *state;
	struct rd_pipe_frame frame;

	assert_int_equal(rd_pipe_hear(&f->pipe, &frame, &f->err), 0);
	assert_ok(rd_pipe_write(f->ends[1], 7, text("one"), text(""), &f->err), &f->err);
	assert_ok(rd_pipe_write(f->ends[1], 8, text("two"), text(""), &f->err), &f->err);
	assert_int_equal(rd_pipe_hear(&f->pipe, &frame, &f->err), 1);
	assert_span(frame.body, "one");
	assert_int_equal(write(f->ends[1], "\3", 1), 1);
	assert_int_equal(rd_pipe_hear(&f->pipe, &frame, &f->err), 1);
	assert_span(frame.body, "two");
	assert_int_equal(rd_pipe_hear(&f->pipe, &frame, &f->err), 0);
	assert_false(f->pipe.ended);
	close(f->ends[1]);
	f->ends[1] = -1;
	assert_int_equal(rd_pipe_hear(&f->pipe, &frame, &f->err), 0);
	assert_true(f->pipe.ended);
	assert_int_equal(rd_pipe_left(&f->pipe), 1);
	assert_int_equal(rd_pipe_hear(&f->pipe, &frame, &f->err), 0);
}

static void hearing_tells_what_is_none(void **state)
{
	struct fixture *f = *state;
	struct rd_pipe_frame frame;
	const uint8_t bytes[] = {BODY_MAX + 1, 0, 0, 0, 5};

	assert_int_equal(write(f->ends[1], bytes, sizeof bytes), sizeof bytes);
	rd_fail_allocation(1);
	assert_code(RD_NOMEM, rd_pipe_hear(&f->pipe, &frame, &f->err));
	rd_fail_allocation(0);
	assert_code(RD_PROTOCOL, rd_pipe_hear(&f->pipe, &frame, &f->err));
}

/* A writer that never stops fills the pipe, not the reader's memory. */
static void the_buffer_stays_bounded(void **state)
{
	struct fixture *f = *state;
	struct rd_pipe_frame frame;
	static uint8_t junk[1 << 20]; /* as frames: size 0, type 0 */

	assert_int_equal(fcntl(f->ends[1], F_SETFL, O_NONBLOCK), 0);
	for (int i = 0; i < 100; i++) {
		(void)!write(f->ends[1], junk, sizeof junk);
		while (rd_pipe_next(&f->pipe, &frame, &f->err) == 1 && rd_pipe_left(&f->pipe) > 50)
			;
		assert_ok(rd_pipe_fill(&f->pipe, &f->err), &f->err);
	}
	assert_true(f->pipe.buffer.cap < (size_t)512 << 10);
}

static void no_memory(void **state)
{
	struct fixture *f = *state;

	assert_ok(rd_pipe_write(f->ends[1], 7, text("hello"), text(""), &f->err), &f->err);
	rd_fail_allocation(1);
	assert_code(RD_NOMEM, rd_pipe_fill(&f->pipe, &f->err));
	rd_fail_allocation(0);
	assert_int_equal(rd_pipe_fill(&f->pipe, &f->err), RD_PIPE_HEAD_BYTES + 5);
}

static void errors_travel(void **state)
{
	struct rd_error in, out;
	struct rd_bytes b = {0};

	rd_fail(&in, RD_CORRUPT, "a block of %d bytes", 3);
	rd_error_at(&in, in.code, "/a/trace", 4096);
	rd_error_in(&in, in.code, "shard 3");
	assert_int_equal(rd_pipe_error_pack(&in, &b), 0);
	assert_int_equal(rd_pipe_error_unpack(&out, (struct rd_span){b.at, b.n}), 0);
	assert_int_equal(out.code, RD_CORRUPT);
	assert_int_equal(out.offset, 4096);
	assert_string_equal(out.file, "/a/trace");
	assert_string_equal(out.text, in.text);
	assert_string_equal(out.context, in.context);
	for (size_t n = 0; n < b.n; n++)
		assert_code(RD_PROTOCOL, rd_pipe_error_unpack(&out, (struct rd_span){b.at, n}));
	rd_bytes_release(&b);
}

static void hostile_errors_are_refused(void **state)
{
	struct rd_error in, out;
	struct rd_bytes b = {0};

	rd_fail(&in, RD_CORRUPT, "x");
	strcpy(in.text, "two\nlines\x1b[31m");
	assert_int_equal(rd_pipe_error_pack(&in, &b), 0);
	assert_int_equal(rd_pipe_error_unpack(&out, (struct rd_span){b.at, b.n}), 0);
	assert_string_equal(out.text, "two lines [31m");
	/* No code is 0, positive, or beyond the last. */
	memset(b.at, 0, 4);
	assert_code(RD_PROTOCOL, rd_pipe_error_unpack(&out, (struct rd_span){b.at, b.n}));
	b.at[0] = 0x80, b.at[1] = b.at[2] = b.at[3] = 0xff;
	assert_code(RD_PROTOCOL, rd_pipe_error_unpack(&out, (struct rd_span){b.at, b.n}));
	rd_bytes_release(&b);
}

int main(void)
{
#define PIPE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		PIPE_TEST(frames_come_whole),
		PIPE_TEST(a_frame_comes_byte_by_byte),
		PIPE_TEST(a_size_above_the_limit_is_refused),
		PIPE_TEST(the_end_leaves_a_cut_frame),
		PIPE_TEST(hearing_tells_frames_and_the_end),
		PIPE_TEST(hearing_tells_what_is_none),
		PIPE_TEST(the_buffer_stays_bounded),
		PIPE_TEST(no_memory),
		cmocka_unit_test(errors_travel),
		cmocka_unit_test(hostile_errors_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
