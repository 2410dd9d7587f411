#include "tests/support.h"

#include <errno.h>
#include <signal.h>

#include "base/log.h"
#include "merger/finish.h"
#include "merger/merger.h"
#include "net/task.h"
#include "net/validate.h"
#include "net/wire_error.h"
#include "profile/partial.h"
#include "tests/blocks.h"

/* ---- a merger whose store is a few arrays, whose acts are written down, and whose clock is a number */

struct sent {
	Rd__Kind kind;
	char job[RD_JOB_ID_MAX + 1];
	uint64_t task, bytes, total, count, samples, lost_events;
	uint32_t attempt;
	bool duplicate, retry, complete;
	struct rd_error error;
};

struct merged {
	struct rd_shard_id id;
	struct rd_ledger_row row;
};

struct job_row {
	char job[RD_JOB_ID_MAX + 1];
	struct rd_job_record record;
};

static test_block_vec blocks;

struct fixture {
	struct rd_merger m;
	RD_VEC(struct sent) sent;
	size_t seen;
	bool full; /* the socket takes nothing */
	uint64_t now_ns;
	RD_VEC(struct merged) ledger;
	RD_VEC(struct job_row) jobs;
	unsigned commits; /* that changed something */
	int store_errno;  /* the store fails so */
	int spool_errno;
	uint64_t started, killed;
	enum rd_finish_step step;
	struct rd_job_record step_record;
	test_block_vec blocks; /* the same for all tests */
	struct rd_error err;
};

static int act_send(void *ctx, const Rd__Envelope *e, struct rd_error *err)
{
	struct fixture *f = ctx;
	struct rd_message m = {.envelope = (Rd__Envelope *)(uintptr_t)e};

	if (f->full)
		return 0;
	assert_ok(rd_validate(&m, e->kind == RD__KIND__HELLO ? RD_FROM_STRANGER : RD_FROM_MERGER, err), err);
	struct sent *s = rd_vec_add(&f->sent);
	assert_non_null(s);
	*s = (struct sent){.kind = e->kind,
			   .task = e->task,
			   .attempt = e->attempt,
			   .bytes = e->bytes,
			   .total = e->total,
			   .count = e->count,
			   .duplicate = e->duplicate};
	rd_field_text(&e->job, s->job, sizeof s->job);
	if (e->error) {
		rd_wire_error_take(&s->error, e->error);
		s->retry = e->error->retry;
	}
	if (e->finished) {
		s->samples = e->finished->samples;
		s->lost_events = e->finished->lost_events;
		s->complete = e->finished->complete;
	}
	return 1;
}

static int act_spool_file(void *ctx, struct rd_error *err)
{
	struct fixture *f = ctx;

	if (f->spool_errno == 0)
		return rd_spool_file(scratch_folder(), err);
	errno = f->spool_errno;
	return rd_fail_errno(err, "making room");
}

static struct merged *find_merged(struct fixture *f, const struct rd_shard_id *id)
{
	for (size_t i = 0; i < f->ledger.n; i++)
		if (f->ledger.at[i].id.trace == id->trace && f->ledger.at[i].id.shard == id->shard &&
		    strcmp(f->ledger.at[i].id.job, id->job) == 0)
			return &f->ledger.at[i];
	return NULL;
}

static int act_ledger(void *ctx, const struct rd_shard_id *id, struct rd_ledger_row *row, struct rd_error *err)
{
	struct merged *m = find_merged(ctx, id);

	if (m)
		*row = m->row;
	return m != NULL;
}

static int act_ledger_task(void *ctx, const char *job, uint64_t task, struct rd_error *err)
{
	struct fixture *f = ctx;

	for (size_t i = 0; i < f->ledger.n; i++)
		if (f->ledger.at[i].row.task == task && strcmp(f->ledger.at[i].id.job, job) == 0)
			return 1;
	return 0;
}

static int act_commit(void *ctx, const struct rd_shard_id *id, const struct rd_ledger_row *row,
		      const struct rd_spool *spool, struct rd_error *err)
{
	struct fixture *f = ctx;

	if (f->store_errno) {
		errno = f->store_errno;
		return rd_fail_errno(err, "writing to the store");
	}
	if (find_merged(f, id))
		return rd_fail(err, RD_EXISTS, "there");
	assert_int_equal(row->blocks, spool->blocks.n);
	assert_int_equal(row->bytes, spool->bytes);
	struct merged *m = rd_vec_add(&f->ledger);
	*m = (struct merged){*id, *row};
	f->commits++;
	return 0;
}

