/* A worker's process: the real machine, and parsers that decode the recording. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "net/task.h"
#include "profile/shard.h"
#include "tests/simulation/world.h"

static const struct rd_worker_limits limits = {
	.hang_ns = 60 * SECOND, .ack_ns = 100 * SECOND, .repeat_ns = 10 * SECOND, .hello_ns = 2 * SECOND};

static struct worker_node *of(int node)
{
	return &world.workers[node - FIRST_WORKER];
}

static int node_of_ctx(const void *ctx)
{
	return FIRST_WORKER + (int)((const struct worker_node *)ctx - world.workers);
}

static int act_send(void *ctx, const Rd__Envelope *e, struct rd_blob *blob, struct rd_error *err)
{
	struct rd_message m = {.envelope = (Rd__Envelope *)(uintptr_t)e};

	if (blob)
		m.blob = *blob;
	assert_ok(rd_validate(&m, e->kind == RD__KIND__HELLO ? RD_FROM_STRANGER : RD_FROM_WORKER, err), err);
	return post_to_broker(node_of_ctx(ctx), e, blob);
}

/* ---- the parser's words: the real answer of the real task, written once and kept */

#define ANSWERS_MAX 256
static struct {
	uint64_t task;
	struct rd_bytes words;
} answers[ANSWERS_MAX];
static size_t answers_n;

static int tell_block(void *ctx, enum rd_partial_table table, uint32_t seq, struct rd_span block, struct rd_error *err)
{
	return rd_answer_block(*(const int *)ctx, table, seq, block, err);
}

static void write_index(int fd)
{
	struct rd_bytes packed = {0};
	struct rd_error err;

	assert_ok(rd_index_pack(&world.recording->index, &packed, &err), &err);
	assert_ok(rd_answer_index(fd, (struct rd_span){packed.at, packed.n}, &err), &err);
	rd_bytes_release(&packed);
}

static void write_partial(int fd, const Rd__Assignment *w, struct rd_span blob)
{
	struct rd_trace_info info;
	rd_block_vec context = {0}, blocks = {0};
	struct rd_shard_options opt = {.preliminary = w->preliminary};
	struct rd_error err;
	const uint8_t *at = blob.at;

	assert_int_equal(w->info_bytes + w->context_bytes + w->blocks_bytes, blob.size_bytes);
	assert_ok(rd_info_unpack(&info, (struct rd_span){at, w->info_bytes}, &err), &err);
	at += w->info_bytes;
	assert_ok(rd_blocks_unpack(&context, (struct rd_span){at, w->context_bytes}, &err), &err);
	at += w->context_bytes;
	assert_ok(rd_blocks_unpack(&blocks, (struct rd_span){at, w->blocks_bytes}, &err), &err);
	struct rd_shard shard = {&info, context.at, context.n, blocks.at, blocks.n};
	assert_ok(rd_shard_decode(&world.recording->source, &shard, &opt, tell_block, &fd, &err), &err);
	rd_vec_release(&context);
	rd_vec_release(&blocks);
}

static void write_answer(const Rd__Assignment *w, struct rd_span blob, struct rd_bytes *words)
{
	struct rd_error err;
	int fd = memfd_create("answer", MFD_CLOEXEC);

	assert_true(fd >= 0);
	if (w->work == RD__WORK__DECODE)
		write_partial(fd, w, blob);
	else
		write_index(fd);
	assert_ok(rd_answer_end(fd, &err), &err);
	off_t size = lseek(fd, 0, SEEK_END);
	assert_non_null(rd_bytes_extend(words, (size_t)size));
	assert_ok(rd_pread_all(fd, words->at, words->n, 0, &err), &err);
	close(fd);
}

