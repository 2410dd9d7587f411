#include "tests/broker/stage.h"

#define SECOND UINT64_C(1000000000)
#define MIB    (UINT64_C(1) << 20)

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

static const char *text(const ProtobufCBinaryData *f)
{
	static char buf[8][1024];
	static unsigned turn;
	return rd_field_text(f, buf[turn++ % 8], 1024);
}

/* Everybody is there, and one trace of `blocks` blocks is submitted. */
static void start(uint32_t workers, uint32_t shards, uint32_t blocks)
{
	Rd__Submit base = plain_submit();

	base.shards = shards;
	hello(&s, MERGER, RD__ROLE__MERGER, 0);
	hello(&s, CLIENT, RD__ROLE__CLIENT, 0);
	for (uint32_t i = 0; i < workers; i++)
		hello(&s, W1 + i, RD__ROLE__WORKER, 1);
	submit(&s, &base, 1, (const char *[]){"/t/a.nettrace"});
	const Rd__Envelope *open = take_task(&s, W1, RD__WORK__OPEN);
	assert_string_equal("/t/a.nettrace", text(&open->work->path));
	assert_string_equal("/scratch", text(&open->work->scratch));
	say_index(&s, W1, open, blocks, MIB);
}

static const Rd__Status *status_of_job(void)
{
	Rd__Envelope e = rd_envelope(RD__KIND__STATUS);

	e.job = rd_field(s.job);
	e.watch = true;
	say(&s, CLIENT, &e, NULL);
	return newest_status(&s, CLIENT);
}

static void say_finished(void)
{
	Rd__Envelope e = rd_envelope(RD__KIND__FINISHED);
	Rd__Finished f = RD__FINISHED__INIT;

	e.job = rd_field(s.job);
	f.output = rd_field("/out/x.rundown");
	f.samples = 42;
	f.complete = true;
	e.finished = &f;
	say(&s, MERGER, &e, NULL);
}

static void settle(rd_peer worker)
{
	const Rd__Envelope *task = take_task(&s, worker, RD__WORK__DECODE);

	say_partial(&s, worker, task, 2);
	say_merged(&s, task, false);
	expect(&s, worker, RD__KIND__DONE);
}

static void one_job_from_submit_to_result(void **state)
{
	start(1, 2, 4);
	const Rd__Envelope *first = take_task(&s, W1, RD__WORK__DECODE);
	assert_int_equal(0, first->work->shard);
	assert_int_equal(0, first->work->trace);
	assert_int_equal(100 + 4 * MIB, first->work->size_bytes);
	assert_int_equal(77, first->work->mtime_ns);
	assert_int_equal(0x1234, first->work->digest);
	assert_int_equal(8, first->work->window);
	assert_int_equal(2, newest_status(&s, CLIENT)->shards_total);

	say_partial(&s, W1, first, 3);
	/* The next task does not wait for the merger. */
	const Rd__Envelope *second = take_task(&s, W1, RD__WORK__DECODE);
	assert_int_equal(1, second->work->shard);
	Rd__Envelope ack = about(&s, RD__KIND__CHUNK_ACK, second->task, second->attempt);
	ack.count = 1;
	say(&s, MERGER, &ack, NULL);
	assert_int_equal(1, expect(&s, W1, RD__KIND__CHUNK_ACK)->count);
	say_merged(&s, first, false);
	expect(&s, W1, RD__KIND__DONE);
	const Rd__Status *status = newest_status(&s, CLIENT);
	assert_int_equal(1, status->shards_done);
	assert_int_equal(1, status->shards_running);
	assert_int_equal(4 * MIB, status->bytes_total);
	assert_int_equal(2 * MIB, status->bytes_done);
	assert_string_equal("running", text(&status->state));

	say_partial(&s, W1, second, 1);
	expect_nothing(&s, MERGER);
	say_merged(&s, second, false);
	const Rd__Finish *finish = expect(&s, MERGER, RD__KIND__FINISH)->finish;
	assert_int_equal(1, finish->n_path);
	assert_string_equal("/t/a.nettrace", text(&finish->path[0]));
	assert_int_equal(2, finish->shards[0]);
	assert_int_equal(0, finish->n_quarantined_trace);
	assert_string_equal("/out/x.rundown", text(&finish->output));
	assert_string_equal("finishing", text(&newest_status(&s, CLIENT)->state));
	say_finished();
	status = newest_status(&s, CLIENT);
	assert_string_equal("done", text(&status->state));
	assert_int_equal(42, status->finished->samples);
	assert_int_equal(3, status->attempts);
}

