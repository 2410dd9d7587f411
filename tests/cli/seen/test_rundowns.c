/* Which rundowns are complete, and where keyframes begin and end. */
#include "cli/seen/rundowns.h"
#include "tests/support.h"

#define SECOND 1000

static void tell(struct rd_rundowns *d, uint32_t pid, uint64_t time, struct rd_record r)
{
	struct rd_event ev = {.pid = pid, .time = time};
	assert_int_equal(rd_rundowns_take(d, &ev, &r), 0);
}

static struct rd_record method(enum rd_op op, uint16_t clr)
{
	return (struct rd_record){.kind = RD_EVENT_METHOD, .op = op, .method = {.clr = clr}};
}

static struct rd_record marker(enum rd_marker m, uint16_t clr)
{
	return (struct rd_record){.kind = RD_EVENT_MARKER, .marker = {.marker = m, .clr = clr}};
}

static const struct rd_seen_runtime *runtime(const struct rd_rundowns *d, uint32_t pid, uint32_t clr)
{
	uint32_t key[2] = {pid, clr};
	uint32_t id = rd_records_find(&d->runtimes.rows, key);
	assert_true(id != RD_NONE);
	return rd_records_at(&d->runtimes.rows, id);
}

static const struct rd_keyframe *frame(const struct rd_rundowns *d, uint32_t i)
{
	assert_true(i < rd_keyframes_n(d));
	return rd_records_at(&d->keyframes.rows, i);
}

static void verdicts(void **state)
{
	struct rd_rundowns d;

	rd_rundowns_init(&d, SECOND);
	tell(&d, 1, 100, marker(RD_MARKER_END_INIT, 9));
	tell(&d, 1, 110, method(RD_OP_DCEND, 9));
	assert_int_equal(rd_runtime_listed(runtime(&d, 1, 9), true), RD_LISTED_BEGUN);
	tell(&d, 1, 120, marker(RD_MARKER_END_COMPLETE, 9));
	assert_int_equal(rd_runtime_listed(runtime(&d, 1, 9), true), RD_LISTED_COMPLETE);
	assert_int_equal(rd_runtime_listed(runtime(&d, 1, 9), false), RD_LISTED_NONE);
	/* A second one that does not end. */
	tell(&d, 1, 9000, marker(RD_MARKER_END_INIT, 9));
	assert_int_equal(rd_runtime_listed(runtime(&d, 1, 9), true), RD_LISTED_BEGUN);
	tell(&d, 1, 200, method(RD_OP_DCSTART, 4));
	assert_int_equal(rd_runtime_listed(runtime(&d, 1, 4), false), RD_LISTED_UNMARKED);
	/* The runtime of CLR 2 marks only the end of it. */
	tell(&d, 2, 200, marker(RD_MARKER_START_COMPLETE, 0));
	assert_int_equal(rd_runtime_listed(runtime(&d, 2, 0), false), RD_LISTED_COMPLETE);
	tell(&d, 3, 200, method(RD_OP_LOAD, 0));
	assert_int_equal(rd_runtime_listed(runtime(&d, 3, 0), false), RD_LISTED_NONE);
	assert_int_equal(runtime(&d, 3, 0)->methods[RD_OP_LOAD], 1);
	assert_string_equal(rd_listed_name(RD_LISTED_UNMARKED), "without markers");
	rd_rundowns_release(&d);
}

static void keyframes_are_a_second_apart(void **state)
{
	struct rd_rundowns d;

	rd_rundowns_init(&d, SECOND);
	for (uint64_t at = 10000; at < 50000; at += 10000)
		for (uint32_t pid = 1; pid < 4; pid++) {
			/* Three processes, whose events lie across each other. */
			tell(&d, pid, at + 100 * pid, marker(RD_MARKER_START_INIT, 1));
			tell(&d, pid, at + 100 * pid + 250, method(RD_OP_DCSTART, 1));
			tell(&d, pid, at + 100 * pid + 251, method(RD_OP_DCSTART, 1));
			tell(&d, pid, at + 100 * pid + 300, marker(RD_MARKER_START_COMPLETE, 1));
		}
	assert_int_equal(rd_keyframes_n(&d), 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(frame(&d, i)->from, 10000 * (i + 1) + 100);
		assert_int_equal(frame(&d, i)->to, 10000 * (i + 1) + 600);
		assert_int_equal(frame(&d, i)->runtimes, 3);
		assert_int_equal(frame(&d, i)->methods, 6);
		assert_int_equal(frame(&d, i)->starts, 6);
		assert_int_equal(frame(&d, i)->begun, 3);
		assert_int_equal(frame(&d, i)->complete, 3);
	}
	/* Loads are no keyframe. */
	tell(&d, 1, 90000, method(RD_OP_LOAD, 1));
	assert_int_equal(rd_keyframes_n(&d), 4);
	rd_rundowns_release(&d);
}

static void a_forgotten_block_makes_none(void **state)
{
	struct rd_rundowns d;

	rd_rundowns_init(&d, SECOND);
	tell(&d, 1, 1000, method(RD_OP_DCSTART, 1));
	rd_rundowns_end(&d, false);
	tell(&d, 1, 1500, method(RD_OP_DCSTART, 1));
	tell(&d, 1, 9000, method(RD_OP_DCEND, 1));
	tell(&d, 2, 9000, method(RD_OP_DCEND, 1));
	rd_rundowns_end(&d, true);
	assert_int_equal(rd_keyframes_n(&d), 1);
	assert_int_equal(frame(&d, 0)->methods, 1);
	assert_int_equal(frame(&d, 0)->to, 1000);
	assert_false(rd_runtime_known(runtime(&d, 2, 1)));
	tell(&d, 2, 20000, method(RD_OP_DCEND, 1));
	rd_rundowns_end(&d, false);
	assert_int_equal(rd_keyframes_n(&d), 2);
	assert_int_equal(frame(&d, 1)->methods, 1);
	assert_int_equal(frame(&d, 1)->from, 20000);
	assert_int_equal(frame(&d, 1)->runtimes, 1);
	rd_rundowns_release(&d);
}

/* A hostile file may list something every other second for ever. */
static void keyframes_have_an_end(void **state)
{
	struct rd_rundowns d;

	rd_rundowns_init(&d, 1);
	for (uint64_t i = 0; i < RD_KEYFRAMES_MOST + 10; i++) {
		tell(&d, 1, i * 10, method(RD_OP_DCSTART, 1));
		if (i % 1000 == 0)
			rd_rundowns_end(&d, false);
	}
	assert_int_equal(rd_keyframes_n(&d), RD_KEYFRAMES_MOST);
	assert_int_equal(d.beyond, 10);
	rd_rundowns_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdicts),
		cmocka_unit_test(keyframes_are_a_second_apart),
		cmocka_unit_test(a_forgotten_block_makes_none),
		cmocka_unit_test(keyframes_have_an_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
