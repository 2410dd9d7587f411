#include "cli/run_watch.h"
#include "tests/support.h"

#define SECOND UINT64_C(1000000000)

static struct rd_family_member members[3];
static struct rd_family family;
static struct rd_watch watch;
static uint64_t now_ns;
static char text[256];

static int set_up(void **state)
{
	for (int i = 0; i < 3; i++)
		members[i] = (struct rd_family_member){.role = (enum rd_family_role)i, .pid = 100 + i};
	family = (struct rd_family){.members = members, .n = 3};
	now_ns = 1000 * SECOND;
	rd_watch_init(&watch, now_ns);
	return 0;
}

/* So many seconds, in each of which the broker answers: how often something was told. */
static unsigned pass(unsigned seconds, bool answers)
{
	unsigned told = 0;

	for (unsigned i = 0; i < seconds; i++) {
		now_ns += SECOND;
		if (answers)
			rd_watch_heard(&watch, now_ns);
		told += rd_watch_tick(&watch, &family, now_ns, text, sizeof text);
	}
	return told;
}

static void state_is(const char *state, uint64_t bytes_done, uint64_t finish_done)
{
	struct rd_progress_state s = {.state = state,
				      .bytes_done = bytes_done,
				      .bytes_total = 100,
				      .shards_done = bytes_done == 100,
				      .shards_total = 2,
				      .finish_done = finish_done,
				      .finish_total = 50};
	rd_watch_state(&watch, &s, now_ns);
}

static void who_answers_is_not_told_of(void **state)
{
	state_is("running", 10, 0);
	assert_int_equal(pass(1000, true), 0);
}

static void a_silent_broker(void **state)
{
	assert_int_equal(pass(4, false), 0);
	assert_int_equal(pass(1, false), 1);
	assert_string_equal(text, "the broker (pid 100) does not answer since 5 s");
	/* Each time the silence has doubled. */
	assert_int_equal(pass(4, false), 0);
	assert_int_equal(pass(1, false), 1);
	assert_int_equal(pass(90, false), 4 - 1);
	assert_string_equal(text, "the broker (pid 100) does not answer since 80 s");
	assert_int_equal(pass(10, true), 0);
	assert_int_equal(pass(5, false), 1);
}

static void a_stopped_one(void **state)
{
	members[1].stopped_ns = now_ns;
	assert_int_equal(pass(2, true), 0);
	assert_int_equal(pass(1, true), 1);
	assert_string_equal(text, "the merger (pid 101) does not answer since 3 s: it is stopped, and goes on after "
				  "kill -CONT 101");
	members[1].stopped_ns = 0;
	assert_int_equal(pass(100, true), 0);
	members[2].stopped_ns = now_ns;
	assert_int_equal(pass(3, true), 1);
	assert_non_null(strstr(text, "a worker (pid 102)"));
}

static void a_merger_that_does_not_move_on(void **state)
{
	state_is("finishing", 100, 7);
	assert_int_equal(pass(19, true), 0);
	state_is("finishing", 100, 8);
	assert_int_equal(pass(19, true), 0);
	state_is("finishing", 100, 8);
	assert_int_equal(pass(1, true), 1);
	assert_string_equal(text, "the merger (pid 101) tells of no progress since 20 s");
	/* All is decoded and not yet merged. */
	state_is("running", 100, 0);
	assert_int_equal(pass(20, true), 1);
}

/* Ctrl-Z and fg: the others were not silent all that time. */
static void our_own_stop_is_not_theirs(void **state)
{
	assert_int_equal(pass(2, false), 0);
	now_ns += 500 * SECOND;
	assert_false(rd_watch_tick(&watch, &family, now_ns, text, sizeof text));
	assert_int_equal(pass(2, false), 0);
	assert_int_equal(pass(1, false), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(who_answers_is_not_told_of, set_up),
		cmocka_unit_test_setup(a_silent_broker, set_up),
		cmocka_unit_test_setup(a_stopped_one, set_up),
		cmocka_unit_test_setup(a_merger_that_does_not_move_on, set_up),
		cmocka_unit_test_setup(our_own_stop_is_not_theirs, set_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