static void nobody_there_yet(void **state)
{
	Rd__Submit base = plain_submit();

	hello(&s, CLIENT, RD__ROLE__CLIENT, 0);
	submit(&s, &base, 1, (const char *[]){"/t/a"});
	assert_string_equal("queued", text(&newest_status(&s, CLIENT)->state));
	hello(&s, W1, RD__ROLE__WORKER, 1);
	say_index(&s, W1, take_task(&s, W1, RD__WORK__OPEN), 3, MIB);
	/* Without a merger nothing is decoded. */
	expect_nothing(&s, W1);
	hello(&s, MERGER, RD__ROLE__MERGER, 0);
	settle(W1);
	expect(&s, MERGER, RD__KIND__FINISH);
}

static void archives_and_several_inputs_keep_their_order(void **state)
{
	Rd__Submit base = plain_submit();
	Rd__Opened opened = RD__OPENED__INIT;
	ProtobufCBinaryData paths[] = {rd_field("/scratch/00.trace"), rd_field("/scratch/01.trace")};
	ProtobufCBinaryData members[] = {rd_field("one.etl"), rd_field("two.etl")};
	uint64_t sizes[] = {10, 20};

	hello(&s, MERGER, RD__ROLE__MERGER, 0);
	hello(&s, CLIENT, RD__ROLE__CLIENT, 0);
	hello(&s, W1, RD__ROLE__WORKER, 1);
	hello(&s, W2, RD__ROLE__WORKER, 1);
	submit(&s, &base, 2, (const char *[]){"/t/a.zip", "/t/b.nettrace"});
	const Rd__Envelope *a = take_task(&s, W1, RD__WORK__OPEN);
	const Rd__Envelope *b = take_task(&s, W2, RD__WORK__OPEN);
	assert_string_equal("/t/b.nettrace", text(&b->work->path));
	/* The second input is there first. */
	say_index(&s, W2, b, 1, MIB);
	expect_nothing(&s, W2);
	Rd__Envelope e = about(&s, RD__KIND__RESULT, a->task, a->attempt);
	opened.n_path = opened.n_member = opened.n_size_bytes = 2;
	opened.path = paths;
	opened.member = members;
	opened.size_bytes = sizes;
	e.opened = &opened;
	say(&s, W1, &e, NULL);
	expect(&s, W1, RD__KIND__DONE);
	const Rd__Envelope *one = take_task(&s, W1, RD__WORK__INDEX);
	const Rd__Envelope *two = take_task(&s, W2, RD__WORK__INDEX);
	assert_string_equal("/scratch/00.trace", text(&one->work->path));
	say_index(&s, W2, two, 2, MIB);
	say_index(&s, W1, one, 1, MIB);
	for (int i = 0; i < 3; i++) {
		/* Whoever is free. */
		rd_peer worker = i == 1 ? W2 : W1;
		const Rd__Envelope *t = take_task(&s, worker, RD__WORK__DECODE);
		assert_int_equal(i, t->work->trace);
		say_partial(&s, worker, t, 1);
		say_merged(&s, t, false);
		expect(&s, worker, RD__KIND__DONE);
	}
	const Rd__Finish *f = expect(&s, MERGER, RD__KIND__FINISH)->finish;
	assert_int_equal(3, f->n_path);
	assert_string_equal("/t/a.zip", text(&f->path[1]));
	assert_string_equal("two.etl", text(&f->member[1]));
	assert_string_equal("/t/b.nettrace", text(&f->path[2]));
	assert_string_equal("", text(&f->member[2]));
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(i, f->group[i]);
}