static struct job_row *find_job(struct fixture *f, const char *job)
{
	for (size_t i = 0; i < f->jobs.n; i++)
		if (strcmp(f->jobs.at[i].job, job) == 0)
			return &f->jobs.at[i];
	return NULL;
}

static int act_job(void *ctx, const char *job, struct rd_job_record *out, struct rd_error *err)
{
	struct job_row *row = find_job(ctx, job);

	if (row)
		*out = row->record;
	return row != NULL;
}

static int act_job_put(void *ctx, const char *job, struct rd_job_record *record, struct rd_error *err)
{
	struct fixture *f = ctx;
	struct job_row *row = find_job(f, job);

	if (f->store_errno) {
		errno = f->store_errno;
		return rd_fail_errno(err, "writing to the store");
	}
	if (row == NULL) {
		row = rd_vec_add(&f->jobs);
		strcpy(row->job, job);
	}
	row->record = *record;
	return 0;
}

static int act_start(void *ctx, uint64_t child, enum rd_finish_step step, const struct rd_message *order,
		     const struct rd_job_record *record, struct rd_error *err)
{
	struct fixture *f = ctx;

	f->started = child;
	f->step = step;
	f->step_record = *record;
	return 0;
}

static void act_kill(void *ctx, uint64_t child)
{
	((struct fixture *)ctx)->killed = child;
}

static uint64_t act_now(void *ctx)
{
	return ((struct fixture *)ctx)->now_ns;
}

#define SECOND 1000000000ull
static struct rd_merger_limits limits = {.patience_ns = 100 * SECOND,
					 .idle_ns = 60 * SECOND,
					 .retry_ns = SECOND,
					 .hello_ns = 2 * SECOND,
					 .progress_ns = SECOND / 5};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	struct rd_merger_acts acts = {f,       act_send,    act_spool_file, act_ledger, act_ledger_task, act_commit,
				      act_job, act_job_put, act_start,      act_kill,   act_now};

	f->now_ns = SECOND;
	rd_merger_init(&f->m, &acts, &limits, (const uint8_t *)"uuid of a merger");
	f->blocks = blocks;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	rd_merger_release(&f->m);
	rd_vec_release(&f->sent);
	rd_vec_release(&f->ledger);
	rd_vec_release(&f->jobs);
	free(f);
	return 0;
}

static void pump(struct fixture *f)
{
	assert_ok(rd_merger_pump(&f->m, &f->err), &f->err);
}

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

/* ---- the broker's words */

static int try_tell(struct fixture *f, const Rd__Envelope *e, struct rd_span blob)
{
	struct rd_bytes packed = {0};
	struct rd_message m = {0};

	assert_ok(rd_envelope_pack(e, &packed, &f->err), &f->err);
	assert_ok(rd_envelope_unpack((struct rd_span){packed.at, packed.n}, &m.envelope, &f->err), &f->err);
	rd_bytes_release(&packed);
	assert_ok(rd_blob_add(&m.blob, blob.at, blob.size_bytes, &f->err), &f->err);
	assert_ok(rd_validate(&m, RD_FROM_BROKER, &f->err), &f->err);
	int code = rd_merger_message(&f->m, &m, &f->err);
	rd_message_release(&m);
	return code;
}

static void tell(struct fixture *f, const Rd__Envelope *e, struct rd_span blob)
{
	assert_ok(try_tell(f, e, blob), &f->err);
}

static Rd__Envelope about(Rd__Kind kind, uint64_t task, uint32_t attempt)
{
	Rd__Envelope e = rd_envelope(kind);

	e.job = rd_field("job-1");
	e.task = task;
	e.attempt = attempt;
	return e;
}

/* Task n decodes shard n - 1 of trace 0. */
static void chunk(struct fixture *f, uint64_t task, uint32_t attempt, size_t i)
{
	Rd__Envelope e = about(RD__KIND__CHUNK, task, attempt);
	Rd__Chunk c = RD__CHUNK__INIT;

	c.shard = (uint32_t)task - 1;
	c.table = f->blocks.at[i].table;
	c.seq = f->blocks.at[i].seq;
	e.chunk = &c;
	tell(f, &e, f->blocks.at[i].bytes);
}

static int try_commit(struct fixture *f, uint64_t task, uint32_t attempt, uint64_t count)
{
	Rd__Envelope e = about(RD__KIND__COMMIT, task, attempt);
	e.count = count;
	return try_tell(f, &e, (struct rd_span){0});
}

