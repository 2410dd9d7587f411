#include "tests/worker/stage.h"

#include "net/wire_error.h"
#include "profile/partial.h"

static test_block_vec blocks;

void make_partial(void)
{
	make_blocks(&blocks, 5, 40);
}

void release_partial(void)
{
	release_blocks(&blocks);
}

/* ---- its acts */

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
	if (e->opened)
		rd_field_text(&e->opened->damage[0], s->damage, sizeof s->damage);
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

const struct rd_worker_limits limits = {
	.hang_ns = 60 * SECOND, .ack_ns = 100 * SECOND, .repeat_ns = 10 * SECOND, .hello_ns = 2 * SECOND};

int setup(void **state)
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

int teardown(void **state)
{
	struct fixture *f = *state;

	rd_worker_release(&f->w);
	rd_vec_release(&f->sent);
	free(f);
	return 0;
}

void pump(struct fixture *f)
{
	struct rd_error err;
	assert_ok(rd_worker_pump(&f->w, &err), &err);
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

void tell(struct fixture *f, const Rd__Envelope *e)
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

void welcome(struct fixture *f)
{
	Rd__Envelope e = rd_envelope(RD__KIND__WELCOME);
	Rd__Welcome w = RD__WELCOME__INIT;

	w.epoch = rd_field("0123456789abcdef");
	w.version = rd_field("1");
	w.progress_ms = 1000;
	e.welcome = &w;
	tell(f, &e);
}

void connect_worker(struct fixture *f)
{
	rd_worker_up(&f->w);
	expect(f, RD__KIND__HELLO);
	welcome(f);
	expect_nothing(f);
}

void task(struct fixture *f, Rd__Work work, uint64_t number, uint32_t attempt)
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

void about(struct fixture *f, Rd__Kind kind, uint64_t number, uint32_t attempt, uint64_t count)
{
	Rd__Envelope e = rd_envelope(kind);

	e.job = rd_field("job-1");
	e.task = number;
	e.attempt = attempt;
	e.count = count;
	tell(f, &e);
}

/* ---- the child's words */

void frame(struct fixture *f, uint8_t type, const void *body, size_t n)
{
	assert_true(rd_worker_wants_frames(&f->w));
	rd_worker_frame(&f->w, &(struct rd_pipe_frame){type, {body, n}});
}

void block(struct fixture *f, size_t i)
{
	const struct test_block *b = &f->blocks.at[i];
	uint8_t *body = malloc(b->bytes.size_bytes + 8);

	memcpy(body, &b->table, 4);
	memcpy(body + 4, &b->seq, 4);
	memcpy(body + 8, b->bytes.at, b->bytes.size_bytes);
	frame(f, RD_ANSWER_BLOCK, body, b->bytes.size_bytes + 8);
	free(body);
}

void child_ends(struct fixture *f, int status)
{
	if (!f->w.child_killed)
		rd_worker_pipe_end(&f->w, 0, NULL);
	rd_worker_child_gone(&f->w, &(struct rd_forker_exit){.id = f->started, .status = status});
}
