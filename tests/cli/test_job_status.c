#include "tests/support.h"

#include <fcntl.h>
#include <unistd.h>

#include "cli/job_status.h"
#include "net/message.h"

/* What `tell` writes of it. */
static const char *told(void (*tell)(struct rd_out *o, const Rd__Status *s), const Rd__Status *s)
{
	static char text[4096];
	struct rd_out o;
	size_t n;
	int fd = open(scratch_path("told"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	rd_out_init(&o, fd);
	tell(&o, s);
	assert_ok(rd_out_close(&o, NULL), NULL);
	close(fd);
	char *bytes = (char *)read_whole(scratch_path("told"), &n);
	snprintf(text, sizeof text, "%s", bytes);
	free(bytes);
	return text;
}

static void as_json(struct rd_out *o, const Rd__Status *s)
{
	struct rd_json j;
	rd_json_init(&j, o, false);
	rd_job_json(&j, s);
}

static Rd__Status job(const char *state)
{
	Rd__Status s = RD__STATUS__INIT;

	s.id = rd_field("1f2e3d4c-7");
	s.state = rd_field(state);
	s.path = rd_field("/in/shop.nettrace");
	s.output = rd_field("/out/shop.rundown");
	s.inputs = 1;
	s.shards_total = 4;
	s.shards_done = 1;
	s.bytes_total = 4000000;
	s.bytes_done = 1000000;
	s.eta_s = UINT32_MAX;
	s.spent_s = 61;
	/* The first second of March. */
	s.submitted_s = 1772323200;
	return s;
}

static void a_job_that_runs(void **state)
{
	Rd__Status s = job("running");

	(void)state;
	s.workers = 1;
	s.priority = rd_priority_of(RD_PRIORITY_NORMAL);
	s.eta_s = 5;
	assert_string_equal("job:       1f2e3d4c-7\n"
			    "state:     running\n"
			    "input:     /in/shop.nettrace\n"
			    "result:    /out/shop.rundown\n"
			    "done:      25 %, 1.0 MB of 4.0 MB\n"
			    "shards:    1 of 4 done, 0 running, 0 given up, 0 attempts of all tasks\n"
			    "submitted: 2026-03-01 00:00\n"
			    "time:      1:01 spent, 0:05 left; 1 worker\n"
			    "priority:  normal\n",
			    told(rd_job_lines, &s));
	s.workers = 2;
	assert_non_null(strstr(told(rd_job_lines, &s), "; 2 workers\n"));
	s.workers = 0;
	assert_non_null(strstr(told(rd_job_lines, &s), "; 0 workers\n"));
}

/* What was done of it stays told, and nobody works on it. */
static void a_job_that_is_over(void **state)
{
	static const char *const ends[] = {"cancelled", "failed"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		Rd__Status s = job(ends[i]);
		const char *text = told(rd_job_lines, &s);
		assert_non_null(strstr(text, "done:      25 %, 1.0 MB of 4.0 MB\n"));
		assert_non_null(strstr(text, "time:      1:01 spent\n"));
		assert_null(strstr(text, "worker"));
		assert_non_null(strstr(told(rd_job_row, &s), " 25 % "));
	}
	Rd__Status s = job("done");
	Rd__Finished finished = RD__FINISHED__INIT;
	finished.samples = 1234567;
	finished.complete = true;
	s.finished = &finished;
	assert_non_null(strstr(told(rd_job_lines, &s), "samples:   1,234,567\n"));
	assert_non_null(strstr(told(rd_job_row, &s), "100 %"));
}

static void a_table_has_the_time_of_submission(void **state)
{
	Rd__Status s = job("queued");
	char text[4096];

	(void)state;
	snprintf(text, sizeof text, "%s", told(rd_job_row, &s));
	assert_non_null(strstr(text, "1f2e3d4c-7       2026-03-01 00:00  queued "));
	s.submitted_s = 0;
	assert_non_null(strstr(told(rd_job_row, &s), "1f2e3d4c-7       -                 queued "));
	assert_non_null(strstr(told(as_json, &s), "\"submitted\": null"));
	/* No calendar reaches that far. */
	s.submitted_s = UINT64_MAX;
	assert_non_null(strstr(told(rd_job_row, &s), "queued "));
	assert_non_null(strstr(told(as_json, &s), "\"submitted\": \""));
	s.submitted_s = 1772323200;
	assert_non_null(strstr(told(as_json, &s), "\"submitted\": \"2026-03-01T00:00:00"));
}

static void priorities_are_words(void **state)
{
	Rd__Status s = job("queued");

	(void)state;
	for (int i = 0; rd_priority_words[i]; i++) {
		assert_string_equal(rd_priority_words[i], rd_priority_word(rd_priority_of(i)));
		s.priority = rd_priority_of(i);
		assert_non_null(strstr(told(rd_job_lines, &s), rd_priority_words[i]));
	}
	assert_int_equal(0, rd_priority_of(RD_PRIORITY_NORMAL));
	s.priority = -7;
	assert_non_null(strstr(told(rd_job_lines, &s), "priority:  -7\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_that_runs),
		cmocka_unit_test(a_job_that_is_over),
		cmocka_unit_test(a_table_has_the_time_of_submission),
		cmocka_unit_test(priorities_are_words),
	};
	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