static void commit(struct fixture *f, uint64_t task, uint32_t attempt, uint64_t count)
{
	assert_ok(try_commit(f, task, attempt, count), &f->err);
}

static void chunks(struct fixture *f, uint64_t task, uint32_t attempt)
{
	for (size_t i = 0; i < f->blocks.n; i++) {
		chunk(f, task, attempt, i);
		struct sent *s = expect(f, RD__KIND__CHUNK_ACK);
		assert_int_equal(s->task, task);
		assert_int_equal(s->attempt, attempt);
		assert_int_equal(s->count, i + 1);
	}
}

static void merge(struct fixture *f, uint64_t task)
{
	chunks(f, task, 1);
	commit(f, task, 1, f->blocks.n);
	assert_false(expect(f, RD__KIND__MERGED)->duplicate);
}

static void drop(struct fixture *f)
{
	Rd__Envelope e = about(RD__KIND__DROP, 0, 0);
	tell(f, &e, (struct rd_span){0});
}

static void connect_merger(struct fixture *f)
{
	Rd__Envelope e = rd_envelope(RD__KIND__WELCOME);
	Rd__Welcome w = RD__WELCOME__INIT;

	rd_merger_up(&f->m);
	expect(f, RD__KIND__HELLO);
	w.epoch = rd_field("0123456789abcdef");
	w.version = rd_field("1");
	w.progress_ms = 1000;
	e.welcome = &w;
	tell(f, &e, (struct rd_span){0});
	expect_nothing(f);
}

/* FINISH of a job with one trace of `shards`, of which the last `given_up` are quarantined. */
static void finish(struct fixture *f, uint32_t shards, uint32_t given_up)
{
	Rd__Envelope e = about(RD__KIND__FINISH, 0, 0);
	Rd__Finish fin = RD__FINISH__INIT;
	Rd__Filter filter = RD__FILTER__INIT;
	ProtobufCBinaryData path = rd_field("a.nettrace"), member = rd_field("");
	uint32_t group = 0, traces[8] = {0}, numbers[8];
	uint64_t from[8] = {0}, to[8] = {0};

	for (uint32_t i = 0; i < given_up; i++)
		numbers[i] = shards - 1 - i;
	fin.output = rd_field("/out/a.rundown");
	fin.filter = &filter;
	fin.n_path = fin.n_member = fin.n_group = fin.n_shards = 1;
	fin.path = &path;
	fin.member = &member;
	fin.group = &group;
	fin.shards = &shards;
	fin.n_quarantined_trace = fin.n_quarantined_shard = fin.n_quarantined_from = fin.n_quarantined_to = given_up;
	fin.quarantined_trace = traces;
	fin.quarantined_shard = numbers;
	fin.quarantined_from = from;
	fin.quarantined_to = to;
	e.finish = &fin;
	tell(f, &e, (struct rd_span){(const uint8_t *)"info", 4});
}

/* ---- the child's words */

static void frame(struct fixture *f, uint8_t type, const void *body, size_t n)
{
	rd_merger_frame(&f->m, &(struct rd_pipe_frame){type, {body, n}});
}

static void child_ends(struct fixture *f, int status)
{
	rd_merger_pipe_end(&f->m);
	rd_merger_child_gone(&f->m, &(struct rd_forker_exit){.id = f->started, .status = status});
	pump(f);
}

static void child_fails(struct fixture *f, int code, const char *text)
{
	struct rd_bytes body = {0};
	struct rd_error e;

	rd_fail(&e, code, "%s", text);
	assert_int_equal(rd_pipe_error_pack(&e, &body), 0);
	frame(f, RD_FINISH_ERROR, body.at, body.n);
	rd_bytes_release(&body);
	child_ends(f, 0);
}

static void child_is_ready(struct fixture *f)
{
	struct rd_finish_ready ready = {.samples = 77, .lost_events = 3, .device = 8, .inode = 9, .complete = 1};

	frame(f, RD_FINISH_READY, &ready, sizeof ready);
	frame(f, RD_FINISH_END, "", 0);
	child_ends(f, 0);
}

static void child_is_done(struct fixture *f)
{
	frame(f, RD_FINISH_END, "", 0);
	child_ends(f, 0);
}

/* ---- tests: partials */

