#include "tests/support.h"

#include <signal.h>

#include "base/log.h"
#include "net/wire_error.h"
#include "profile/partial.h"
#include "tests/blocks.h"
#include "worker/worker.h"

/* ---- a worker whose acts are written down and whose clock is a number */

struct sent {
	Rd__Kind kind;
	char job[RD_JOB_ID_MAX + 1];
	uint64_t task, bytes, count;
	uint32_t attempt;
	struct rd_error error;
	bool retry;
	uint32_t table, seq, trace, shard;
	uint64_t blob_bytes;
	size_t opened;
	bool valid;
};

static test_block_vec blocks;

struct fixture {
	struct rd_worker w;
	RD_VEC(struct sent) sent;
	size_t seen; /* of the sent ones */
	bool full;   /* the socket takes nothing */
	uint64_t now_ns;
	uint64_t started, killed; /* ids */
	char folder[4096];
	char cleaned[4096];
	bool refuse_start;
	test_block_vec blocks; /* the same for all tests */
};

static int act_send(void *ctx, const Rd__Envelope *e, struct rd_blob *blob, struct rd_error *err)
{
	struct fixture *f = ctx;

	if (f->full)
		return 0;
	struct sent *s = rd_vec_add(&f->sent);
	assert_non_null(s);
	*s = (struct sent){
		.kind = e->kind, .task = e->task, .attempt = e->attempt, .bytes = e->bytes, .count = e->count};
	rd_field_text(&e->job, s->job, sizeof s->job);
	if (e->error) {
		rd_wire_error_take(&s->error, e->error);
		s->retry = e->error->retry;
	}
	if (e->chunk) {
		s->table = e->chunk->table;
		s->seq = e->chunk->seq;
		s->trace = e->chunk->trace;
		s->shard = e->chunk->shard;
	}
	s->opened = e->opened ? e->opened->n_path : 0;
	struct rd_message m = {.envelope = (Rd__Envelope *)(uintptr_t)e};
	if (blob)
		m.blob = *blob;
	s->blob_bytes = m.blob.size_bytes;
	int code = rd_validate(&m, e->kind == RD__KIND__HELLO ? RD_FROM_STRANGER : RD_FROM_WORKER, err);
	assert_ok(code, err);
	if (blob)
		rd_blob_release(blob);
	return 1;
}

static int act_start(void *ctx, uint64_t child, const struct rd_message *task, const char *folder, struct rd_error *err)
{
	struct fixture *f = ctx;

	if (f->refuse_start)
		return rd_fail(err, RD_IO, "no more processes");
	f->started = child;
	snprintf(f->folder, sizeof f->folder, "%s", folder);
	return 0;
}

static void act_kill(void *ctx, uint64_t child)
{
	((struct fixture *)ctx)->killed = child;
}

static void act_clean(void *ctx, const char *folder)
{
	struct fixture *f = ctx;
	snprintf(f->cleaned, sizeof f->cleaned, "%s", folder);
}

static uint64_t act_now(void *ctx)
{
	return ((struct fixture *)ctx)->now_ns;
}

#define SECOND 1000000000ull
static const struct rd_worker_limits limits = {
	.hang_ns = 60 * SECOND, .ack_ns = 100 * SECOND, .repeat_ns = 10 * SECOND, .hello_ns = 2 * SECOND};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	struct rd_worker_acts acts = {f, act_send, act_start, act_kill, act_clean, act_now};
	uint8_t uuid[16] = "uuid of a worker";

	f->now_ns = SECOND;
	rd_worker_init(&f->w, &acts, &limits, uuid, "");
	f->blocks = blocks;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	rd_worker_release(&f->w);
	rd_vec_release(&f->sent);
	free(f);
	return 0;
}

static void pump(struct fixture *f)
{
	struct rd_error err;
	assert_ok(rd_worker_pump(&f->w, &err), &err);
}

