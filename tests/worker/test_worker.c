#include "tests/worker/stage.h"

#include <signal.h>

#include "base/log.h"

static void hello_until_welcome(void **state)
{
	struct fixture *f = *state;

	expect_nothing(f);
	rd_worker_up(&f->w);
	f->full = true;
	assert_int_equal(rd_worker_pump(&f->w, NULL), 1);
	f->full = false;
	expect(f, RD__KIND__HELLO);
	expect_nothing(f);
	assert_int_equal(rd_worker_wake_ns(&f->w), f->now_ns + limits.hello_ns);
	f->now_ns += limits.hello_ns;
	expect(f, RD__KIND__HELLO);
	welcome(f);
	f->now_ns += limits.hello_ns;
	expect_nothing(f);
	assert_int_equal(rd_worker_wake_ns(&f->w), UINT64_MAX);
}

static void an_index_is_said_until_it_is_settled(void **state)
{
	struct fixture *f = *state;

	connect_worker(f);
	task(f, RD__WORK__INDEX, 1, 1);
	assert_int_equal(f->started, 1);
	expect_nothing(f);
	frame(f, RD_ANSWER_RESULT, "index", 5);
	expect_nothing(f);
	frame(f, RD_ANSWER_END, "", 0);
	rd_worker_child_gone(&f->w, &(struct rd_forker_exit){.id = 1});
	expect_nothing(f);
	rd_worker_pipe_end(&f->w, 0, NULL);
	struct sent *s = expect(f, RD__KIND__RESULT);
	assert_string_equal(s->job, "job-1");
	assert_int_equal(s->task, 1);
	assert_int_equal(s->attempt, 1);
	assert_int_equal(s->blob_bytes, 5);
	expect_nothing(f);
	/* Silence and a repeated TASK each bring it again. */
	f->now_ns += limits.repeat_ns;
	assert_int_equal(expect(f, RD__KIND__RESULT)->blob_bytes, 5);
	task(f, RD__WORK__INDEX, 1, 1);
	assert_int_equal(expect(f, RD__KIND__RESULT)->blob_bytes, 5);
	about(f, RD__KIND__DONE, 1, 1, 0);
	f->now_ns += limits.repeat_ns;
	expect_nothing(f);
	assert_int_equal(f->w.phase, RD_WORKER_IDLE);
	assert_int_equal(f->killed, 0);
}

static void an_archive_is_opened(void **state)
{
	struct fixture *f = *state;
	uint8_t body[64] = {9};
	const char *path = "/scratch/5-2/00.trace";

	connect_worker(f);
	task(f, RD__WORK__OPEN, 5, 2);
	assert_string_equal(f->folder, "/scratch/5-2");
	body[8] = (uint8_t)strlen(path);
	memcpy(body + 10, path, strlen(path));
	memcpy(body + 10 + strlen(path) + 2, "\3\0cut", 5);
	frame(f, RD_ANSWER_MEMBER, body, 10 + strlen(path) + 2 + 2 + 3);
	frame(f, RD_ANSWER_END, "", 0);
	child_ends(f, 0);
	const struct sent *result = expect(f, RD__KIND__RESULT);
	assert_int_equal(result->opened, 1);
	assert_string_equal(result->damage, "cut");
	about(f, RD__KIND__DONE, 5, 2, 0);
	pump(f);
	assert_string_equal(f->cleaned, "");
}

static void a_failed_unpacking_is_swept(void **state)
{
	struct fixture *f = *state;

	connect_worker(f);
	task(f, RD__WORK__OPEN, 5, 2);
	child_ends(f, SIGKILL);
	assert_string_equal(expect(f, RD__KIND__FAILED)->error.text, "the parser was killed by SIGKILL (Killed)");
	pump(f);
	assert_string_equal(f->cleaned, "/scratch/5-2");
	about(f, RD__KIND__DONE, 5, 2, 0);
	f->cleaned[0] = 0;
	task(f, RD__WORK__OPEN, 5, 3);
	about(f, RD__KIND__ABANDON, 5, 3, 0);
	assert_int_equal(f->killed, f->started);
	pump(f);
	assert_string_equal(f->cleaned, "");
	child_ends(f, SIGKILL);
	assert_string_equal(f->cleaned, "/scratch/5-3");
	expect_nothing(f);
}