static void a_partial_is_merged_once(void **state)
{
	struct fixture *f = *state;
	uint64_t budget = f->m.spool_budget;

	connect_merger(f);
	chunks(f, 1, 1);
	assert_true(f->m.spool_budget < budget);
	assert_int_equal(f->commits, 0);
	commit(f, 1, 1, f->blocks.n);
	assert_int_equal(f->commits, 1);
	struct sent *s = expect(f, RD__KIND__MERGED);
	assert_int_equal(s->task, 1);
	assert_int_equal(s->attempt, 1);
	assert_false(s->duplicate);
	assert_string_equal(f->ledger.at[0].id.job, "job-1");
	assert_int_equal(f->ledger.at[0].row.task, 1);
	/* Its COMMIT again: the chunks are gone, the ledger knows. */
	commit(f, 1, 1, f->blocks.n);
	assert_true(expect(f, RD__KIND__MERGED)->duplicate);
	/* All of it again, as another attempt. */
	chunks(f, 1, 2);
	commit(f, 1, 2, f->blocks.n);
	assert_true(expect(f, RD__KIND__MERGED)->duplicate);
	assert_int_equal(f->commits, 1);
	assert_int_equal(f->ledger.n, 1);
	assert_int_equal(f->m.incoming.n, 0);
	assert_int_equal(f->m.spool_budget, budget);
}

static void the_first_of_two_attempts_wins(void **state)
{
	struct fixture *f = *state;

	connect_merger(f);
	chunk(f, 1, 1, 0);
	chunk(f, 1, 2, 0);
	expect(f, RD__KIND__CHUNK_ACK);
	expect(f, RD__KIND__CHUNK_ACK);
	for (size_t i = 1; i < f->blocks.n; i++) {
		chunk(f, 1, 2, i);
		expect(f, RD__KIND__CHUNK_ACK);
	}
	commit(f, 1, 2, f->blocks.n);
	assert_false(expect(f, RD__KIND__MERGED)->duplicate);
	/* The late one's chunks are not kept any more, and its COMMIT changes nothing. */
	assert_int_equal(f->m.incoming.n, 1);
	assert_int_equal(f->m.incoming.at[0].spool.kept.n, 0);
	for (size_t i = 1; i < f->blocks.n; i++) {
		chunk(f, 1, 1, i);
		assert_int_equal(expect(f, RD__KIND__CHUNK_ACK)->count, i + 1);
	}
	commit(f, 1, 1, f->blocks.n);
	assert_true(expect(f, RD__KIND__MERGED)->duplicate);
	assert_int_equal(f->commits, 1);
	assert_int_equal(f->ledger.at[0].row.attempt, 2);
}

static void a_missing_chunk_is_seen(void **state)
{
	struct fixture *f = *state;

	connect_merger(f);
	chunk(f, 1, 1, 0);
	chunk(f, 1, 1, 1);
	assert_int_equal(expect(f, RD__KIND__CHUNK_ACK)->count, 2);
	commit(f, 1, 1, 3);
	struct sent *s = expect(f, RD__KIND__FAILED);
	assert_int_equal(s->error.code, RD_PROTOCOL);
	assert_string_equal(s->error.text, "2 of 3 chunks came");
	assert_true(s->retry);
	assert_int_equal(s->task, 1);
	/* In the middle: the number does not follow. */
	chunk(f, 2, 1, 0);
	expect(f, RD__KIND__CHUNK_ACK);
	chunk(f, 2, 1, 2);
	assert_int_equal(expect(f, RD__KIND__FAILED)->error.code, RD_PROTOCOL);
	/* At the beginning: a merger that died had it. */
	chunk(f, 3, 1, 1);
	s = expect(f, RD__KIND__FAILED);
	assert_string_equal(s->error.text, "the first chunks of this partial did not come here");
	/* What is still under way of it is not answered again. */
	chunk(f, 3, 1, 2);
	expect_nothing(f);
	commit(f, 3, 1, 4);
	expect_nothing(f);
	commit(f, 4, 1, 4);
	assert_string_equal(expect(f, RD__KIND__FAILED)->error.text, "the chunks of this partial are not here");
	assert_int_equal(f->commits, 0);
}

static void a_corrupt_chunk_is_refused(void **state)
{
	struct fixture *f = *state;
	uint8_t *bytes = (uint8_t *)(uintptr_t)f->blocks.at[1].bytes.at;

	connect_merger(f);
	chunk(f, 1, 1, 0);
	expect(f, RD__KIND__CHUNK_ACK);
	bytes[5000] ^= 1;
	chunk(f, 1, 1, 1);
	struct sent *s = expect(f, RD__KIND__FAILED);
	assert_int_equal(s->error.code, RD_CORRUPT);
	assert_true(s->retry);
	bytes[5000] ^= 1;
	/* The next attempt has its own beginning. */
	chunks(f, 1, 2);
	commit(f, 1, 2, f->blocks.n);
	assert_false(expect(f, RD__KIND__MERGED)->duplicate);
}

