/*
 * A storm over the machine: workers vanish, leave, fail, hang and come back,
 * the merger dies and returns with its ledger, the broker dies before or behind
 * a commit and another one begins with its journal, messages are late or come
 * twice. When it
 * is calm again the job ends, and every shard is in the ledger or named as
 * quarantined. Each seed is one run, and prints itself when it fails.
 */
#include "profile/index_codec.h"
#include "tests/broker/stage.h"
#include "tests/random.h"

#define SECOND      UINT64_C(1000000000)
#define WORKERS     4
#define TASKS_HELD  80
#define STORM_STEPS 400
#define CALM_STEPS  20000
#define SHARDS_MAX  64

struct held {
	bool used, said; /* said: COMMIT, RESULT or FAILED went out */
	uint64_t task;
	uint32_t attempt, chunks, sent;
	Rd__Work work;
	uint32_t shard;
};

struct worker {
	rd_peer id; /* 0: dead */
	uint8_t uuid;
	struct held held[TASKS_HELD];
};

static struct {
	struct stage s;
	struct worker workers[WORKERS];
	rd_peer merger;
	uint8_t uuids;
	rd_peer ids;
	bool merged[SHARDS_MAX];               /* the ledger: it survives */
	bool handed[SHARDS_MAX + 2][256];      /* out, by (task, attempt) */
	uint32_t spooled[SHARDS_MAX + 2][256]; /* chunks by (task, attempt): they do not */
	uint32_t shards, faults, duplicates, restarts;
	bool finished, failed;
	uint64_t poison; /* a shard that always fails; UINT64_MAX none */
} w;

static bool is_gone(rd_peer id)
{
	if (id == CLIENT || id == w.merger)
		return false;
	for (int i = 0; i < WORKERS; i++)
		if (w.workers[i].id == id)
			return false;
	return true;
}

static void start_worker(struct worker *p)
{
	*p = (struct worker){.id = ++w.ids, .uuid = ++w.uuids};
	say_hello(&w.s, p->id, RD__ROLE__WORKER, 1 + (uint32_t)roll(2), p->uuid);
}

static void stop_worker(struct worker *p, bool politely)
{
	if (politely) {
		Rd__Envelope e = rd_envelope(RD__KIND__LEAVE);
		say(&w.s, p->id, &e, NULL);
	}
	p->id = 0;
	if (roll(2))
		rd_broker_probe(w.s.broker, w.s.now_ns);
	w.faults++;
}

static void restart_merger(void)
{
	w.merger = ++w.ids;
	memset(w.spooled, 0, sizeof w.spooled);
	if (roll(2))
		rd_broker_probe(w.s.broker, w.s.now_ns);
	say_hello(&w.s, w.merger, RD__ROLE__MERGER, 0, ++w.uuids);
	w.faults++;
}

/* A word that is no chunk may come twice, and an old one once more: whoever hears it must not mind. */
static void say_again(rd_peer from, const Rd__Envelope *e)
{
	say(&w.s, from, e, NULL);
	if (roll(8) == 0 && !is_gone(from))
		say(&w.s, from, e, NULL);
}

/* ---- what peers do with what they hear */

static struct held *find_held(struct worker *p, const Rd__Envelope *e)
{
	for (int i = 0; i < TASKS_HELD; i++)
		if (p->held[i].used && p->held[i].task == e->task && p->held[i].attempt == e->attempt)
			return &p->held[i];
	return NULL;
}

