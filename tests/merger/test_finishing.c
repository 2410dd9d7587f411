/* Finishing a job: its steps, what may go wrong in each, and what another merger left. */
#include "tests/merger/stage.h"

#include <errno.h>
#include <signal.h>

#include "base/log.h"

/* A job of one shard, asked for. */
static void begin_finish(struct fixture *f)
{
	connect_merger(f);
	merge(f, 1);
	finish(f, 1, 0);
	pump(f);
}

static void killed_child_is_gone(struct fixture *f)
{
	rd_merger_child_gone(&f->m, &(struct rd_forker_exit){.id = f->started, .status = SIGKILL});
	pump(f);
}

static void drop(struct fixture *f)
{
	Rd__Envelope e = about(RD__KIND__DROP, 0, 0);
	tell(f, &e, (struct rd_span){0});
}

static void a_job_is_finished_in_steps(void **state)
{
	struct fixture *f = *state;
	uint64_t body[2] = {5, 50};

	connect_merger(f);
	merge(f, 1);
	merge(f, 2);
	finish(f, 2, 0);
	expect_nothing(f);
	assert_int_equal(f->step, RD_STEP_FINISH);
	assert_string_equal(f->step_record.output, "/out/a.rundown");
	assert_string_equal(f->step_record.folder, "/out/.a.rundown.rundown-job-1-75756964");
	frame(f, RD_FINISH_PROGRESS, body, sizeof body);
	struct sent *s = expect(f, RD__KIND__FINISH_PROGRESS);
	assert_int_equal(s->bytes, 5);
	assert_int_equal(s->total, 50);
	frame(f, RD_FINISH_PROGRESS, body, sizeof body);
	expect_nothing(f);
	f->now_ns += limits.progress_ns;
	expect(f, RD__KIND__FINISH_PROGRESS);
	/* Asked again meanwhile. */
	finish(f, 2, 0);
	expect_nothing(f);
	child_is_ready(f);
	assert_int_equal(f->step, RD_STEP_DELIVER);
	assert_int_equal(f->step_record.row.inode, 9);
	assert_int_equal(find_job(f, "job-1")->record.row.state, RD_ROW_DELIVERING);
	expect_nothing(f);
	child_is_done(f);
	s = expect(f, RD__KIND__FINISHED);
	assert_int_equal(s->samples, 77);
	assert_int_equal(s->lost_events, 3);
	assert_true(s->complete);
	assert_int_equal(find_job(f, "job-1")->record.row.state, RD_ROW_FINISHED);
	/* Asked again after: the same answer, no child. */
	uint64_t children = f->started;
	finish(f, 2, 0);
	assert_int_equal(expect(f, RD__KIND__FINISHED)->samples, 77);
	assert_int_equal(f->started, children);
	/* And late chunks are refused. */
	chunk(f, 3, 1, 0);
	s = expect(f, RD__KIND__FAILED);
	assert_int_equal(s->error.code, RD_CANCELLED);
	assert_false(s->retry);
}

static void a_missing_shard_is_refused(void **state)
{
	struct fixture *f = *state;

	connect_merger(f);
	merge(f, 1);
	merge(f, 3);
	finish(f, 4, 0);
	struct sent *s = expect(f, RD__KIND__FAILED);
	assert_int_equal(s->task, 0);
	assert_int_equal(s->error.code, RD_NOT_FOUND);
	assert_string_equal(s->error.text, "2 shards are neither merged nor given up, first shard 1 of trace 0");
	assert_int_equal(f->started, 0);
	finish(f, 4, 1);
	expect(f, RD__KIND__FAILED);
	merge(f, 2);
	finish(f, 4, 1);
	expect_nothing(f);
	assert_int_equal(f->step, RD_STEP_FINISH);
}

static void a_failed_finish_is_swept(void **state)
{
	struct fixture *f = *state;

	begin_finish(f);
	child_fails(f, RD_EXISTS, "the output exists already");
	assert_int_equal(f->step, RD_STEP_SWEEP);
	expect_nothing(f);
	child_is_done(f);
	struct sent *s = expect(f, RD__KIND__FAILED);
	assert_int_equal(s->error.code, RD_EXISTS);
	assert_int_equal(s->task, 0);
	assert_false(s->retry);
	assert_null(find_job(f, "job-1"));
}

