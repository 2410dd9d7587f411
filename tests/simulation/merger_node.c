/* A merger's process: the real machine, a disk in memory that outlives it, and finishes that reconcile what is there.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "merger/finish.h"
#include "net/validate.h"
#include "profile/finish.h"
#include "tests/simulation/world.h"

static const struct rd_merger_limits limits = {.patience_ns = 100 * SECOND,
					       .idle_ns = 60 * SECOND,
					       .retry_ns = SECOND,
					       .hello_ns = 2 * SECOND,
					       .progress_ns = SECOND / 5};

static int act_send(void *ctx, const Rd__Envelope *e, struct rd_error *err)
{
	struct rd_message m = {.envelope = (Rd__Envelope *)(uintptr_t)e};

	(void)ctx;
	assert_ok(rd_validate(&m, e->kind == RD__KIND__HELLO ? RD_FROM_STRANGER : RD_FROM_MERGER, err), err);
	return post_to_broker(MERGER_NODE, e, NULL);
}

/* ---- the disk */

static int act_spool_file(void *ctx, struct rd_error *err)
{
	(void)ctx;
	return rd_spool_file(scratch_folder(), err);
}

static bool is_full(struct rd_error *err)
{
	if (world.merger.full == 0)
		return false;
	world.merger.full--;
	errno = ENOSPC;
	rd_fail_errno(err, "writing to the store");
	return true;
}

static bool is_same(const struct rd_shard_id *a, const struct rd_shard_id *b)
{
	return a->trace == b->trace && a->shard == b->shard && strcmp(a->job, b->job) == 0;
}

static struct stored_shard *find_shard(const struct rd_shard_id *id)
{
	for (size_t i = 0; i < world.merger.ledger.n; i++)
		if (is_same(&world.merger.ledger.at[i].id, id))
			return &world.merger.ledger.at[i];
	return NULL;
}

static int act_ledger(void *ctx, const struct rd_shard_id *id, struct rd_ledger_row *row, struct rd_error *err)
{
	const struct stored_shard *s = find_shard(id);

	(void)ctx, (void)err;
	if (s)
		*row = s->row;
	return s != NULL;
}

static int act_ledger_task(void *ctx, const char *job, uint64_t task, struct rd_error *err)
{
	(void)ctx, (void)err;
	for (size_t i = 0; i < world.merger.ledger.n; i++)
		if (world.merger.ledger.at[i].row.task == task && strcmp(world.merger.ledger.at[i].id.job, job) == 0)
			return 1;
	return 0;
}

static void store_blocks(const struct rd_shard_id *id, const struct rd_spool *spool)
{
	uint64_t offset = 0;
	struct rd_error err;

	for (size_t i = 0; i < spool->blocks.n; i++) {
		struct stored_block *b = rd_vec_add(&world.merger.blocks);
		assert_non_null(b);
		*b = (struct stored_block){*id, spool->blocks.at[i].table, spool->blocks.at[i].seq, {0}};
		void *to = rd_bytes_extend(&b->bytes, spool->blocks.at[i].size_bytes);
		assert_non_null(to);
		assert_ok(rd_spool_read(spool, i, offset, to, &err), &err);
		offset += spool->blocks.at[i].size_bytes;
	}
}

static int act_commit(void *ctx, const struct rd_shard_id *id, const struct rd_ledger_row *row,
		      const struct rd_spool *spool, struct rd_error *err)
{
	(void)ctx;
	if (is_full(err))
		return RD_IO;
	if (find_shard(id))
		return rd_fail(err, RD_EXISTS, "there");
	struct stored_shard *s = rd_vec_add(&world.merger.ledger);
	assert_non_null(s);
	*s = (struct stored_shard){*id, *row};
	store_blocks(id, spool);
	world.merger.commits++;
	return 0;
}

static struct stored_job *find_job(const char *job)
{
	for (size_t i = 0; i < world.merger.jobs.n; i++)
		if (strcmp(world.merger.jobs.at[i].job, job) == 0)
			return &world.merger.jobs.at[i];
	return NULL;
}

static int act_job(void *ctx, const char *job, struct rd_job_record *out, struct rd_error *err)
{
	const struct stored_job *j = find_job(job);

	(void)ctx, (void)err;
	if (j)
		*out = j->record;
	return j != NULL;
}

