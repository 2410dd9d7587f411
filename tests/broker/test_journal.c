/* The journal: what a restart goes on with, in memory; and the same records in LMDB, whole or not at all. */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "broker/journal.h"
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

static void everybody(uint32_t workers)
{
	hello(&s, MERGER, RD__ROLE__MERGER, 0);
	hello(&s, CLIENT, RD__ROLE__CLIENT, 0);
	for (uint32_t i = 0; i < workers; i++)
		hello(&s, W1 + i, RD__ROLE__WORKER, 1);
}

static void a_job_goes_on_where_it_was(void **state)
{
	start(&s, 1, 4, 8);
	settle(&s, W1);
	for (int i = 0; i < 3; i++)
		say_failed(&s, W1, take_task(&s, W1, RD__WORK__DECODE), RD_INTERNAL, "killed by SIGSEGV", "/t/x", true);
	const Rd__Envelope *held = take_task(&s, W1, RD__WORK__DECODE);
	const Rd__Status before = *status_of_job(&s);
	assert_int_equal(1, before.shards_done);
	assert_int_equal(1, before.shards_quarantined);
	hello(&s, W2, RD__ROLE__WORKER, 1);
	take_task(&s, W2, RD__WORK__DECODE);

	stage_restart(&s);
	hello(&s, CLIENT, RD__ROLE__CLIENT, 0);
	const Rd__Status *after = status_of_job(&s);
	assert_string_equal("running", text(&after->state));
	assert_int_equal(before.shards_total, after->shards_total);
	assert_int_equal(1, after->shards_done);
	assert_int_equal(1, after->shards_quarantined);
	assert_int_equal(0, after->shards_running);
	assert_int_equal(before.bytes_total, after->bytes_total);
	assert_int_equal(4 * MIB, after->bytes_done);
	assert_int_equal(before.attempts + 1, after->attempts);
	assert_string_equal("killed by SIGSEGV", text(&after->error->text));
	assert_string_equal("/t/x", text(&after->error->file));

	hello(&s, W1, RD__ROLE__WORKER, 1);
	expect_nothing(&s, W1);
	hello(&s, MERGER, RD__ROLE__MERGER, 0);
	/* Both that were in hand are asked for; one was merged while nobody heard. */
	assert_int_equal(held->task, expect(&s, MERGER, RD__KIND__COMMIT)->task);
	const Rd__Envelope *asked = expect(&s, MERGER, RD__KIND__COMMIT);
	Rd__Envelope e = about(&s, RD__KIND__FAILED, asked->task, asked->attempt);
	Rd__Error error = RD__ERROR__INIT;
	error.code = RD_PROTOCOL;
	error.retry = true;
	e.error = &error;
	expect_nothing(&s, W1);
	uint64_t number = asked->task;
	say(&s, MERGER, &e, NULL);
	const Rd__Envelope *again = take_task(&s, W1, RD__WORK__DECODE);
	assert_int_equal(number, again->task);
	assert_int_equal(2, again->attempt);
	say_merged(&s, held, true);
	say_partial(&s, W1, again, 1);
	say_merged(&s, again, false);
	const Rd__Finish *f = expect(&s, MERGER, RD__KIND__FINISH)->finish;
	assert_int_equal(1, f->n_quarantined_trace);
	assert_int_equal(4, f->shards[0]);

	/* While it finishes: the next merger is asked again. */
	stage_restart(&s);
	hello(&s, CLIENT, RD__ROLE__CLIENT, 0);
	assert_string_equal("finishing", text(&status_of_job(&s)->state));
	hello(&s, MERGER, RD__ROLE__MERGER, 0);
	expect(&s, MERGER, RD__KIND__FINISH);
	say_finished(&s);
	stage_restart(&s);
	hello(&s, CLIENT, RD__ROLE__CLIENT, 0);
	const Rd__Status *done = status_of_job(&s);
	assert_string_equal("done", text(&done->state));
	assert_int_equal(42, done->finished->samples);
	assert_int_equal(1, done->shards_quarantined);
	assert_int_equal(4, done->shards_total);
	assert_int_equal(8 * MIB, done->bytes_done);
}

