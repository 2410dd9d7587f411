/* Workers, shards, inputs and the merger go wrong or away: what it costs, and what goes on. */
#include "tests/broker/stage.h"

static struct stage s;

static int setup(void **state)
{
	stage_open(&s, NULL);
	return 0;
}

static int teardown(void **state)
{
	stage_close(&s);
	return 0;
}

static void a_lost_worker_costs_one_more_attempt(void **state)
{
	start(&s, 2, 2, 4);
	const Rd__Envelope *one = take_task(&s, W1, RD__WORK__DECODE);
	const Rd__Envelope *two = take_task(&s, W2, RD__WORK__DECODE);
	Rd__Envelope e = about(&s, RD__KIND__CHUNK, one->task, one->attempt);
	Rd__Chunk chunk = RD__CHUNK__INIT;
	struct rd_blob blob = {0};

	chunk.table = 1;
	e.chunk = &chunk;
	rd_blob_add(&blob, "x", 1, NULL);
	say(&s, W1, &e, &blob);
	expect(&s, MERGER, RD__KIND__CHUNK);

	/* A connection ends; the socket says whose only when it is sent to, and not at once. */
	rd_broker_probe(s.broker, s.now_ns);
	stage_pass(&s, 1000);
	expect_nothing(&s, W2);
	s.unreachable[0] = W1;
	assert_true(rd_broker_next_ns(s.broker) <= s.now_ns + SECOND / 10);
	stage_pass(&s, SECOND / 10);
	/* The merger forgets what came of it. */
	assert_int_equal(one->attempt, expect(&s, MERGER, RD__KIND__ABANDON)->attempt);
	say_partial(&s, W2, two, 1);
	const Rd__Envelope *again = take_task(&s, W2, RD__WORK__DECODE);
	assert_int_equal(one->task, again->task);
	assert_int_equal(2, again->attempt);
	say_partial(&s, W2, again, 1);
	say_merged(&s, again, false);
	say_merged(&s, two, false);
	expect(&s, MERGER, RD__KIND__FINISH);
}

static void a_worker_lost_after_its_commit_is_not_missed(void **state)
{
	start(&s, 2, 1, 4);
	const Rd__Envelope *one = take_task(&s, W1, RD__WORK__DECODE);

	say_partial(&s, W1, one, 2);
	s.unreachable[0] = W1;
	rd_broker_probe(s.broker, s.now_ns);
	stage_pass(&s, 1000);
	expect_nothing(&s, W2);
	expect_nothing(&s, MERGER);
	say_merged(&s, one, false);
	expect(&s, MERGER, RD__KIND__FINISH);
}

static void a_stale_attempt_is_fenced_off(void **state)
{
	start(&s, 2, 1, 4);
	const Rd__Envelope *one = take_task(&s, W1, RD__WORK__DECODE);

	stage_pass(&s, 61 * SECOND);
	assert_int_equal(1, expect(&s, W1, RD__KIND__ABANDON)->attempt);
	const Rd__Envelope *two = take_task(&s, W2, RD__WORK__DECODE);
	assert_int_equal(one->task, two->task);
	assert_int_equal(2, two->attempt);

	/* The first one wakes up and goes on as if nothing had been. */
	Rd__Envelope e = about(&s, RD__KIND__CHUNK, one->task, one->attempt);
	Rd__Chunk chunk = RD__CHUNK__INIT;
	struct rd_blob blob = {0};
	chunk.table = 1;
	e.chunk = &chunk;
	rd_blob_add(&blob, "x", 1, NULL);
	say(&s, W1, &e, &blob);
	e = about(&s, RD__KIND__COMMIT, one->task, one->attempt);
	e.count = 1;
	say(&s, W1, &e, NULL);
	expect(&s, W1, RD__KIND__ABANDON);
	expect(&s, W1, RD__KIND__ABANDON);
	/* Nor may it speak for the second one. */
	e = about(&s, RD__KIND__COMMIT, two->task, two->attempt);
	say(&s, W1, &e, NULL);
	expect(&s, W1, RD__KIND__ABANDON);
	expect_nothing(&s, MERGER);

	say_partial(&s, W2, two, 1);
	say_merged(&s, two, false);
	expect(&s, MERGER, RD__KIND__FINISH);
	/* MERGED once more, as a merger says that came back from the dead: nothing changes. */
	say_merged(&s, two, true);
	say_merged(&s, one, true);
	expect_nothing(&s, MERGER);
	assert_string_equal("finishing", text(&status_of_job(&s)->state));
}