static void chunks_of_two_shards(void **state)
{
	struct fixture *f = *state;
	Rd__Envelope e = about(RD__KIND__CHUNK, 1, 1);
	Rd__Chunk c = RD__CHUNK__INIT;

	connect_merger(f);
	chunk(f, 1, 1, 0);
	expect(f, RD__KIND__CHUNK_ACK);
	c.shard = 5;
	c.table = f->blocks.at[1].table;
	e.chunk = &c;
	tell(f, &e, f->blocks.at[1].bytes);
	assert_string_equal(expect(f, RD__KIND__FAILED)->error.text, "chunks of two shards in one attempt");
}

static void an_abandoned_attempt_is_forgotten(void **state)
{
	struct fixture *f = *state;
	Rd__Envelope e = about(RD__KIND__ABANDON, 1, 1);

	connect_merger(f);
	chunk(f, 1, 1, 0);
	chunk(f, 2, 1, 0);
	expect(f, RD__KIND__CHUNK_ACK);
	expect(f, RD__KIND__CHUNK_ACK);
	tell(f, &e, (struct rd_span){0});
	assert_int_equal(f->m.incoming.n, 1);
	/* One that nobody follows up, in time. */
	assert_int_equal(rd_merger_wake_ns(&f->m), f->now_ns + limits.idle_ns);
	f->now_ns += limits.idle_ns;
	expect_nothing(f);
	assert_int_equal(f->m.incoming.n, 0);
}

static void a_new_connection_begins_anew(void **state)
{
	struct fixture *f = *state;

	connect_merger(f);
	chunk(f, 1, 1, 0);
	rd_merger_up(&f->m);
	expect(f, RD__KIND__HELLO);
	expect_nothing(f);
	assert_int_equal(f->m.incoming.n, 0);
	f->now_ns += limits.hello_ns;
	expect(f, RD__KIND__HELLO);
}

static void words_wait_for_the_socket(void **state)
{
	struct fixture *f = *state;

	connect_merger(f);
	f->full = true;
	for (size_t i = 0; i < f->blocks.n; i++)
		chunk(f, 1, 1, i);
	assert_int_equal(rd_merger_pump(&f->m, &f->err), 1);
	commit(f, 1, 1, f->blocks.n);
	assert_int_equal(rd_merger_pump(&f->m, &f->err), 1);
	f->full = false;
	assert_false(expect(f, RD__KIND__MERGED)->duplicate);
	expect_nothing(f);
}

/* ---- a full disk */

static void a_full_disk_holds_a_commit(void **state)
{
	struct fixture *f = *state;

	connect_merger(f);
	chunks(f, 1, 1);
	f->store_errno = ENOSPC;
	commit(f, 1, 1, f->blocks.n);
	expect_nothing(f);
	assert_false(rd_merger_listens(&f->m));
	assert_int_equal(rd_merger_wake_ns(&f->m), f->now_ns + limits.retry_ns);
	f->now_ns += limits.retry_ns;
	expect_nothing(f);
	assert_false(rd_merger_listens(&f->m));
	f->store_errno = 0;
	f->now_ns += limits.retry_ns;
	assert_false(expect(f, RD__KIND__MERGED)->duplicate);
	assert_true(rd_merger_listens(&f->m));
	assert_int_equal(f->commits, 1);
}

static void a_full_disk_holds_a_chunk(void **state)
{
	struct fixture *f = *state;

	connect_merger(f);
	f->m.spool_budget = 0;
	f->spool_errno = ENOSPC;
	chunk(f, 1, 1, 0);
	expect_nothing(f);
	assert_false(rd_merger_listens(&f->m));
	f->spool_errno = 0;
	f->now_ns += limits.retry_ns;
	assert_int_equal(expect(f, RD__KIND__CHUNK_ACK)->count, 1);
	for (size_t i = 1; i < f->blocks.n; i++)
		chunk(f, 1, 1, i);
	expect(f, RD__KIND__CHUNK_ACK);
	commit(f, 1, 1, f->blocks.n);
	expect(f, RD__KIND__MERGED);
}