static void opened_archives_stand(void **state)
{
	Rd__Submit base = plain_submit();
	Rd__Opened opened = RD__OPENED__INIT;
	ProtobufCBinaryData paths[] = {rd_field("/scratch/00"), rd_field("/scratch/01")};
	ProtobufCBinaryData members[] = {rd_field("one.etl"), rd_field("two.etl")}, none[2] = {{0}};
	uint64_t sizes[] = {10, 20};

	everybody(1);
	submit(&s, &base, 2, (const char *[]){"/t/a.zip", "/t/b.nettrace"});
	const Rd__Envelope *a = take_task(&s, W1, RD__WORK__OPEN);
	Rd__Envelope e = about(&s, RD__KIND__RESULT, a->task, a->attempt);
	opened.n_path = opened.n_member = opened.n_size_bytes = opened.n_damage = 2;
	opened.path = paths;
	opened.member = members;
	opened.size_bytes = sizes;
	opened.damage = none;
	e.opened = &opened;
	say(&s, W1, &e, NULL);
	expect(&s, W1, RD__KIND__DONE);
	const Rd__Envelope *next = take_task(&s, W1, RD__WORK__OPEN);
	say_index(&s, W1, next, 1, MIB);
	say_index(&s, W1, take_task(&s, W1, RD__WORK__INDEX), 1, MIB);
	/* The second member is under way. */
	take_task(&s, W1, RD__WORK__INDEX);

	stage_restart(&s);
	everybody(1);
	const Rd__Envelope *second = take_task(&s, W1, RD__WORK__INDEX);
	assert_string_equal("/scratch/01", text(&second->work->path));
	assert_int_equal(2, second->attempt);
	say_index(&s, W1, second, 2, MIB);
	for (uint32_t i = 0; i < 3; i++) {
		const Rd__Envelope *t = take_task(&s, W1, RD__WORK__DECODE);
		assert_int_equal(i, t->work->trace);
		say_partial(&s, W1, t, 1);
		say_merged(&s, t, false);
		expect(&s, W1, RD__KIND__DONE);
	}
	const Rd__Finish *f = expect(&s, MERGER, RD__KIND__FINISH)->finish;
	assert_string_equal("two.etl", text(&f->member[1]));
	assert_string_equal("/t/b.nettrace", text(&f->path[2]));
}

static size_t records_of(const struct stage *st, uint8_t kind)
{
	size_t n = 0;

	for (size_t i = 0; i < st->kept.n; i++)
		n += st->kept.at[i].key.at[8] == kind;
	return n;
}

static void an_ended_job_leaves_two_records(void **state)
{
	start(&s, 1, 2, 4);
	settle(&s, W1);
	assert_int_equal(1, records_of(&s, 'd'));
	assert_int_equal(1, records_of(&s, 'e'));
	/* One OPEN, and both shards: the second is in hand. */
	assert_int_equal(3, records_of(&s, 'f'));
	Rd__Envelope e = about(&s, RD__KIND__CANCEL, 0, 0);
	say(&s, CLIENT, &e, NULL);
	assert_int_equal(3, s.kept.n);
	assert_int_equal(1, records_of(&s, 'm') + records_of(&s, 'a') - records_of(&s, 'b'));
	/* A merger that was away is told. */
	stage_restart(&s);
	everybody(0);
	assert_string_equal(s.job, text(&expect(&s, MERGER, RD__KIND__DROP)->job));
	assert_string_equal("cancelled", text(&status_of_job(&s)->state));
}

static void ids_go_on(void **state)
{
	Rd__Submit base = plain_submit();
	char first[80];

	hello(&s, CLIENT, RD__ROLE__CLIENT, 0);
	submit(&s, &base, 1, (const char *[]){"/t/a"});
	strcpy(first, s.job);
	stage_restart(&s);
	hello(&s, CLIENT, RD__ROLE__CLIENT, 0);
	submit(&s, &base, 1, (const char *[]){"/t/a"});
	assert_string_equal("-1", strrchr(first, '-'));
	assert_string_equal("-2", strrchr(s.job, '-'));
}

