#include "tests/support.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "merger/finish.h"
#include "merger/serve.h"
#include "merger/work.h"
#include "net/wire_error.h"
#include "store/store.h"
#include "tests/merger/job.h"
#include "tests/make_result.h"
#include "tests/net/broker_end.h"

/* A real merger process on a real job, killed now and then; this program is its broker and its workers. */

#define SHARDS 4

static struct test_job job;

struct fixture {
	pid_t merger;
	char state[4096], output[4200], endpoint[4200];
	struct broker_end broker;
	struct rd_error err;
};

/* ---- the merger */

static const char *fatal_moment;

static void die_at(const char *name)
{
	if (strcmp(name, fatal_moment) == 0)
		raise(SIGKILL);
}

static void run_merger(struct fixture *f, const char *moment)
{
	struct rd_forker forker;
	struct rd_forker_child child;
	struct rd_merger_options o = {.broker = f->endpoint, .state = f->state, .limits = RD_MERGER_LIMITS};
	struct rd_error err;
	int role = rd_forker_start(&forker, "test-finish", &child, &err);

	rd_log_init(RD_LOG_ERROR, "merger");
	if (role == RD_FORKER_CHILD)
		_exit(rd_finish_child(&child, f->state, NULL, 0));
	if (role != RD_FORKER_OWNER)
		_exit(0);
	if (moment) {
		fatal_moment = moment;
		rd_work_moment = die_at;
	}
	int code = rd_merger_serve(&o, &forker, &err);
	rd_forker_stop(&forker);
	_exit(code < 0 ? -code : 0);
}

/* ---- the broker */

static const Rd__Envelope *expect(struct fixture *f, Rd__Kind kind)
{
	return broker_expect(&f->broker, RD_FROM_MERGER, kind);
}

static void tell(struct fixture *f, const Rd__Envelope *e, struct rd_blob *blob)
{
	broker_tell(&f->broker, e, blob);
}

static void start(struct fixture *f, const char *moment)
{
	/* No ZeroMQ context crosses a fork. */
	broker_close(&f->broker);
	f->merger = fork();
	if (f->merger == 0)
		run_merger(f, moment);
	broker_listen(&f->broker, f->endpoint);
	assert_int_equal(expect(f, RD__KIND__HELLO)->hello->role, RD__ROLE__MERGER);
	broker_welcome(&f->broker);
}

static int stop(struct fixture *f, int signal_number)
{
	int status;

	if (signal_number)
		kill(f->merger, signal_number);
	assert_int_equal(waitpid(f->merger, &status, 0), f->merger);
	f->merger = 0;
	return status;
}

static Rd__Envelope about(Rd__Kind kind, unsigned shard, uint32_t attempt)
{
	Rd__Envelope e = rd_envelope(kind);

	e.job = rd_field("job-1");
	e.task = shard + 1;
	e.attempt = attempt;
	return e;
}

static void send_partial(struct fixture *f, unsigned shard, uint32_t attempt)
{
	for (size_t i = 0; i < job.blocks[shard].n; i++) {
		const struct test_block *b = &job.blocks[shard].at[i];
		Rd__Envelope e = about(RD__KIND__CHUNK, shard, attempt);
		Rd__Chunk c = RD__CHUNK__INIT;
		struct rd_blob blob = {0};
		c.shard = shard;
		c.table = b->table;
		c.seq = b->seq;
		e.chunk = &c;
		assert_ok(rd_blob_add(&blob, b->bytes.at, b->bytes.size_bytes, &f->err), &f->err);
		tell(f, &e, &blob);
	}
	Rd__Envelope e = about(RD__KIND__COMMIT, shard, attempt);
	e.count = job.blocks[shard].n;
	tell(f, &e, NULL);
}

static void merge(struct fixture *f, unsigned shard, uint32_t attempt, bool duplicate)
{
	send_partial(f, shard, attempt);
	const Rd__Envelope *e = expect(f, RD__KIND__MERGED);
	assert_int_equal(e->task, shard + 1);
	assert_int_equal(e->attempt, attempt);
	assert_int_equal(e->duplicate, duplicate);
}