/* The next message sent, which must be of this kind. */
static struct sent *expect(struct fixture *f, Rd__Kind kind)
{
	pump(f);
	if (f->seen >= f->sent.n)
		fail_msg("no %s was sent", rd_kind_name(kind));
	assert_string_equal(rd_kind_name(f->sent.at[f->seen].kind), rd_kind_name(kind));
	return &f->sent.at[f->seen++];
}

static void expect_nothing(struct fixture *f)
{
	pump(f);
	if (f->seen < f->sent.n)
		fail_msg("%s was sent", rd_kind_name(f->sent.at[f->seen].kind));
}

/* ---- the broker's words; each goes through the wire's form, so that the worker owns what it keeps */

static void tell(struct fixture *f, const Rd__Envelope *e)
{
	struct rd_bytes packed = {0};
	struct rd_message m = {0};
	struct rd_error err;

	assert_ok(rd_envelope_pack(e, &packed, &err), &err);
	assert_ok(rd_envelope_unpack((struct rd_span){packed.at, packed.n}, &m.envelope, &err), &err);
	rd_bytes_release(&packed);
	if (e->work && e->work->info_bytes)
		assert_ok(rd_blob_add(&m.blob, "info", e->work->info_bytes, &err), &err);
	assert_ok(rd_validate(&m, RD_FROM_BROKER, &err), &err);
	rd_worker_message(&f->w, &m);
	rd_message_release(&m);
}

static void welcome(struct fixture *f)
{
	Rd__Envelope e = rd_envelope(RD__KIND__WELCOME);
	Rd__Welcome w = RD__WELCOME__INIT;

	w.epoch = rd_field("0123456789abcdef");
	w.version = rd_field("1");
	w.progress_ms = 1000;
	e.welcome = &w;
	tell(f, &e);
}

static void connect_worker(struct fixture *f)
{
	rd_worker_up(&f->w);
	expect(f, RD__KIND__HELLO);
	welcome(f);
	expect_nothing(f);
}

static void task(struct fixture *f, Rd__Work work, uint64_t number, uint32_t attempt)
{
	Rd__Envelope e = rd_envelope(RD__KIND__TASK);
	Rd__Assignment a = RD__ASSIGNMENT__INIT;

	a.work = work;
	a.path = rd_field("/traces/a");
	if (work == RD__WORK__OPEN)
		a.scratch = rd_field("/scratch");
	if (work == RD__WORK__DECODE) {
		a.info_bytes = 4;
		a.window = 3;
		a.trace = 2;
		a.shard = 7;
	}
	e.job = rd_field("job-1");
	e.task = number;
	e.attempt = attempt;
	e.work = &a;
	tell(f, &e);
}

static void about(struct fixture *f, Rd__Kind kind, uint64_t number, uint32_t attempt, uint64_t count)
{
	Rd__Envelope e = rd_envelope(kind);

	e.job = rd_field("job-1");
	e.task = number;
	e.attempt = attempt;
	e.count = count;
	tell(f, &e);
}

/* ---- the child's words */

static void frame(struct fixture *f, uint8_t type, const void *body, size_t n)
{
	assert_true(rd_worker_wants_frames(&f->w));
	rd_worker_frame(&f->w, &(struct rd_pipe_frame){type, {body, n}});
}

static void block(struct fixture *f, size_t i)
{
	const struct test_block *b = &f->blocks.at[i];
	uint8_t *body = malloc(b->bytes.size_bytes + 8);

	memcpy(body, &b->table, 4);
	memcpy(body + 4, &b->seq, 4);
	memcpy(body + 8, b->bytes.at, b->bytes.size_bytes);
	frame(f, RD_ANSWER_BLOCK, body, b->bytes.size_bytes + 8);
	free(body);
}

static void child_ends(struct fixture *f, int status)
{
	if (!f->w.child_killed)
		rd_worker_pipe_end(&f->w, 0, NULL);
	rd_worker_child_gone(&f->w, &(struct rd_forker_exit){.id = f->started, .status = status});
}

/* ---- tests */