static void a_private_merger_does_not_wait_for_room(void **state)
{
	struct fixture *f = *state;

	f->m.limits.thrown_away = true;
	connect_merger(f);
	chunks(f, 1, 1);
	f->store_errno = ENOSPC;
	commit(f, 1, 1, f->blocks.n);
	struct sent *s = expect(f, RD__KIND__FAILED);
	assert_false(s->retry);
	assert_int_equal(s->error.code, RD_IO);
	f->m.spool_budget = 0;
	f->spool_errno = ENOSPC;
	chunk(f, 2, 1, 0);
	s = expect(f, RD__KIND__FAILED);
	assert_int_equal(s->task, 2);
	assert_false(s->retry);
}

/* What the disk holds is not known: the process must end, and say nothing. */
static void another_failure_ends_it(void **state)
{
	struct fixture *f = *state;

	connect_merger(f);
	chunks(f, 1, 1);
	f->store_errno = EIO;
	assert_code(RD_IO, try_commit(f, 1, 1, f->blocks.n));
	assert_int_equal(f->m.replies.n, 0);
}

/* ---- finishing */

static void a_job_is_finished_in_steps(void **state)
{
	struct fixture *f = *state;
	uint64_t body[2] = {5, 50};

	connect_merger(f);
	merge(f, 1);
	merge(f, 2);
	finish(f, 2, 0);
	expect_nothing(f);
	assert_int_equal(f->step, RD_STEP_FINISH);
	assert_string_equal(f->step_record.output, "/out/a.rundown");
	assert_string_equal(f->step_record.folder, "/out/.a.rundown.rundown-job-1-75756964");
	frame(f, RD_FINISH_PROGRESS, body, sizeof body);
	struct sent *s = expect(f, RD__KIND__FINISH_PROGRESS);
	assert_int_equal(s->bytes, 5);
	assert_int_equal(s->total, 50);
	frame(f, RD_FINISH_PROGRESS, body, sizeof body);
	expect_nothing(f);
	f->now_ns += limits.progress_ns;
	expect(f, RD__KIND__FINISH_PROGRESS);
	/* Asked again meanwhile. */
	finish(f, 2, 0);
	expect_nothing(f);
	child_is_ready(f);
	assert_int_equal(f->step, RD_STEP_DELIVER);
	assert_int_equal(f->step_record.row.inode, 9);
	assert_int_equal(find_job(f, "job-1")->record.row.state, RD_ROW_DELIVERING);
	expect_nothing(f);
	child_is_done(f);
	s = expect(f, RD__KIND__FINISHED);
	assert_int_equal(s->samples, 77);
	assert_int_equal(s->lost_events, 3);
	assert_true(s->complete);
	assert_int_equal(find_job(f, "job-1")->record.row.state, RD_ROW_FINISHED);
	/* Asked again after: the same answer, no child. */
	uint64_t children = f->started;
	finish(f, 2, 0);
	assert_int_equal(expect(f, RD__KIND__FINISHED)->samples, 77);
	assert_int_equal(f->started, children);
	/* And late chunks are refused. */
	chunk(f, 3, 1, 0);
	s = expect(f, RD__KIND__FAILED);
	assert_int_equal(s->error.code, RD_CANCELLED);
	assert_false(s->retry);
}

static void a_missing_shard_is_refused(void **state)
{
	struct fixture *f = *state;

	connect_merger(f);
	merge(f, 1);
	merge(f, 3);
	finish(f, 4, 0);
	struct sent *s = expect(f, RD__KIND__FAILED);
	assert_int_equal(s->task, 0);
	assert_int_equal(s->error.code, RD_NOT_FOUND);
	assert_string_equal(s->error.text, "2 shards are neither merged nor given up, first shard 1 of trace 0");
	assert_int_equal(f->started, 0);
	finish(f, 4, 1);
	expect(f, RD__KIND__FAILED);
	merge(f, 2);
	finish(f, 4, 1);
	expect_nothing(f);
	assert_int_equal(f->step, RD_STEP_FINISH);
}

static void a_failed_finish_is_swept(void **state)
{
	struct fixture *f = *state;

	connect_merger(f);
	merge(f, 1);
	finish(f, 1, 0);
	pump(f);
	child_fails(f, RD_EXISTS, "the output exists already");
	assert_int_equal(f->step, RD_STEP_SWEEP);
	expect_nothing(f);
	child_is_done(f);
	struct sent *s = expect(f, RD__KIND__FAILED);
	assert_int_equal(s->error.code, RD_EXISTS);
	assert_int_equal(s->task, 0);
	assert_false(s->retry);
	assert_null(find_job(f, "job-1"));
}