static void time_that_was_spent_counts(void **state)
{
	Rd__Submit base = plain_submit();

	base.seconds = 100;
	everybody(1);
	submit(&s, &base, 1, (const char *[]){"/t/a"});
	const Rd__Envelope *open = take_task(&s, W1, RD__WORK__OPEN);
	stage_pass(&s, 50 * SECOND);
	say_index(&s, W1, open, 1, MIB);
	stage_restart(&s);
	everybody(1);
	stage_pass(&s, 0);
	say_not_merged(&s, MERGER, 2, 1);
	take_task(&s, W1, RD__WORK__DECODE);
	stage_pass(&s, 49 * SECOND);
	assert_string_equal("running", text(&status_of_job(&s)->state));
	stage_pass(&s, 2 * SECOND);
	assert_string_equal("failed", text(&newest_status(&s, CLIENT)->state));
}

static void a_turn_that_only_passes_on_commits_nothing(void **state)
{
	start(&s, 1, 1, 2);
	const Rd__Envelope *task = take_task(&s, W1, RD__WORK__DECODE);
	uint64_t commits = s.commits;

	say_partial(&s, W1, task, 8);
	stage_pass(&s, SECOND);
	assert_int_equal(commits, s.commits);
	say_merged(&s, task, false);
	assert_int_equal(commits + 1, s.commits);
}

static void nothing_is_said_while_the_disk_is_full(void **state)
{
	everybody(1);
	s.disk_full = 3;
	/* The stage flushes until there is room; what is said then is whole. */
	Rd__Submit base = plain_submit();
	submit(&s, &base, 1, (const char *[]){"/t/a"});
	assert_int_equal(0, s.disk_full);
	take_task(&s, W1, RD__WORK__OPEN);
}

/* ---- records that are off */

static struct rd_broker *fresh(void)
{
	static const struct rd_broker_options opt = {.epoch = {9}};
	struct rd_broker *b;

	assert_int_equal(0, rd_broker_new(&opt, &b, NULL));
	return b;
}

/* Recall all records, with one changed; the code. */
static int recall_with(size_t which, size_t at, uint8_t flip, size_t cut)
{
	struct rd_broker *b = fresh();
	struct rd_error err;
	int rc = 0;

	rd_error_clear(&err);
	for (size_t i = 0; i < s.kept.n && rc == 0; i++) {
		struct kept *k = &s.kept.at[i];
		size_t n = i == which && cut < k->value.n ? cut : k->value.n;
		if (i == which && at < k->value.n)
			k->value.at[at] ^= flip;
		/* In a place of its own, so that a byte too many is seen. */
		uint8_t *copy = malloc(n ? n : 1);
		memcpy(copy, k->value.at, n);
		rc = rd_broker_recall(b, (struct rd_span){k->key.at, k->key.n}, (struct rd_span){copy, n}, &err);
		free(copy);
		if (i == which && at < k->value.n)
			k->value.at[at] ^= flip;
	}
	if (rc == 0)
		rc = rd_broker_recalled(b, &err);
	rd_broker_free(b);
	return rc;
}