static void hello_until_welcome(void **state)
{
	struct fixture *f = *state;

	expect_nothing(f);
	rd_worker_up(&f->w);
	f->full = true;
	assert_int_equal(rd_worker_pump(&f->w, NULL), 1);
	f->full = false;
	expect(f, RD__KIND__HELLO);
	expect_nothing(f);
	assert_int_equal(rd_worker_wake_ns(&f->w), f->now_ns + limits.hello_ns);
	f->now_ns += limits.hello_ns;
	expect(f, RD__KIND__HELLO);
	welcome(f);
	f->now_ns += limits.hello_ns;
	expect_nothing(f);
	assert_int_equal(rd_worker_wake_ns(&f->w), UINT64_MAX);
}

static void an_index_is_said_until_it_is_settled(void **state)
{
	struct fixture *f = *state;

	connect_worker(f);
	task(f, RD__WORK__INDEX, 1, 1);
	assert_int_equal(f->started, 1);
	expect_nothing(f);
	frame(f, RD_ANSWER_RESULT, "index", 5);
	expect_nothing(f);
	frame(f, RD_ANSWER_END, "", 0);
	rd_worker_child_gone(&f->w, &(struct rd_forker_exit){.id = 1});
	expect_nothing(f);
	rd_worker_pipe_end(&f->w, 0, NULL);
	struct sent *s = expect(f, RD__KIND__RESULT);
	assert_string_equal(s->job, "job-1");
	assert_int_equal(s->task, 1);
	assert_int_equal(s->attempt, 1);
	assert_int_equal(s->blob_bytes, 5);
	expect_nothing(f);
	/* Silence and a repeated TASK each bring it again. */
	f->now_ns += limits.repeat_ns;
	assert_int_equal(expect(f, RD__KIND__RESULT)->blob_bytes, 5);
	task(f, RD__WORK__INDEX, 1, 1);
	assert_int_equal(expect(f, RD__KIND__RESULT)->blob_bytes, 5);
	about(f, RD__KIND__DONE, 1, 1, 0);
	f->now_ns += limits.repeat_ns;
	expect_nothing(f);
	assert_int_equal(f->w.phase, RD_WORKER_IDLE);
	assert_int_equal(f->killed, 0);
}

static void an_archive_is_opened(void **state)
{
	struct fixture *f = *state;
	uint8_t body[64] = {9};
	const char *path = "/scratch/5-2/00.trace";

	connect_worker(f);
	task(f, RD__WORK__OPEN, 5, 2);
	assert_string_equal(f->folder, "/scratch/5-2");
	body[8] = (uint8_t)strlen(path);
	memcpy(body + 10, path, strlen(path));
	frame(f, RD_ANSWER_MEMBER, body, 10 + strlen(path) + 2);
	frame(f, RD_ANSWER_END, "", 0);
	child_ends(f, 0);
	assert_int_equal(expect(f, RD__KIND__RESULT)->opened, 1);
	about(f, RD__KIND__DONE, 5, 2, 0);
	pump(f);
	assert_string_equal(f->cleaned, "");
}

static void a_failed_unpacking_is_swept(void **state)
{
	struct fixture *f = *state;

	connect_worker(f);
	task(f, RD__WORK__OPEN, 5, 2);
	child_ends(f, SIGKILL);
	assert_string_equal(expect(f, RD__KIND__FAILED)->error.text, "the parser was killed by SIGKILL (Killed)");
	pump(f);
	assert_string_equal(f->cleaned, "/scratch/5-2");
	about(f, RD__KIND__DONE, 5, 2, 0);
	f->cleaned[0] = 0;
	task(f, RD__WORK__OPEN, 5, 3);
	about(f, RD__KIND__ABANDON, 5, 3, 0);
	assert_int_equal(f->killed, f->started);
	pump(f);
	assert_string_equal(f->cleaned, "");
	child_ends(f, SIGKILL);
	assert_string_equal(f->cleaned, "/scratch/5-3");
	expect_nothing(f);
}

