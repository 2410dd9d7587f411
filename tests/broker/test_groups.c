/* Which traces of a job are one, and in which order they stand. */
#include "tests/broker/stage.h"

static struct stage s;

static int setup(void **state)
{
	stage_open(&s, NULL);
	hello(&s, MERGER, RD__ROLE__MERGER, 0);
	hello(&s, CLIENT, RD__ROLE__CLIENT, 0);
	hello(&s, W1, RD__ROLE__WORKER, 1);
	return 0;
}

static int teardown(void **state)
{
	stage_close(&s);
	return 0;
}

/* An ETL's index, unless the name says otherwise; with "slow" in it, of another clock. */
static void index_by_name(const Rd__Envelope *task, const char *name)
{
	struct rd_index ix;

	make_index(&ix, 1, 1000);
	if (strstr(name, ".nettrace") == NULL)
		ix.info.format = RD_FORMAT_ETL;
	if (strstr(name, "slow"))
		ix.info.clock.frequency_hz = 1000;
	say_this_index(&s, W1, task, &ix);
	rd_index_release(&ix);
}

static void open_archive(const Rd__Envelope *task, size_t n, const char *const *members)
{
	Rd__Envelope e = about(&s, RD__KIND__RESULT, task->task, task->attempt);
	Rd__Opened opened = RD__OPENED__INIT;
	ProtobufCBinaryData paths[8], names[8], damages[8];
	uint64_t sizes[8];

	for (size_t i = 0; i < n; i++) {
		paths[i] = rd_field("/scratch/00.trace");
		names[i] = rd_field(members[i]);
		sizes[i] = 1;
		damages[i] = rd_field("");
	}
	opened.n_path = opened.n_member = opened.n_size_bytes = opened.n_damage = n;
	opened.path = paths;
	opened.member = names;
	opened.size_bytes = sizes;
	opened.damage = damages;
	e.opened = &opened;
	say(&s, W1, &e, NULL);
	expect(&s, W1, RD__KIND__DONE);
}

/* A job of one archive. */
static void one_archive(Rd__Submit base, const char *path, size_t n, const char *const *members)
{
	submit(&s, &base, 1, &path);
	open_archive(take_task(&s, W1, RD__WORK__OPEN), n, members);
	for (size_t i = 0; i < n; i++)
		index_by_name(take_task(&s, W1, RD__WORK__INDEX), members[i]);
}

static void files(Rd__Submit base, size_t n, const char *const *paths)
{
	submit(&s, &base, n, paths);
	for (size_t i = 0; i < n; i++)
		index_by_name(take_task(&s, W1, RD__WORK__OPEN), paths[i]);
}

/* Decode all; the finish tells names and groups in order: "NAME group NAME group …". */
static void expect_finish(const char *wanted)
{
	char got[1024] = "";
	size_t shards = 0, at = 0;

	for (const char *p = wanted; *p; p++)
		shards += *p == ' ';
	shards = (shards + 1) / 2;
	for (size_t i = 0; i < shards; i++) {
		const Rd__Envelope *t = take_task(&s, W1, RD__WORK__DECODE);
		say_partial(&s, W1, t, 1);
		say_merged(&s, t, false);
		expect(&s, W1, RD__KIND__DONE);
	}
	const Rd__Finish *f = expect(&s, MERGER, RD__KIND__FINISH)->finish;
	for (size_t i = 0; i < f->n_path; i++)
		at += (size_t)snprintf(got + at, sizeof got - at, "%s%s %u", i ? " " : "",
				       text(f->member[i].len ? &f->member[i] : &f->path[i]), f->group[i]);
	assert_string_equal(wanted, got);
}

static void an_unmerged_set_in_an_archive(void **state)
{
	/* Packed in any order. Two folders are two recordings. */
	one_archive(plain_submit(), "/t/a.zip", 6,
		    (const char *[]){"b/X.kernel.etl", "a/X.user.etl", "b/X.etl", "a/X.clrRundown.etl", "a/X.etl",
				     "a/Y.nettrace"});
	expect_finish("a/X.etl 0 a/X.clrRundown.etl 0 a/X.user.etl 0 a/Y.nettrace 3 b/X.etl 4 b/X.kernel.etl 4");
}

static void parts_without_their_main_file(void **state)
{
	one_archive(plain_submit(), "/t/a.zip", 3, (const char *[]){"X.kernel.etl", "X.clr.etl", "X.nettrace"});
	expect_finish("X.clr.etl 0 X.kernel.etl 1 X.nettrace 2");
}

static void an_unmerged_set_of_files(void **state)
{
	files(plain_submit(), 5,
	      (const char *[]){"/t/X.etl", "/t/X.clr.etl", "/u/X.kernel.etl", "/t/X.kernel.etl", "/t/a.nettrace"});
	expect_finish("/t/X.etl 0 /t/X.clr.etl 0 /u/X.kernel.etl 2 /t/X.kernel.etl 0 /t/a.nettrace 4");
}

static void a_session_of_visual_studio(void **state)
{
	one_archive(plain_submit(), "/t/a.DiagSession", 3, (const char *[]){"2/sc.etl", "1/other.etl", "3.nettrace"});
	expect_finish("1/other.etl 0 2/sc.etl 0 3.nettrace 2");
}

static void each_by_itself(void **state)
{
	Rd__Submit base = plain_submit();

	base.apart = true;
	one_archive(base, "/t/a.diagsession", 2, (const char *[]){"X.etl", "X.clr.etl"});
	expect_finish("X.etl 0 X.clr.etl 1");
}

static void all_joined(void **state)
{
	Rd__Submit base = plain_submit();

	base.join = true;
	files(base, 3, (const char *[]){"/t/b.nettrace", "/t/a.nettrace", "/t/c.etl"});
	expect_finish("/t/b.nettrace 0 /t/a.nettrace 0 /t/c.etl 0");
}

static void expect_refused(const char *file, const char *words)
{
	const Rd__Status *status = newest_status(&s, CLIENT);

	assert_string_equal("failed", text(&status->state));
	assert_int_equal(RD_UNSUPPORTED, status->error->code);
	assert_string_equal(file, text(&status->error->file));
	assert_string_equal(words, text(&status->error->text));
}

/* Told before anything is decoded. */
static void other_clocks(void **state)
{
	Rd__Submit base = plain_submit();

	one_archive(base, "/t/a.zip", 2, (const char *[]){"X.etl", "X.clr.slow.etl"});
	expect_refused("/t/a.zip:X.clr.slow.etl",
		       "it cannot be joined with a.zip:X.etl: their clocks differ; --no-join takes each by itself");
	base.join = true;
	files(base, 2, (const char *[]){"/t/slow.etl", "/t/b.etl"});
	expect_refused("/t/b.etl", "it cannot be joined with slow.etl: their clocks differ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_unmerged_set_in_an_archive, setup, teardown),
		cmocka_unit_test_setup_teardown(parts_without_their_main_file, setup, teardown),
		cmocka_unit_test_setup_teardown(an_unmerged_set_of_files, setup, teardown),
		cmocka_unit_test_setup_teardown(a_session_of_visual_studio, setup, teardown),
		cmocka_unit_test_setup_teardown(each_by_itself, setup, teardown),
		cmocka_unit_test_setup_teardown(all_joined, setup, teardown),
		cmocka_unit_test_setup_teardown(other_clocks, setup, teardown),
	};
	return cmocka_run_group_tests_name("groups", tests, NULL, NULL);
}
