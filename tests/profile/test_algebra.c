/*
 * The laws of the merge, on partials alone: nothing, order, grouping and repetition change no answer.
 *
 * A pile is what a merger has: partials by the number of their shard. The first one that comes for a number stays, as
 * in the merger's ledger; the finish of a pile is its answer.
 */
#include "tests/support.h"

#include "profile/finish.h"
#include "profile/shard.h"
#include "tests/gen/play.h"
#include "tests/profile/packed.h"
#include "tests/trace/trace_log.h"

#define PIECES     6
#define SHARDS_MAX (2 * PIECES)

struct trace {
	struct rd_bytes bytes;
	struct rd_source source;
	const struct rd_format *format;
	struct rd_index ix;
	struct packed piece[PIECES]; /* runs of its blocks, one behind the other */
};

struct pile {
	const struct packed *at[SHARDS_MAX]; /* by shard; NULL: it has not come */
};

static void index_trace(struct trace *t)
{
	struct rd_error err;

	memory_source(&t->source, t->bytes.at, t->bytes.n);
	assert_ok(rd_trace_probe(&t->source, &t->format, &err), &err);
	assert_ok(t->format->index(&t->source, &t->ix, NULL, NULL, &err), &err);
	assert_true(t->ix.blocks.n > PIECES);
}

/* The partial of blocks [from, to). */
static void decode(const struct trace *t, size_t from, size_t to, struct packed *out)
{
	struct rd_shard_options opt = {.preliminary = true};
	rd_block_vec context = {0};
	struct rd_error err;

	*out = (struct packed){0};
	for (size_t i = 0; i < from; i++) {
		if (!is_context(&t->ix, i, from))
			continue;
		struct rd_block *b = rd_vec_add(&context);
		assert_non_null(b);
		*b = t->ix.blocks.at[i];
	}
	struct rd_shard shard = {&t->ix.info, context.at, context.n, t->ix.blocks.at + from, to - from};
	assert_ok(rd_shard_decode(&t->source, &shard, &opt, packed_keep, out, &err), &err);
	rd_vec_release(&context);
}

static size_t edge(const struct trace *t, size_t piece)
{
	return t->ix.blocks.n * piece / PIECES;
}

static void make_trace(struct trace *t, uint32_t format)
{
	struct gen_output out = {.fd = -1};
	struct gen_truth truth;
	struct gen_options o;

	gen_options_small(&o, 7);
	o.format = format;
	o.compression = 0;
	o.acts = 2;
	o.samples = 120;
	o.lives = 40;
	o.unfinished = false;
	gen_play(&o, &out, &truth);
	gen_truth_release(&truth);
	*t = (struct trace){.bytes = out.bytes};
	index_trace(t);
	for (size_t i = 0; i < PIECES; i++)
		decode(t, edge(t, i), edge(t, i + 1), &t->piece[i]);
}

static void release_trace(struct trace *t)
{
	for (size_t i = 0; i < PIECES; i++)
		packed_release(&t->piece[i]);
	rd_index_release(&t->ix);
	rd_source_close(&t->source);
	rd_bytes_release(&t->bytes);
}

/* ---- piles */

static struct pile one(size_t shard, const struct packed *partial)
{
	struct pile p = {0};

	p.at[shard] = partial;
	return p;
}

static struct pile merge(struct pile a, struct pile b)
{
	for (size_t i = 0; i < SHARDS_MAX; i++)
		if (a.at[i] == NULL)
			a.at[i] = b.at[i];
	return a;
}

static struct pile all_of(const struct trace *t)
{
	struct pile p = {0};

	for (size_t i = 0; i < PIECES; i++)
		p.at[i] = &t->piece[i];
	return p;
}

static int block_of(void *ctx, size_t shard, enum rd_partial_table table, uint32_t seq, struct rd_span *block,
		    struct rd_error *err)
{
	const struct packed *p = ((const struct pile *)ctx)->at[shard];

	for (size_t i = 0; p && i < p->blocks.n; i++) {
		const struct packed_block *b = &p->blocks.at[i];
		if (b->table != table || b->seq != seq)
			continue;
		*block = (struct rd_span){b->at, b->n};
		return 1;
	}
	return 0;
}

/* The shards of a pile stand without holes here, as in a finished job. */
static int finish(const struct trace *t, const struct pile *pile, struct rd_result *out, struct rd_error *err)
{
	struct pile dense = {0};
	size_t n = 0;

	for (size_t i = 0; i < SHARDS_MAX; i++)
		if (pile->at[i])
			dense.at[n++] = pile->at[i];
	struct rd_finish_trace trace = {
		.path = "made up",
		.info = &t->ix.info,
		.partials = {.ctx = &dense, .shards = n, .block = block_of},
	};
	return rd_finish(&trace, 1, &(struct rd_finish_options){.kind = -1}, out, err);
}