/* The same worker, the same task: only the number tells the lost attempt from the new one. */
static void an_old_number_of_the_same_worker_is_fenced_off(void **state)
{
	Rd__Chunk chunk = RD__CHUNK__INIT;
	struct rd_blob blob = {0};

	start(&s, 1, 1, 4);
	const Rd__Envelope *one = take_task(&s, W1, RD__WORK__DECODE);
	stage_pass(&s, 61 * SECOND);
	expect(&s, W1, RD__KIND__ABANDON);
	const Rd__Envelope *two = take_task(&s, W1, RD__WORK__DECODE);
	assert_int_equal(one->task, two->task);
	assert_int_equal(2, two->attempt);

	Rd__Envelope e = about(&s, RD__KIND__CHUNK, one->task, 1);
	chunk.table = 1;
	e.chunk = &chunk;
	assert_ok(rd_blob_add(&blob, "old", 3, NULL), NULL);
	say(&s, W1, &e, &blob);
	assert_int_equal(1, expect(&s, W1, RD__KIND__ABANDON)->attempt);
	e = about(&s, RD__KIND__COMMIT, one->task, 1);
	e.count = 1;
	say(&s, W1, &e, NULL);
	assert_int_equal(1, expect(&s, W1, RD__KIND__ABANDON)->attempt);
	expect_nothing(&s, MERGER);
	say_partial(&s, W1, two, 2);
	say_merged(&s, two, false);
	expect(&s, MERGER, RD__KIND__FINISH);
}

static void a_late_merge_of_a_lost_attempt_counts(void **state)
{
	start(&s, 2, 2, 4);
	const Rd__Envelope *one = take_task(&s, W1, RD__WORK__DECODE);
	const Rd__Envelope *other = take_task(&s, W2, RD__WORK__DECODE);

	say_failed(&s, W1, one, RD_IO, "the disk sighed", "", true);
	/* One that failed here is tried elsewhere first. */
	expect_nothing(&s, W1);
	say_merged(&s, one, false);
	say_partial(&s, W2, other, 1);
	expect_nothing(&s, W2);
	say_merged(&s, other, false);
	expect(&s, MERGER, RD__KIND__FINISH);
	assert_int_equal(2, status_of_job(&s)->shards_done);
}

static void progress_keeps_the_lease(void **state)
{
	start(&s, 1, 1, 4);
	const Rd__Envelope *one = take_task(&s, W1, RD__WORK__DECODE);
	Rd__Envelope e = about(&s, RD__KIND__PROGRESS, one->task, one->attempt);

	for (int i = 1; i <= 5; i++) {
		stage_pass(&s, 50 * SECOND);
		e.bytes = (uint64_t)i * 1000;
		say(&s, W1, &e, NULL);
		expect_nothing(&s, W1);
		assert_int_equal(e.bytes, newest_status(&s, CLIENT)->bytes_done);
	}
	/* The same bytes again are no progress. */
	stage_pass(&s, 50 * SECOND);
	say(&s, W1, &e, NULL);
	stage_pass(&s, 11 * SECOND);
	expect(&s, W1, RD__KIND__ABANDON);
	/* It is the only worker: it gets the next attempt, too. */
	assert_int_equal(2, take_task(&s, W1, RD__WORK__DECODE)->attempt);
	/* More bytes than the shard has are cut to it. */
	e = about(&s, RD__KIND__PROGRESS, one->task, 2);
	e.bytes = UINT64_MAX;
	stage_pass(&s, SECOND);
	say(&s, W1, &e, NULL);
	assert_int_equal(4 * MIB, newest_status(&s, CLIENT)->bytes_done);
}

