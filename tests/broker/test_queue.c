/* Many jobs: whose turn it is, what a job may use, who helps at the end, and the words of clients. */
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

/* A job of one trace of this many blocks, a shard each, opened by W1; its id in `id`. */
static void add_job(const char *path, const Rd__Submit *base, uint32_t shards, char id[80])
{
	Rd__Submit m = *base;

	m.shards = shards;
	submit(&s, &m, 1, &path);
	strcpy(id, s.job);
}

static void open_job(const char *id, uint32_t shards)
{
	strcpy(s.job, id);
	say_index(&s, W1, take_task(&s, W1, RD__WORK__OPEN), shards, MIB);
}

/* The next decode of this worker is of this job; it is decoded and merged. */
static void decodes(rd_peer worker, const char *id)
{
	const Rd__Envelope *task = take_task(&s, worker, RD__WORK__DECODE);

	assert_string_equal(id, text(&task->job));
	strcpy(s.job, id);
	say_partial(&s, worker, task, 1);
	say_merged(&s, task, false);
	expect(&s, worker, RD__KIND__DONE);
}

static void everybody(uint32_t workers)
{
	hello(&s, MERGER, RD__ROLE__MERGER, 0);
	hello(&s, CLIENT, RD__ROLE__CLIENT, 0);
	for (uint32_t i = 0; i < workers; i++)
		hello(&s, W1 + i, RD__ROLE__WORKER, 1);
}

static void one_worker_serves_equal_jobs_in_turn(void **state)
{
	Rd__Submit base = plain_submit();
	char a[80], b[80];

	base.watch = false;
	hello(&s, MERGER, RD__ROLE__MERGER, 0);
	hello(&s, CLIENT, RD__ROLE__CLIENT, 0);
	add_job("/t/a", &base, 3, a);
	add_job("/t/b", &base, 3, b);
	hello(&s, W1, RD__ROLE__WORKER, 1);
	open_job(a, 3);
	open_job(b, 3);
	for (int i = 0; i < 3; i++) {
		decodes(W1, a);
		if (i == 2)
			expect(&s, MERGER, RD__KIND__FINISH);
		decodes(W1, b);
	}
	expect(&s, MERGER, RD__KIND__FINISH);
}

static void a_late_job_gets_its_share(void **state)
{
	Rd__Submit base = plain_submit();
	const Rd__Envelope *first[4];
	char a[80], b[80];

	base.watch = false;
	everybody(4);
	add_job("/t/a", &base, 20, a);
	open_job(a, 20);
	for (int i = 0; i < 4; i++)
		first[i] = take_task(&s, W1 + (rd_peer)i, RD__WORK__DECODE);
	add_job("/t/b", &base, 20, b);
	strcpy(s.job, a);
	say_partial(&s, W1, first[0], 1);
	open_job(b, 20);
	/* The job with fewer workers is next, until both have two. */
	assert_string_equal(b, text(&take_task(&s, W1, RD__WORK__DECODE)->job));
	strcpy(s.job, a);
	say_partial(&s, W2, first[1], 1);
	assert_string_equal(b, text(&take_task(&s, W2, RD__WORK__DECODE)->job));
	say_partial(&s, W3, first[2], 1);
	assert_string_equal(a, text(&take_task(&s, W3, RD__WORK__DECODE)->job));
}

static void priority_comes_first(void **state)
{
	Rd__Submit base = plain_submit();
	char low[80], high[80];

	base.watch = false;
	hello(&s, MERGER, RD__ROLE__MERGER, 0);
	hello(&s, CLIENT, RD__ROLE__CLIENT, 0);
	add_job("/t/a", &base, 2, low);
	base.priority = 1;
	add_job("/t/b", &base, 2, high);
	hello(&s, W1, RD__ROLE__WORKER, 1);
	open_job(high, 2);
	decodes(W1, high);
	decodes(W1, high);
	expect(&s, MERGER, RD__KIND__FINISH);
	open_job(low, 2);
	decodes(W1, low);
}

