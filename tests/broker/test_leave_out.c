/* Inputs that nobody named and nobody can use: the job goes on, and its result tells of them. */
#include <string.h>

#include "net/task.h"
#include "profile/index_codec.h"
#include "tests/broker/stage.h"

static struct stage s;

static int setup(void **state)
{
	stage_open_kept(&s, NULL);
	return 0;
}

static int teardown(void **state)
{
	stage_close(&s);
	return 0;
}

static protobuf_c_boolean all[] = {true, true, true};

static void give(size_t n, const char *const *paths, bool join)
{
	Rd__Submit base = plain_submit();

	base.n_optional = n;
	base.optional = all;
	base.join = join;
	hello(&s, MERGER, RD__ROLE__MERGER, 0);
	hello(&s, CLIENT, RD__ROLE__CLIENT, 0);
	hello(&s, W1, RD__ROLE__WORKER, 1);
	submit(&s, &base, n, paths);
}

static const Rd__Finish *finish(void)
{
	const Rd__Envelope *t = take_task(&s, W1, RD__WORK__DECODE);

	say_partial(&s, W1, t, 1);
	say_merged(&s, t, false);
	expect(&s, W1, RD__KIND__DONE);
	return expect(&s, MERGER, RD__KIND__FINISH)->finish;
}

static void expect_left_out(size_t at, const char *why)
{
	struct rd_bytes room = {0};
	struct rd_trace_info info;
	rd_span_vec infos = {0};

	assert_int_equal(0, rd_infos_split(&s.last_blob, &room, 3, &infos, NULL));
	assert_int_equal(0, rd_info_unpack(&info, infos.at[at], NULL));
	assert_true(rd_trace_is_left_out(&info));
	assert_false(info.complete);
	assert_string_equal(why, info.damage);
	rd_vec_release(&infos);
	rd_bytes_release(&room);
}

static void the_rest_goes_on_and_over_a_restart(void **state)
{
	give(3, (const char *[]){"/t/a", "/t/b", "/t/c"}, false);
	say_failed(&s, W1, take_task(&s, W1, RD__WORK__OPEN), RD_UNSUPPORTED, "not a trace", "/t/a", false);
	/* What may end otherwise elsewhere has all its chances first. */
	for (int i = 0; i < 3; i++) {
		const Rd__Envelope *b = take_task(&s, W1, RD__WORK__OPEN);
		assert_string_equal("/t/b", text(&b->work->path));
		say_failed(&s, W1, b, RD_INTERNAL, "killed by SIGSEGV", "/t/b", true);
	}
	take_task(&s, W1, RD__WORK__OPEN);
	for (int i = 0; i < 2; i++) {
		/* The second time with a plan. */
		stage_restart(&s);
		hello(&s, MERGER, RD__ROLE__MERGER, 0);
		hello(&s, CLIENT, RD__ROLE__CLIENT, 0);
		hello(&s, W1, RD__ROLE__WORKER, 1);
		if (i == 0) {
			const Rd__Envelope *c = take_task(&s, W1, RD__WORK__OPEN);
			assert_string_equal("/t/c", text(&c->work->path));
			say_index(&s, W1, c, 1, MIB);
			stage_pass(&s, 1);
		}
	}
	assert_string_equal("running", text(&status_of_job(&s)->state));
	say_not_merged(&s, MERGER, 4, 1);
	const Rd__Finish *f = finish();
	assert_int_equal(3, f->n_path);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(i == 2, f->shards[i]);
		assert_int_equal(i, f->group[i]);
	}
	expect_left_out(0, "not a trace");
	expect_left_out(1, "killed by SIGSEGV");
}

static void the_first_that_is_left_begins_what_is_joined(void **state)
{
	give(3, (const char *[]){"/t/a", "/t/b", "/t/c"}, true);
	say_failed(&s, W1, take_task(&s, W1, RD__WORK__OPEN), RD_TRUNCATED, "cut", "/t/a", false);
	for (int i = 0; i < 2; i++)
		say_index(&s, W1, take_task(&s, W1, RD__WORK__OPEN), 1, MIB);
	const Rd__Envelope *t = take_task(&s, W1, RD__WORK__DECODE);
	assert_int_equal(1, t->work->trace);
	say_partial(&s, W1, t, 1);
	say_merged(&s, t, false);
	expect(&s, W1, RD__KIND__DONE);
	const Rd__Finish *f = finish();
	assert_int_equal(0, f->group[0]);
	assert_int_equal(1, f->group[1]);
	assert_int_equal(1, f->group[2]);
	expect_left_out(0, "cut");
}

static void with_nothing_left_the_job_fails(void **state)
{
	give(2, (const char *[]){"/t/a", "/t/b"}, false);
	say_failed(&s, W1, take_task(&s, W1, RD__WORK__OPEN), RD_TRUNCATED, "cut", "/t/a", false);
	say_failed(&s, W1, take_task(&s, W1, RD__WORK__OPEN), RD_UNSUPPORTED, "not a trace", "/t/b", false);
	const Rd__Status *status = newest_status(&s, CLIENT);
	assert_string_equal("failed", text(&status->state));
	assert_string_equal("not a trace", text(&status->error->text));
	assert_string_equal("none of 2 traces can be used: ", text(&status->error->context));
}

static void what_was_named_fails_the_job(void **state)
{
	all[1] = false;
	give(2, (const char *[]){"/t/a", "/t/b"}, false);
	all[1] = true;
	say_failed(&s, W1, take_task(&s, W1, RD__WORK__OPEN), RD_TRUNCATED, "cut", "/t/a", false);
	say_failed(&s, W1, take_task(&s, W1, RD__WORK__OPEN), RD_UNSUPPORTED, "not a trace", "/t/b", false);
	const Rd__Status *status = newest_status(&s, CLIENT);
	assert_string_equal("failed", text(&status->state));
	assert_string_equal("not a trace", text(&status->error->text));
	assert_string_equal("", text(&status->error->context));
}

static void a_worker_cannot_leave_out(void **state)
{
	struct rd_bytes packed = {0};
	struct rd_blob blob = {0};
	struct rd_index ix;

	give(1, (const char *[]){"/t/a"}, false);
	const Rd__Envelope *a = take_task(&s, W1, RD__WORK__OPEN);
	make_index(&ix, 1, MIB);
	ix.info.format = RD_FORMAT_NONE;
	ix.info.complete = false;
	strcpy(ix.info.damage, "no wish");
	assert_int_equal(0, rd_index_pack(&ix, &packed, NULL));
	assert_int_equal(0, rd_blob_add(&blob, packed.at, packed.n, NULL));
	Rd__Envelope e = about(&s, RD__KIND__RESULT, a->task, a->attempt);
	say(&s, W1, &e, &blob);
	rd_bytes_release(&packed);
	rd_index_release(&ix);
	expect(&s, W1, RD__KIND__ABANDON);
	assert_int_equal(2, take_task(&s, W1, RD__WORK__OPEN)->attempt);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_rest_goes_on_and_over_a_restart, setup, teardown),
		cmocka_unit_test_setup_teardown(the_first_that_is_left_begins_what_is_joined, setup, teardown),
		cmocka_unit_test_setup_teardown(with_nothing_left_the_job_fails, setup, teardown),
		cmocka_unit_test_setup_teardown(what_was_named_fails_the_job, setup, teardown),
		cmocka_unit_test_setup_teardown(a_worker_cannot_leave_out, setup, teardown),
	};

	return cmocka_run_group_tests_name("leave_out", tests, NULL, NULL);
}
