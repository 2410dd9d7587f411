#include "tests/support.h"

#include <fcntl.h>
#include <unistd.h>

#include "cli/progress.h"

#define SECOND UINT64_C(1000000000)

static int fd;
static struct rd_progress p;

static void begin(enum rd_progress_form form)
{
	fd = open(scratch_path("progress"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	rd_progress_init(&p, form, "rundown run", NULL, fd);
}

static const char *written(void)
{
	static char text[8192];
	ssize_t n = pread(fd, text, sizeof text - 1, 0);

	close(fd);
	text[n > 0 ? n : 0] = 0;
	return text;
}

static struct rd_progress_state running(uint64_t done, uint64_t total)
{
	return (struct rd_progress_state){
		.state = "running", .bytes_done = done, .bytes_total = total, .shards_total = 4};
}

static void plain_lines_at_a_pace(void **state)
{
	begin(RD_PROGRESS_PLAIN);
	struct rd_progress_state s = {.state = "queued"};
	rd_progress_show(&p, &s, 10 * SECOND);
	/* Another state, and the same words: nothing new is told. */
	s = running(0, 0);
	rd_progress_show(&p, &s, 10 * SECOND);
	s = running(0, 200000000);
	rd_progress_show(&p, &s, 10 * SECOND);
	for (int i = 1; i <= 20; i++) {
		s = running((uint64_t)i * 5000000, 200000000);
		rd_progress_show(&p, &s, 10 * SECOND + (uint64_t)i * SECOND / 10);
	}
	s.state = "finishing";
	rd_progress_show(&p, &s, 12 * SECOND + 1);
	s.finish_done = 1;
	s.finish_total = 4;
	rd_progress_show(&p, &s, 14 * SECOND);
	rd_progress_end(&p);
	assert_string_equal("rundown run: reading the index\n"
			    "rundown run: 0 %, 0 B of 200 MB, 0 B/s, ? left\n"
			    "rundown run: 25 %, 50 MB of 200 MB, 50 MB/s, 3 s left\n"
			    "rundown run: 50 %, 100 MB of 200 MB, 50 MB/s, 2 s left\n"
			    "rundown run: reconciling\n"
			    "rundown run: reconciling, 25 %\n",
			    written());
}

static void a_bar_is_drawn_over_itself(void **state)
{
	begin(RD_PROGRESS_BAR);
	struct rd_progress_state s = running(0, 1000);
	rd_progress_show(&p, &s, SECOND);
	s = running(500, 1000);
	rd_progress_show(&p, &s, SECOND + 1);
	rd_progress_show(&p, &s, 2 * SECOND);
	rd_progress_end(&p);
	rd_progress_end(&p);
	assert_string_equal("\r\033[K[                        ] 0 %, 0 B of 1.0 kB, 0 B/s, ? left"
			    "\r\033[K[############            ] 50 %, 500 B of 1.0 kB, 500 B/s, 1 s left"
			    "\r\033[K",
			    written());
}

static void a_json_object_a_line(void **state)
{
	begin(RD_PROGRESS_JSON);
	struct rd_progress_state s = running(0, 1000);
	rd_progress_show(&p, &s, SECOND);
	s = running(250, 1000);
	s.shards_done = 1;
	rd_progress_show(&p, &s, 2 * SECOND);
	rd_progress_end(&p);
	assert_string_equal("{\"state\": \"running\", \"bytes_done\": 0, \"bytes_total\": 1000, \"shards_done\": 0, "
			    "\"shards_total\": 4, "
			    "\"bytes_per_s\": 0, \"eta_s\": null}\n"
			    "{\"state\": \"running\", \"bytes_done\": 250, \"bytes_total\": 1000, \"shards_done\": 1, "
			    "\"shards_total\": 4, "
			    "\"bytes_per_s\": 250, \"eta_s\": 3}\n",
			    written());
}

/* One of several: each line says whose it is, and the end is told whatever was heard before. */
static void a_job_of_several(void **state)
{
	static const struct {
		struct rd_progress_state s;
		const char *plain;
	} ends[] = {
		{{.state = "done", .bytes_done = 1000, .bytes_total = 1000}, "rundown submit: 1f2e-7: 100 %, 1.0 kB\n"},
		{{.state = "done"}, "rundown submit: 1f2e-7: 100 %\n"},
		{{.state = "failed", .bytes_total = 1000}, "rundown submit: 1f2e-7: failed\n"},
		{{.state = "cancelled"}, "rundown submit: 1f2e-7: cancelled\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		begin(RD_PROGRESS_PLAIN);
		rd_progress_init(&p, RD_PROGRESS_PLAIN, "rundown submit", "1f2e-7", fd);
		rd_progress_show(&p, &ends[i].s, SECOND);
		rd_progress_end(&p);
		assert_string_equal(ends[i].plain, written());
	}
	begin(RD_PROGRESS_PLAIN);
	rd_progress_init(&p, RD_PROGRESS_PLAIN, "rundown submit", "1f2e-7", fd);
	struct rd_progress_state s = running(0, 1000);
	rd_progress_show(&p, &s, SECOND);
	rd_progress_show(&p, &ends[0].s, SECOND + SECOND / 2);
	assert_string_equal("rundown submit: 1f2e-7: 0 %, 0 B of 1.0 kB, 0 B/s, ? left\n"
			    "rundown submit: 1f2e-7: 100 %, 1.0 kB, 2.0 kB/s\n",
			    written());
	begin(RD_PROGRESS_JSON);
	rd_progress_init(&p, RD_PROGRESS_JSON, "rundown submit", "1f2e-7", fd);
	rd_progress_show(&p, &ends[0].s, SECOND);
	assert_string_equal("{\"job\": \"1f2e-7\", \"state\": \"done\", \"bytes_done\": 1000, \"bytes_total\": 1000, "
			    "\"shards_done\": 0, \"shards_total\": 0, \"bytes_per_s\": 0, \"eta_s\": null}\n",
			    written());
}

static void none_says_nothing(void **state)
{
	begin(RD_PROGRESS_NONE);
	struct rd_progress_state s = running(1, 2);
	rd_progress_show(&p, &s, SECOND);
	rd_progress_end(&p);
	assert_string_equal("", written());
	/* Nor does auto where there is no terminal. */
	begin(RD_PROGRESS_AUTO);
	rd_progress_show(&p, &s, SECOND);
	rd_progress_end(&p);
	assert_string_equal("", written());
}

static void long_times_and_odd_numbers(void **state)
{
	begin(RD_PROGRESS_PLAIN);
	struct rd_progress_state s = running(0, 1000000000000);
	rd_progress_show(&p, &s, SECOND);
	s.bytes_done = 100000000;
	rd_progress_show(&p, &s, 2 * SECOND);
	/* An attempt was lost: less is done than before. */
	s.bytes_done = 0;
	rd_progress_show(&p, &s, 3 * SECOND);
	s.bytes_done = 999000000000;
	rd_progress_show(&p, &s, 10001 * SECOND);
	assert_string_equal("rundown run: 0 %, 0 B of 1.0 TB, 0 B/s, ? left\n"
			    "rundown run: 0 %, 100 MB of 1.0 TB, 100 MB/s, 2:46:39 left\n"
			    "rundown run: 0 %, 0 B of 1.0 TB, 0 B/s, ? left\n"
			    "rundown run: 99 %, 999 GB of 1.0 TB, 100 MB/s, 10 s left\n",
			    written());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_lines_at_a_pace),      cmocka_unit_test(a_bar_is_drawn_over_itself),
		cmocka_unit_test(a_json_object_a_line),       cmocka_unit_test(none_says_nothing),
		cmocka_unit_test(long_times_and_odd_numbers), cmocka_unit_test(a_job_of_several),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