/* The window is full: the pipe is not read, and so the child waits. */
static void the_window_holds(void **state)
{
	struct fixture *f = *state;

	connect_worker(f);
	task(f, RD__WORK__DECODE, 1, 1);
	for (size_t i = 0; i < 3; i++) {
		block(f, i);
		struct sent *s = expect(f, RD__KIND__CHUNK);
		assert_int_equal(s->table, f->blocks.at[i].table);
		assert_int_equal(s->seq, f->blocks.at[i].seq);
		assert_int_equal(s->trace, 2);
		assert_int_equal(s->shard, 7);
		assert_int_equal(s->blob_bytes, f->blocks.at[i].bytes.size_bytes);
	}
	block(f, 3);
	expect_nothing(f);
	assert_false(rd_worker_wants_frames(&f->w));
	/* It is the merger that is slow: the child is not held to be hanging, and the lease is kept. */
	f->now_ns += 2 * limits.hang_ns / 3;
	expect(f, RD__KIND__PROGRESS);
	f->now_ns += 2 * limits.hang_ns / 3 - 1;
	expect(f, RD__KIND__PROGRESS);
	expect_nothing(f);
	assert_int_equal(f->killed, 0);
	about(f, RD__KIND__CHUNK_ACK, 1, 1, 2);
	expect(f, RD__KIND__CHUNK);
	assert_true(rd_worker_wants_frames(&f->w));
	block(f, 4);
	expect(f, RD__KIND__CHUNK);
	block(f, 5);
	expect_nothing(f);
	/* Old, wild and strange acknowledgements change nothing. */
	about(f, RD__KIND__CHUNK_ACK, 1, 1, 1);
	about(f, RD__KIND__CHUNK_ACK, 1, 1, 6);
	about(f, RD__KIND__CHUNK_ACK, 1, 2, 5);
	about(f, RD__KIND__CHUNK_ACK, 9, 1, 5);
	expect_nothing(f);
	about(f, RD__KIND__CHUNK_ACK, 1, 1, 5);
	expect(f, RD__KIND__CHUNK);
	expect_nothing(f);
}

static void all_chunks_then_commit(void **state)
{
	struct fixture *f = *state;

	connect_worker(f);
	task(f, RD__WORK__DECODE, 1, 1);
	for (size_t i = 0; i < f->blocks.n; i++) {
		block(f, i);
		if (i == 5) {
			/* The socket is full for a while. */
			f->full = true;
			assert_int_equal(rd_worker_pump(&f->w, NULL), 1);
			f->full = false;
		}
		expect(f, RD__KIND__CHUNK);
		if (i + 1 == f->blocks.n)
			break;
		about(f, RD__KIND__CHUNK_ACK, 1, 1, i + 1);
	}
	frame(f, RD_ANSWER_END, "", 0);
	child_ends(f, 0);
	struct sent *s = expect(f, RD__KIND__COMMIT);
	assert_int_equal(s->count, f->blocks.n);
	f->now_ns += limits.repeat_ns;
	assert_int_equal(expect(f, RD__KIND__COMMIT)->count, f->blocks.n);
	about(f, RD__KIND__DONE, 1, 1, 0);
	assert_int_equal(f->w.phase, RD_WORKER_IDLE);
	expect_nothing(f);
}

/* The child ends while its last block still waits for the window. */
static void the_last_block_waits(void **state)
{
	struct fixture *f = *state;

	connect_worker(f);
	task(f, RD__WORK__DECODE, 1, 1);
	for (size_t i = 0; i < 3; i++) {
		block(f, i);
		expect(f, RD__KIND__CHUNK);
	}
	block(f, 3);
	expect_nothing(f);
	rd_worker_child_gone(&f->w, &(struct rd_forker_exit){.id = 1});
	expect_nothing(f);
	about(f, RD__KIND__CHUNK_ACK, 1, 1, 3);
	expect(f, RD__KIND__CHUNK);
	frame(f, RD_ANSWER_END, "", 0);
	rd_worker_pipe_end(&f->w, 0, NULL);
	assert_int_equal(expect(f, RD__KIND__COMMIT)->count, 4);
}

