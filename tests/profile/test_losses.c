#include "tests/support.h"

#include "profile/losses.h"
#include "tests/random.h"

/* ---- the rules once more, in one pass and as plainly as can be */

#define THREADS 5

struct plain {
	bool known[THREADS];
	uint32_t last[THREADS];
	uint64_t lost;
};

struct op {
	uint64_t thread;
	enum rd_sequence_op op;
	uint32_t first, count;
};

static void plain_event(struct plain *p, uint64_t t, uint32_t s)
{
	if (!p->known[t] && s > 0)
		p->lost += s - 1;
	if (p->known[t] && s != 1 && (uint32_t)(s - p->last[t] - 1) < 0x80000000u)
		p->lost += (uint32_t)(s - p->last[t] - 1);
	p->known[t] = true;
	p->last[t] = s;
}

static void plain_op(struct plain *p, const struct op *o)
{
	uint64_t t = o->thread;

	switch (o->op) {
	case RD_SEQ_EVENT:
		for (uint32_t i = 0; i < o->count; i++)
			plain_event(p, t, o->first + i);
		break;
	case RD_SEQ_FORGET_ALL:
		memset(p->known, 0, sizeof p->known);
		break;
	default:
		if (!p->known[t])
			p->lost += o->first;
		else if ((uint32_t)(o->first - p->last[t]) < 0x80000000u)
			p->lost += (uint32_t)(o->first - p->last[t]);
		p->known[t] = o->op == RD_SEQ_POINT;
		p->last[t] = o->first;
	}
}

/* ---- through shards */

static void tell_block(struct rd_losses *l, uint32_t ordinal, const struct op *ops, size_t n, bool undo)
{
	assert_ok(rd_losses_begin(l, ordinal), NULL);
	for (size_t i = 0; i < n; i++)
		assert_ok(rd_losses_tell(l, ops[i].thread, ops[i].op, ops[i].first, ops[i].count), NULL);
	assert_ok(rd_losses_end(l, undo), NULL);
}

static uint64_t merged(struct rd_partial *p)
{
	struct rd_error err;
	uint64_t lost = 12345;

	assert_ok(rd_losses_merge(p->sequences.at, p->sequences.n, &lost, &err), &err);
	return lost;
}

/* One shard, one block. */
static uint64_t lost_of(const struct op *ops, size_t n)
{
	struct rd_partial p = {0};
	struct rd_losses l = {.out = &p};

	tell_block(&l, 0, ops, n, false);
	rd_losses_finish(&l);
	uint64_t lost = merged(&p);
	rd_losses_release(&l);
	rd_partial_release(&p);
	return lost;
}
#define LOST(...) lost_of((struct op[]){__VA_ARGS__}, sizeof((struct op[]){__VA_ARGS__}) / sizeof(struct op))
#define EVENT(t, s, n)                                                                                                 \
	{                                                                                                              \
		t, RD_SEQ_EVENT, s, n                                                                                  \
	}
#define POINT(t, s)                                                                                                    \
	{                                                                                                              \
		t, RD_SEQ_POINT, s, 1                                                                                  \
	}
#define REMOVE(t, s)                                                                                                   \
	{                                                                                                              \
		t, RD_SEQ_REMOVE, s, 1                                                                                 \
	}
#define FORGET                                                                                                         \
	{                                                                                                              \
		0, RD_SEQ_FORGET_ALL, 0, 0                                                                             \
	}

static void the_rules(void **state)
{
	assert_int_equal(LOST(EVENT(1, 1, 10)), 0);
	assert_int_equal(LOST(EVENT(1, 0, 10)), 0);
	assert_int_equal(LOST(EVENT(1, 5, 1)), 4);
	assert_int_equal(LOST(EVENT(1, 1, 10), EVENT(1, 11, 1), EVENT(1, 15, 1)), 3);
	/* A number that falls back; a new beginning. */
	assert_int_equal(LOST(EVENT(1, 1, 10), EVENT(1, 7, 1), EVENT(1, 9, 1)), 1);
	assert_int_equal(LOST(EVENT(1, 1, 10), EVENT(1, 1, 3), EVENT(1, 4, 1)), 0);
	assert_int_equal(LOST(EVENT(1, 3000000000u, 1), EVENT(1, 1, 3)), 2999999999u);
	/* Numbers wrap. */
	assert_int_equal(LOST(EVENT(1, 0, 1), POINT(1, UINT32_MAX - 1), EVENT(1, UINT32_MAX, 3), EVENT(1, 4, 1)), 2);
	assert_int_equal(LOST(EVENT(1, 0, 1), EVENT(1, 0x80000000u, 1)), 0x7fffffff);
	assert_int_equal(LOST(EVENT(1, 0, 1), EVENT(1, 0x80000001u, 1)), 0);
	/* Points and removals. */
	assert_int_equal(LOST(POINT(1, 7)), 7);
	assert_int_equal(LOST(POINT(1, 7), EVENT(1, 8, 1)), 7);
	assert_int_equal(LOST(EVENT(1, 1, 4), POINT(1, 7), EVENT(1, 8, 1)), 3);
	assert_int_equal(LOST(EVENT(1, 1, 9), POINT(1, 7), EVENT(1, 10, 1)), 2);
	assert_int_equal(LOST(EVENT(1, 1, 4), REMOVE(1, 6), EVENT(1, 3, 1)), 2 + 2);
	assert_int_equal(LOST(REMOVE(1, 6)), 6);
	assert_int_equal(LOST(EVENT(1, 1, 4), FORGET, EVENT(1, 3, 1), EVENT(2, 2, 1)), 2 + 1);
	assert_int_equal(LOST(EVENT(1, 1, 4), EVENT(2, 1, 4), EVENT(UINT64_MAX, 1, 1), EVENT(1, 6, 1), EVENT(2, 5, 1),
			      EVENT(UINT64_MAX, 4, 1)),
			 1 + 2);
}