/* What is past merging needs its partials no more. */
static void forget_partials(const char *job)
{
	size_t kept = 0;

	for (size_t i = 0; i < world.merger.blocks.n; i++) {
		struct stored_block *b = &world.merger.blocks.at[i];
		if (strcmp(b->id.job, job) == 0)
			rd_bytes_release(&b->bytes);
		else
			world.merger.blocks.at[kept++] = *b;
	}
	world.merger.blocks.n = kept;
	kept = 0;
	for (size_t i = 0; i < world.merger.ledger.n; i++)
		if (strcmp(world.merger.ledger.at[i].id.job, job) != 0)
			world.merger.ledger.at[kept++] = world.merger.ledger.at[i];
	world.merger.ledger.n = kept;
}

static int act_job_put(void *ctx, const char *job, struct rd_job_record *record, struct rd_error *err)
{
	struct stored_job *j = find_job(job);

	(void)ctx;
	if (is_full(err))
		return RD_IO;
	if (j == NULL) {
		j = rd_vec_add(&world.merger.jobs);
		assert_non_null(j);
		snprintf(j->job, sizeof j->job, "%s", job);
	}
	j->record = *record;
	if (record->row.state != RD_ROW_DELIVERING)
		forget_partials(job);
	return 0;
}

/* ---- the finish */

static int block_of(void *ctx, size_t shard, enum rd_partial_table table, uint32_t seq, struct rd_span *block,
		    struct rd_error *err)
{
	struct rd_shard_id id = {.shard = (uint32_t)shard};

	(void)err;
	snprintf(id.job, sizeof id.job, "%s", (const char *)ctx);
	for (size_t i = 0; i < world.merger.blocks.n; i++) {
		const struct stored_block *b = &world.merger.blocks.at[i];
		if (!is_same(&b->id, &id) || b->table != table || b->seq != seq)
			continue;
		*block = (struct rd_span){b->bytes.at, b->bytes.n};
		return 1;
	}
	return 0;
}

/* Every shard is in the ledger, or the order says that it was given up. */
static void check_shards(const char *job, const Rd__Finish *f)
{
	assert_int_equal(f->n_shards, 1);
	for (uint32_t i = 0; i < f->shards[0]; i++) {
		struct rd_shard_id id = {.shard = i};
		bool given_up = false;
		snprintf(id.job, sizeof id.job, "%s", job);
		for (size_t k = 0; k < f->n_quarantined_shard; k++)
			given_up = given_up || f->quarantined_shard[k] == i;
		assert_true(given_up || find_shard(&id) != NULL);
	}
}

static void make_result(const struct rd_message *order)
{
	const Rd__Finish *f = order->envelope->finish;
	char job[RD_JOB_ID_MAX + 1];
	struct rd_result result;
	struct rd_error err;

	rd_field_text(&order->envelope->job, job, sizeof job);
	check_shards(job, f);
	struct rd_finish_trace trace = {
		.path = "shop.nettrace",
		.info = &world.recording->index.info,
		.partials = {.ctx = job, .shards = f->shards[0], .block = block_of},
	};
	assert_ok(rd_finish(&trace, 1, &(struct rd_finish_options){.kind = -1}, &result, &err), &err);
	assert_ok(rd_result_digest(&result, world.merger.made, &err), &err);
	world.merger.made_samples = result.samples;
	rd_result_release(&result);
}

static void put_frame(struct rd_bytes *words, uint8_t type, const void *body, size_t n)
{
	uint8_t head[RD_PIPE_HEAD_BYTES] = {(uint8_t)n, (uint8_t)(n >> 8), 0, 0, type};

	assert_int_equal(rd_bytes_append(words, head, sizeof head), 0);
	assert_int_equal(rd_bytes_append(words, body, n), 0);
}

static void finish_speaks(struct event *e);

static void next_word(void)
{
	const struct child *c = &world.merger.child;
	later(c->pause_ns, finish_speaks, MERGER_NODE)->child = c->id;
}

static void finish_ends(int status)
{
	struct rd_forker_exit gone = {.id = world.merger.child.id, .status = status};

	child_release(&world.merger.child);
	rd_merger_child_gone(&world.merger.machine, &gone);
}

/* What a step leaves behind is there before its last word. */
static void step_is_done(void)
{
	if (world.merger.step != RD_STEP_DELIVER || world.merger.made[0] == 0)
		return;
	memcpy(world.merger.delivered, world.merger.made, sizeof world.merger.delivered);
	world.merger.made[0] = 0;
}