static void no_acknowledgement(void **state)
{
	struct fixture *f = *state;

	connect_worker(f);
	task(f, RD__WORK__DECODE, 1, 1);
	for (size_t i = 0; i < 3; i++) {
		block(f, i);
		expect(f, RD__KIND__CHUNK);
	}
	block(f, 3);
	f->now_ns += limits.ack_ns;
	struct sent *s = expect(f, RD__KIND__FAILED);
	assert_int_equal(s->error.code, RD_IO);
	assert_string_equal(s->error.text, "no chunk was acknowledged in time");
	assert_true(s->retry);
	assert_int_equal(f->killed, 1);
}

static struct sent *one_answer(struct fixture *f, int status, size_t left)
{
	rd_worker_pipe_end(&f->w, left, NULL);
	rd_worker_child_gone(&f->w, &(struct rd_forker_exit){.id = f->started, .status = status});
	return expect(f, RD__KIND__FAILED);
}

static void deaths_name_their_signal(void **state)
{
	struct fixture *f = *state;
	struct sent *s;

	connect_worker(f);
	task(f, RD__WORK__DECODE, 1, 1);
	s = one_answer(f, SIGSEGV, 0);
	assert_string_equal(s->error.text, "the parser was killed by SIGSEGV (Segmentation fault)");
	assert_string_equal(s->error.file, "/traces/a");
	assert_true(s->retry);
	task(f, RD__WORK__DECODE, 1, 2);
	frame(f, RD_ANSWER_PROGRESS, "\1\0\0\0\0\0\0\0", 8);
	s = one_answer(f, SIGXCPU, 3);
	assert_string_equal(s->error.text, "the parser was killed by SIGXCPU (CPU time limit exceeded)");
	task(f, RD__WORK__DECODE, 1, 3);
	s = one_answer(f, 0, 0);
	assert_string_equal(s->error.text, "the parser ended without an answer");
	assert_true(s->retry);
	task(f, RD__WORK__DECODE, 1, 4);
	s = one_answer(f, 3 << 8, 0);
	assert_string_equal(s->error.text, "the parser ended with code 3");
	task(f, RD__WORK__DECODE, 1, 5);
	rd_worker_child_gone(&f->w, &(struct rd_forker_exit){.id = f->started, .spawn_errno = 11});
	s = expect(f, RD__KIND__FAILED);
	assert_string_equal(s->error.text, "the parser was not started: Resource temporarily unavailable");
	/* An answer that was whole does not outweigh a crash behind it. */
	task(f, RD__WORK__INDEX, 1, 6);
	frame(f, RD_ANSWER_RESULT, "x", 1);
	frame(f, RD_ANSWER_END, "", 0);
	s = one_answer(f, SIGABRT, 0);
	assert_string_equal(s->error.text, "the parser was killed by SIGABRT (Aborted)");
	f->refuse_start = true;
	task(f, RD__WORK__INDEX, 1, 7);
	s = expect(f, RD__KIND__FAILED);
	assert_string_equal(s->error.text, "no more processes");
	assert_true(s->retry);
}

static void typed_errors_travel(void **state)
{
	struct fixture *f = *state;
	struct rd_bytes body = {0};
	struct rd_error e;

	rd_fail(&e, RD_UNSUPPORTED, "nettrace version 9");
	rd_error_at(&e, e.code, "/traces/a", 8);
	assert_int_equal(rd_pipe_error_pack(&e, &body), 0);
	connect_worker(f);
	task(f, RD__WORK__INDEX, 1, 1);
	frame(f, RD_ANSWER_ERROR, body.at, body.n);
	struct sent *s = one_answer(f, 0, 0);
	assert_int_equal(s->error.code, RD_UNSUPPORTED);
	assert_string_equal(s->error.text, "nettrace version 9");
	assert_string_equal(s->error.file, "/traces/a");
	assert_int_equal(s->error.offset, 8);
	assert_false(s->retry);
	rd_bytes_release(&body);
}