static void what_a_run_says(void **state)
{
	struct rd_partial p = {0};
	struct rd_losses l = {.out = &p};

	tell_block(&l, 7, (struct op[]){EVENT(5, 10, 2), FORGET, EVENT(6, 3, 1), REMOVE(6, 3)}, 4, false);
	tell_block(&l, 8, (struct op[]){EVENT(5, 99, 1)}, 1, true);
	tell_block(&l, 9, (struct op[]){EVENT(9, 1, 4), POINT(9, 6)}, 2, false);
	tell_block(&l, 20, NULL, 0, false);
	rd_losses_finish(&l);
	assert_int_equal(p.sequences.n, 4);
	const struct rd_sequence_row *r = p.sequences.at;
	assert_int_equal(r[0].run, 7);
	assert_int_equal(r[0].run_blocks, 3);
	assert_int_equal(r[0].thread, UINT64_MAX);
	assert_int_equal(r[0].first_op, RD_SEQ_FORGET_ALL);
	assert_int_equal(r[0].forgot_all, 1);
	assert_int_equal(r[0].lost, 2); /* of thread 6, which is gone */
	assert_int_equal(r[1].thread, 5);
	assert_int_equal(r[1].first_op, RD_SEQ_EVENT);
	assert_int_equal(r[1].first_number, 10);
	assert_int_equal(r[1].known, 0);
	assert_int_equal(r[1].last_number, 0);
	assert_int_equal(r[1].lost, 0);
	assert_int_equal(r[2].thread, 9);
	assert_int_equal(r[2].first_op, 0);
	assert_int_equal(r[2].known, 1);
	assert_int_equal(r[2].last_number, 6);
	assert_int_equal(r[2].lost, 2);
	assert_int_equal(r[3].run, 20);
	assert_int_equal(r[3].run_blocks, 1);
	assert_int_equal(r[3].forgot_all, 0);
	rd_losses_release(&l);
	rd_partial_release(&p);
}

static void a_hole_loses_nothing(void **state)
{
	struct rd_partial p = {0};
	struct rd_losses l = {.out = &p};

	tell_block(&l, 0, (struct op[]){EVENT(1, 1, 10), EVENT(2, 1, 1)}, 2, false);
	/* Block 1 is in quarantine. Each thread's first number is taken as it comes. */
	tell_block(&l, 2, (struct op[]){EVENT(1, 500, 1), EVENT(1, 502, 1), EVENT(3, 40, 1)}, 3, false);
	tell_block(&l, 3, (struct op[]){POINT(2, 100), POINT(3, 41)}, 2, false);
	tell_block(&l, 4, (struct op[]){FORGET, EVENT(4, 2, 1)}, 2, false);
	rd_losses_finish(&l);
	assert_int_equal(merged(&p), 1 + 1 + 1);
	rd_losses_release(&l);
	rd_partial_release(&p);
}

/* ---- any cut gives what one pass gives */

#define BLOCKS 12
#define SHARDS 4

static uint32_t random_number(const uint32_t *recent)
{
	switch (pick(8)) {
	case 0:
		return pick(3);
	case 1:
		return UINT32_MAX - pick(3);
	case 2:
		return 0x80000000u - 2 + pick(4);
	case 3:
		return *recent - pick(4);
	default:
		return *recent + pick(4);
	}
}

static size_t random_ops(struct op *ops, uint32_t recent[THREADS])
{
	size_t n = pick(6);

	for (size_t i = 0; i < n; i++) {
		uint32_t t = pick(THREADS), kind = pick(20);
		ops[i] = (struct op){t, RD_SEQ_EVENT, random_number(&recent[t]), 1 + pick(3)};
		recent[t] = ops[i].first + ops[i].count - 1;
		if (kind < 3)
			ops[i].op = RD_SEQ_POINT;
		else if (kind < 5)
			ops[i].op = RD_SEQ_REMOVE;
		else if (kind == 5)
			ops[i] = (struct op)FORGET;
		if (ops[i].op != RD_SEQ_EVENT && ops[i].op != RD_SEQ_FORGET_ALL)
			ops[i].count = 1;
	}
	return n;
}