/* The window is full: the pipe is not read, and so the child waits. */
static void the_window_holds(void **state)
{
	struct fixture *f = *state;

	connect_worker(f);
	task(f, RD__WORK__DECODE, 1, 1);
	for (size_t i = 0; i < 3; i++) {
		block(f, i);
		struct sent *s = expect(f, RD__KIND__CHUNK);
		assert_int_equal(s->table, f->blocks.at[i].table);
		assert_int_equal(s->seq, f->blocks.at[i].seq);
		assert_int_equal(s->trace, 2);
		assert_int_equal(s->shard, 7);
		assert_int_equal(s->blob_bytes, f->blocks.at[i].bytes.size_bytes);
	}
	block(f, 3);
	expect_nothing(f);
	assert_false(rd_worker_wants_frames(&f->w));
	/* It is the merger that is slow: the child is not held to be hanging, and the lease is kept. */
	f->now_ns += 2 * limits.hang_ns / 3;
	expect(f, RD__KIND__PROGRESS);
	f->now_ns += 2 * limits.hang_ns / 3 - 1;
	expect(f, RD__KIND__PROGRESS);
	expect_nothing(f);
	assert_int_equal(f->killed, 0);
	about(f, RD__KIND__CHUNK_ACK, 1, 1, 2);
	expect(f, RD__KIND__CHUNK);
	assert_true(rd_worker_wants_frames(&f->w));
	block(f, 4);
	expect(f, RD__KIND__CHUNK);
	block(f, 5);
	expect_nothing(f);
	/* Old, wild and strange acknowledgements change nothing. */
	about(f, RD__KIND__CHUNK_ACK, 1, 1, 1);
	about(f, RD__KIND__CHUNK_ACK, 1, 1, 6);
	about(f, RD__KIND__CHUNK_ACK, 1, 2, 5);
	about(f, RD__KIND__CHUNK_ACK, 9, 1, 5);
	expect_nothing(f);
	about(f, RD__KIND__CHUNK_ACK, 1, 1, 5);
	expect(f, RD__KIND__CHUNK);
	expect_nothing(f);
}

static void all_chunks_then_commit(void **state)
{
	struct fixture *f = *state;

	connect_worker(f);
	task(f, RD__WORK__DECODE, 1, 1);
	for (size_t i = 0; i < f->blocks.n; i++) {
		block(f, i);
		if (i == 5) {
			/* The socket is full for a while. */
			f->full = true;
			assert_int_equal(rd_worker_pump(&f->w, NULL), 1);
			f->full = false;
		}
		expect(f, RD__KIND__CHUNK);
		if (i + 1 == f->blocks.n)
			break;
		about(f, RD__KIND__CHUNK_ACK, 1, 1, i + 1);
	}
	frame(f, RD_ANSWER_END, "", 0);
	child_ends(f, 0);
	struct sent *s = expect(f, RD__KIND__COMMIT);
	assert_int_equal(s->count, f->blocks.n);
	f->now_ns += limits.repeat_ns;
	assert_int_equal(expect(f, RD__KIND__COMMIT)->count, f->blocks.n);
	about(f, RD__KIND__DONE, 1, 1, 0);
	assert_int_equal(f->w.phase, RD_WORKER_IDLE);
	expect_nothing(f);
}

/* The child ends while its last block still waits for the window. */
static void the_last_block_waits(void **state)
{
	struct fixture *f = *state;

	connect_worker(f);
	task(f, RD__WORK__DECODE, 1, 1);
	for (size_t i = 0; i < 3; i++) {
		block(f, i);
		expect(f, RD__KIND__CHUNK);
	}
	block(f, 3);
	expect_nothing(f);
	rd_worker_child_gone(&f->w, &(struct rd_forker_exit){.id = 1});
	expect_nothing(f);
	about(f, RD__KIND__CHUNK_ACK, 1, 1, 3);
	expect(f, RD__KIND__CHUNK);
	frame(f, RD_ANSWER_END, "", 0);
	rd_worker_pipe_end(&f->w, 0, NULL);
	assert_int_equal(expect(f, RD__KIND__COMMIT)->count, 4);
}