static void digest_of(const struct trace *t, struct pile pile, char digest[33])
{
	struct rd_result r;
	struct rd_error err;

	assert_ok(finish(t, &pile, &r, &err), &err);
	assert_ok(rd_result_digest(&r, digest, &err), &err);
	rd_result_release(&r);
}

static void assert_same(const struct trace *t, struct pile a, struct pile b)
{
	char x[33], y[33];

	digest_of(t, a, x);
	digest_of(t, b, y);
	assert_string_equal(x, y);
}

static void for_each_format(void (*law)(const struct trace *t))
{
	static const uint32_t formats[] = {GEN_ETL, GEN_NETTRACE4, GEN_NETTRACE6};

	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
		struct trace t;
		make_trace(&t, formats[i]);
		law(&t);
		release_trace(&t);
	}
}

/* ---- the laws */

static void identity(const struct trace *t)
{
	struct pile all = all_of(t), nothing = {0};
	struct packed empty;

	assert_same(t, all, merge(all, nothing));
	assert_same(t, all, merge(nothing, all));
	/* A shard without blocks is nothing too. */
	decode(t, 0, 0, &empty);
	assert_same(t, all, merge(all, one(PIECES, &empty)));
	packed_release(&empty);
}

static void commutativity(const struct trace *t)
{
	struct pile forward = {0}, backward = {0}, otherwise = {0};

	for (size_t i = 0; i < PIECES; i++) {
		forward = merge(forward, one(i, &t->piece[i]));
		backward = merge(one(i, &t->piece[i]), backward);
		/* Nor does it matter which number a piece has. */
		otherwise = merge(otherwise, one((i * 5 + 3) % PIECES, &t->piece[i]));
	}
	assert_same(t, forward, backward);
	assert_same(t, forward, otherwise);
}

static void associativity(const struct trace *t)
{
	struct pile left = {0}, right = {0}, pairs[PIECES / 2];

	for (size_t i = 0; i < PIECES; i++)
		left = merge(left, one(i, &t->piece[i]));
	for (size_t i = PIECES; i > 0; i--)
		right = merge(one(i - 1, &t->piece[i - 1]), right);
	for (size_t i = 0; i < PIECES / 2; i++)
		pairs[i] = merge(one(2 * i, &t->piece[2 * i]), one(2 * i + 1, &t->piece[2 * i + 1]));
	assert_same(t, left, right);
	assert_same(t, left, merge(pairs[0], merge(pairs[1], pairs[2])));
	assert_same(t, left, merge(merge(pairs[0], pairs[1]), pairs[2]));
}

/* A partial of two runs of blocks is as good as the two partials. */
static void cutting(const struct trace *t)
{
	struct packed first, rest, whole;

	decode(t, 0, edge(t, 2), &first);
	decode(t, edge(t, 2), edge(t, PIECES), &rest);
	decode(t, 0, edge(t, PIECES), &whole);
	assert_same(t, all_of(t), merge(one(0, &first), one(1, &rest)));
	assert_same(t, all_of(t), one(0, &whole));
	packed_release(&first);
	packed_release(&rest);
	packed_release(&whole);
}

static void idempotence(const struct trace *t)
{
	struct pile all = all_of(t), some = {0};
	struct packed again;

	for (size_t i = 0; i < PIECES; i += 2)
		some.at[i] = &t->piece[i];
	assert_same(t, all, merge(all, all));
	assert_same(t, all, merge(some, all));
	assert_same(t, all, merge(all, some));
	/* Another attempt at a shard: too late, or before all others. */
	decode(t, edge(t, 3), edge(t, 4), &again);
	assert_same(t, all, merge(all, one(3, &again)));
	assert_same(t, all, merge(one(3, &again), all));
	packed_release(&again);
}

/* It is the ledger that makes it so: a partial under two numbers is seen, by its runs of blocks. */
static void a_partial_under_two_numbers(const struct trace *t)
{
	struct pile twice = merge(all_of(t), one(PIECES, &t->piece[2]));
	struct rd_result r;
	struct rd_error err;

	assert_code(RD_CORRUPT, finish(t, &twice, &r, &err));
}

static void test_nothing_changes_nothing(void **state)
{
	for_each_format(identity);
}

static void test_order_does_not_matter(void **state)
{
	for_each_format(commutativity);
}

static void test_grouping_does_not_matter(void **state)
{
	for_each_format(associativity);
}

static void test_a_cut_does_not_matter(void **state)
{
	for_each_format(cutting);
}

static void test_repetition_does_not_matter(void **state)
{
	for_each_format(idempotence);
}

static void test_without_a_ledger_it_would(void **state)
{
	for_each_format(a_partial_under_two_numbers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_changes_nothing),    cmocka_unit_test(test_order_does_not_matter),
		cmocka_unit_test(test_grouping_does_not_matter),   cmocka_unit_test(test_a_cut_does_not_matter),
		cmocka_unit_test(test_repetition_does_not_matter), cmocka_unit_test(test_without_a_ledger_it_would),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