static void a_job_uses_no_more_workers_than_it_may(void **state)
{
	Rd__Submit base = plain_submit();
	char a[80], b[80];

	base.watch = false;
	base.workers_most = 1;
	everybody(2);
	add_job("/t/a", &base, 4, a);
	open_job(a, 4);
	const Rd__Envelope *task = take_task(&s, W1, RD__WORK__DECODE);
	expect_nothing(&s, W2);
	base.workers_most = 0;
	submit(&s, &base, 1, (const char *[]){"/t/b"});
	strcpy(b, s.job);
	assert_string_equal(b, text(&take_task(&s, W2, RD__WORK__OPEN)->job));
	strcpy(s.job, a);
	say_partial(&s, W1, task, 1);
	assert_string_equal(a, text(&take_task(&s, W1, RD__WORK__DECODE)->job));
}

static void a_job_has_its_own_number_of_attempts(void **state)
{
	Rd__Submit base = plain_submit();
	char a[80];

	base.attempts = 1;
	everybody(1);
	add_job("/t/a", &base, 2, a);
	open_job(a, 2);
	say_failed(&s, W1, take_task(&s, W1, RD__WORK__DECODE), RD_INTERNAL, "killed", "", true);
	assert_int_equal(1, newest_status(&s, CLIENT)->shards_quarantined);
	assert_int_equal(1, take_task(&s, W1, RD__WORK__DECODE)->work->shard);
}

static void a_job_that_takes_too_long_fails(void **state)
{
	Rd__Submit base = plain_submit();
	char a[80];

	base.seconds = 100;
	everybody(1);
	add_job("/t/a", &base, 1, a);
	stage_pass(&s, 40 * SECOND);
	open_job(a, 1);
	take_task(&s, W1, RD__WORK__DECODE);
	stage_pass(&s, 59 * SECOND);
	assert_string_equal("running", text(&status_of_job(&s)->state));
	assert_true(rd_broker_next_ns(s.broker) <= s.now_ns + SECOND);
	stage_pass(&s, SECOND);
	const Rd__Status *status = newest_status(&s, CLIENT);
	assert_string_equal("failed", text(&status->state));
	assert_string_equal("the job was not done after 100 s", text(&status->error->text));
	assert_int_equal(100, status->spent_s);
}

/* ---- back-pressure */

static void a_merger_that_lags_is_not_given_more(void **state)
{
	start(&s, 1, 20, 20);
	const Rd__Envelope *task = NULL, *oldest = NULL;

	/* Small partials are committed without waiting; four of them may wait for MERGED. */
	for (int i = 0; i < 4; i++) {
		task = take_task(&s, W1, RD__WORK__DECODE);
		oldest = oldest ? oldest : task;
		say_partial(&s, W1, task, 1);
	}
	expect_nothing(&s, W1);
	say_merged(&s, oldest, false);
	expect(&s, W1, RD__KIND__DONE);
	take_task(&s, W1, RD__WORK__DECODE);
}

/* ---- second attempts */

static void progress(rd_peer worker, const Rd__Envelope *task, uint64_t bytes)
{
	Rd__Envelope e = about(&s, RD__KIND__PROGRESS, task->task, task->attempt);

	e.bytes = bytes;
	say(&s, worker, &e, NULL);
}

