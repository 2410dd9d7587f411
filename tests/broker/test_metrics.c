#include "tests/broker/stage.h"

#include "base/out.h"

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

/* The value of a line that begins so. */
static double value(const char *name)
{
	struct rd_out out;
	char wanted[100];
	double v = -1;

	rd_out_init(&out, -1);
	rd_broker_metrics(s.broker, s.now_ns, &out);
	rd_bytes_append(&out.buffer, "", 1);
	snprintf(wanted, sizeof wanted, "\n%s ", name);
	const char *at = strstr((const char *)out.buffer.at, wanted);
	if (at == NULL)
		fail_msg("no %s in\n%s", name, (const char *)out.buffer.at);
	v = strtod(at + strlen(wanted), NULL);
	rd_out_close(&out, NULL);
	return v;
}

#define is(wanted, name) assert_true(value(name) == (wanted))

static char *page(void)
{
	static struct rd_out out;

	rd_out_close(&out, NULL);
	rd_out_init(&out, -1);
	rd_broker_page(s.broker, s.now_ns, &out);
	rd_bytes_append(&out.buffer, "", 1);
	return (char *)out.buffer.at;
}

static void nothing_yet(void **state)
{
	is(0, "rundown_jobs{state=\"queued\"}");
	is(0, "rundown_workers");
	is(0, "rundown_mergers");
	is(0, "rundown_attempts_total");
	is(0, "rundown_merger_lag_seconds");
	assert_non_null(strstr(page(), "0 workers, no merger"));
}

static void a_job_by_its_numbers(void **state)
{
	start(&s, 2, 4, 8);
	is(1, "rundown_jobs{state=\"running\"}");
	is(2, "rundown_workers");
	is(1, "rundown_mergers");
	is(1, "rundown_clients");
	is(2, "rundown_leases");
	is(2, "rundown_queue_depth");
	is(2, "rundown_shards{state=\"waiting\"}");
	is(2, "rundown_shards{state=\"running\"}");
	is(3, "rundown_attempts_total");
	is(1, "rundown_jobs_submitted_total");

	const Rd__Envelope *first = take_task(&s, W1, RD__WORK__DECODE);
	say_partial(&s, W1, first, 1);
	stage_pass(&s, 3 * SECOND);
	is(1, "rundown_unmerged_partials");
	is(3, "rundown_merger_lag_seconds");
	is(2 * MIB, "rundown_decoded_bytes_total");
	say_merged(&s, first, false);
	is(0, "rundown_unmerged_partials");
	is(0, "rundown_merger_lag_seconds");
	is(1, "rundown_shards_merged_total");
	is(1, "rundown_shards{state=\"done\"}");
	is(2 * MIB / 10, "rundown_decoded_bytes_per_second");
	stage_pass(&s, 20 * SECOND);
	is(0, "rundown_decoded_bytes_per_second");
}

static void losses_by_their_reason(void **state)
{
	struct rd_broker_options opt = {.epoch = {1}, .attempts = 2};

	stage_close(&s);
	stage_open(&s, &opt);
	start(&s, 1, 1, 4);
	say_failed(&s, W1, take_task(&s, W1, RD__WORK__DECODE), RD_INTERNAL, "it broke", "", true);
	is(1, "rundown_attempts_lost_total{why=\"failed\"}");
	is(1, "rundown_retries_total");
	const Rd__Envelope *second = take_task(&s, W1, RD__WORK__DECODE);
	stage_pass(&s, 61 * SECOND);
	is(1, "rundown_attempts_lost_total{why=\"lease\"}");
	is(1, "rundown_shards_quarantined_total");
	/* Its only shard was given up, so it failed. */
	is(1, "rundown_jobs_ended_total{state=\"failed\"}");
	is(1, "rundown_jobs{state=\"failed\"}");
	is(0, "rundown_queue_depth");
	Rd__Envelope e = about(&s, RD__KIND__PROGRESS, second->task, second->attempt);
	say(&s, W1, &e, NULL);
	is(1, "rundown_late_words_total");
	e = about(&s, RD__KIND__PROGRESS, 1, 1);
	say(&s, 99, &e, NULL);
	is(1, "rundown_refused_total");
}

static void the_page_shows_names_as_text(void **state)
{
	Rd__Submit base = plain_submit();

	hello(&s, CLIENT, RD__ROLE__CLIENT, 0);
	hello(&s, MERGER, RD__ROLE__MERGER, 0);
	hello(&s, W1, RD__ROLE__WORKER, 1);
	submit(&s, &base, 2, (const char *[]){"/t/<b>&.etl", "/t/b.etl"});
	const char *got = page();
	assert_non_null(strstr(got, "/t/&lt;b&gt;&amp;.etl and 1 more"));
	assert_null(strstr(got, "<b>"));
	assert_non_null(strstr(got, "<td>host:11<td>"));
	assert_non_null(strstr(got, "work=open attempt=1"));
	assert_non_null(strstr(got, "1 workers, a merger"));
}

static void a_rate_of_old_times_is_forgotten(void **state)
{
	start(&s, 1, 2, 4);
	const Rd__Envelope *task = take_task(&s, W1, RD__WORK__DECODE);
	for (int i = 1; i <= 10; i++) {
		Rd__Envelope e = about(&s, RD__KIND__PROGRESS, task->task, task->attempt);
		e.bytes = (uint64_t)i * 1000;
		say(&s, W1, &e, NULL);
		stage_pass(&s, SECOND);
	}
	is(1000, "rundown_decoded_bytes_per_second");
	stage_pass(&s, 5 * SECOND);
	is(500, "rundown_decoded_bytes_per_second");
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(nothing_yet),
		T(a_job_by_its_numbers),
		T(losses_by_their_reason),
		T(the_page_shows_names_as_text),
		T(a_rate_of_old_times_is_forgotten),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