static void finish_speaks(struct event *e)
{
	struct child *c = &world.merger.child;
	struct rd_pipe_frame frame;

	if (c->id == 0 || c->id != e->child || (c->at > 0 && c->hangs))
		return;
	if (c->at > 0 && c->crashes) {
		/* As by the kernel, short of memory; what ends by a fault of its own fails the job. */
		rd_merger_pipe_end(&world.merger.machine);
		finish_ends(9);
	} else if (child_next(c, &frame)) {
		if (frame.type == RD_FINISH_END)
			step_is_done();
		rd_merger_frame(&world.merger.machine, &frame);
		if (c->id)
			next_word();
	} else {
		rd_merger_pipe_end(&world.merger.machine);
		finish_ends(0);
	}
	pump_node(MERGER_NODE);
}

static int act_start(void *ctx, uint64_t child, enum rd_finish_step step, const struct rd_message *order,
		     const struct rd_job_record *record, struct rd_error *err)
{
	struct rd_bytes words = {0};
	struct rd_finish_ready ready = {.device = 8, .inode = 9, .complete = 1};
	uint64_t progress[2] = {1, 2};

	(void)ctx, (void)record, (void)err;
	put_frame(&words, RD_FINISH_PROGRESS, progress, sizeof progress);
	if (step == RD_STEP_FINISH) {
		make_result(order);
		ready.samples = world.merger.made_samples;
		put_frame(&words, RD_FINISH_READY, &ready, sizeof ready);
	}
	put_frame(&words, RD_FINISH_END, "", 0);
	world.merger.step = step;
	child_begins(&world.merger.child, child, &words);
	/* One that says nothing for so long as its patience fails the job. */
	world.merger.child.hangs = false;
	next_word();
	return 0;
}

static void finish_is_gone(struct event *e)
{
	if (world.merger.child.id != e->child)
		return;
	finish_ends(9);
	pump_node(MERGER_NODE);
}

static void act_kill(void *ctx, uint64_t child)
{
	(void)ctx;
	if (world.merger.child.id != child)
		return;
	world.merger.child.hangs = true;
	world.merger.child.at += world.merger.child.at == 0;
	later(roll(50 * MILLI), finish_is_gone, MERGER_NODE)->child = child;
}

static uint64_t act_now(void *ctx)
{
	(void)ctx;
	return world.now_ns;
}

/* ---- the process */

void start_merger(int node)
{
	struct rd_merger_acts acts = {NULL,       act_send, act_spool_file, "/state",  act_ledger, act_ledger_task,
				      act_commit, act_job,  act_job_put,    act_start, act_kill,   act_now};

	rd_merger_init(&world.merger.machine, &acts, &limits, world.nodes[node].uuid);
}

void stop_merger(int node)
{
	(void)node;
	clear_inbox();
	child_release(&world.merger.child);
	rd_merger_release(&world.merger.machine);
}

void clear_inbox(void)
{
	for (size_t i = 0; i < world.merger.inbox.n; i++)
		rd_message_release(&world.merger.inbox.at[i]);
	world.merger.inbox.n = 0;
}

/* What waits in the socket, as long as it listens. */
static void read_inbox(struct rd_merger *m)
{
	struct rd_error err;

	while (world.merger.inbox.n > 0 && rd_merger_listens(m)) {
		struct rd_message first = world.merger.inbox.at[0];
		world.merger.inbox.n--;
		memmove(world.merger.inbox.at, world.merger.inbox.at + 1, world.merger.inbox.n * sizeof first);
		assert_ok(rd_merger_message(m, &first, &err), &err);
		rd_message_release(&first);
	}
}

void pump_merger(int node)
{
	struct rd_merger *m = &world.merger.machine;
	struct rd_error err;

	read_inbox(m);
	int full = rd_merger_pump(m, &err);
	if (full < 0)
		fail_msg("the merger ends: %s", err.text);
	if (world.merger.inbox.n > 0)
		wake_at(node, world.now_ns + 100 * MILLI);
	wake_at(node, full ? world.now_ns + 100 * MILLI : rd_merger_wake_ns(m));
}

void hear(int node, struct rd_message *m)
{
	if (node != MERGER_NODE) {
		rd_worker_message(&world.workers[node - FIRST_WORKER].machine, m);
		return;
	}
	struct rd_message *waits = rd_vec_add(&world.merger.inbox);
	assert_non_null(waits);
	*waits = *m;
	*m = (struct rd_message){0};
}