static void a_poison_shard_is_quarantined_and_the_rest_goes_on(void **state)
{
	start(&s, 1, 2, 4);
	const Rd__Envelope *first = take_task(&s, W1, RD__WORK__DECODE);

	for (uint32_t i = 1; i <= 3; i++) {
		if (i > 1)
			first = take_task(&s, W1, RD__WORK__DECODE);
		assert_int_equal(0, first->work->shard);
		assert_int_equal(i, first->attempt);
		say_failed(&s, W1, first, RD_INTERNAL, "killed by SIGSEGV", "/t/a.nettrace", true);
	}
	assert_int_equal(1, newest_status(&s, CLIENT)->shards_quarantined);
	const Rd__Envelope *second = take_task(&s, W1, RD__WORK__DECODE);
	assert_int_equal(1, second->work->shard);
	say_partial(&s, W1, second, 1);
	say_merged(&s, second, false);
	const Rd__Finish *f = expect(&s, MERGER, RD__KIND__FINISH)->finish;
	assert_int_equal(1, f->n_quarantined_trace);
	assert_int_equal(0, f->quarantined_trace[0]);
	assert_int_equal(0, f->quarantined_shard[0]);
	assert_int_equal(100, f->quarantined_from[0]);
	assert_int_equal(100 + 2 * MIB, f->quarantined_to[0]);
}

static void a_quarantined_shard_that_was_merged_after_all(void **state)
{
	start(&s, 1, 2, 4);
	const Rd__Envelope *first = NULL;

	for (uint32_t i = 1; i <= 3; i++) {
		first = take_task(&s, W1, RD__WORK__DECODE);
		say_failed(&s, W1, first, RD_INTERNAL, "died", "", true);
	}
	say_merged(&s, first, false);
	const Rd__Status *status = newest_status(&s, CLIENT);
	assert_int_equal(0, status->shards_quarantined);
	assert_int_equal(1, status->shards_done);
	assert_int_equal(2 * MIB, status->bytes_done);
}

static void no_shard_at_all_is_a_failure(void **state)
{
	start(&s, 1, 1, 4);
	for (uint32_t i = 1; i <= 3; i++)
		say_failed(&s, W1, take_task(&s, W1, RD__WORK__DECODE), RD_INTERNAL, "killed by SIGSEGV", "", true);
	const Rd__Status *status = newest_status(&s, CLIENT);
	assert_string_equal("failed", text(&status->state));
	assert_string_equal("killed by SIGSEGV", text(&status->error->text));
	assert_string_equal("no shard could be decoded: ", text(&status->error->context));
	expect(&s, MERGER, RD__KIND__DROP);
}

static void an_input_that_never_opens_fails_the_job(void **state)
{
	Rd__Submit base = plain_submit();

	hello(&s, CLIENT, RD__ROLE__CLIENT, 0);
	hello(&s, W1, RD__ROLE__WORKER, 1);
	submit(&s, &base, 1, (const char *[]){"/t/a.zip"});
	for (uint32_t i = 1; i <= 3; i++)
		say_failed(&s, W1, take_task(&s, W1, RD__WORK__OPEN), RD_IO, "No space left on device",
			   "/scratch/00.trace", true);
	const Rd__Status *status = newest_status(&s, CLIENT);
	assert_string_equal("failed", text(&status->state));
	assert_string_equal("No space left on device", text(&status->error->text));
}

static void a_polite_leave_costs_no_chance(void **state)
{
	start(&s, 1, 1, 4);
	for (uint32_t i = 1; i <= 5; i++) {
		assert_int_equal(i, take_task(&s, W1, RD__WORK__DECODE)->attempt);
		Rd__Envelope leave = rd_envelope(RD__KIND__LEAVE);
		say(&s, W1, &leave, NULL);
		hello(&s, W1, RD__ROLE__WORKER, 1);
	}
	settle(&s, W1);
	expect(&s, MERGER, RD__KIND__FINISH);
}