static void a_crashed_finish_names_its_signal(void **state)
{
	struct fixture *f = *state;

	begin_finish(f);
	child_ends(f, SIGSEGV);
	child_is_done(f);
	struct sent *s = expect(f, RD__KIND__FAILED);
	assert_string_equal(s->error.text, "the finish was killed by SIGSEGV (Segmentation fault)");
	assert_true(s->retry);
	/* The merger works on. */
	merge(f, 2);
	finish(f, 1, 0);
	pump(f);
	/* READY alone, or an end alone, is no answer. */
	child_is_done(f);
	assert_int_equal(f->step, RD_STEP_SWEEP);
	child_is_done(f);
	assert_string_equal(expect(f, RD__KIND__FAILED)->error.text, "the finish ended without an answer");
}

static void a_finish_that_asks_for_too_much_says_so(void **state)
{
	struct fixture *f = *state;

	begin_finish(f);
	child_ends(f, SIGSYS);
	child_is_done(f);
	struct sent *s = expect(f, RD__KIND__FAILED);
	assert_string_equal(s->error.text,
			    "the finish was killed by SIGSYS (Bad system call): it asked for what its fence forbids");
	assert_true(s->retry);
}

static void a_finish_killed_from_outside_says_why(void **state)
{
	struct fixture *f = *state;

	begin_finish(f);
	child_ends(f, SIGKILL);
	child_is_done(f);
	struct sent *s = expect(f, RD__KIND__FAILED);
	assert_string_equal(s->error.text,
			    "the finish was killed by SIGKILL (Killed); the machine may have run out of memory");
	assert_true(s->retry);
}

/* However long it takes: any word of the child begins the patience anew. */
static void a_slow_finish_is_not_given_up(void **state)
{
	struct fixture *f = *state;
	uint64_t body[2] = {0, 1000};

	begin_finish(f);
	for (int i = 0; i < 50; i++) {
		f->now_ns += limits.patience_ns - 1;
		/* The same count again is a word, too. */
		body[0] = (uint64_t)(i / 10);
		frame(f, RD_FINISH_PROGRESS, body, sizeof body);
		assert_int_equal(expect(f, RD__KIND__FINISH_PROGRESS)->task, 0);
		assert_int_equal(f->killed, 0);
	}
	assert_int_equal(f->step, RD_STEP_FINISH);
}

static void a_silent_finish_is_killed(void **state)
{
	struct fixture *f = *state;

	begin_finish(f);
	f->now_ns += limits.patience_ns;
	expect_nothing(f);
	assert_int_equal(f->killed, f->started);
	killed_child_is_gone(f);
	assert_int_equal(f->step, RD_STEP_SWEEP);
	child_is_done(f);
	assert_string_equal(expect(f, RD__KIND__FAILED)->error.text,
			    "the finish said nothing for 100 s and was killed");
}

static void nonsense_of_a_child(void **state)
{
	struct fixture *f = *state;

	begin_finish(f);
	frame(f, RD_FINISH_READY, "short", 5);
	assert_int_equal(f->killed, f->started);
	killed_child_is_gone(f);
	child_is_done(f);
	assert_string_equal(expect(f, RD__KIND__FAILED)->error.text, "the finish's answer is off");
}

static void a_dropped_job_stops(void **state)
{
	struct fixture *f = *state;

	connect_merger(f);
	merge(f, 1);
	chunk(f, 2, 1, 0);
	expect(f, RD__KIND__CHUNK_ACK);
	finish(f, 1, 0);
	pump(f);
	drop(f);
	assert_int_equal(f->killed, f->started);
	assert_int_equal(f->m.incoming.n, 0);
	assert_int_equal(find_job(f, "job-1")->record.row.state, RD_ROW_DROPPED);
	killed_child_is_gone(f);
	assert_int_equal(f->step, RD_STEP_SWEEP);
	child_is_done(f);
	expect_nothing(f);
	assert_int_equal(f->m.finishing.n, 0);
	finish(f, 1, 0);
	assert_int_equal(expect(f, RD__KIND__FAILED)->error.code, RD_CANCELLED);
}