static void records_that_are_off_are_refused(void **state)
{
	start(&s, 2, 3, 6);
	settle(&s, W1);
	assert_int_equal(0, recall_with(SIZE_MAX, 0, 0, SIZE_MAX));
	for (size_t i = 0; i < s.kept.n; i++) {
		size_t n = s.kept.at[i].value.n;
		for (size_t cut = 0; cut < n; cut++) {
			int rc = recall_with(i, SIZE_MAX, 0, cut);
			/* Of some, what is left is a whole one: fields of protobuf that are not there have defaults. */
			assert_true(rc == 0 || rc == RD_CORRUPT || rc == RD_UNSUPPORTED || rc == RD_PROTOCOL);
		}
		/* Whatever a byte becomes, nothing worse than a refusal happens. */
		for (size_t at = 0; at < n; at++)
			for (unsigned bit = 1; bit < 256; bit <<= 3)
				recall_with(i, at, (uint8_t)bit, SIZE_MAX);
	}
	/* A key of another length; a record without its job; a version of tomorrow. */
	struct rd_broker *b = fresh();
	struct rd_error err;
	assert_int_equal(RD_CORRUPT,
			 rd_broker_recall(b, (struct rd_span){(const uint8_t *)"x", 1}, (struct rd_span){0}, &err));
	struct kept *last = &s.kept.at[s.kept.n - 1];
	assert_int_equal(RD_CORRUPT, rd_broker_recall(b, (struct rd_span){last->key.at, last->key.n},
						      (struct rd_span){last->value.at, last->value.n}, &err));
	rd_broker_free(b);
	assert_int_equal('m', s.kept.at[0].key.at[8]);
	assert_int_equal(RD_UNSUPPORTED, recall_with(0, 0, 3, SIZE_MAX));
	/* A plan is missing. */
	for (size_t i = 0; i < s.kept.n; i++)
		if (s.kept.at[i].key.at[8] == 'e')
			s.kept.at[i].key.at[8] = 'd';
	assert_int_equal(RD_CORRUPT, recall_with(SIZE_MAX, 0, 0, SIZE_MAX));
}

static void memory_that_runs_out_ends_a_recall(void **state)
{
	start(&s, 1, 2, 4);
	settle(&s, W1);
	for (uint64_t n = 1;; n++) {
		struct rd_broker *b = fresh();
		struct rd_error err;
		int rc = 0;
		rd_fail_allocation(n);
		for (size_t i = 0; i < s.kept.n && rc == 0; i++)
			rc = rd_broker_recall(b, (struct rd_span){s.kept.at[i].key.at, s.kept.at[i].key.n},
					      (struct rd_span){s.kept.at[i].value.at, s.kept.at[i].value.n}, &err);
		if (rc == 0)
			rc = rd_broker_recalled(b, &err);
		rd_fail_allocation(0);
		rd_broker_free(b);
		if (rc == 0)
			break;
		assert_int_equal(RD_NOMEM, rc);
		assert_true(n < 1000);
	}
}

/* ---- on disk */

static struct rd_change put(const char *key, const char *value)
{
	return (struct rd_change){.key = {(const uint8_t *)key, strlen(key)},
				  .value = {(const uint8_t *)value, strlen(value)}};
}

/* The broker's records go through LMDB and back. */
static void the_same_on_disk(void **state)
{
	struct rd_journal *j;
	struct rd_error err;
	char folder[4096];

	start(&s, 2, 3, 6);
	settle(&s, W1);
	snprintf(folder, sizeof folder, "%s", scratch_path("journal"));
	assert_ok(rd_journal_open(folder, &j, &err), &err);
	for (size_t i = 0; i < s.kept.n; i++) {
		struct rd_change c = {.key = {s.kept.at[i].key.at, s.kept.at[i].key.n},
				      .value = {s.kept.at[i].value.at, s.kept.at[i].value.n}};
		assert_ok(rd_journal_keep(j, &c, 1, &err), &err);
	}
	/* One owner. */
	pid_t pid = fork();
	if (pid == 0) {
		struct rd_journal *other;
		_exit(rd_journal_open(folder, &other, &err) == RD_EXISTS ? 0 : 1);
	}
	int status;
	waitpid(pid, &status, 0);
	assert_int_equal(0, status);
	rd_journal_close(j);
	assert_ok(rd_journal_open(folder, &j, &err), &err);
	rd_broker_free(s.broker);
	assert_int_equal(0, rd_broker_new(&s.opt, &s.broker, NULL));
	assert_ok(rd_journal_recall(j, s.broker, &err), &err);
	hello(&s, CLIENT, RD__ROLE__CLIENT, 0);
	assert_int_equal(1, status_of_job(&s)->shards_done);

	/* A run of keys goes; what is beside it stays. */
	struct rd_change more[] = {put("zza", "1"), put("zzb", "2"), put("zzc", "3"), put("zzd", "4")};
	assert_ok(rd_journal_keep(j, more, 4, &err), &err);
	struct rd_change gone = {.key = {(const uint8_t *)"zzb", 3}, .last = {(const uint8_t *)"zzc", 3}};
	assert_ok(rd_journal_keep(j, &gone, 1, &err), &err);
	assert_ok(rd_journal_keep(j, &gone, 1, &err), &err);
	struct rd_change rest = {.key = {(const uint8_t *)"zz", 2}, .last = {(const uint8_t *)"zzz", 3}};
	assert_ok(rd_journal_keep(j, &rest, 1, &err), &err);
	struct rd_broker *b = fresh();
	assert_ok(rd_journal_recall(j, b, &err), &err);
	rd_broker_free(b);
	rd_journal_close(j);
}