static void the_merger_comes_back(void **state)
{
	start(&s, 2, 3, 6);
	const Rd__Envelope *one = take_task(&s, W1, RD__WORK__DECODE);
	const Rd__Envelope *two = take_task(&s, W2, RD__WORK__DECODE);

	say_partial(&s, W1, one, 1);
	const Rd__Envelope *three = take_task(&s, W1, RD__WORK__DECODE);
	say_merged(&s, one, false);
	expect(&s, W1, RD__KIND__DONE);
	say_partial(&s, W1, three, 1);
	/* Gone: what it did not acknowledge is to be done again, what was not begun to be sent goes on. */
	s.unreachable[0] = MERGER;
	rd_broker_probe(s.broker, s.now_ns);
	stage_pass(&s, 1000);
	assert_int_equal(three->task, expect(&s, W1, RD__KIND__ABANDON)->task);
	expect_nothing(&s, W2);
	expect_nothing(&s, W1);
	s.unreachable[0] = 0;
	hello(&s, MERGER, RD__ROLE__MERGER, 0);
	/* It may have merged it before it died: it is asked first. */
	expect_nothing(&s, W1);
	say_not_merged(&s, MERGER, three->task, 1);
	const Rd__Envelope *again = take_task(&s, W1, RD__WORK__DECODE);
	assert_int_equal(three->task, again->task);
	assert_int_equal(2, again->attempt);
	say_partial(&s, W2, two, 1);
	say_merged(&s, two, false);
	/* The ledger knew it. */
	say_partial(&s, W1, again, 1);
	say_merged(&s, again, true);
	expect(&s, MERGER, RD__KIND__FINISH);
	/* Once more, while it finishes. */
	hello(&s, MERGER + 1, RD__ROLE__MERGER, 0);
	expect(&s, MERGER, RD__KIND__REFUSED);
	expect(&s, MERGER + 1, RD__KIND__FINISH);
}

static void without_a_merger_a_chunk_goes_nowhere(void **state)
{
	start(&s, 1, 1, 2);
	const Rd__Envelope *one = take_task(&s, W1, RD__WORK__DECODE);
	Rd__Envelope e = about(&s, RD__KIND__CHUNK, one->task, one->attempt);
	Rd__Chunk chunk = RD__CHUNK__INIT;
	struct rd_blob blob = {0};

	s.unreachable[0] = MERGER;
	rd_broker_probe(s.broker, s.now_ns);
	stage_pass(&s, 1000);
	chunk.table = 1;
	e.chunk = &chunk;
	rd_blob_add(&blob, "x", 1, NULL);
	say(&s, W1, &e, &blob);
	expect(&s, W1, RD__KIND__ABANDON);
	s.unreachable[0] = 0;
	hello(&s, MERGER, RD__ROLE__MERGER, 0);
	say_not_merged(&s, MERGER, one->task, 1);
	settle(&s, W1);
	expect(&s, MERGER, RD__KIND__FINISH);
}

static void what_a_dying_merger_merged_is_not_decoded_again(void **state)
{
	start(&s, 1, 1, 2);
	const Rd__Envelope *one = take_task(&s, W1, RD__WORK__DECODE);

	say_partial(&s, W1, one, 2);
	s.unreachable[0] = MERGER;
	rd_broker_probe(s.broker, s.now_ns);
	stage_pass(&s, 1000);
	expect(&s, W1, RD__KIND__ABANDON);
	s.unreachable[0] = 0;
	hello(&s, MERGER, RD__ROLE__MERGER, 0);
	assert_int_equal(0, expect(&s, MERGER, RD__KIND__COMMIT)->count);
	say_merged(&s, one, true);
	expect(&s, MERGER, RD__KIND__FINISH);
	expect_nothing(&s, W1);
}