static void ask_finish(struct fixture *f, bool replace)
{
	struct rd_message order;

	job_order(&job, "job-1", f->output, replace, SHARDS, &order);
	tell(f, order.envelope, &order.blob);
	rd_message_release(&order);
}

/* The digest of the one right answer. */
static void check_output(struct fixture *f)
{
	static char first[33];
	char digest[33];
	struct rd_result r = {0};

	assert_ok(rd_store_read(f->output, &r, &f->err), &f->err);
	assert_int_equal(r.samples, JOB_SAMPLES);
	assert_ok(rd_result_digest(&r, digest, &f->err), &f->err);
	rd_result_release(&r);
	if (first[0] == 0)
		strcpy(first, digest);
	assert_string_equal(digest, first);
}

static void finish(struct fixture *f, bool replace)
{
	ask_finish(f, replace);
	const Rd__Envelope *e = expect(f, RD__KIND__FINISHED);
	assert_int_equal(e->finished->samples, JOB_SAMPLES);
	assert_true(e->finished->complete);
	check_output(f);
}

static int setup(void **state)
{
	static unsigned number;
	struct fixture *f = calloc(1, sizeof *f);
	char name[64];

	snprintf(name, sizeof name, "state-%u", number);
	strcpy(f->state, scratch_path(name));
	snprintf(name, sizeof name, "out-%u", number);
	snprintf(f->output, sizeof f->output, "%s/shop.rundown", scratch_path(name));
	assert_int_equal(mkdir(scratch_path(name), 0700), 0);
	snprintf(name, sizeof name, "broker-%u", number++);
	snprintf(f->endpoint, sizeof f->endpoint, "ipc://%s", scratch_path(name));
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	if (f->merger > 0)
		stop(f, SIGKILL);
	broker_close(&f->broker);
	free(f);
	return 0;
}

/* ---- */

static void a_job_from_chunks_to_output(void **state)
{
	struct fixture *f = *state;

	start(f, NULL);
	for (unsigned i = 0; i < SHARDS; i++)
		merge(f, i, 1, false);
	merge(f, 1, 2, true);
	finish(f, false);
	/* Asked again: the same answer. */
	ask_finish(f, false);
	expect(f, RD__KIND__FINISHED);
	int status = stop(f, SIGTERM);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Killed at each side of each commit; what was not acknowledged is sent again. */
static void kills_do_not_change_the_answer(void **state)
{
	static const char *const moments[SHARDS] = {"before-put", "after-put", "after-commit", NULL};
	struct fixture *f = *state;

	for (unsigned i = 0; i < SHARDS; i++) {
		start(f, moments[i]);
		if (moments[i]) {
			send_partial(f, i, 1);
			assert_true(WIFSIGNALED(stop(f, 0)));
		} else {
			/* After the acknowledgement. */
			merge(f, i, 1, false);
			stop(f, SIGKILL);
		}
		start(f, NULL);
		/* Before and in the transaction nothing is there yet; behind the commit all is. */
		merge(f, i, 2, i >= 2);
		stop(f, SIGKILL);
	}
	start(f, NULL);
	finish(f, false);
}

static unsigned entries(const char *folder)
{
	struct dirent *e;
	unsigned n = 0;
	DIR *d = opendir(folder);

	assert_non_null(d);
	while ((e = readdir(d)) != NULL)
		n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	closedir(d);
	return n;
}

/* Killed while the job finishes, at moments that differ. */
static void kills_while_finishing(void **state)
{
	struct fixture *f = *state;

	start(f, NULL);
	for (unsigned i = 0; i < SHARDS; i++)
		merge(f, i, 1, false);
	for (unsigned i = 0; i < 12; i++) {
		ask_finish(f, false);
		usleep(i * 2000);
		stop(f, SIGKILL);
		start(f, NULL);
	}
	ask_finish(f, false);
	const Rd__Envelope *e = expect(f, RD__KIND__FINISHED);
	assert_int_equal(e->finished->samples, JOB_SAMPLES);
	check_output(f);
	/* Nothing of the dead ones is left beside it. */
	char *slash = strrchr(f->output, '/');
	*slash = 0;
	assert_int_equal(entries(f->output), 1);
	*slash = '/';
}

static void an_output_is_replaced_only_when_asked(void **state)
{
	struct fixture *f = *state;
	struct rd_result before;

	start(f, NULL);
	for (unsigned i = 0; i < SHARDS; i++)
		merge(f, i, 1, false);
	small_result(&before);
	assert_ok(rd_store_write(f->output, &before, &f->err), &f->err);
	rd_result_release(&before);
	ask_finish(f, false);
	const Rd__Envelope *e = expect(f, RD__KIND__FAILED);
	assert_int_equal(e->task, 0);
	assert_int_equal(e->error->code, RD_EXISTS);
	finish(f, true);
}

static void a_missing_shard_is_named(void **state)
{
	struct fixture *f = *state;
	struct rd_error err;

	start(f, NULL);
	merge(f, 0, 1, false);
	ask_finish(f, false);
	const Rd__Envelope *e = expect(f, RD__KIND__FAILED);
	rd_wire_error_take(&err, e->error);
	assert_string_equal(err.text, "3 shards are neither merged nor given up, first shard 1 of trace 0");
}

static void a_second_merger_is_refused(void **state)
{
	struct fixture *f = *state;
	int status;

	start(f, NULL);
	pid_t second = fork();
	if (second == 0)
		run_merger(f, NULL);
	assert_int_equal(waitpid(second, &status, 0), second);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), -RD_EXISTS);
	/* The first one did not mind. */
	merge(f, 0, 1, false);
}