static void worker_hears(struct worker *p, const Rd__Envelope *e)
{
	struct held *h = find_held(p, e);

	if (e->kind == RD__KIND__REFUSED) {
		memset(p->held, 0, sizeof p->held);
		say_hello(&w.s, p->id, RD__ROLE__WORKER, 1, p->uuid);
	} else if (e->kind == RD__KIND__TASK) {
		/* No number is ever used twice, whichever broker gives it. */
		assert_false(w.handed[e->task][e->attempt]);
		w.handed[e->task][e->attempt] = true;
		for (h = p->held; h->used; h++)
			assert_true(h + 1 < p->held + TASKS_HELD);
		*h = (struct held){.used = true,
				   .task = e->task,
				   .attempt = e->attempt,
				   .chunks = 1 + (uint32_t)roll(4),
				   .work = e->work->work,
				   .shard = e->work->shard};
	} else if (h && (e->kind == RD__KIND__DONE || e->kind == RD__KIND__ABANDON)) {
		h->used = false;
	}
}

static void merger_hears(const Rd__Envelope *e)
{
	Rd__Envelope answer = about(&w.s, RD__KIND__KIND_NONE, e->task, e->attempt);

	if (e->kind == RD__KIND__CHUNK) {
		answer.kind = RD__KIND__CHUNK_ACK;
		answer.count = ++w.spooled[e->task][e->attempt];
		say(&w.s, w.merger, &answer, NULL);
	} else if (e->kind == RD__KIND__COMMIT && e->count == 0 && !w.merged[e->task - 2]) {
		Rd__Error error = RD__ERROR__INIT;
		answer.kind = RD__KIND__FAILED;
		error.code = RD_PROTOCOL;
		error.retry = true;
		answer.error = &error;
		say(&w.s, w.merger, &answer, NULL);
	} else if (e->kind == RD__KIND__COMMIT) {
		/* Tasks 2, 3, … are the shards. */
		uint64_t shard = e->task - 2;
		assert_true(shard < w.shards);
		if (!w.merged[shard])
			assert_int_equal(e->count, w.spooled[e->task][e->attempt]);
		w.duplicates += w.merged[shard];
		answer.kind = RD__KIND__MERGED;
		answer.duplicate = w.merged[shard];
		w.merged[shard] = true;
		/* The ledger has it; the answer may be lost with the merger. */
		if (roll(10) == 0 && w.faults < STORM_STEPS)
			restart_merger();
		else
			say_again(w.merger, &answer);
	} else if (e->kind == RD__KIND__FINISH) {
		size_t quarantined = e->finish->n_quarantined_trace;
		for (uint32_t i = 0; i < w.shards; i++) {
			bool given_up = false;
			for (size_t k = 0; k < quarantined; k++)
				given_up = given_up || e->finish->quarantined_shard[k] == i;
			assert_true(w.merged[i] || given_up);
		}
		Rd__Finished f = RD__FINISHED__INIT;
		answer.kind = RD__KIND__FINISHED;
		f.output = rd_field("/out/x.rundown");
		answer.finished = &f;
		say_again(w.merger, &answer);
	}
}

static void client_hears(const Rd__Envelope *e)
{
	char state[32];

	if (e->kind != RD__KIND__JOB_STATUS)
		return;
	rd_field_text(&e->status->state, state, sizeof state);
	w.finished = strcmp(state, "done") == 0;
	w.failed = strcmp(state, "failed") == 0;
	assert_true(e->status->bytes_done <= e->status->bytes_total);
	assert_true(e->status->shards_done + e->status->shards_quarantined <= e->status->shards_total);
}

static bool deliver(void)
{
	struct rd_message m;
	int who = (int)roll(WORKERS + 2);
	rd_peer to = who < WORKERS ? w.workers[who].id : who == WORKERS ? w.merger : CLIENT;

	if (to == 0 || !next_letter(&w.s, to, &m))
		return false;
	if (who < WORKERS)
		worker_hears(&w.workers[who], m.envelope);
	else if (who == WORKERS)
		merger_hears(m.envelope);
	else
		client_hears(m.envelope);
	rd_message_release(&m);
	return true;
}

/* ---- what workers do by themselves */

/* The first one to be worked on from a random place. */
static struct held *any_held(struct worker *p)
{
	uint64_t from = roll(TASKS_HELD);

