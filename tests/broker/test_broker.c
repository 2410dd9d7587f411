#include <time.h>

#include "base/log.h"
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

static void one_job_from_submit_to_result(void **state)
{
	uint64_t began_s = (uint64_t)time(NULL);

	start(&s, 1, 2, 4);
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
	say_finished(&s);
	status = newest_status(&s, CLIENT);
	assert_string_equal("done", text(&status->state));
	assert_int_equal(42, status->finished->samples);
	/* Whoever is connected does not work on it any more. */
	assert_int_equal(0, status->workers);
	assert_true(status->submitted_s >= began_s && status->submitted_s <= (uint64_t)time(NULL));
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
	settle(&s, W1);
	expect(&s, MERGER, RD__KIND__FINISH);
}

static void archives_and_several_inputs_keep_their_order(void **state)
{
	Rd__Submit base = plain_submit();
	Rd__Opened opened = RD__OPENED__INIT;
	ProtobufCBinaryData paths[] = {rd_field("/scratch/00.trace"), rd_field("/scratch/01.trace")};
	ProtobufCBinaryData members[] = {rd_field("one.etl"), rd_field("two.etl")};
	ProtobufCBinaryData damages[] = {rd_field(""), rd_field("the archive ends early")};
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
	opened.n_path = opened.n_member = opened.n_size_bytes = opened.n_damage = 2;
	opened.path = paths;
	opened.member = members;
	opened.size_bytes = sizes;
	opened.damage = damages;
	e.opened = &opened;
	say(&s, W1, &e, NULL);
	expect(&s, W1, RD__KIND__DONE);
	const Rd__Envelope *one = take_task(&s, W1, RD__WORK__INDEX);
	const Rd__Envelope *two = take_task(&s, W2, RD__WORK__INDEX);
	assert_string_equal("/scratch/00.trace", text(&one->work->path));
	assert_string_equal("", text(&one->work->damage));
	assert_string_equal("the archive ends early", text(&two->work->damage));
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
	ProtobufCBinaryData damage = rd_field("");
	uint64_t size = 10;

	hello(&s, MERGER, RD__ROLE__MERGER, 0);
	hello(&s, CLIENT, RD__ROLE__CLIENT, 0);
	hello(&s, W1, RD__ROLE__WORKER, 1);
	submit(&s, &base, 1, (const char *[]){"/t/a.zip"});
	const Rd__Envelope *open = take_task(&s, W1, RD__WORK__OPEN);
	Rd__Envelope e = about(&s, RD__KIND__RESULT, open->task, open->attempt);
	opened.n_path = opened.n_member = opened.n_size_bytes = opened.n_damage = 1;
	opened.path = &path;
	opened.member = &member;
	opened.size_bytes = &size;
	opened.damage = &damage;
	e.opened = &opened;
	say(&s, W1, &e, NULL);
	expect(&s, W1, RD__KIND__DONE);
	say_failed(&s, W1, take_task(&s, W1, RD__WORK__INDEX), RD_UNSUPPORTED, "version 9", "/scratch/00.trace", false);
	assert_string_equal("/t/a.zip:inner.etl", text(&newest_status(&s, CLIENT)->error->file));
}

static void cancel_stops_everybody(void **state)
{
	start(&s, 2, 4, 4);
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

	start(&s, 1, 1, 2);
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

	start(&s, 2, 2, 4);
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
	settle(&s, W3);
	settle(&s, W3);
	expect(&s, MERGER, RD__KIND__FINISH);
}

static void wrong_counts_and_wrong_results_are_failures(void **state)
{
	start(&s, 1, 1, 4);
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
	start(&s, 1, 1, 4);
	take_task(&s, W1, RD__WORK__DECODE);
	s.uuids--;
	hello(&s, W2, RD__ROLE__WORKER, 1);
	const Rd__Envelope *again = take_task(&s, W2, RD__WORK__DECODE);
	assert_int_equal(2, again->attempt);
	assert_int_equal(1, status_of_job(&s)->workers);
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
	/* From both ends, where rundowns are. */
	const Rd__Envelope *one = take_task(&s, W1, RD__WORK__DECODE);
	assert_int_equal(0, one->work->shard);
	assert_int_equal(4, take_task(&s, W1, RD__WORK__DECODE)->work->shard);
	expect_nothing(&s, W1);
	hello(&s, W2, RD__ROLE__WORKER, 2);
	assert_int_equal(1, take_task(&s, W2, RD__WORK__DECODE)->work->shard);
	assert_int_equal(3, take_task(&s, W2, RD__WORK__DECODE)->work->shard);
	say_partial(&s, W1, one, 1);
	assert_int_equal(2, take_task(&s, W1, RD__WORK__DECODE)->work->shard);
}

static void watchers_hear_at_a_pace(void **state)
{
	start(&s, 1, 1, 100);
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
	start(&s, 1, 1, 100);
	const Rd__Envelope *one = take_task(&s, W1, RD__WORK__DECODE);
	Rd__Envelope e = about(&s, RD__KIND__PROGRESS, one->task, one->attempt);

	assert_int_equal(UINT32_MAX, newest_status(&s, CLIENT)->eta_s);
	s.now_ns += 10 * SECOND;
	e.bytes = 25 * MIB;
	say(&s, W1, &e, NULL);
	assert_int_equal(30, newest_status(&s, CLIENT)->eta_s);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static void rubbish_is_not_answered_for_ever(void **state)
{
	struct rd_message m;
	struct rd_error why;
	size_t answers = 0, others = 0;

	rd_fail(&why, RD_PROTOCOL, "no envelope");
	for (int i = 0; i < 1000; i++)
		rd_broker_hear_rubbish(s.broker, W2, &why, s.now_ns);
	rd_broker_hear_rubbish(s.broker, W3, &why, s.now_ns);
	stage_pass(&s, 1);
	while (next_letter(&s, W2, &m)) {
		assert_int_equal(RD__KIND__REFUSED, m.envelope->kind);
		rd_message_release(&m);
		answers++;
	}
	while (next_letter(&s, W3, &m)) {
		rd_message_release(&m);
		others++;
	}
	assert_int_equal(answers, RD_LOG_BURST);
	assert_int_equal(others, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(one_job_from_submit_to_result),
		T(rubbish_is_not_answered_for_ever),
		T(nobody_there_yet),
		T(archives_and_several_inputs_keep_their_order),
		T(one_bad_input_fails_the_job_before_any_decoding),
		T(a_member_is_named_as_the_user_knows_it),
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