static void one_bad_input_fails_the_job_before_any_decoding(void **state)
{
	Rd__Submit base = plain_submit();

	hello(&s, MERGER, RD__ROLE__MERGER, 0);
	hello(&s, CLIENT, RD__ROLE__CLIENT, 0);
	hello(&s, W1, RD__ROLE__WORKER, 1);
	hello(&s, W2, RD__ROLE__WORKER, 1);
	submit(&s, &base, 3, (const char *[]){"/t/a", "/t/b", "/t/c"});
	const Rd__Envelope *a = take_task(&s, W1, RD__WORK__OPEN);
	const Rd__Envelope *b = take_task(&s, W2, RD__WORK__OPEN);
	say_failed(&s, W2, b, RD_UNSUPPORTED, "not a trace", "/t/b", false);
	const Rd__Status *status = newest_status(&s, CLIENT);
	assert_string_equal("failed", text(&status->state));
	assert_int_equal(RD_UNSUPPORTED, status->error->code);
	assert_string_equal("not a trace", text(&status->error->text));
	assert_string_equal("/t/b", text(&status->error->file));
	/* The other one need not go on, and the third is never opened. */
	assert_int_equal(a->task, expect(&s, W1, RD__KIND__ABANDON)->task);
	expect(&s, MERGER, RD__KIND__DROP);
	expect_nothing(&s, W1);
	/* Its late answer is nobody's. */
	Rd__Envelope e = about(&s, RD__KIND__PROGRESS, a->task, a->attempt);
	say(&s, W1, &e, NULL);
	expect(&s, W1, RD__KIND__ABANDON);
}

static void a_member_is_named_as_the_user_knows_it(void **state)
{
	Rd__Submit base = plain_submit();
	Rd__Opened opened = RD__OPENED__INIT;
	ProtobufCBinaryData path = rd_field("/scratch/00.trace"), member = rd_field("inner.etl");
	uint64_t size = 10;

	hello(&s, MERGER, RD__ROLE__MERGER, 0);
	hello(&s, CLIENT, RD__ROLE__CLIENT, 0);
	hello(&s, W1, RD__ROLE__WORKER, 1);
	submit(&s, &base, 1, (const char *[]){"/t/a.zip"});
	const Rd__Envelope *open = take_task(&s, W1, RD__WORK__OPEN);
	Rd__Envelope e = about(&s, RD__KIND__RESULT, open->task, open->attempt);
	opened.n_path = opened.n_member = opened.n_size_bytes = 1;
	opened.path = &path;
	opened.member = &member;
	opened.size_bytes = &size;
	e.opened = &opened;
	say(&s, W1, &e, NULL);
	expect(&s, W1, RD__KIND__DONE);
	say_failed(&s, W1, take_task(&s, W1, RD__WORK__INDEX), RD_UNSUPPORTED, "version 9", "/scratch/00.trace", false);
	assert_string_equal("/t/a.zip:inner.etl", text(&newest_status(&s, CLIENT)->error->file));
}

static void a_lost_worker_costs_one_more_attempt(void **state)
{
	start(2, 2, 4);
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
	start(2, 1, 4);
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
	start(2, 1, 4);
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
	assert_string_equal("finishing", text(&status_of_job()->state));
}

static void a_late_merge_of_a_lost_attempt_counts(void **state)
{
	start(2, 2, 4);
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
	assert_int_equal(2, status_of_job()->shards_done);
}