static void a_breach_kills(void **state)
{
	struct fixture *f = *state;

	connect_worker(f);
	task(f, RD__WORK__INDEX, 1, 1);
	frame(f, 200, "", 0);
	struct sent *s = expect(f, RD__KIND__FAILED);
	assert_int_equal(s->error.code, RD_PROTOCOL);
	assert_string_equal(s->error.text, "the parser's answer is off: a frame of an unknown type");
	assert_true(s->retry);
	assert_int_equal(f->killed, 1);
	/* Frames that were under way are not heard. */
	assert_false(rd_worker_wants_frames(&f->w));
	about(f, RD__KIND__DONE, 1, 1, 0);
	/* The next task begins when the killed child is gone. */
	task(f, RD__WORK__INDEX, 2, 1);
	assert_int_equal(f->started, 1);
	child_ends(f, SIGKILL);
	assert_int_equal(f->started, 2);
	task(f, RD__WORK__INDEX, 2, 1);
	rd_worker_pipe_end(&f->w, 0, &(struct rd_error){.code = RD_PROTOCOL, .text = "a frame of 5 GB"});
	assert_string_equal(expect(f, RD__KIND__FAILED)->error.text, "a frame of 5 GB");
}

static void a_silent_child_is_killed(void **state)
{
	struct fixture *f = *state;

	connect_worker(f);
	task(f, RD__WORK__DECODE, 1, 1);
	f->now_ns += limits.hang_ns - 1;
	expect(f, RD__KIND__PROGRESS);
	frame(f, RD_ANSWER_PROGRESS, "\1\2\0\0\0\0\0\0", 8);
	f->now_ns += limits.hang_ns - 1;
	assert_int_equal(expect(f, RD__KIND__PROGRESS)->bytes, 0x201);
	f->now_ns += 1;
	struct sent *s = expect(f, RD__KIND__FAILED);
	assert_string_equal(s->error.text, "the parser said nothing for 60 s and was killed");
	assert_int_equal(s->error.code, RD_LIMIT);
	assert_true(s->retry);
	assert_int_equal(f->killed, 1);
}

/* A child that spins does not look alive to the broker. */
static void progress_needs_life(void **state)
{
	struct fixture *f = *state;

	connect_worker(f);
	task(f, RD__WORK__DECODE, 1, 1);
	f->now_ns += SECOND;
	expect(f, RD__KIND__PROGRESS);
	f->now_ns += 5 * SECOND;
	expect_nothing(f);
	frame(f, RD_ANSWER_PROGRESS, "\1\0\0\0\0\0\0\0", 8);
	expect(f, RD__KIND__PROGRESS);
	frame(f, RD_ANSWER_PROGRESS, "\2\0\0\0\0\0\0\0", 8);
	expect_nothing(f);
	assert_int_equal(rd_worker_wake_ns(&f->w), f->now_ns + SECOND);
	f->now_ns += SECOND;
	assert_int_equal(expect(f, RD__KIND__PROGRESS)->bytes, 2);
}

static void the_newest_order_counts(void **state)
{
	struct fixture *f = *state;

	connect_worker(f);
	task(f, RD__WORK__DECODE, 1, 1);
	task(f, RD__WORK__DECODE, 1, 1);
	assert_int_equal(f->killed, 0);
	task(f, RD__WORK__DECODE, 2, 1);
	assert_int_equal(f->killed, 1);
	task(f, RD__WORK__DECODE, 3, 1);
	child_ends(f, SIGKILL);
	assert_int_equal(f->started, 2);
	assert_int_equal(f->w.task.number, 3);
	/* One that waits can be abandoned too. */
	task(f, RD__WORK__DECODE, 4, 1);
	about(f, RD__KIND__ABANDON, 4, 1, 0);
	child_ends(f, SIGKILL);
	assert_int_equal(f->started, 2);
	expect_nothing(f);
	assert_int_equal(f->w.phase, RD_WORKER_IDLE);
}

static void a_break_voids_the_task(void **state)
{
	struct fixture *f = *state;

	connect_worker(f);
	task(f, RD__WORK__DECODE, 1, 1);
	block(f, 0);
	expect(f, RD__KIND__CHUNK);
	task(f, RD__WORK__DECODE, 2, 1);
	rd_worker_up(&f->w);
	assert_int_equal(f->killed, 1);
	expect(f, RD__KIND__HELLO);
	child_ends(f, SIGKILL);
	welcome(f);
	expect_nothing(f);
	assert_int_equal(f->w.phase, RD_WORKER_IDLE);
	assert_int_equal(f->started, 1);
}