static void vanishing_workers_cost_a_part_of_a_chance(void **state)
{
	start(&s, 1, 2, 2);
	rd_peer worker = W1;

	/* Three chances of five workers each, all lost with the first shard. */
	for (uint32_t i = 1; i <= 15; i++) {
		const Rd__Envelope *task = take_task(&s, worker, RD__WORK__DECODE);
		assert_int_equal(0, task->work->shard);
		assert_int_equal(i, task->attempt);
		s.unreachable[0] = worker;
		rd_broker_probe(s.broker, s.now_ns);
		stage_pass(&s, 1000);
		hello(&s, ++worker, RD__ROLE__WORKER, 1);
	}
	assert_int_equal(1, take_task(&s, worker, RD__WORK__DECODE)->work->shard);
	assert_int_equal(1, newest_status(&s, CLIENT)->shards_quarantined);
}

static void the_merger_fails(void **state)
{
	Rd__Error error = RD__ERROR__INIT;

	start(&s, 1, 2, 4);
	const Rd__Envelope *one = take_task(&s, W1, RD__WORK__DECODE);
	say_partial(&s, W1, one, 1);
	Rd__Envelope e = about(&s, RD__KIND__FAILED, one->task, one->attempt);
	error.code = RD_IO;
	error.text = rd_field("No space left on device");
	error.offset = RD_NO_OFFSET;
	e.error = &error;
	say(&s, MERGER, &e, NULL);
	const Rd__Status *status = newest_status(&s, CLIENT);
	assert_string_equal("failed", text(&status->state));
	assert_string_equal("No space left on device", text(&status->error->text));
}

static void say_finish_failed(int code, const char *what, bool retry)
{
	Rd__Error error = RD__ERROR__INIT;
	Rd__Envelope e = about(&s, RD__KIND__FAILED, 0, 0);

	error.code = code;
	error.text = rd_field(what);
	error.offset = RD_NO_OFFSET;
	error.retry = retry;
	e.error = &error;
	say(&s, MERGER, &e, NULL);
}

static void the_finish_fails(void **state)
{
	start(&s, 1, 1, 4);
	settle(&s, W1);
	expect(&s, MERGER, RD__KIND__FINISH);
	Rd__Envelope e = about(&s, RD__KIND__FINISH_PROGRESS, 0, 0);
	e.bytes = 5;
	e.total = 9;
	say(&s, MERGER, &e, NULL);
	stage_pass(&s, SECOND);
	assert_int_equal(5, newest_status(&s, CLIENT)->finish_done);
	say_finish_failed(RD_EXISTS, "it is there", false);
	const Rd__Status *status = newest_status(&s, CLIENT);
	assert_string_equal("failed", text(&status->state));
	assert_int_equal(RD_EXISTS, status->error->code);
}

static void a_finish_is_tried_again(void **state)
{
	start(&s, 1, 1, 4);
	settle(&s, W1);
	expect(&s, MERGER, RD__KIND__FINISH);
	for (int i = 0; i < 2; i++) {
		say_finish_failed(RD_INTERNAL, "the finish was killed", true);
		assert_int_equal(1, expect(&s, MERGER, RD__KIND__FINISH)->finish->n_path);
		assert_string_equal("finishing", text(&status_of_job(&s)->state));
	}
	/* As often as a shard, and no more. */
	say_finish_failed(RD_INTERNAL, "the finish was killed", true);
	const Rd__Status *status = newest_status(&s, CLIENT);
	assert_string_equal("failed", text(&status->state));
	assert_string_equal("the finish was killed", text(&status->error->text));
	assert_string_equal("after 3 attempts: ", text(&status->error->context));
}

static void a_finish_may_do_better_the_second_time(void **state)
{
	start(&s, 1, 1, 4);
	settle(&s, W1);
	expect(&s, MERGER, RD__KIND__FINISH);
	say_finish_failed(RD_INTERNAL, "the finish was killed", true);
	expect(&s, MERGER, RD__KIND__FINISH);
	say_finished(&s);
	assert_string_equal("done", text(&newest_status(&s, CLIENT)->state));
}