static void a_straggler_is_helped_and_the_first_wins(void **state)
{
	start(&s, 2, 3, 3);
	const Rd__Envelope *slow = take_task(&s, W1, RD__WORK__DECODE);
	const Rd__Envelope *quick = take_task(&s, W2, RD__WORK__DECODE);

	stage_pass(&s, 2 * SECOND);
	say_partial(&s, W2, quick, 1);
	say_merged(&s, quick, false);
	quick = take_task(&s, W2, RD__WORK__DECODE);
	stage_pass(&s, 2 * SECOND);
	say_partial(&s, W2, quick, 1);
	say_merged(&s, quick, false);
	/* A megabyte takes the others 2 s; that one is at 4 s, and not yet late. */
	expect(&s, W2, RD__KIND__DONE);
	expect(&s, W2, RD__KIND__DONE);
	expect_nothing(&s, W2);
	progress(W1, slow, MIB / 100);
	assert_true(rd_broker_next_ns(s.broker) <= s.now_ns + 2 * SECOND);
	stage_pass(&s, 2 * SECOND);
	const Rd__Envelope *second = take_task(&s, W2, RD__WORK__DECODE);
	assert_int_equal(slow->task, second->task);
	assert_int_equal(2, second->attempt);
	assert_int_equal(1, status_of_job(&s)->shards_running);
	say_partial(&s, W2, second, 1);
	say_merged(&s, second, false);
	/* The late one is told, and what it says goes no further. */
	assert_int_equal(1, expect(&s, W1, RD__KIND__ABANDON)->attempt);
	expect(&s, MERGER, RD__KIND__FINISH);
	Rd__Envelope e = about(&s, RD__KIND__COMMIT, slow->task, slow->attempt);
	say(&s, W1, &e, NULL);
	expect(&s, W1, RD__KIND__ABANDON);
	expect_nothing(&s, MERGER);
}

static void one_that_is_nearly_there_is_left_alone(void **state)
{
	start(&s, 2, 2, 2);
	const Rd__Envelope *slow = take_task(&s, W1, RD__WORK__DECODE);
	const Rd__Envelope *quick = take_task(&s, W2, RD__WORK__DECODE);

	stage_pass(&s, 2 * SECOND);
	say_partial(&s, W2, quick, 1);
	say_merged(&s, quick, false);
	expect(&s, W2, RD__KIND__DONE);
	progress(W1, slow, MIB * 9 / 10);
	stage_pass(&s, 10 * SECOND);
	expect_nothing(&s, W2);
	/* Until it falls silent. */
	stage_pass(&s, 5 * SECOND);
	const Rd__Envelope *second = take_task(&s, W2, RD__WORK__DECODE);
	/* The first one wins after all; no third is made, and nobody counts a failure. */
	say_partial(&s, W1, slow, 1);
	say_merged(&s, slow, false);
	expect(&s, W2, RD__KIND__ABANDON);
	assert_int_equal(2, second->attempt);
	expect(&s, MERGER, RD__KIND__FINISH);
}

/* ---- words of clients */

static void retry_as(const char *token)
{
	Rd__Envelope e = about(&s, RD__KIND__RETRY, 0, 0);

	e.token = rd_field(token);
	say(&s, CLIENT, &e, NULL);
}

static void retry_gives_a_running_job_its_shards_back(void **state)
{
	start(&s, 1, 2, 2);
	retry_as("0123456789abcdef");
	assert_int_equal(RD_USAGE, expect(&s, CLIENT, RD__KIND__SUBMITTED)->error->code);
	for (int i = 0; i < 3; i++)
		say_failed(&s, W1, take_task(&s, W1, RD__WORK__DECODE), RD_INTERNAL, "killed", "", true);
	const Rd__Envelope *other = take_task(&s, W1, RD__WORK__DECODE);
	assert_int_equal(1, status_of_job(&s)->shards_quarantined);
	retry_as("");
	assert_string_equal(s.job, text(&expect(&s, CLIENT, RD__KIND__SUBMITTED)->job));
	assert_int_equal(0, status_of_job(&s)->shards_quarantined);
	say_partial(&s, W1, other, 1);
	const Rd__Envelope *again = take_task(&s, W1, RD__WORK__DECODE);
	assert_int_equal(0, again->work->shard);
	assert_int_equal(4, again->attempt);
	say_merged(&s, other, false);
	say_partial(&s, W1, again, 1);
	say_merged(&s, again, false);
	assert_int_equal(0, expect(&s, MERGER, RD__KIND__FINISH)->finish->n_quarantined_trace);
}

