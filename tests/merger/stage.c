#include "tests/merger/stage.h"

#include <errno.h>

#include "net/wire_error.h"
#include "profile/partial.h"

static test_block_vec blocks;

void make_partial(void)
{
	make_blocks(&blocks, 5, 12);
}

void release_partial(void)
{
	release_blocks(&blocks);
}

/* ---- its acts */

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

struct job_row *find_job(struct fixture *f, const char *job)
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

const struct rd_merger_limits limits = {.patience_ns = 100 * SECOND,
					.idle_ns = 60 * SECOND,
					.retry_ns = SECOND,
					.hello_ns = 2 * SECOND,
					.progress_ns = SECOND / 5};

int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	struct rd_merger_acts acts = {f,          act_send, act_spool_file, "/state",  act_ledger, act_ledger_task,
				      act_commit, act_job,  act_job_put,    act_start, act_kill,   act_now};

	f->now_ns = SECOND;
	rd_merger_init(&f->m, &acts, &limits, (const uint8_t *)"uuid of a merger");
	f->blocks = blocks;
	*state = f;
	return 0;
}

int teardown(void **state)
{
	struct fixture *f = *state;

	rd_merger_release(&f->m);
	rd_vec_release(&f->sent);
	rd_vec_release(&f->ledger);
	rd_vec_release(&f->jobs);
	free(f);
	return 0;
}

void pump(struct fixture *f)
{
	assert_ok(rd_merger_pump(&f->m, &f->err), &f->err);
}

struct sent *expect(struct fixture *f, Rd__Kind kind)
{
	pump(f);
	if (f->seen >= f->sent.n)
		fail_msg("no %s was sent", rd_kind_name(kind));
	assert_string_equal(rd_kind_name(f->sent.at[f->seen].kind), rd_kind_name(kind));
	return &f->sent.at[f->seen++];
}

void expect_nothing(struct fixture *f)
{
	pump(f);
	if (f->seen < f->sent.n)
		fail_msg("%s was sent", rd_kind_name(f->sent.at[f->seen].kind));
}

/* ---- the broker's words */

int try_tell(struct fixture *f, const Rd__Envelope *e, struct rd_span blob)
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

void tell(struct fixture *f, const Rd__Envelope *e, struct rd_span blob)
{
	assert_ok(try_tell(f, e, blob), &f->err);
}

Rd__Envelope about(Rd__Kind kind, uint64_t task, uint32_t attempt)
{
	Rd__Envelope e = rd_envelope(kind);

	e.job = rd_field("job-1");
	e.task = task;
	e.attempt = attempt;
	return e;
}

void chunk(struct fixture *f, uint64_t task, uint32_t attempt, size_t i)
{
	Rd__Envelope e = about(RD__KIND__CHUNK, task, attempt);
	Rd__Chunk c = RD__CHUNK__INIT;

	c.shard = (uint32_t)task - 1;
	c.table = f->blocks.at[i].table;
	c.seq = f->blocks.at[i].seq;
	e.chunk = &c;
	tell(f, &e, f->blocks.at[i].bytes);
}

int try_commit(struct fixture *f, uint64_t task, uint32_t attempt, uint64_t count)
{
	Rd__Envelope e = about(RD__KIND__COMMIT, task, attempt);
	e.count = count;
	return try_tell(f, &e, (struct rd_span){0});
}

void commit(struct fixture *f, uint64_t task, uint32_t attempt, uint64_t count)
{
	assert_ok(try_commit(f, task, attempt, count), &f->err);
}

void chunks(struct fixture *f, uint64_t task, uint32_t attempt)
{
	for (size_t i = 0; i < f->blocks.n; i++) {
		chunk(f, task, attempt, i);
		struct sent *s = expect(f, RD__KIND__CHUNK_ACK);
		assert_int_equal(s->task, task);
		assert_int_equal(s->attempt, attempt);
		assert_int_equal(s->count, i + 1);
	}
}

void merge(struct fixture *f, uint64_t task)
{
	chunks(f, task, 1);
	commit(f, task, 1, f->blocks.n);
	assert_false(expect(f, RD__KIND__MERGED)->duplicate);
}

void connect_merger(struct fixture *f)
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

void finish(struct fixture *f, uint32_t shards, uint32_t given_up)
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

void frame(struct fixture *f, uint8_t type, const void *body, size_t n)
{
	rd_merger_frame(&f->m, &(struct rd_pipe_frame){type, {body, n}});
}

void child_ends(struct fixture *f, int status)
{
	rd_merger_pipe_end(&f->m);
	rd_merger_child_gone(&f->m, &(struct rd_forker_exit){.id = f->started, .status = status});
	pump(f);
}

void child_fails(struct fixture *f, int code, const char *text)
{
	struct rd_bytes body = {0};
	struct rd_error e;

	rd_fail(&e, code, "%s", text);
	assert_int_equal(rd_pipe_error_pack(&e, &body), 0);
	frame(f, RD_FINISH_ERROR, body.at, body.n);
	rd_bytes_release(&body);
	child_ends(f, 0);
}

void child_is_ready(struct fixture *f)
{
	struct rd_finish_ready ready = {.samples = 77, .lost_events = 3, .device = 8, .inode = 9, .complete = 1};

	frame(f, RD_FINISH_READY, &ready, sizeof ready);
	frame(f, RD_FINISH_END, "", 0);
	child_ends(f, 0);
}

void child_is_done(struct fixture *f)
{
	frame(f, RD_FINISH_END, "", 0);
	child_ends(f, 0);
}
