#include "tests/support.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/log.h"
#include "net/wire_error.h"
#include "tests/blocks.h"
#include "tests/net/broker_end.h"
#include "worker/parse.h"
#include "worker/serve.h"

/*
 * A real worker process with a socket and a forker; this program is its
 * broker. Its parsers do what the task's path says.
 */

/* Made once: the parsers inherit them, and none is slow enough to be taken for hanging. */
static test_block_vec blocks;

/* ---- the parsers */

static const char *path_of_task(int fd, char *path)
{
	static uint8_t bytes[65536];
	Rd__Envelope *e;
	struct rd_error err;
	ssize_t n = pread(fd, bytes, sizeof bytes, 0);
	struct rd_cursor c = rd_cursor_of(bytes, n < 0 ? 0 : (size_t)n);
	uint32_t folder_n = rd_u32(&c), packed_n = rd_u32(&c);

	rd_skip(&c, folder_n);
	if (rd_envelope_unpack((struct rd_span){rd_take(&c, packed_n), packed_n}, &e, &err) < 0)
		_exit(80);
	rd_field_text(&e->work->path, path, 4096);
	rd_envelope_free(e);
	return path + 1;
}

static int send_blocks(int fd)
{
	struct rd_error err;

	rd_answer_progress(fd, 1000, &err);
	for (size_t i = 0; i < blocks.n; i++)
		if (rd_answer_block(fd, blocks.at[i].table, blocks.at[i].seq, blocks.at[i].bytes, &err) < 0)
			return 1;
	return rd_answer_end(fd, &err) < 0;
}

static void body(const struct rd_forker_child *child)
{
	char path[4096];
	const char *what = path_of_task(child->fds[RD_FORKER_TASK_FD], path);
	int pipe = child->fds[RD_FORKER_PIPE_FD];
	struct rd_error err;
	const struct rlimit no_core = {0, 0};

	setrlimit(RLIMIT_CORE, &no_core);
	if (strcmp(what, "index") == 0) {
		rd_answer_index(pipe, (struct rd_span){(const uint8_t *)"packed", 6}, &err);
		_exit(rd_answer_end(pipe, &err) < 0);
	}
	if (strcmp(what, "late") == 0) {
		/* Its end is told before its pipe's: another process holds that. */
		if (fork() > 0)
			_exit(0);
		usleep(50000);
		_exit(rd_answer_error(pipe,
				      &(struct rd_error){.code = RD_CORRUPT, .text = "late", .offset = RD_NO_OFFSET}));
	}
	if (strcmp(what, "crash") == 0) {
		rd_answer_progress(pipe, 5, &err);
		kill(getpid(), SIGXCPU);
	}
	if (strcmp(what, "socket") == 0) {
		rd_confine(NULL, &err);
		_exit(socket(AF_INET, SOCK_STREAM, 0) < 0 ? 1 : 2);
	}
	if (strcmp(what, "silent") == 0)
		_exit(0);
	if (strcmp(what, "oversized") == 0)
		_exit(write(pipe, "\xff\xff\xff\x7f\4", 5) != 5);
	if (strcmp(what, "cut") == 0)
		_exit(write(pipe, "\5\0\0\0\2abc", 8) != 8);
	if (strcmp(what, "flood") == 0)
		for (;;)
			if (write(pipe, path, sizeof path) < 0)
				_exit(1);
	if (strcmp(what, "blocks") == 0)
		_exit(send_blocks(pipe));
	for (;;) /* "hang" */
		pause();
}

/* ---- the broker */

struct fixture {
	pid_t worker;
	struct broker_end broker;
	struct rd_error err;
};

static void run_worker(const char *endpoint)
{
	struct rd_forker forker;
	struct rd_forker_child child;
	struct rd_error err;
	struct rd_serve_options o = {.broker = endpoint, .scratch = "", .limits = RD_WORKER_LIMITS};
	int role = rd_forker_start(&forker, "test-parser", &child, &err);

	rd_log_init(RD_LOG_ERROR, "worker");
	if (role == RD_FORKER_CHILD)
		body(&child);
	if (role != RD_FORKER_OWNER)
		_exit(0);
	o.limits.hang_ns = 500000000;
	int code = rd_worker_serve(&o, &forker, &err);
	rd_forker_stop(&forker);
	_exit(code < 0 ? 1 : 0);
}

