#include "tests/support.h"

#include "broker/plan.h"

#define MB UINT64_C(1000000)

static struct rd_block *add(struct rd_index *ix, uint64_t size_bytes, uint64_t time)
{
	struct rd_block *b = rd_vec_add(&ix->blocks);
	size_t i = ix->blocks.n - 1;

	*b = (struct rd_block){.size_bytes = size_bytes, .time = time, .ordinal = (uint32_t)i};
	b->offset = i ? b[-1].offset + b[-1].size_bytes : 32;
	return b;
}

static void equal_blocks(struct rd_index *ix, uint32_t n, uint64_t size_bytes)
{
	for (uint32_t i = 0; i < n; i++)
		add(ix, size_bytes, 1000 + i);
}

static struct rd_plan plan(const struct rd_index *ix, struct rd_plan_options opt)
{
	struct rd_error err;
	struct rd_plan p;

	assert_ok(rd_plan_make(ix, &opt, &p, &err), &err);
	/* Every block in exactly one shard, the file's order in each, no shard empty where there are blocks. */
	uint8_t *seen = calloc(ix->blocks.n + 1, 1);
	uint32_t next = 0;
	assert_true(p.shards.n >= 1);
	for (size_t s = 0; s < p.shards.n; s++) {
		uint64_t bytes = 0;
		assert_int_equal(next, p.shards.at[s].first);
		assert_true(p.shards.at[s].n > 0 || ix->blocks.n == 0);
		for (uint32_t i = 0; i < p.shards.at[s].n; i++, next++) {
			assert_int_equal(0, seen[p.order.at[next]]++);
			assert_true(i == 0 || p.order.at[next] > p.order.at[next - 1]);
			bytes += ix->blocks.at[p.order.at[next]].size_bytes;
		}
		assert_int_equal(bytes, p.shards.at[s].bytes);
	}
	assert_int_equal(ix->blocks.n, next);
	free(seen);
	return p;
}

static size_t shards(const struct rd_index *ix, struct rd_plan_options opt)
{
	struct rd_plan p = plan(ix, opt);
	size_t n = p.shards.n;
	rd_plan_release(&p);
	return n;
}

static void how_many_shards(void **state)
{
	struct rd_index ix = {0};

	equal_blocks(&ix, 160, MB);
	assert_int_equal(1, shards(&ix, (struct rd_plan_options){.shards = 1}));
	assert_int_equal(7, shards(&ix, (struct rd_plan_options){.shards = 7}));
	assert_int_equal(160, shards(&ix, (struct rd_plan_options){.shards = 160}));
	assert_int_equal(160, shards(&ix, (struct rd_plan_options){.shards = 100000}));
	assert_int_equal(16, shards(&ix, (struct rd_plan_options){.shard_bytes = 10 * MB}));
	assert_int_equal(160, shards(&ix, (struct rd_plan_options){.shard_bytes = 1}));
	assert_int_equal(3, shards(&ix, (struct rd_plan_options){.workers = 1}));
	assert_int_equal(4, shards(&ix, (struct rd_plan_options){.workers = 2}));
	assert_int_equal(16, shards(&ix, (struct rd_plan_options){.workers = 16}));
	assert_int_equal(19, shards(&ix, (struct rd_plan_options){.workers = 100}));
	rd_index_release(&ix);
}

static void a_small_trace_is_one_shard_unless_asked(void **state)
{
	struct rd_index ix = {0};

	equal_blocks(&ix, 50, MB / 10);
	assert_int_equal(1, shards(&ix, (struct rd_plan_options){.workers = 8}));
	assert_int_equal(50, shards(&ix, (struct rd_plan_options){.shards = 50, .workers = 8}));
	rd_index_release(&ix);
}

static void equal_bytes(void **state)
{
	struct rd_index ix = {0};
	uint64_t total = 0;

	for (uint32_t i = 0; i < 1000; i++) {
		add(&ix, 1000 + i * 7919 % 5000, 0);
		total += ix.blocks.at[i].size_bytes;
	}
	for (uint32_t n = 1; n <= 50; n++) {
		struct rd_plan p = plan(&ix, (struct rd_plan_options){.shards = n});
		assert_int_equal(n, p.shards.n);
		for (size_t s = 0; s < n; s++) {
			uint64_t share = total / n;
			assert_true(p.shards.at[s].bytes + 6000 >= share && p.shards.at[s].bytes <= share + 6000);
		}
		rd_plan_release(&p);
	}
	rd_index_release(&ix);
}