static void retry_of_an_ended_job_is_another_one(void **state)
{
	char first[80];

	start(&s, 1, 1, 2);
	strcpy(first, s.job);
	Rd__Envelope e = about(&s, RD__KIND__CANCEL, 0, 0);
	say(&s, CLIENT, &e, NULL);
	retry_as("0123456789abcdef");
	rd_field_text(&expect(&s, CLIENT, RD__KIND__SUBMITTED)->job, s.job, sizeof s.job);
	assert_string_not_equal(first, s.job);
	/* Said again, because the answer was lost: still that one. */
	char second[80];
	strcpy(second, s.job);
	strcpy(s.job, first);
	retry_as("0123456789abcdef");
	assert_string_equal(second, text(&expect(&s, CLIENT, RD__KIND__SUBMITTED)->job));
	strcpy(s.job, second);
	assert_string_equal("/t/a.nettrace", text(&status_of_job(&s)->path));
	strcpy(s.job, "nonsense");
	retry_as("");
	assert_int_equal(RD_NOT_FOUND, expect(&s, CLIENT, RD__KIND__SUBMITTED)->error->code);
}

static void ask_top(rd_peer client)
{
	Rd__Envelope e = about(&s, RD__KIND__TOP, 0, 0);

	e.count = 5;
	say(&s, client, &e, NULL);
}

static void early_answers_go_to_those_who_asked(void **state)
{
	enum { OTHER = 90 };
	Rd__Top top = RD__TOP__INIT;

	start(&s, 1, 2, 2);
	hello(&s, OTHER, RD__ROLE__CLIENT, 0);
	ask_top(CLIENT);
	assert_int_equal(5, expect(&s, MERGER, RD__KIND__TOP)->count);
	Rd__Envelope rows = about(&s, RD__KIND__TOP_ROWS, 0, 0);
	top.samples = 7;
	rows.top = &top;
	say(&s, MERGER, &rows, NULL);
	assert_int_equal(7, expect(&s, CLIENT, RD__KIND__TOP_ROWS)->top->samples);
	expect_nothing(&s, OTHER);
	/* Said again, nobody asked. */
	say(&s, MERGER, &rows, NULL);
	expect_nothing(&s, CLIENT);
	/* The merger goes; the job ends; there is no such job. */
	ask_top(CLIENT);
	expect(&s, MERGER, RD__KIND__TOP);
	s.unreachable[0] = MERGER;
	rd_broker_probe(s.broker, s.now_ns);
	stage_pass(&s, 1000);
	assert_int_equal(RD_IO, expect(&s, CLIENT, RD__KIND__TOP_ROWS)->error->code);
	ask_top(CLIENT);
	assert_int_equal(RD_IO, expect(&s, CLIENT, RD__KIND__TOP_ROWS)->error->code);
	s.unreachable[0] = 0;
	hello(&s, MERGER, RD__ROLE__MERGER, 0);
	ask_top(OTHER);
	expect(&s, MERGER, RD__KIND__TOP);
	Rd__Envelope e = about(&s, RD__KIND__CANCEL, 0, 0);
	say(&s, CLIENT, &e, NULL);
	assert_non_null(expect(&s, OTHER, RD__KIND__TOP_ROWS)->error);
	ask_top(CLIENT);
	assert_int_equal(RD_EXISTS, expect(&s, CLIENT, RD__KIND__TOP_ROWS)->error->code);
	strcpy(s.job, "nonsense");
	ask_top(CLIENT);
	assert_int_equal(RD_NOT_FOUND, expect(&s, CLIENT, RD__KIND__TOP_ROWS)->error->code);
}

static void a_list_of_jobs_has_an_end(void **state)
{
	Rd__Envelope e = rd_envelope(RD__KIND__STATUS);
	Rd__Submit base = plain_submit();

	hello(&s, CLIENT, RD__ROLE__CLIENT, 0);
	say(&s, CLIENT, &e, NULL);
	assert_int_equal(0, expect(&s, CLIENT, RD__KIND__JOBS)->count);
	base.watch = false;
	submit(&s, &base, 1, (const char *[]){"/t/a"});
	submit(&s, &base, 1, (const char *[]){"/t/b"});
	say(&s, CLIENT, &e, NULL);
	assert_string_equal("/t/a", text(&expect(&s, CLIENT, RD__KIND__JOB_STATUS)->status->path));
	assert_string_equal("/t/b", text(&expect(&s, CLIENT, RD__KIND__JOB_STATUS)->status->path));
	assert_int_equal(2, expect(&s, CLIENT, RD__KIND__JOBS)->count);
}

