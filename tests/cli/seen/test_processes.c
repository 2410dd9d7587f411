/* Whose samples are whose, with names, reused pids and threads, and blocks that are forgotten. */
#include "cli/seen/processes.h"
#include "cli/seen/rate.h"
#include "tests/support.h"

static struct rd_name text(const char *s)
{
	return (struct rd_name){{(const uint8_t *)s, strlen(s)}, false};
}

static void tell(struct rd_processes *p, uint32_t pid, uint64_t time, struct rd_record r)
{
	struct rd_event ev = {.pid = pid, .time = time};
	assert_int_equal(rd_processes_take(p, &ev, &r), 0);
}

static struct rd_record process(enum rd_op op, uint32_t pid, const char *name)
{
	return (struct rd_record){.kind = RD_EVENT_PROCESS, .op = op, .process = {.pid = pid, .name = text(name)}};
}

static struct rd_record sample(uint64_t thread)
{
	return (struct rd_record){.kind = RD_EVENT_SAMPLE, .sample = {.thread = thread, .weight = 1}};
}

static struct rd_record thread(uint32_t pid, uint64_t id)
{
	return (struct rd_record){.kind = RD_EVENT_THREAD, .thread = {pid, id}};
}

static const struct rd_seen_process *row(const struct rd_processes *p, uint32_t pid, uint32_t nth)
{
	uint32_t key[2] = {pid, nth};
	uint32_t id = rd_records_find(&p->rows.rows, key);
	return id == RD_NONE ? NULL : rd_records_at(&p->rows.rows, id);
}

static void threads_have_owners(void **state)
{
	struct rd_processes p;

	rd_processes_init(&p, true);
	/* Before the thread's first record, after it, and after the thread id was given away. */
	tell(&p, RD_NO_PID, 1, sample(50));
	tell(&p, 4, 2, thread(10, 50));
	tell(&p, RD_NO_PID, 3, sample(50));
	tell(&p, 4, 4, thread(11, 50));
	tell(&p, RD_NO_PID, 5, sample(50));
	/* The idle thread, one that only a stack names, and one that nothing names. */
	tell(&p, RD_NO_PID, 6, sample(0));
	tell(&p, RD_NO_PID, 7, sample(60));
	tell(&p, RD_NO_PID, 8, (struct rd_record){.kind = RD_EVENT_STACK, .stack = {.thread = 60, .pid = 12}});
	tell(&p, RD_NO_PID, 9, sample(70));
	rd_processes_end(&p, false);
	assert_int_equal(rd_processes_finish(&p), 0);
	assert_int_equal(row(&p, 10, 0)->samples, 2);
	assert_int_equal(row(&p, 11, 0)->samples, 1);
	assert_int_equal(row(&p, 0, 0)->samples, 1);
	assert_int_equal(row(&p, 12, 0)->samples, 1);
	assert_int_equal(p.unowned, 1);
	rd_processes_release(&p);
}

static void a_pid_is_reused(void **state)
{
	struct rd_processes p;

	rd_processes_init(&p, false);
	tell(&p, 1, 1, process(RD_OP_DCSTART, 7, "old"));
	tell(&p, 7, 2, sample(1));
	tell(&p, 1, 3, process(RD_OP_UNLOAD, 7, "old"));
	tell(&p, 1, 4, process(RD_OP_LOAD, 7, "new"));
	tell(&p, 7, 5, sample(1));
	tell(&p, 7, 6, sample(1));
	tell(&p, 1, 7, process(RD_OP_DCEND, 7, "new"));
	assert_int_equal(rd_processes_finish(&p), 0);
	assert_int_equal(row(&p, 7, 0)->samples, 1);
	assert_true(row(&p, 7, 0)->has_end);
	assert_int_equal(row(&p, 7, 1)->samples, 2);
	assert_int_equal(row(&p, 7, 1)->start, 4);
	assert_null(row(&p, 7, 2));
	assert_memory_equal(rd_processes_text(&p, row(&p, 7, 1)->name).at, "new", 3);
	rd_processes_release(&p);
}

static void a_forgotten_block_names_nobody(void **state)
{
	struct rd_processes p;

	rd_processes_init(&p, false);
	tell(&p, 7, 1, sample(1));
	tell(&p, RD_NO_PID, 1, sample(1));
	rd_processes_end(&p, false);
	tell(&p, 7, 2, sample(1));
	tell(&p, RD_NO_PID, 2, sample(1));
	tell(&p, 1, 2, process(RD_OP_DCSTART, 7, "wrong"));
	tell(&p, 1, 2, process(RD_OP_DCSTART, 8, "wrong"));
	rd_processes_end(&p, true);
	assert_int_equal(rd_processes_finish(&p), 0);
	assert_int_equal(row(&p, 7, 0)->samples, 1);
	assert_int_equal(row(&p, 7, 0)->name, 0);
	assert_false(row(&p, 8, 0)->known);
	assert_int_equal(p.unowned, 1);
	rd_processes_release(&p);
}

static void gaps_of_samples(void **state)
{
	const struct rd_clock clock = {.frequency_hz = 1000000};
	struct rd_rate r;
	struct rd_record s = sample(1);

	rd_rate_init(&r);
	assert_int_equal(rd_rate_middle_ns(&r, &clock), 0);
	for (uint64_t i = 0; i < 100; i++)
		for (uint64_t t = 1; t < 4; t++) {
			struct rd_event ev = {.pid = 1, .thread = t, .time = i * 1000 + t * 10};
			assert_int_equal(rd_rate_take(&r, &ev, &s), 0);
		}
	rd_rate_end(&r, false);
	assert_int_equal(rd_rate_middle_ns(&r, &clock), 1000000);
	/* What is forgotten leaves no gaps, and none across it. */
	for (uint64_t i = 0; i < 1000; i++) {
		struct rd_event ev = {.pid = 1, .thread = 1, .time = 200000 + i * 3};
		assert_int_equal(rd_rate_take(&r, &ev, &s), 0);
	}
	rd_rate_end(&r, true);
	struct rd_event last = {.pid = 1, .thread = 1, .time = 900000};
	assert_int_equal(rd_rate_take(&r, &last, &s), 0);
	assert_int_equal(rd_rate_middle_ns(&r, &clock), 1000000);
	/* The longest gap there is has a bucket. */
	last.time += INT64_MAX;
	assert_int_equal(rd_rate_take(&r, &last, &s), 0);
	rd_rate_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_have_owners),
		cmocka_unit_test(a_pid_is_reused),
		cmocka_unit_test(a_forgotten_block_names_nobody),
		cmocka_unit_test(gaps_of_samples),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