static void a_crashed_finish_names_its_signal(void **state)
{
	struct fixture *f = *state;

	connect_merger(f);
	merge(f, 1);
	finish(f, 1, 0);
	pump(f);
	child_ends(f, SIGSEGV);
	child_is_done(f);
	struct sent *s = expect(f, RD__KIND__FAILED);
	assert_string_equal(s->error.text, "the finish was killed by SIGSEGV (Segmentation fault)");
	assert_true(s->retry);
	/* The merger works on. */
	merge(f, 2);
	finish(f, 1, 0);
	pump(f);
	/* READY alone, or an end alone, is no answer. */
	child_is_done(f);
	assert_int_equal(f->step, RD_STEP_SWEEP);
	child_is_done(f);
	assert_string_equal(expect(f, RD__KIND__FAILED)->error.text, "the finish ended without an answer");
}

static void a_silent_finish_is_killed(void **state)
{
	struct fixture *f = *state;

	connect_merger(f);
	merge(f, 1);
	finish(f, 1, 0);
	pump(f);
	f->now_ns += limits.patience_ns;
	expect_nothing(f);
	assert_int_equal(f->killed, f->started);
	rd_merger_child_gone(&f->m, &(struct rd_forker_exit){.id = f->started, .status = SIGKILL});
	pump(f);
	assert_int_equal(f->step, RD_STEP_SWEEP);
	child_is_done(f);
	assert_string_equal(expect(f, RD__KIND__FAILED)->error.text,
			    "the finish said nothing for 100 s and was killed");
}

static void nonsense_of_a_child(void **state)
{
	struct fixture *f = *state;

	connect_merger(f);
	merge(f, 1);
	finish(f, 1, 0);
	pump(f);
	frame(f, RD_FINISH_READY, "short", 5);
	assert_int_equal(f->killed, f->started);
	rd_merger_child_gone(&f->m, &(struct rd_forker_exit){.id = f->started, .status = SIGKILL});
	pump(f);
	child_is_done(f);
	assert_string_equal(expect(f, RD__KIND__FAILED)->error.text, "the finish's answer is off");
}

static void a_dropped_job_stops(void **state)
{
	struct fixture *f = *state;

	connect_merger(f);
	merge(f, 1);
	chunk(f, 2, 1, 0);
	expect(f, RD__KIND__CHUNK_ACK);
	finish(f, 1, 0);
	pump(f);
	drop(f);
	assert_int_equal(f->killed, f->started);
	assert_int_equal(f->m.incoming.n, 0);
	assert_int_equal(find_job(f, "job-1")->record.row.state, RD_ROW_DROPPED);
	rd_merger_child_gone(&f->m, &(struct rd_forker_exit){.id = f->started, .status = SIGKILL});
	pump(f);
	assert_int_equal(f->step, RD_STEP_SWEEP);
	child_is_done(f);
	expect_nothing(f);
	assert_int_equal(f->m.finishing.n, 0);
	finish(f, 1, 0);
	assert_int_equal(expect(f, RD__KIND__FAILED)->error.code, RD_CANCELLED);
}

static void put_delivering(struct fixture *f)
{
	struct job_row *row = rd_vec_add(&f->jobs);

	*row = (struct job_row){.record = {.row = {.state = RD_ROW_DELIVERING, .inode = 9, .samples = 77}}};
	strcpy(row->job, "job-1");
	strcpy(row->record.output, "/out/a.rundown");
	strcpy(row->record.folder, "/out/.a.rundown.rundown-job-1-00000000");
}

/* A merger that died between the row and the rename, or behind the rename: only DELIVER can tell. */
static void a_delivery_is_resumed(void **state)
{
	struct fixture *f = *state;

	connect_merger(f);
	merge(f, 1);
	put_delivering(f);
	finish(f, 1, 0);
	pump(f);
	assert_int_equal(f->step, RD_STEP_DELIVER);
	assert_int_equal(f->step_record.row.inode, 9);
	assert_string_equal(f->step_record.folder, "/out/.a.rundown.rundown-job-1-00000000");
	child_is_done(f);
	assert_int_equal(expect(f, RD__KIND__FINISHED)->samples, 77);
}