static const Rd__Envelope *expect(struct fixture *f, Rd__Kind kind)
{
	return broker_expect(&f->broker, RD_FROM_WORKER, kind);
}

static void tell(struct fixture *f, const Rd__Envelope *e, struct rd_blob *blob)
{
	broker_tell(&f->broker, e, blob);
}

static void about(struct fixture *f, Rd__Kind kind, uint64_t number, uint64_t count)
{
	Rd__Envelope e = rd_envelope(kind);

	e.job = rd_field("job");
	e.task = number;
	e.attempt = 1;
	e.count = count;
	tell(f, &e, NULL);
}

static void task(struct fixture *f, uint64_t number, const char *path)
{
	Rd__Envelope e = rd_envelope(RD__KIND__TASK);
	Rd__Assignment a = RD__ASSIGNMENT__INIT;
	struct rd_blob blob = {0};
	bool decode = strcmp(path, "/index") != 0;

	a.work = decode ? RD__WORK__DECODE : RD__WORK__INDEX;
	a.path = rd_field(path);
	if (decode) {
		a.window = 2;
		a.info_bytes = 4;
		assert_ok(rd_blob_add(&blob, "info", 4, &f->err), &f->err);
	}
	e.job = rd_field("job");
	e.task = number;
	e.attempt = 1;
	e.work = &a;
	tell(f, &e, &blob);
}

static void settle(struct fixture *f, uint64_t number)
{
	about(f, RD__KIND__DONE, number, 0);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	char endpoint[4200];

	snprintf(endpoint, sizeof endpoint, "ipc://%s", scratch_path("broker"));
	f->worker = fork();
	if (f->worker == 0)
		run_worker(endpoint);
	broker_listen(&f->broker, endpoint);
	const Rd__Hello *h = expect(f, RD__KIND__HELLO)->hello;
	assert_int_equal(h->role, RD__ROLE__WORKER);
	assert_int_equal(h->capacity, 1);
	assert_int_equal(h->pid, f->worker);
	broker_welcome(&f->broker);
	*state = f;
	return 0;
}

static int stop_worker(struct fixture *f, int signal_number)
{
	int status;

	kill(f->worker, signal_number);
	assert_int_equal(waitpid(f->worker, &status, 0), f->worker);
	f->worker = 0;
	return status;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	if (f->worker)
		stop_worker(f, SIGKILL);
	broker_close(&f->broker);
	free(f);
	return 0;
}

/* ---- */

static void failure(struct fixture *f, uint64_t number, const char *path, const char *text)
{
	task(f, number, path);
	const Rd__Envelope *e = expect(f, RD__KIND__FAILED);
	struct rd_error err;
	rd_wire_error_take(&err, e->error);
	assert_int_equal(e->task, number);
	assert_string_equal(err.text, text);
	assert_true(e->error->retry);
	settle(f, number);
}

static void the_worker_outlives_its_parsers(void **state)
{
	struct fixture *f = *state;

	failure(f, 1, "/crash", "the parser was killed by SIGXCPU (CPU time limit exceeded)");
	failure(f, 2, "/silent", "the parser ended without an answer");
	failure(f, 3, "/oversized", "a frame of 2147483647 bytes, at most 1052688 are allowed");
	failure(f, 4, "/cut", "the parser ended without an answer");
	failure(f, 5, "/flood", "a frame of 1869375023 bytes, at most 1052688 are allowed");
	failure(f, 6, "/hang", "the parser said nothing for 0 s and was killed");
	if (rd_confine_offered() & RD_CONFINE_CALLS)
		failure(f, 8, "/socket",
			"the parser was killed by SIGSYS (Bad system call): it asked for what its sandbox forbids");
	task(f, 7, "/index");
	expect(f, RD__KIND__RESULT);
	assert_int_equal(f->broker.m.blob.size_bytes, 6);
	settle(f, 7);
}