static void jobs_name_what_is_below_a_root(void **state)
{
	static const struct {
		const char *path;
		bool ok;
	} rows[] = {
		{"/t/a", true},       {"/data/x/y", true}, {"/t", false},    {"/t/", false},  {"/tt/a", false},
		{"/t/../etc", false}, {"/t/./a", false},   {"/t//a", false}, {"/x/a", false}, {"/t/..", false},
		{"/t/..a", true},     {"/t/a..", true},    {"/data", false}, {"/", false},
	};
	struct rd_broker_options opt = {.epoch = {1}, .roots = "/t:/data/:"};
	Rd__Submit base = plain_submit();

	stage_close(&s);
	stage_open(&s, &opt);
	hello(&s, CLIENT, RD__ROLE__CLIENT, 0);
	base.output = rd_field("/t/r");
	base.scratch = rd_field("/data/s");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		Rd__Envelope e = rd_envelope(RD__KIND__SUBMIT);
		ProtobufCBinaryData path = rd_field(rows[i].path);
		base.path = &path;
		base.n_path = 1;
		e.submit = &base;
		say(&s, CLIENT, &e, NULL);
		const Rd__Envelope *answer = expect(&s, CLIENT, RD__KIND__SUBMITTED);
		if (rows[i].ok != (answer->error == NULL))
			fail_msg("%s: %s", rows[i].path, answer->error ? "refused" : "taken");
	}
	/* The output and the scratch folder, too. */
	base.output = rd_field("/o/r");
	Rd__Envelope e = rd_envelope(RD__KIND__SUBMIT);
	ProtobufCBinaryData path = rd_field("/t/a");
	base.path = &path;
	e.submit = &base;
	say(&s, CLIENT, &e, NULL);
	assert_string_equal("/o/r", text(&expect(&s, CLIENT, RD__KIND__SUBMITTED)->error->file));
	base.output = rd_field("/t/r");
	base.scratch = rd_field("/tmp");
	say(&s, CLIENT, &e, NULL);
	assert_string_equal("/tmp", text(&expect(&s, CLIENT, RD__KIND__SUBMITTED)->error->file));
}

/* ---- what is done already */

/* A job with `update` of a trace of this many blocks; whether it was done at once. */
static bool done_at_once(uint32_t blocks, const char *output)
{
	Rd__Submit base = plain_submit();

	base.update = true;
	base.output = rd_field(output);
	submit(&s, &base, 1, (const char *[]){"/t/a"});
	say_index(&s, W1, take_task(&s, W1, RD__WORK__OPEN), blocks, MIB);
	const Rd__Status *status = newest_status(&s, CLIENT);
	if (strcmp(text(&status->state), "done") != 0)
		return false;
	assert_int_equal(42, status->finished->samples);
	return true;
}

static void finish_it(void)
{
	settle(&s, W1);
	expect(&s, MERGER, RD__KIND__FINISH);
	say_finished(&s);
}

static void the_same_traces_are_not_worked_on_again(void **state)
{
	everybody(1);
	assert_false(done_at_once(2, "/out/x.rundown"));
	finish_it();
	assert_true(done_at_once(2, "/out/x.rundown"));
	expect_nothing(&s, W1);
	/* Grown; and then the same as that. */
	assert_false(done_at_once(3, "/out/x.rundown"));
	finish_it();
	assert_true(done_at_once(3, "/out/x.rundown"));
	/* What it was before is not what is there now. */
	assert_false(done_at_once(2, "/out/x.rundown"));
	finish_it();
	/* Another place has nothing. */
	assert_false(done_at_once(2, "/out/y.rundown"));
}