static void no_acknowledgement(void **state)
{
	struct fixture *f = *state;

	connect_worker(f);
	task(f, RD__WORK__DECODE, 1, 1);
	for (size_t i = 0; i < 3; i++) {
		block(f, i);
		expect(f, RD__KIND__CHUNK);
	}
	block(f, 3);
	f->now_ns += limits.ack_ns;
	struct sent *s = expect(f, RD__KIND__FAILED);
	assert_int_equal(s->error.code, RD_IO);
	assert_string_equal(s->error.text, "no chunk was acknowledged in time");
	assert_true(s->retry);
	assert_int_equal(f->killed, 1);
}

static struct sent *one_answer(struct fixture *f, int status, size_t left)
{
	rd_worker_pipe_end(&f->w, left, NULL);
	rd_worker_child_gone(&f->w, &(struct rd_forker_exit){.id = f->started, .status = status});
	return expect(f, RD__KIND__FAILED);
}

static void deaths_name_their_signal(void **state)
{
	struct fixture *f = *state;
	struct sent *s;

	connect_worker(f);
	task(f, RD__WORK__DECODE, 1, 1);
	s = one_answer(f, SIGSEGV, 0);
	assert_string_equal(s->error.text, "the parser was killed by SIGSEGV (Segmentation fault)");
	assert_string_equal(s->error.file, "/traces/a");
	assert_true(s->retry);
	task(f, RD__WORK__DECODE, 1, 2);
	frame(f, RD_ANSWER_PROGRESS, "\1\0\0\0\0\0\0\0", 8);
	s = one_answer(f, SIGXCPU, 3);
	assert_string_equal(s->error.text, "the parser was killed by SIGXCPU (CPU time limit exceeded)");
	task(f, RD__WORK__DECODE, 1, 3);
	s = one_answer(f, 0, 0);
	assert_string_equal(s->error.text, "the parser ended without an answer");
	assert_true(s->retry);
	task(f, RD__WORK__DECODE, 1, 4);
	s = one_answer(f, 3 << 8, 0);
	assert_string_equal(s->error.text, "the parser ended with code 3");
	task(f, RD__WORK__DECODE, 1, 5);
	rd_worker_child_gone(&f->w, &(struct rd_forker_exit){.id = f->started, .spawn_errno = 11});
	s = expect(f, RD__KIND__FAILED);
	assert_string_equal(s->error.text, "the parser was not started: Resource temporarily unavailable");
	/* An answer that was whole does not outweigh a crash behind it. */
	task(f, RD__WORK__INDEX, 1, 6);
	frame(f, RD_ANSWER_RESULT, "x", 1);
	frame(f, RD_ANSWER_END, "", 0);
	s = one_answer(f, SIGABRT, 0);
	assert_string_equal(s->error.text, "the parser was killed by SIGABRT (Aborted)");
	f->refuse_start = true;
	task(f, RD__WORK__INDEX, 1, 7);
	s = expect(f, RD__KIND__FAILED);
	assert_string_equal(s->error.text, "no more processes");
	assert_true(s->retry);
}

static void typed_errors_travel(void **state)
{
	struct fixture *f = *state;
	struct rd_bytes body = {0};
	struct rd_error e;

	rd_fail(&e, RD_UNSUPPORTED, "nettrace version 9");
	rd_error_at(&e, e.code, "/traces/a", 8);
	assert_int_equal(rd_pipe_error_pack(&e, &body), 0);
	connect_worker(f);
	task(f, RD__WORK__INDEX, 1, 1);
	frame(f, RD_ANSWER_ERROR, body.at, body.n);
	struct sent *s = one_answer(f, 0, 0);
	assert_int_equal(s->error.code, RD_UNSUPPORTED);
	assert_string_equal(s->error.text, "nettrace version 9");
	assert_string_equal(s->error.file, "/traces/a");
	assert_int_equal(s->error.offset, 8);
	assert_false(s->retry);
	rd_bytes_release(&body);
}