static void leaving_hands_back(void **state)
{
	struct fixture *f = *state;

	connect_worker(f);
	task(f, RD__WORK__DECODE, 1, 1);
	rd_worker_leave(&f->w);
	assert_int_equal(f->killed, 1);
	expect(f, RD__KIND__LEAVE);
	assert_false(rd_worker_over(&f->w));
	task(f, RD__WORK__DECODE, 2, 1);
	child_ends(f, SIGKILL);
	assert_int_equal(f->started, 1);
	expect_nothing(f);
	assert_true(rd_worker_over(&f->w));
}

static void leaving_says_the_last_word(void **state)
{
	struct fixture *f = *state;

	connect_worker(f);
	task(f, RD__WORK__INDEX, 1, 1);
	frame(f, RD_ANSWER_RESULT, "x", 1);
	frame(f, RD_ANSWER_END, "", 0);
	child_ends(f, 0);
	f->full = true;
	assert_int_equal(rd_worker_pump(&f->w, NULL), 1);
	rd_worker_leave(&f->w);
	assert_false(rd_worker_over(&f->w));
	f->full = false;
	expect(f, RD__KIND__RESULT);
	expect(f, RD__KIND__LEAVE);
	assert_true(rd_worker_over(&f->w));
}

static void leaving_before_a_welcome(void **state)
{
	struct fixture *f = *state;

	rd_worker_up(&f->w);
	expect(f, RD__KIND__HELLO);
	rd_worker_leave(&f->w);
	expect_nothing(f);
	assert_true(rd_worker_over(&f->w));
}

static void refuse(struct fixture *f, int code, const char *text)
{
	Rd__Envelope e = rd_envelope(RD__KIND__REFUSED);
	Rd__Error error = RD__ERROR__INIT;

	error.code = code;
	error.text = rd_field(text);
	e.error = &error;
	tell(f, &e);
}

static void an_unknown_worker_says_hello(void **state)
{
	struct fixture *f = *state;

	connect_worker(f);
	task(f, RD__WORK__DECODE, 1, 1);
	refuse(f, RD_NOT_FOUND, "say HELLO first");
	assert_int_equal(f->killed, 1);
	expect(f, RD__KIND__HELLO);
	assert_false(rd_worker_over(&f->w));
}

static void refused(void **state)
{
	struct fixture *f = *state;

	rd_worker_up(&f->w);
	expect(f, RD__KIND__HELLO);
	refuse(f, RD_PROTOCOL, "this broker speaks protocol 2");
	assert_true(rd_worker_over(&f->w));
	assert_string_equal(f->w.refusal.text, "this broker speaks protocol 2");
}

int main(void)
{
#define WORKER_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		WORKER_TEST(hello_until_welcome),      WORKER_TEST(an_index_is_said_until_it_is_settled),
		WORKER_TEST(an_archive_is_opened),     WORKER_TEST(a_failed_unpacking_is_swept),
		WORKER_TEST(the_window_holds),         WORKER_TEST(all_chunks_then_commit),
		WORKER_TEST(the_last_block_waits),     WORKER_TEST(no_acknowledgement),
		WORKER_TEST(deaths_name_their_signal), WORKER_TEST(typed_errors_travel),
		WORKER_TEST(a_breach_kills),           WORKER_TEST(a_silent_child_is_killed),
		WORKER_TEST(progress_needs_life),      WORKER_TEST(the_newest_order_counts),
		WORKER_TEST(a_break_voids_the_task),   WORKER_TEST(an_unknown_worker_says_hello),
		WORKER_TEST(leaving_hands_back),       WORKER_TEST(leaving_says_the_last_word),
		WORKER_TEST(leaving_before_a_welcome), WORKER_TEST(refused),
	};
	rd_log_init(RD_LOG_ERROR, "test");
	make_blocks(&blocks, 5, 40);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	release_blocks(&blocks);
	return failed;
}