static void blocks_flow_within_the_window(void **state)
{
	struct fixture *f = *state;

	task(f, 1, "/blocks");
	for (size_t i = 0; i < blocks.n; i++) {
		const Rd__Envelope *e = expect(f, RD__KIND__CHUNK);
		assert_int_equal(e->chunk->table, blocks.at[i].table);
		assert_int_equal(e->chunk->seq, blocks.at[i].seq);
		struct rd_span got = rd_blob_frame(&f->broker.m.blob, 0);
		assert_int_equal(got.size_bytes, blocks.at[i].bytes.size_bytes);
		assert_memory_equal(got.at, blocks.at[i].bytes.at, got.size_bytes);
		/* Two are on their way, so nothing but PROGRESS comes before this. */
		if (i % 2 == 1)
			about(f, RD__KIND__CHUNK_ACK, 1, i + 1);
	}
	assert_int_equal(expect(f, RD__KIND__COMMIT)->count, blocks.n);
	settle(f, 1);
}

static void the_pipe_may_end_last(void **state)
{
	struct fixture *f = *state;

	task(f, 1, "/late");
	const Rd__Envelope *e = expect(f, RD__KIND__FAILED);
	struct rd_error err;
	rd_wire_error_take(&err, e->error);
	assert_string_equal(err.text, "late");
	assert_false(e->error->retry);
}

static void an_abandoned_task_makes_room(void **state)
{
	struct fixture *f = *state;

	task(f, 1, "/blocks");
	expect(f, RD__KIND__CHUNK);
	about(f, RD__KIND__ABANDON, 1, 0);
	task(f, 2, "/index");
	const Rd__Envelope *e;
	do
		e = broker_hear(&f->broker, RD_FROM_WORKER);
	while (e->kind == RD__KIND__CHUNK || e->kind == RD__KIND__PROGRESS);
	assert_int_equal(e->kind, RD__KIND__RESULT);
	assert_int_equal(e->task, 2);
}

static void sigterm_hands_back(void **state)
{
	struct fixture *f = *state;

	task(f, 1, "/hang");
	expect(f, RD__KIND__PROGRESS);
	int status = stop_worker(f, SIGTERM);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	expect(f, RD__KIND__LEAVE);
}

/* A broker that comes back knows nothing: the worker says HELLO by itself. */
static void a_new_broker_is_greeted(void **state)
{
	struct fixture *f = *state;
	char endpoint[4200];

	snprintf(endpoint, sizeof endpoint, "ipc://%s", scratch_path("broker"));
	broker_close(&f->broker);
	broker_listen(&f->broker, endpoint);
	expect(f, RD__KIND__HELLO);
}

static void refusal_ends_it(void **state)
{
	struct fixture *f = *state;
	Rd__Envelope e = rd_envelope(RD__KIND__REFUSED);
	Rd__Error error = RD__ERROR__INIT;
	int status;

	error.code = RD_PROTOCOL;
	error.text = rd_field("no");
	e.error = &error;
	tell(f, &e, NULL);
	assert_int_equal(waitpid(f->worker, &status, 0), f->worker);
	f->worker = 0;
	assert_int_equal(WEXITSTATUS(status), 1);
}

int main(void)
{
#define SERVE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		SERVE_TEST(the_worker_outlives_its_parsers),
		SERVE_TEST(blocks_flow_within_the_window),
		SERVE_TEST(the_pipe_may_end_last),
		SERVE_TEST(an_abandoned_task_makes_room),
		SERVE_TEST(sigterm_hands_back),
		SERVE_TEST(a_new_broker_is_greeted),
		SERVE_TEST(refusal_ends_it),
	};
	make_blocks(&blocks, 5, 20);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	release_blocks(&blocks);
	return failed;
}