static void a_breach_kills(void **state)
{
	struct fixture *f = *state;

	connect_worker(f);
	task(f, RD__WORK__INDEX, 1, 1);
	frame(f, 200, "", 0);
	struct sent *s = expect(f, RD__KIND__FAILED);
	assert_int_equal(s->error.code, RD_PROTOCOL);
	assert_string_equal(s->error.text, "the parser's answer is off: a frame of an unknown type");
	assert_true(s->retry);
	assert_int_equal(f->killed, 1);
	/* Frames that were under way are not heard. */
	assert_false(rd_worker_wants_frames(&f->w));
	about(f, RD__KIND__DONE, 1, 1, 0);
	/* The next task begins when the killed child is gone. */
	task(f, RD__WORK__INDEX, 2, 1);
	assert_int_equal(f->started, 1);
	child_ends(f, SIGKILL);
	assert_int_equal(f->started, 2);
	task(f, RD__WORK__INDEX, 2, 1);
	rd_worker_pipe_end(&f->w, 0, &(struct rd_error){.code = RD_PROTOCOL, .text = "a frame of 5 GB"});
	assert_string_equal(expect(f, RD__KIND__FAILED)->error.text, "a frame of 5 GB");
}

static void a_silent_child_is_killed(void **state)
{
	struct fixture *f = *state;

	connect_worker(f);
	task(f, RD__WORK__DECODE, 1, 1);
	f->now_ns += limits.hang_ns - 1;
	expect(f, RD__KIND__PROGRESS);
	frame(f, RD_ANSWER_PROGRESS, "\1\2\0\0\0\0\0\0", 8);
	f->now_ns += limits.hang_ns - 1;
	assert_int_equal(expect(f, RD__KIND__PROGRESS)->bytes, 0x201);
	f->now_ns += 1;
	struct sent *s = expect(f, RD__KIND__FAILED);
	assert_string_equal(s->error.text, "the parser said nothing for 60 s and was killed");
	assert_int_equal(s->error.code, RD_LIMIT);
	assert_true(s->retry);
	assert_int_equal(f->killed, 1);
}

/* A child that spins does not look alive to the broker. */
static void progress_needs_life(void **state)
{
	struct fixture *f = *state;

	connect_worker(f);
	task(f, RD__WORK__DECODE, 1, 1);
	f->now_ns += SECOND;
	expect(f, RD__KIND__PROGRESS);
	f->now_ns += 5 * SECOND;
	expect_nothing(f);
	frame(f, RD_ANSWER_PROGRESS, "\1\0\0\0\0\0\0\0", 8);
	expect(f, RD__KIND__PROGRESS);
	frame(f, RD_ANSWER_PROGRESS, "\2\0\0\0\0\0\0\0", 8);
	expect_nothing(f);
	assert_int_equal(rd_worker_wake_ns(&f->w), f->now_ns + SECOND);
	f->now_ns += SECOND;
	assert_int_equal(expect(f, RD__KIND__PROGRESS)->bytes, 2);
}

static void the_newest_order_counts(void **state)
{
	struct fixture *f = *state;

	connect_worker(f);
	task(f, RD__WORK__DECODE, 1, 1);
	task(f, RD__WORK__DECODE, 1, 1);
	assert_int_equal(f->killed, 0);
	task(f, RD__WORK__DECODE, 2, 1);
	assert_int_equal(f->killed, 1);
	task(f, RD__WORK__DECODE, 3, 1);
	child_ends(f, SIGKILL);
	assert_int_equal(f->started, 2);
	assert_int_equal(f->w.task.number, 3);
	/* One that waits can be abandoned too. */
	task(f, RD__WORK__DECODE, 4, 1);
	about(f, RD__KIND__ABANDON, 4, 1, 0);
	child_ends(f, SIGKILL);
	assert_int_equal(f->started, 2);
	expect_nothing(f);
	assert_int_equal(f->w.phase, RD_WORKER_IDLE);
}

static void a_break_voids_the_task(void **state)
{
	struct fixture *f = *state;

	connect_worker(f);
	task(f, RD__WORK__DECODE, 1, 1);
	block(f, 0);
	expect(f, RD__KIND__CHUNK);
	task(f, RD__WORK__DECODE, 2, 1);
	rd_worker_up(&f->w);
	assert_int_equal(f->killed, 1);
	expect(f, RD__KIND__HELLO);
	child_ends(f, SIGKILL);
	welcome(f);
	expect_nothing(f);
	assert_int_equal(f->w.phase, RD_WORKER_IDLE);
	assert_int_equal(f->started, 1);
}