/* Half of a partial goes to a merger that dies: its successor says so at once. */
static void a_beginning_that_is_lost(void **state)
{
	struct fixture *f = *state;
	struct rd_error err;

	start(f, NULL);
	stop(f, SIGKILL);
	start(f, NULL);
	const struct test_block *b = &job.blocks[0].at[1];
	Rd__Envelope e = about(RD__KIND__CHUNK, 0, 1);
	Rd__Chunk c = RD__CHUNK__INIT;
	struct rd_blob blob = {0};
	c.table = b->table;
	e.chunk = &c;
	assert_ok(rd_blob_add(&blob, b->bytes.at, b->bytes.size_bytes, &f->err), &f->err);
	tell(f, &e, &blob);
	rd_wire_error_take(&err, expect(f, RD__KIND__FAILED)->error);
	assert_string_equal(err.text, "the first chunks of this partial did not come here");
	merge(f, 0, 2, false);
}

static void a_dropped_job_leaves_no_rows(void **state)
{
	struct fixture *f = *state;
	Rd__Envelope e = rd_envelope(RD__KIND__DROP);
	struct rd_shard_id id = {.job = "job-1"};
	struct rd_ledger_row row;
	struct rd_work *w;
	char folder[4200];

	start(f, NULL);
	merge(f, 0, 1, false);
	e.job = rd_field("job-1");
	tell(f, &e, NULL);
	/* A late attempt's refusal tells that DROP was heard. */
	send_partial(f, 1, 1);
	assert_int_equal(expect(f, RD__KIND__FAILED)->error->code, RD_CANCELLED);
	usleep(50000);
	stop(f, SIGTERM);
	snprintf(folder, sizeof folder, "%s/work", f->state);
	assert_ok(rd_work_open(folder, &(struct rd_work_options){0}, &w, &f->err), &f->err);
	while (rd_work_sweep(w, &f->err) == 1)
		;
	assert_int_equal(rd_work_ledger(w, &id, &row, &f->err), 0);
	rd_work_close(w);
}

int main(void)
{
#define SERVE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		SERVE_TEST(a_job_from_chunks_to_output), SERVE_TEST(kills_do_not_change_the_answer),
		SERVE_TEST(kills_while_finishing),       SERVE_TEST(an_output_is_replaced_only_when_asked),
		SERVE_TEST(a_missing_shard_is_named),    SERVE_TEST(a_second_merger_is_refused),
		SERVE_TEST(a_beginning_that_is_lost),    SERVE_TEST(a_dropped_job_leaves_no_rows),
	};
	job_make(&job, SHARDS);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	job_release(&job);
	return failed;
}