static void a_damaged_record_is_named(void **state)
{
	struct rd_journal *j;
	struct rd_error err;
	char folder[4096], file[4200];
	struct rd_change c = put("a key of some length", "the value that is damaged below");

	snprintf(folder, sizeof folder, "%s", scratch_path("damaged"));
	assert_ok(rd_journal_open(folder, &j, &err), &err);
	assert_ok(rd_journal_keep(j, &c, 1, &err), &err);
	rd_journal_close(j);
	snprintf(file, sizeof file, "%s/journal/data.mdb", folder);
	int fd = open(file, O_RDWR);
	struct stat st;
	assert_int_equal(0, fstat(fd, &st));
	char *bytes = malloc((size_t)st.st_size);
	assert_int_equal(st.st_size, pread(fd, bytes, (size_t)st.st_size, 0));
	char *found = memmem(bytes, (size_t)st.st_size, "that is", 7);
	assert_non_null(found);
	assert_int_equal(1, pwrite(fd, "T", 1, found - bytes));
	close(fd);
	free(bytes);
	assert_ok(rd_journal_open(folder, &j, &err), &err);
	struct rd_broker *b = fresh();
	assert_int_equal(RD_CORRUPT, rd_journal_recall(j, b, &err));
	assert_string_equal("the journal: the checksum of a record is off", err.text);
	rd_broker_free(b);
	rd_journal_close(j);
}

static void a_full_disk_changes_nothing_and_is_waited_out(void **state)
{
	struct rlimit old, small;
	struct rd_journal *j;
	struct rd_error err;
	char *big = calloc(1, 1 << 20);

	assert_ok(rd_journal_open(scratch_path("full"), &j, &err), &err);
	memset(big, 'x', (1 << 20) - 1);
	struct rd_change c = put("key", big);
	assert_int_equal(0, getrlimit(RLIMIT_FSIZE, &old));
	small = old;
	small.rlim_cur = 65536;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(0, setrlimit(RLIMIT_FSIZE, &small));
	int rc = rd_journal_keep(j, &c, 1, &err);
	assert_int_equal(0, setrlimit(RLIMIT_FSIZE, &old));
	assert_int_equal(RD_IO, rc);
	assert_ok(rd_journal_keep(j, &c, 1, &err), &err);
	rd_journal_close(j);
	free(big);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_job_goes_on_where_it_was),
		T(opened_archives_stand),
		T(an_ended_job_leaves_two_records),
		T(ids_go_on),
		T(time_that_was_spent_counts),
		T(a_turn_that_only_passes_on_commits_nothing),
		T(nothing_is_said_while_the_disk_is_full),
		T(records_that_are_off_are_refused),
		T(memory_that_runs_out_ends_a_recall),
		T(the_same_on_disk),
		cmocka_unit_test(a_damaged_record_is_named),
		cmocka_unit_test(a_full_disk_changes_nothing_and_is_waited_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