	for (uint64_t i = 0; i < TASKS_HELD; i++)
		if (p->held[(from + i) % TASKS_HELD].used && !p->held[(from + i) % TASKS_HELD].said)
			return &p->held[(from + i) % TASKS_HELD];
	return &p->held[0];
}

static void say_word(struct worker *p, struct held *h, int code)
{
	Rd__Envelope e = about(&w.s, RD__KIND__FAILED, h->task, h->attempt);
	Rd__Error error = RD__ERROR__INIT;

	error.code = code;
	error.text = rd_field("a fault");
	error.retry = true;
	e.error = &error;
	h->said = true;
	say(&w.s, p->id, &e, NULL);
}

static void work_on(struct worker *p, struct held *h)
{
	Rd__Envelope e = about(&w.s, RD__KIND__COMMIT, h->task, h->attempt);

	if (h->work == RD__WORK__DECODE && h->shard == w.poison) {
		say_word(p, h, RD_INTERNAL);
	} else if (h->work != RD__WORK__DECODE) {
		/* say_index waits for its DONE; a late answer is answered otherwise, so it is said by hand. */
		struct rd_bytes packed = {0};
		struct rd_blob blob = {0};
		struct rd_index ix;
		make_index(&ix, w.shards, 1000);
		assert_ok(rd_index_pack(&ix, &packed, NULL), NULL);
		rd_blob_add(&blob, packed.at, packed.n, NULL);
		rd_bytes_release(&packed);
		rd_index_release(&ix);
		e.kind = RD__KIND__RESULT;
		h->said = true;
		say(&w.s, p->id, &e, &blob);
	} else if (h->sent < h->chunks) {
		Rd__Chunk chunk = RD__CHUNK__INIT;
		struct rd_blob blob = {0};
		chunk.table = 1;
		chunk.seq = h->sent++;
		e.kind = RD__KIND__CHUNK;
		e.chunk = &chunk;
		rd_blob_add(&blob, "x", 1, NULL);
		say(&w.s, p->id, &e, &blob);
	} else {
		e.count = h->chunks;
		h->said = true;
		say_again(p->id, &e);
	}
}

/* The broker died: everybody finds a new connection to another one, and holds nothing. */
static void restart_broker(void)
{
	Rd__Envelope e = rd_envelope(RD__KIND__STATUS);

	w.s.crash_at = 0;
	/* What it sent arrives though it is dead. */
	while (roll(6))
		deliver();
	stage_restart(&w.s);
	w.restarts++;
	hello(&w.s, CLIENT, RD__ROLE__CLIENT, 0);
	e.job = rd_field(w.s.job);
	e.watch = true;
	say(&w.s, CLIENT, &e, NULL);
	for (int i = 0; i < WORKERS; i++) {
		struct worker *p = &w.workers[i];
		if (p->id == 0)
			continue;
		memset(p->held, 0, sizeof p->held);
		p->id = ++w.ids;
		say_hello(&w.s, p->id, RD__ROLE__WORKER, 1, p->uuid);
	}
	w.merger = ++w.ids;
	memset(w.spooled, 0, sizeof w.spooled);
	say_hello(&w.s, w.merger, RD__ROLE__MERGER, 0, ++w.uuids);
}

static void act(void)
{
	struct worker *p = &w.workers[roll(WORKERS)];
	struct held *h = any_held(p);

	if (p->id && h->used && !h->said)
		work_on(p, h);
}