static void any_cut(void **state)
{
	for (unsigned round = 0; round < 20000; round++) {
		struct rd_partial p[SHARDS] = {0}, all = {0};
		struct rd_losses l[SHARDS];
		struct plain plain = {0};
		uint32_t recent[THREADS] = {0};
		bool at_random = pick(2);
		uint32_t shard = 0;
		for (size_t s = 0; s < SHARDS; s++)
			l[s] = (struct rd_losses){.out = &p[s]};
		uint32_t blocks = 1 + pick(BLOCKS);
		for (uint32_t b = 0; b < blocks; b++) {
			struct op ops[8];
			size_t n = random_ops(ops, recent);
			bool undo = pick(10) == 0;
			for (size_t i = 0; i < n && !undo; i++)
				plain_op(&plain, &ops[i]);
			/* Runs of blocks, or blocks strewn over the shards. */
			if (at_random)
				shard = pick(SHARDS);
			else if (pick(3) == 0 && shard + 1 < SHARDS)
				shard++;
			tell_block(&l[shard], b, ops, n, undo);
		}
		for (size_t s = SHARDS; s-- > 0;) {
			rd_losses_finish(&l[s]);
			for (size_t i = 0; i < p[s].sequences.n; i++) {
				struct rd_sequence_row *row = rd_vec_add(&all.sequences);
				assert_non_null(row);
				*row = p[s].sequences.at[i];
			}
			rd_losses_release(&l[s]);
			rd_partial_release(&p[s]);
		}
		if (merged(&all) != plain.lost)
			fail_msg("round %u: %llu lost in one pass, %llu in shards", round,
				 (unsigned long long)plain.lost, (unsigned long long)merged(&all));
		rd_partial_release(&all);
	}
}

static void wrong_rows(void **state)
{
	struct rd_sequence_row run = {.run = 0, .run_blocks = 2, .thread = UINT64_MAX, .first_op = RD_SEQ_FORGET_ALL};
	struct rd_sequence_row thread = {
		.run = 0, .run_blocks = 2, .thread = 4, .first_op = RD_SEQ_POINT, .first_number = 1};
	struct rd_sequence_row rows[3];
	struct rd_error err;
	uint64_t lost = 5;

	assert_ok(rd_losses_merge(NULL, 0, &lost, &err), &err);
	assert_int_equal(lost, 0);
	rows[0] = thread;
	assert_code(RD_CORRUPT, rd_losses_merge(rows, 1, &lost, &err)); /* no run */
	rows[0] = thread, rows[1] = run;
	assert_ok(rd_losses_merge(rows, 2, &lost, &err), &err);
	assert_int_equal(lost, 1);
	rows[0] = run, rows[1] = thread, rows[2] = thread;
	assert_code(RD_CORRUPT, rd_losses_merge(rows, 3, &lost, &err)); /* a thread twice */
	rows[0] = run, rows[1] = run;
	assert_code(RD_CORRUPT, rd_losses_merge(rows, 2, &lost, &err)); /* a run twice */
	rows[0] = run, rows[1] = run;
	rows[1].run = 1;
	assert_code(RD_CORRUPT, rd_losses_merge(rows, 2, &lost, &err)); /* runs overlap */
	rows[0] = run, rows[1] = run;
	rows[1].run = 2;
	rows[0].lost = rows[1].lost = UINT64_MAX - 5;
	assert_ok(rd_losses_merge(rows, 2, &lost, &err), &err);
	assert_int_equal(lost, UINT64_MAX);
}

static void no_memory(void **state)
{
	for (uint64_t nth = 1; nth < 100; nth++) {
		struct rd_partial p = {0};
		struct rd_losses l = {.out = &p};
		struct rd_error err;
		uint64_t lost;
		rd_fail_allocation(nth);
		int code = rd_losses_begin(&l, 0);
		for (uint32_t i = 0; i < 100 && code == 0; i++)
			code = rd_losses_tell(&l, i, RD_SEQ_EVENT, 1, 1);
		if (code == 0)
			code = rd_losses_end(&l, false);
		rd_losses_finish(&l);
		if (code == 0)
			code = rd_losses_merge(p.sequences.at, p.sequences.n, &lost, &err);
		rd_fail_allocation(0);
		assert_true(code == 0 || code == RD_NOMEM);
		rd_losses_release(&l);
		rd_partial_release(&p);
		if (code == 0)
			return;
	}
	fail();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rules), cmocka_unit_test(what_a_run_says), cmocka_unit_test(a_hole_loses_nothing),
		cmocka_unit_test(any_cut),   cmocka_unit_test(wrong_rows),      cmocka_unit_test(no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