static void one_huge_block_gives_no_empty_shard(void **state)
{
	struct rd_index ix = {0};

	add(&ix, 10, 1);
	add(&ix, 1000 * MB, 2);
	add(&ix, 10, 3);
	add(&ix, 10, 4);
	struct rd_plan p = plan(&ix, (struct rd_plan_options){.shards = 10});
	assert_int_equal(2, p.shards.n);
	assert_int_equal(2, p.shards.at[0].n);
	rd_plan_release(&p);
	rd_index_release(&ix);
}

static void an_empty_index_is_one_empty_shard(void **state)
{
	struct rd_index ix = {0};
	rd_block_vec blocks = {0}, context = {0};
	rd_plan_range_vec ranges = {0};
	struct rd_plan p = plan(&ix, (struct rd_plan_options){.shards = 10});

	assert_int_equal(1, p.shards.n);
	assert_ok(rd_plan_shard_blocks(&ix, &p, 0, &blocks, &context, NULL), NULL);
	assert_ok(rd_plan_shard_ranges(&ix, &p, 0, &ranges, NULL), NULL);
	assert_int_equal(0, blocks.n + context.n + ranges.n);
	rd_plan_release(&p);
}

static void sizes_near_the_end_of_64_bits(void **state)
{
	struct rd_index ix = {0};
	struct rd_plan p;

	for (int i = 0; i < 4; i++)
		add(&ix, UINT64_C(1) << 61, 0);
	assert_int_equal(4, shards(&ix, (struct rd_plan_options){.shards = 4}));
	assert_int_equal(3, shards(&ix, (struct rd_plan_options){.shards = 3}));
	for (int i = 0; i < 4; i++)
		add(&ix, UINT64_C(1) << 61, 0);
	assert_code(RD_LIMIT, rd_plan_make(&ix, &(struct rd_plan_options){.shards = 4}, &p, NULL));
	rd_index_release(&ix);
}

static void by_time_when_the_format_says_so(void **state)
{
	struct rd_index ix = {0};
	rd_plan_range_vec ranges = {0};

	/* Two CPUs whose buffers were flushed in turn; the second's clock reads lower. A block without a time stays. */
	add(&ix, 100, 50);
	add(&ix, 100, 10);
	add(&ix, 100, 0);
	add(&ix, 100, 60);
	add(&ix, 100, 20);
	add(&ix, 100, 70);
	ix.sort_by_time = true;
	struct rd_plan p = plan(&ix, (struct rd_plan_options){.shards = 2});
	assert_int_equal(2, p.shards.n);
	assert_int_equal(1, p.order.at[0]);
	assert_int_equal(2, p.order.at[1]);
	assert_int_equal(4, p.order.at[2]);
	assert_int_equal(0, p.order.at[3]);
	assert_ok(rd_plan_shard_ranges(&ix, &p, 0, &ranges, NULL), NULL);
	assert_int_equal(2, ranges.n);
	assert_int_equal(132, ranges.at[0].from);
	assert_int_equal(332, ranges.at[0].to);
	assert_int_equal(432, ranges.at[1].from);
	assert_int_equal(532, ranges.at[1].to);
	rd_plan_release(&p);

	/* But not when blocks stand on each other. */
	ix.blocks.at[0].provides = RD_CONTEXT_METADATA;
	p = plan(&ix, (struct rd_plan_options){.shards = 2});
	assert_int_equal(0, p.order.at[0]);
	assert_int_equal(1, p.order.at[1]);
	rd_plan_release(&p);
	rd_vec_release(&ranges);
	rd_index_release(&ix);
}

static void all_at_one_time(void **state)
{
	struct rd_index ix = {0};

	for (int i = 0; i < 10; i++)
		add(&ix, 100, 5);
	ix.sort_by_time = true;
	struct rd_plan p = plan(&ix, (struct rd_plan_options){.shards = 5});
	assert_int_equal(5, p.shards.n);
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(i, p.order.at[i]);
	rd_plan_release(&p);
	for (int i = 0; i < 10; i++)
		ix.blocks.at[i].time = 0;
	assert_int_equal(5, shards(&ix, (struct rd_plan_options){.shards = 5}));
	rd_index_release(&ix);
}