/* The merger's disk is another one: it is asked for each shard, and what it has not is decoded again. */
static void a_merger_that_lost_its_store(void **state)
{
	start(&s, 1, 2, 4);
	settle(&s, W1);
	settle(&s, W1);
	expect(&s, MERGER, RD__KIND__FINISH);
	say_finish_failed(RD_NOT_FOUND, "2 shards are neither merged nor given up", false);
	assert_string_equal("running", text(&status_of_job(&s)->state));
	assert_int_equal(0, status_of_job(&s)->shards_done);
	/* One of them it has after all. */
	const Rd__Envelope *first = expect(&s, MERGER, RD__KIND__COMMIT);
	assert_int_equal(0, first->count);
	Rd__Envelope merged = about(&s, RD__KIND__MERGED, first->task, first->attempt);
	merged.duplicate = true;
	uint64_t other = first->task == 2 ? 3 : 2;
	say_not_merged(&s, MERGER, other, 1);
	expect_nothing(&s, MERGER);
	say(&s, MERGER, &merged, NULL);
	const Rd__Envelope *again = take_task(&s, W1, RD__WORK__DECODE);
	assert_int_equal(other, again->task);
	assert_int_equal(2, again->attempt);
	say_partial(&s, W1, again, 1);
	say_merged(&s, again, false);
	expect(&s, W1, RD__KIND__DONE);
	expect(&s, MERGER, RD__KIND__FINISH);
	say_finished(&s);
	assert_string_equal("done", text(&status_of_job(&s)->state));
	assert_int_equal(2, status_of_job(&s)->shards_done);
}

/* As often as any finish, and no more. */
static void a_merger_that_never_has_them(void **state)
{
	start(&s, 1, 1, 2);
	for (int i = 0; i < 3; i++) {
		settle(&s, W1);
		expect(&s, MERGER, RD__KIND__FINISH);
		say_finish_failed(RD_NOT_FOUND, "1 shards are neither merged nor given up", false);
		if (i < 2)
			say_not_merged(&s, MERGER, 2, (uint32_t)i + 1);
	}
	assert_string_equal("failed", text(&newest_status(&s, CLIENT)->state));
}

static void a_finish_that_cannot_do_better_is_not_tried_again(void **state)
{
	start(&s, 1, 1, 4);
	settle(&s, W1);
	expect(&s, MERGER, RD__KIND__FINISH);
	say_finish_failed(RD_INTERNAL, "the finish was killed", false);
	assert_string_equal("failed", text(&newest_status(&s, CLIENT)->state));
	expect(&s, MERGER, RD__KIND__DROP);
	expect_nothing(&s, MERGER);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_lost_worker_costs_one_more_attempt),
		T(a_worker_lost_after_its_commit_is_not_missed),
		T(a_stale_attempt_is_fenced_off),
		T(an_old_number_of_the_same_worker_is_fenced_off),
		T(a_late_merge_of_a_lost_attempt_counts),
		T(progress_keeps_the_lease),
		T(a_poison_shard_is_quarantined_and_the_rest_goes_on),
		T(a_quarantined_shard_that_was_merged_after_all),
		T(no_shard_at_all_is_a_failure),
		T(an_input_that_never_opens_fails_the_job),
		T(a_polite_leave_costs_no_chance),
		T(the_merger_comes_back),
		T(without_a_merger_a_chunk_goes_nowhere),
		T(what_a_dying_merger_merged_is_not_decoded_again),
		T(vanishing_workers_cost_a_part_of_a_chance),
		T(the_merger_fails),
		T(the_finish_fails),
		T(a_merger_that_lost_its_store),
		T(a_merger_that_never_has_them),
		T(a_finish_is_tried_again),
		T(a_finish_may_do_better_the_second_time),
		T(a_finish_that_cannot_do_better_is_not_tried_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