static void an_update_that_waits_is_not_doubled(void **state)
{
	Rd__Submit base = plain_submit();
	char first[80];

	hello(&s, CLIENT, RD__ROLE__CLIENT, 0);
	base.update = true;
	submit(&s, &base, 1, (const char *[]){"/t/a"});
	strcpy(first, s.job);
	submit(&s, &base, 1, (const char *[]){"/t/a"});
	assert_string_equal(first, s.job);
	/* Another trace, another wish, another place. */
	submit(&s, &base, 1, (const char *[]){"/t/b"});
	assert_string_not_equal(first, s.job);
	base.join = true;
	submit(&s, &base, 1, (const char *[]){"/t/a"});
	assert_string_not_equal(first, s.job);
	base.join = false;
	base.output = rd_field("/out/y");
	submit(&s, &base, 1, (const char *[]){"/t/a"});
	assert_string_not_equal(first, s.job);
	/* One that has begun may have read the trace as it was before. */
	base.output = rd_field("/out/x.rundown");
	hello(&s, W1, RD__ROLE__WORKER, 1);
	submit(&s, &base, 1, (const char *[]){"/t/a"});
	assert_string_not_equal(first, s.job);
}

/* ---- scratch folders */

static void scratch_folders_are_swept_when_a_job_ends(void **state)
{
	Rd__Submit base = plain_submit();
	Rd__Opened opened = RD__OPENED__INIT;
	ProtobufCBinaryData path = rd_field("/s/.rundown-scratch-1/0"), member = rd_field("a"), damage = rd_field("");
	uint64_t size = 10;

	everybody(1);
	base.scratch = rd_field("/s/.rundown-scratch-1");
	submit(&s, &base, 1, (const char *[]){"/t/a.zip"});
	const Rd__Envelope *open = take_task(&s, W1, RD__WORK__OPEN);
	Rd__Envelope e = about(&s, RD__KIND__RESULT, open->task, open->attempt);
	opened.n_path = opened.n_member = opened.n_size_bytes = opened.n_damage = 1;
	opened.path = &path;
	opened.member = &member;
	opened.damage = &damage;
	opened.size_bytes = &size;
	e.opened = &opened;
	say(&s, W1, &e, NULL);
	expect(&s, W1, RD__KIND__DONE);
	take_task(&s, W1, RD__WORK__INDEX);
	e = about(&s, RD__KIND__CANCEL, 0, 0);
	say(&s, CLIENT, &e, NULL);
	expect(&s, W1, RD__KIND__ABANDON);
	assert_string_equal("/s/.rundown-scratch-1", text(&expect(&s, W1, RD__KIND__SWEEP)->work->path));
	/* A plain trace has none, and a folder of another name is never named. */
	base.scratch = rd_field("/s/mine");
	submit(&s, &base, 1, (const char *[]){"/t/a.zip"});
	take_task(&s, W1, RD__WORK__OPEN);
	e = about(&s, RD__KIND__CANCEL, 0, 0);
	say(&s, CLIENT, &e, NULL);
	expect(&s, W1, RD__KIND__ABANDON);
	expect_nothing(&s, W1);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(one_worker_serves_equal_jobs_in_turn),
		T(a_late_job_gets_its_share),
		T(priority_comes_first),
		T(a_job_uses_no_more_workers_than_it_may),
		T(a_job_has_its_own_number_of_attempts),
		T(a_job_that_takes_too_long_fails),
		T(a_merger_that_lags_is_not_given_more),
		T(a_straggler_is_helped_and_the_first_wins),
		T(one_that_is_nearly_there_is_left_alone),
		T(retry_gives_a_running_job_its_shards_back),
		T(retry_of_an_ended_job_is_another_one),
		T(early_answers_go_to_those_who_asked),
		T(a_list_of_jobs_has_an_end),
		T(jobs_name_what_is_below_a_root),
		T(the_same_traces_are_not_worked_on_again),
		T(an_update_that_waits_is_not_doubled),
		T(scratch_folders_are_swept_when_a_job_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