static void leaving_hands_back(void **state)
{
	struct fixture *f = *state;

	connect_worker(f);
	task(f, RD__WORK__DECODE, 1, 1);
	rd_worker_leave(&f->w);
	assert_int_equal(f->killed, 1);
	expect(f, RD__KIND__LEAVE);
	assert_false(rd_worker_over(&f->w));
	task(f, RD__WORK__DECODE, 2, 1);
	child_ends(f, SIGKILL);
	assert_int_equal(f->started, 1);
	expect_nothing(f);
	assert_true(rd_worker_over(&f->w));
}

static void leaving_says_the_last_word(void **state)
{
	struct fixture *f = *state;

	connect_worker(f);
	task(f, RD__WORK__INDEX, 1, 1);
	frame(f, RD_ANSWER_RESULT, "x", 1);
	frame(f, RD_ANSWER_END, "", 0);
	child_ends(f, 0);
	f->full = true;
	assert_int_equal(rd_worker_pump(&f->w, NULL), 1);
	rd_worker_leave(&f->w);
	assert_false(rd_worker_over(&f->w));
	f->full = false;
	expect(f, RD__KIND__RESULT);
	expect(f, RD__KIND__LEAVE);
	assert_true(rd_worker_over(&f->w));
}

static void leaving_before_a_welcome(void **state)
{
	struct fixture *f = *state;

	rd_worker_up(&f->w);
	expect(f, RD__KIND__HELLO);
	rd_worker_leave(&f->w);
	expect_nothing(f);
	assert_true(rd_worker_over(&f->w));
}

static void leaving_while_nobody_is_there(void **state)
{
	struct fixture *f = *state;

	connect_worker(f);
	rd_worker_down(&f->w);
	f->full = true;
	rd_worker_leave(&f->w);
	rd_worker_pump(&f->w, NULL);
	assert_true(rd_worker_over(&f->w));
	f->full = false;
}

static void refuse(struct fixture *f, int code, const char *text)
{
	Rd__Envelope e = rd_envelope(RD__KIND__REFUSED);
	Rd__Error error = RD__ERROR__INIT;

	error.code = code;
	error.text = rd_field(text);
	e.error = &error;
	tell(f, &e);
}

static void an_unknown_worker_says_hello(void **state)
{
	struct fixture *f = *state;

	connect_worker(f);
	task(f, RD__WORK__DECODE, 1, 1);
	refuse(f, RD_NOT_FOUND, "say HELLO first");
	assert_int_equal(f->killed, 1);
	expect(f, RD__KIND__HELLO);
	assert_false(rd_worker_over(&f->w));
}

static void refused(void **state)
{
	struct fixture *f = *state;

	rd_worker_up(&f->w);
	expect(f, RD__KIND__HELLO);
	refuse(f, RD_PROTOCOL, "this broker speaks protocol 2");
	assert_true(rd_worker_over(&f->w));
	assert_string_equal(f->w.refusal.text, "this broker speaks protocol 2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORKER_TEST(hello_until_welcome),
		WORKER_TEST(an_index_is_said_until_it_is_settled),
		WORKER_TEST(an_archive_is_opened),
		WORKER_TEST(a_failed_unpacking_is_swept),
		WORKER_TEST(the_window_holds),
		WORKER_TEST(all_chunks_then_commit),
		WORKER_TEST(the_last_block_waits),
		WORKER_TEST(no_acknowledgement),
		WORKER_TEST(deaths_name_their_signal),
		WORKER_TEST(typed_errors_travel),
		WORKER_TEST(a_breach_kills),
		WORKER_TEST(a_silent_child_is_killed),
		WORKER_TEST(progress_needs_life),
		WORKER_TEST(the_newest_order_counts),
		WORKER_TEST(a_break_voids_the_task),
		WORKER_TEST(an_unknown_worker_says_hello),
		WORKER_TEST(leaving_hands_back),
		WORKER_TEST(leaving_says_the_last_word),
		WORKER_TEST(leaving_before_a_welcome),
		WORKER_TEST(leaving_while_nobody_is_there),
		WORKER_TEST(refused),
	};
	rd_log_init(RD_LOG_ERROR, "test");
	make_partial();
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	release_partial();
	return failed;
}