static void put_delivering(struct fixture *f)
{
	struct job_row *row = rd_vec_add(&f->jobs);

	*row = (struct job_row){.record = {.row = {.state = RD_ROW_DELIVERING, .inode = 9, .samples = 77}}};
	strcpy(row->job, "job-1");
	strcpy(row->record.output, "/out/a.rundown");
	strcpy(row->record.folder, "/out/.a.rundown.rundown-job-1-00000000");
}

/* A merger that died between the row and the rename, or behind the rename: only DELIVER can tell. */
static void a_delivery_is_resumed(void **state)
{
	struct fixture *f = *state;

	connect_merger(f);
	merge(f, 1);
	put_delivering(f);
	finish(f, 1, 0);
	pump(f);
	assert_int_equal(f->step, RD_STEP_DELIVER);
	assert_int_equal(f->step_record.row.inode, 9);
	assert_string_equal(f->step_record.folder, "/out/.a.rundown.rundown-job-1-00000000");
	child_is_done(f);
	assert_int_equal(expect(f, RD__KIND__FINISHED)->samples, 77);
}

static void a_lost_result_is_made_again(void **state)
{
	struct fixture *f = *state;

	connect_merger(f);
	merge(f, 1);
	put_delivering(f);
	finish(f, 1, 0);
	pump(f);
	child_fails(f, RD_NOT_FOUND, "the result is gone");
	assert_int_equal(f->step, RD_STEP_FINISH);
	assert_string_equal(f->step_record.folder, "/out/.a.rundown.rundown-job-1-75756964");
	child_is_ready(f);
	assert_int_equal(f->step, RD_STEP_DELIVER);
	child_fails(f, RD_NOT_FOUND, "gone again");
	assert_int_equal(f->step, RD_STEP_SWEEP);
	child_is_done(f);
	assert_string_equal(expect(f, RD__KIND__FAILED)->error.text, "gone again");
}

static void a_full_disk_delays_the_end(void **state)
{
	struct fixture *f = *state;

	begin_finish(f);
	f->store_errno = ENOSPC;
	child_is_ready(f);
	assert_int_equal(f->step, RD_STEP_FINISH);
	expect_nothing(f);
	assert_int_equal(rd_merger_wake_ns(&f->m), f->now_ns + limits.retry_ns);
	f->store_errno = 0;
	f->now_ns += limits.retry_ns;
	pump(f);
	assert_int_equal(f->step, RD_STEP_DELIVER);
	f->store_errno = ENOSPC;
	child_is_done(f);
	expect_nothing(f);
	f->store_errno = 0;
	f->now_ns += limits.retry_ns;
	expect(f, RD__KIND__FINISHED);
}

static void leaving_sweeps(void **state)
{
	struct fixture *f = *state;

	begin_finish(f);
	rd_merger_leave(&f->m);
	assert_false(rd_merger_over(&f->m));
	assert_int_equal(f->killed, f->started);
	killed_child_is_gone(f);
	assert_int_equal(f->step, RD_STEP_SWEEP);
	child_is_done(f);
	assert_true(rd_merger_over(&f->m));
	assert_int_equal(f->seen, f->sent.n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		MERGER_TEST(a_job_is_finished_in_steps),
		MERGER_TEST(a_missing_shard_is_refused),
		MERGER_TEST(a_failed_finish_is_swept),
		MERGER_TEST(a_crashed_finish_names_its_signal),
		MERGER_TEST(a_slow_finish_is_not_given_up),
		MERGER_TEST(a_finish_that_asks_for_too_much_says_so),
		MERGER_TEST(a_finish_killed_from_outside_says_why),
		MERGER_TEST(a_silent_finish_is_killed),
		MERGER_TEST(nonsense_of_a_child),
		MERGER_TEST(a_dropped_job_stops),
		MERGER_TEST(a_delivery_is_resumed),
		MERGER_TEST(a_lost_result_is_made_again),
		MERGER_TEST(a_full_disk_delays_the_end),
		MERGER_TEST(leaving_sweeps),
	};
	rd_log_init(RD_LOG_ERROR, "test");
	make_partial();
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	release_partial();
	return failed;
}