static void a_whole_trace_is_never_cut(void **state)
{
	struct rd_index ix = {0};

	equal_blocks(&ix, 100, 100 * MB);
	ix.whole = true;
	ix.sort_by_time = true;
	ix.blocks.at[0].time = 5000;
	struct rd_plan p = plan(&ix, (struct rd_plan_options){.shards = 50, .workers = 8});
	assert_int_equal(1, p.shards.n);
	assert_int_equal(0, p.order.at[0]);
	rd_plan_release(&p);
	rd_index_release(&ix);
}

enum { M = RD_CONTEXT_METADATA, T = RD_CONTEXT_THREADS, S = RD_CONTEXT_STACKS };

static void check_context(const struct rd_index *ix, const struct rd_plan *p, uint32_t shard, const char *expected)
{
	rd_block_vec blocks = {0}, context = {0};
	char got[256] = "";

	assert_ok(rd_plan_shard_blocks(ix, p, shard, &blocks, &context, NULL), NULL);
	for (size_t i = 0; i < context.n; i++)
		snprintf(got + strlen(got), sizeof got - strlen(got), "%s%u", i ? " " : "", context.at[i].ordinal);
	assert_string_equal(expected, got);
	assert_int_equal(p->shards.at[shard].n, blocks.n);
	rd_vec_release(&blocks);
	rd_vec_release(&context);
}

static void context_since_the_last_resets(void **state)
{
	/* One block a shard, so that shard i begins at block i. */
	static const struct {
		uint8_t provides, resets;
		const char *context; /* of the shard that begins here */
	} blocks[] = {
		{M, 0, ""},
		{0, 0, "0"},
		{S, 0, "0"},
		{S, 0, "0 2"},
		{0, S, "0 2 3"}, /* a sequence point: the stacks so far hold up to it */
		{0, 0, "0"},
		{T, 0, "0"},
		{S, 0, "0 6"},
		{M, 0, "0 6 7"},
		{0, S | T, "0 6 7 8"},
		{M, 0, "0 8"},
		{0, S | M, "0 8 10"},
		{0, 0, ""},
		{T, 0, ""},
		{M | T, M | T | S, "13"}, /* drops all that was, and gives anew */
		{0, 0, "14"},
	};
	struct rd_index ix = {0};

	for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
		struct rd_block *b = add(&ix, 100, 0);
		b->provides = blocks[i].provides;
		b->resets = blocks[i].resets;
	}
	struct rd_plan p = plan(&ix, (struct rd_plan_options){.shards = 1000});
	assert_int_equal(ix.blocks.n, p.shards.n);
	for (uint32_t i = 0; i < p.shards.n; i++)
		check_context(&ix, &p, i, blocks[i].context);
	rd_plan_release(&p);

	/* Inside a shard nothing is context of it. */
	p = plan(&ix, (struct rd_plan_options){.shards = 2});
	assert_int_equal(2, p.shards.n);
	check_context(&ix, &p, 0, "");
	check_context(&ix, &p, 1, "0 6 7");
	rd_plan_release(&p);
	rd_index_release(&ix);
}

static void out_of_memory_at_every_place(void **state)
{
	struct rd_index ix = {0};
	struct rd_plan p;
	int failures = 0;

	equal_blocks(&ix, 100, MB);
	ix.sort_by_time = true;
	for (uint64_t nth = 1;; nth++) {
		rd_fail_allocation(nth);
		int rc = rd_plan_make(&ix, &(struct rd_plan_options){.shards = 30}, &p, NULL);
		rd_fail_allocation(0);
		if (rc == 0)
			break;
		assert_int_equal(RD_NOMEM, rc);
		failures++;
	}
	assert_true(failures >= 3);
	rd_plan_release(&p);
	rd_index_release(&ix);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(how_many_shards),
		cmocka_unit_test(a_small_trace_is_one_shard_unless_asked),
		cmocka_unit_test(equal_bytes),
		cmocka_unit_test(one_huge_block_gives_no_empty_shard),
		cmocka_unit_test(an_empty_index_is_one_empty_shard),
		cmocka_unit_test(sizes_near_the_end_of_64_bits),
		cmocka_unit_test(by_time_when_the_format_says_so),
		cmocka_unit_test(all_at_one_time),
		cmocka_unit_test(a_whole_trace_is_never_cut),
		cmocka_unit_test(context_since_the_last_resets),
		cmocka_unit_test(out_of_memory_at_every_place),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