/* Its number of the kept ones, which are of all seeds: equal tasks have equal answers. */
static const struct rd_bytes *answer_to(const struct rd_message *task)
{
	const Rd__Assignment *w = task->envelope->work;
	struct rd_bytes room = {0};
	struct rd_span blob;
	struct rd_error err;
	size_t i = 0;

	assert_ok(rd_blob_whole(&task->blob, &room, &blob, &err), &err);
	uint64_t key = rd_hash(blob.at, blob.size_bytes) + (uint64_t)w->work;
	while (i < answers_n && answers[i].task != key)
		i++;
	if (i == answers_n) {
		assert_true(answers_n < ANSWERS_MAX);
		answers[answers_n++].task = key;
		write_answer(w, blob, &answers[i].words);
	}
	rd_bytes_release(&room);
	return &answers[i].words;
}

void forget_answers(void)
{
	while (answers_n > 0)
		rd_bytes_release(&answers[--answers_n].words);
}

/* ---- the parser's life */

static void parser_speaks(struct event *e);

static void parser_ends(struct worker_node *w, int status)
{
	struct rd_forker_exit gone = {.id = w->child.id, .status = status};

	child_release(&w->child);
	rd_worker_child_gone(&w->machine, &gone);
}

static void next_word(int node)
{
	const struct child *c = &of(node)->child;
	later(c->pause_ns, parser_speaks, node)->child = c->id;
}

static void parser_speaks(struct event *e)
{
	struct worker_node *w = of(e->node);
	struct child *c = &w->child;
	struct rd_pipe_frame frame;

	if (c->id == 0 || c->id != e->child)
		return;
	if (c->at > 0 && c->hangs) {
		world.hangs++;
		return; /* until it is killed */
	}
	if (c->at > 0 && c->crashes) {
		world.crashes++;
		rd_worker_pipe_end(&w->machine, 3, NULL);
		parser_ends(w, 11);
	} else if (!rd_worker_wants_frames(&w->machine)) {
		next_word(e->node);
	} else if (child_next(c, &frame)) {
		rd_worker_frame(&w->machine, &frame);
		if (c->id)
			next_word(e->node);
	} else {
		rd_worker_pipe_end(&w->machine, 0, NULL);
		parser_ends(w, 0);
	}
	pump_node(e->node);
}

static int act_start(void *ctx, uint64_t child, const struct rd_message *task, const char *folder, struct rd_error *err)
{
	struct worker_node *w = ctx;
	const struct rd_bytes *answer = answer_to(task);
	struct rd_bytes words = {0};

	(void)folder, (void)err;
	assert_int_equal(w->child.id, 0);
	assert_int_equal(rd_bytes_append(&words, answer->at, answer->n), 0);
	child_begins(&w->child, child, &words);
	if (task->envelope->work->work == RD__WORK__DECODE && task->envelope->work->shard == world.poison)
		w->child.crashes = true;
	next_word(node_of_ctx(ctx));
	return 0;
}

static void parser_is_gone(struct event *e)
{
	struct worker_node *w = of(e->node);

	if (w->child.id != e->child)
		return;
	parser_ends(w, 9);
	pump_node(e->node);
}

static void act_kill(void *ctx, uint64_t child)
{
	struct worker_node *w = ctx;

	if (w->child.id != child)
		return;
	w->child.hangs = true;
	w->child.at += w->child.at == 0;
	later(roll(50 * MILLI), parser_is_gone, node_of_ctx(ctx))->child = child;
}

static void act_clean(void *ctx, const char *folder)
{
	(void)ctx, (void)folder;
}

static uint64_t act_now(void *ctx)
{
	(void)ctx;
	return world.now_ns;
}

/* ---- the process */

void start_worker(int node)
{
	struct rd_worker_acts acts = {of(node), act_send, act_start, act_kill, act_clean, act_now};

	rd_worker_init(&of(node)->machine, &acts, &limits, world.nodes[node].uuid, "");
}

void stop_worker(int node)
{
	child_release(&of(node)->child);
	rd_worker_release(&of(node)->machine);
}

void pump_worker(int node)
{
	struct rd_worker *w = &of(node)->machine;
	struct rd_error err;

	int full = rd_worker_pump(w, &err);
	assert_true(full >= 0);
	assert_false(rd_worker_over(w));
	wake_at(node, full ? world.now_ns + 100 * MILLI : rd_worker_wake_ns(w));
}