static void fault(void)
{
	struct worker *p = &w.workers[roll(WORKERS)];
	struct held *h = any_held(p);

	switch (roll(10)) {
	case 0:
		restart_merger();
		break;
	case 8:
		w.s.crash = roll(2) ? STAGE_BEFORE_COMMIT : STAGE_AFTER_COMMIT;
		w.s.crash_at = w.s.commits + 1 + roll(3);
		break;
	case 9:
		w.s.disk_full = 1 + (int)roll(3);
		break;
	case 1:
		stage_pass(&w.s, roll(70 * SECOND));
		break;
	case 2:
		if (p->id && h->used && !h->said && h->work == RD__WORK__DECODE && roll(2))
			say_word(p, h, RD_IO);
		break;
	case 3:
		if (p->id) {
			/* A new connection of the same process, which forgets what it had. */
			memset(p->held, 0, sizeof p->held);
			p->id = ++w.ids;
			say_hello(&w.s, p->id, RD__ROLE__WORKER, 1, p->uuid);
			w.faults++;
		}
		break;
	default:
		if (p->id)
			stop_worker(p, roll(2));
		else
			start_worker(p);
	}
}

static void open_world(uint64_t seed)
{
	/* Attempts enough that a storm alone quarantines little; the poisoned shard always. */
	struct rd_broker_options opt = {.epoch = {1}, .attempts = 3};

	memset(&w, 0, sizeof w);
	random_begin(seed);
	w.ids = 100;
	w.uuids = 10;
	w.poison = UINT64_MAX;
	stage_open_kept(&w.s, &opt);
	w.s.gone = is_gone;
}

static void begin_job(uint32_t shards)
{
	Rd__Submit base = plain_submit();

	w.shards = shards;
	base.shards = shards;
	hello(&w.s, CLIENT, RD__ROLE__CLIENT, 0);
	restart_merger();
	for (int i = 0; i < WORKERS; i++)
		start_worker(&w.workers[i]);
	submit(&w.s, &base, 1, (const char *[]){"/t/a"});
}

/* All are there and work; time passes, too. */
static void calm(void)
{
	for (int steps = 1; steps <= CALM_STEPS && !w.finished && !w.failed; steps++) {
		if (roll(2))
			deliver();
		else
			act();
		if (w.s.crashed)
			restart_broker();
		if (steps % 500 == 0)
			stage_pass(&w.s, 30 * SECOND);
	}
	assert_true(w.finished || w.failed);
}

static void run_seed(uint64_t seed)
{
	open_world(seed);
	uint32_t shards = 1 + (uint32_t)roll(SHARDS_MAX / 2);
	w.poison = roll(4) == 0 ? roll(shards) : UINT64_MAX;
	begin_job(shards);
	for (int i = 0; i < STORM_STEPS && !w.finished && !w.failed; i++) {
		if (roll(12) == 0)
			fault();
		else if (roll(2))
			deliver();
		else
			act();
		if (w.s.crashed)
			restart_broker();
	}
	w.s.crash_at = 0;
	for (int i = 0; i < WORKERS; i++)
		if (w.workers[i].id == 0)
			start_worker(&w.workers[i]);
	w.faults = STORM_STEPS;
	calm();
	stage_close(&w.s);
}

/* One crash at the n-th commit, before or behind it; false when there was no such commit. */
static bool run_with_a_crash_at(uint64_t n, enum stage_crash how)
{
	open_world(n);
	begin_job(5);
	w.faults = STORM_STEPS;
	w.s.crash = how;
	w.s.crash_at = w.s.commits + n;
	calm();
	bool there_was = w.restarts > 0;
	assert_true(w.finished);
	for (uint32_t i = 0; i < w.shards; i++)
		assert_true(w.merged[i]);
	stage_close(&w.s);
	return there_was;
}

static void a_crash_at_every_commit_changes_nothing(void **state)
{
	uint64_t n = 1;

	while (run_with_a_crash_at(n, STAGE_BEFORE_COMMIT) && run_with_a_crash_at(n, STAGE_AFTER_COMMIT))
		n++;
	/* Each shard is handed out and settled. */
	assert_true(n > 6);
}

static void every_seed_ends_well(void **state)
{
	random_seeds(400, run_seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_crash_at_every_commit_changes_nothing),
		cmocka_unit_test(every_seed_ends_well),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