static void progress_keeps_the_lease(void **state)
{
	start(1, 1, 4);
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
	start(1, 2, 4);
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
	start(1, 2, 4);
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
	start(1, 1, 4);
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
	start(1, 1, 4);
	for (uint32_t i = 1; i <= 5; i++) {
		assert_int_equal(i, take_task(&s, W1, RD__WORK__DECODE)->attempt);
		Rd__Envelope leave = rd_envelope(RD__KIND__LEAVE);
		say(&s, W1, &leave, NULL);
		hello(&s, W1, RD__ROLE__WORKER, 1);
	}
	settle(W1);
	expect(&s, MERGER, RD__KIND__FINISH);
}

static void the_merger_comes_back(void **state)
{
	start(2, 3, 6);
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
	start(1, 1, 2);
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
	settle(W1);
	expect(&s, MERGER, RD__KIND__FINISH);
}

static void the_merger_fails(void **state)
{
	Rd__Error error = RD__ERROR__INIT;

	start(1, 2, 4);
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

static void the_finish_fails(void **state)
{
	Rd__Error error = RD__ERROR__INIT;

	start(1, 1, 4);
	settle(W1);
	expect(&s, MERGER, RD__KIND__FINISH);
	Rd__Envelope e = about(&s, RD__KIND__FINISH_PROGRESS, 0, 0);
	e.bytes = 5;
	e.total = 9;
	say(&s, MERGER, &e, NULL);
	stage_pass(&s, SECOND);
	assert_int_equal(5, newest_status(&s, CLIENT)->finish_done);
	e = about(&s, RD__KIND__FAILED, 0, 0);
	error.code = RD_EXISTS;
	error.text = rd_field("it is there");
	error.offset = RD_NO_OFFSET;
	e.error = &error;
	say(&s, MERGER, &e, NULL);
	const Rd__Status *status = newest_status(&s, CLIENT);
	assert_string_equal("failed", text(&status->state));
	assert_int_equal(RD_EXISTS, status->error->code);
}

static void cancel_stops_everybody(void **state)
{
	start(2, 4, 4);
	take_task(&s, W1, RD__WORK__DECODE);
	take_task(&s, W2, RD__WORK__DECODE);
	Rd__Envelope e = about(&s, RD__KIND__CANCEL, 0, 0);
	say(&s, CLIENT, &e, NULL);
	expect(&s, W1, RD__KIND__ABANDON);
	expect(&s, W2, RD__KIND__ABANDON);
	expect(&s, MERGER, RD__KIND__DROP);
	assert_string_equal("cancelled", text(&newest_status(&s, CLIENT)->state));
	expect_nothing(&s, W1);
	/* Twice is as good as once. */
	say(&s, CLIENT, &e, NULL);
	assert_string_equal("cancelled", text(&newest_status(&s, CLIENT)->state));
	e.job = rd_field("nonsense");
	say(&s, CLIENT, &e, NULL);
	assert_int_equal(RD_NOT_FOUND, newest_status(&s, CLIENT)->error->code);
}

static void jobs_one_after_the_other(void **state)
{
	Rd__Submit base = plain_submit();
	char first[80];

	start(1, 1, 2);
	snprintf(first, sizeof first, "%s", s.job);
	const Rd__Envelope *decode = take_task(&s, W1, RD__WORK__DECODE);
	submit(&s, &base, 1, (const char *[]){"/t/second"});
	assert_string_not_equal(first, s.job);
	char second[80];
	snprintf(second, sizeof second, "%s", s.job);
	snprintf(s.job, sizeof s.job, "%s", first);
	say_partial(&s, W1, decode, 1);
	snprintf(s.job, sizeof s.job, "%s", second);
	assert_string_equal(second, text(&take_task(&s, W1, RD__WORK__OPEN)->job));
}

static void whoever_breaks_the_protocol_loses_its_place(void **state)
{
	struct rd_error why = {0};

	start(2, 2, 4);
	const Rd__Envelope *one = take_task(&s, W1, RD__WORK__DECODE);
	take_task(&s, W2, RD__WORK__DECODE);
	/* A worker does not finish jobs. */
	Rd__Envelope e = about(&s, RD__KIND__FINISH_PROGRESS, 0, 0);
	say(&s, W1, &e, NULL);
	assert_int_equal(RD_PROTOCOL, expect(&s, W1, RD__KIND__REFUSED)->error->code);
	/* From now on it is a stranger. */
	e = about(&s, RD__KIND__PROGRESS, one->task, one->attempt);
	say(&s, W1, &e, NULL);
	assert_int_equal(RD_NOT_FOUND, expect(&s, W1, RD__KIND__REFUSED)->error->code);
	rd_fail(&why, RD_PROTOCOL, "bytes that are no message");
	rd_broker_hear_rubbish(s.broker, W2, &why, s.now_ns);
	stage_pass(&s, 1);
	expect(&s, W2, RD__KIND__REFUSED);
	hello(&s, W3, RD__ROLE__WORKER, 1);
	settle(W3);
	settle(W3);
	expect(&s, MERGER, RD__KIND__FINISH);
}

static void wrong_counts_and_wrong_results_are_failures(void **state)
{
	start(1, 1, 4);
	const Rd__Envelope *one = take_task(&s, W1, RD__WORK__DECODE);
	Rd__Envelope e = about(&s, RD__KIND__COMMIT, one->task, one->attempt);
	struct rd_blob blob = {0};

	e.count = 3;
	say(&s, W1, &e, NULL);
	expect(&s, W1, RD__KIND__ABANDON);
	one = take_task(&s, W1, RD__WORK__DECODE);
	assert_int_equal(2, one->attempt);
	/* An index for a shard. */
	e = about(&s, RD__KIND__RESULT, one->task, one->attempt);
	rd_blob_add(&blob, "nonsense", 8, NULL);
	say(&s, W1, &e, &blob);
	expect(&s, W1, RD__KIND__ABANDON);
	assert_int_equal(3, take_task(&s, W1, RD__WORK__DECODE)->attempt);
}

static void an_index_that_is_none(void **state)
{
	Rd__Submit base = plain_submit();
	struct rd_blob blob = {0};

	hello(&s, CLIENT, RD__ROLE__CLIENT, 0);
	hello(&s, W1, RD__ROLE__WORKER, 1);
	submit(&s, &base, 1, (const char *[]){"/t/a"});
	for (int i = 0; i < 3; i++) {
		const Rd__Envelope *open = take_task(&s, W1, RD__WORK__OPEN);
		Rd__Envelope e = about(&s, RD__KIND__RESULT, open->task, open->attempt);
		rd_blob_add(&blob, "nonsense", 8, NULL);
		say(&s, W1, &e, &blob);
		expect(&s, W1, RD__KIND__ABANDON);
	}
	assert_string_equal("failed", text(&newest_status(&s, CLIENT)->state));
}

static void the_same_process_on_a_new_connection(void **state)
{
	start(1, 1, 4);
	take_task(&s, W1, RD__WORK__DECODE);
	s.uuids--;
	hello(&s, W2, RD__ROLE__WORKER, 1);
	const Rd__Envelope *again = take_task(&s, W2, RD__WORK__DECODE);
	assert_int_equal(2, again->attempt);
	assert_int_equal(1, status_of_job()->workers);
	say_partial(&s, W2, again, 1);
	say_merged(&s, again, false);
	expect(&s, MERGER, RD__KIND__FINISH);
}

static void more_than_one_task_a_worker(void **state)
{
	Rd__Submit base = plain_submit();

	base.shards = 5;
	hello(&s, MERGER, RD__ROLE__MERGER, 0);
	hello(&s, CLIENT, RD__ROLE__CLIENT, 0);
	hello(&s, W1, RD__ROLE__WORKER, 2);
	submit(&s, &base, 1, (const char *[]){"/t/a"});
	say_index(&s, W1, take_task(&s, W1, RD__WORK__OPEN), 5, MIB);
	const Rd__Envelope *one = take_task(&s, W1, RD__WORK__DECODE);
	take_task(&s, W1, RD__WORK__DECODE);
	expect_nothing(&s, W1);
	hello(&s, W2, RD__ROLE__WORKER, 2);
	take_task(&s, W2, RD__WORK__DECODE);
	take_task(&s, W2, RD__WORK__DECODE);
	say_partial(&s, W1, one, 1);
	assert_int_equal(4, take_task(&s, W1, RD__WORK__DECODE)->work->shard);
}

static void watchers_hear_at_a_pace(void **state)
{
	start(1, 1, 100);
	const Rd__Envelope *one = take_task(&s, W1, RD__WORK__DECODE);
	Rd__Envelope e = about(&s, RD__KIND__PROGRESS, one->task, one->attempt);
	int told = 0;

	newest_status(&s, CLIENT);
	for (int i = 1; i <= 1050; i++) {
		s.now_ns += SECOND / 1000;
		e.bytes = (uint64_t)i * 1000;
		say(&s, W1, &e, NULL);
	}
	while (s.letters.n > 0) {
		told += s.letters.at[0].m.envelope->kind == RD__KIND__JOB_STATUS;
		rd_message_release(&s.letters.at[0].m);
		s.letters.n--;
		memmove(s.letters.at, s.letters.at + 1, s.letters.n * sizeof *s.letters.at);
	}
	assert_in_range(told, 9, 11);
	/* The last word comes too, when its time is there. */
	assert_true(rd_broker_next_ns(s.broker) <= s.now_ns + SECOND / 10);
	stage_pass(&s, SECOND);
	assert_int_equal(1050 * 1000, newest_status(&s, CLIENT)->bytes_done);
}

static void the_time_that_is_left(void **state)
{
	start(1, 1, 100);
	const Rd__Envelope *one = take_task(&s, W1, RD__WORK__DECODE);
	Rd__Envelope e = about(&s, RD__KIND__PROGRESS, one->task, one->attempt);

	assert_int_equal(UINT32_MAX, newest_status(&s, CLIENT)->eta_s);
	s.now_ns += 10 * SECOND;
	e.bytes = 25 * MIB;
	say(&s, W1, &e, NULL);
	assert_int_equal(30, newest_status(&s, CLIENT)->eta_s);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(one_job_from_submit_to_result),
		T(nobody_there_yet),
		T(archives_and_several_inputs_keep_their_order),
		T(one_bad_input_fails_the_job_before_any_decoding),
		T(a_member_is_named_as_the_user_knows_it),
		T(a_lost_worker_costs_one_more_attempt),
		T(a_worker_lost_after_its_commit_is_not_missed),
		T(a_stale_attempt_is_fenced_off),
		T(a_late_merge_of_a_lost_attempt_counts),
		T(progress_keeps_the_lease),
		T(a_poison_shard_is_quarantined_and_the_rest_goes_on),
		T(a_quarantined_shard_that_was_merged_after_all),
		T(no_shard_at_all_is_a_failure),
		T(an_input_that_never_opens_fails_the_job),
		T(a_polite_leave_costs_no_chance),
		T(the_merger_comes_back),
		T(without_a_merger_a_chunk_goes_nowhere),
		T(the_merger_fails),
		T(the_finish_fails),
		T(cancel_stops_everybody),
		T(jobs_one_after_the_other),
		T(whoever_breaks_the_protocol_loses_its_place),
		T(wrong_counts_and_wrong_results_are_failures),
		T(an_index_that_is_none),
		T(the_same_process_on_a_new_connection),
		T(more_than_one_task_a_worker),
		T(watchers_hear_at_a_pace),
		T(the_time_that_is_left),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