static void a_lost_result_is_made_again(void **state)
{
	struct fixture *f = *state;

	connect_merger(f);
	merge(f, 1);
	put_delivering(f);
	finish(f, 1, 0);
	pump(f);
	child_fails(f, RD_NOT_FOUND, "the result is gone");
	assert_int_equal(f->step, RD_STEP_FINISH);
	assert_string_equal(f->step_record.folder, "/out/.a.rundown.rundown-job-1-75756964");
	child_is_ready(f);
	assert_int_equal(f->step, RD_STEP_DELIVER);
	child_fails(f, RD_NOT_FOUND, "gone again");
	assert_int_equal(f->step, RD_STEP_SWEEP);
	child_is_done(f);
	assert_string_equal(expect(f, RD__KIND__FAILED)->error.text, "gone again");
}

static void a_full_disk_delays_the_end(void **state)
{
	struct fixture *f = *state;

	connect_merger(f);
	merge(f, 1);
	finish(f, 1, 0);
	pump(f);
	f->store_errno = ENOSPC;
	child_is_ready(f);
	assert_int_equal(f->step, RD_STEP_FINISH);
	expect_nothing(f);
	assert_int_equal(rd_merger_wake_ns(&f->m), f->now_ns + limits.retry_ns);
	f->store_errno = 0;
	f->now_ns += limits.retry_ns;
	pump(f);
	assert_int_equal(f->step, RD_STEP_DELIVER);
	f->store_errno = ENOSPC;
	child_is_done(f);
	expect_nothing(f);
	f->store_errno = 0;
	f->now_ns += limits.retry_ns;
	expect(f, RD__KIND__FINISHED);
}

static void leaving_sweeps(void **state)
{
	struct fixture *f = *state;

	connect_merger(f);
	merge(f, 1);
	finish(f, 1, 0);
	pump(f);
	rd_merger_leave(&f->m);
	assert_false(rd_merger_over(&f->m));
	assert_int_equal(f->killed, f->started);
	rd_merger_child_gone(&f->m, &(struct rd_forker_exit){.id = f->started, .status = SIGKILL});
	pump(f);
	assert_int_equal(f->step, RD_STEP_SWEEP);
	child_is_done(f);
	assert_true(rd_merger_over(&f->m));
	assert_int_equal(f->seen, f->sent.n);
}

static void another_merger_has_come(void **state)
{
	struct fixture *f = *state;
	Rd__Envelope e = rd_envelope(RD__KIND__REFUSED);
	Rd__Error error = RD__ERROR__INIT;

	connect_merger(f);
	error.code = RD_NOT_FOUND;
	e.error = &error;
	tell(f, &e, (struct rd_span){0});
	expect(f, RD__KIND__HELLO);
	assert_false(rd_merger_over(&f->m));
	error.code = RD_EXISTS;
	tell(f, &e, (struct rd_span){0});
	assert_true(rd_merger_over(&f->m));
	assert_true(f->m.refused);
}

int main(void)
{
#define MERGER_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		MERGER_TEST(a_partial_is_merged_once),
		MERGER_TEST(the_first_of_two_attempts_wins),
		MERGER_TEST(a_missing_chunk_is_seen),
		MERGER_TEST(a_corrupt_chunk_is_refused),
		MERGER_TEST(chunks_of_two_shards),
		MERGER_TEST(an_abandoned_attempt_is_forgotten),
		MERGER_TEST(a_new_connection_begins_anew),
		MERGER_TEST(words_wait_for_the_socket),
		MERGER_TEST(a_full_disk_holds_a_commit),
		MERGER_TEST(a_full_disk_holds_a_chunk),
		MERGER_TEST(a_private_merger_does_not_wait_for_room),
		MERGER_TEST(another_failure_ends_it),
		MERGER_TEST(a_job_is_finished_in_steps),
		MERGER_TEST(a_missing_shard_is_refused),
		MERGER_TEST(a_failed_finish_is_swept),
		MERGER_TEST(a_crashed_finish_names_its_signal),
		MERGER_TEST(a_silent_finish_is_killed),
		MERGER_TEST(nonsense_of_a_child),
		MERGER_TEST(a_dropped_job_stops),
		MERGER_TEST(a_delivery_is_resumed),
		MERGER_TEST(a_lost_result_is_made_again),
		MERGER_TEST(a_full_disk_delays_the_end),
		MERGER_TEST(leaving_sweeps),
		MERGER_TEST(another_merger_has_come),
	};
	rd_log_init(RD_LOG_ERROR, "test");
	make_blocks(&blocks, 5, 12);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	release_blocks(&blocks);
	return failed;
}
