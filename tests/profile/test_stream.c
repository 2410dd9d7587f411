#include "profile/stream.h"

#include "tests/support.h"

enum { SHARDS = 100, ROWS = 20 };

struct shards {
	struct rd_partial partials[SHARDS];
	const struct rd_partial *pointers[SHARDS];
	struct rd_tables tables;
	struct rd_shard_ref refs[SHARDS];
	struct rd_strings raw_stacks;
};

/* Shard i has samples of `overlap` times from i * ROWS on; each brings the stack of its shard's number. */
static void make_shards(struct shards *s, uint64_t step)
{
	memset(s, 0, sizeof *s);
	s->tables = (struct rd_tables){.shards = SHARDS, .in_memory = s->pointers};
	for (size_t i = 0; i < SHARDS; i++) {
		struct rd_partial *p = &s->partials[i];
		assert_int_equal(rd_vec_reserve(&p->samples, ROWS), 0);
		for (uint64_t k = 0; k < ROWS; k++)
			p->samples.at[p->samples.n++] =
				(struct rd_sample){.time = i * ROWS + k * step, .thread = k % 3, .stack = 1 + k % 2};
		/* Two stacks, of one frame and of none. */
		assert_int_equal(rd_vec_reserve(&p->stack_frames, 1), 0);
		p->stack_frames.at[p->stack_frames.n++] = 1000 + i;
		assert_int_equal(rd_vec_reserve(&p->stack_ends, 2), 0);
		p->stack_ends.at[p->stack_ends.n++] = 1;
		p->stack_ends.at[p->stack_ends.n++] = 1;
		p->summary.first_sample = i * ROWS;
		p->summary.last_sample = i * ROWS + (ROWS - 1) * step;
		s->pointers[i] = p;
		/* In no order. */
		s->refs[(i * 37) % SHARDS] = (struct rd_shard_ref){
			.tables = &s->tables, .shard = i, .file = (uint16_t)(i % 2), .summary = p->summary};
	}
}

static void release_shards(struct shards *s)
{
	for (size_t i = 0; i < SHARDS; i++) {
		rd_partial_release(&s->partials[i]);
		assert_int_equal(s->refs[i].users, 0);
		assert_int_equal(s->refs[i].stacks.ids.n, 0);
	}
	rd_strings_release(&s->raw_stacks);
}

static size_t open_shards(const struct shards *s)
{
	size_t n = 0;
	for (size_t i = 0; i < SHARDS; i++)
		n += s->refs[i].users;
	return n;
}

/* All rows in order; the most shards that were open at once. */
static size_t walk(struct shards *s)
{
	struct rd_stream stream;
	struct rd_row_key key, last = {0};
	struct rd_error err;
	size_t rows = 0, most = 0;
	int rc;

	assert_ok(rd_stream_open(&stream, RD_TABLE_SAMPLES, s->refs, SHARDS, &s->raw_stacks, &err), &err);
	while ((rc = rd_stream_peek(&stream, &key, &err)) > 0) {
		const struct rd_shard_ref *shard;
		const struct rd_sample *sample = rd_stream_sample(&stream, &shard);
		uint32_t stack;
		assert_int_equal(sample->time, key.time);
		assert_true(rd_row_key_compare(&last, &key) <= 0);
		assert_ok(rd_stack_map_id(&shard->stacks, sample->stack, &stack, &err), &err);
		if (sample->stack == 1)
			assert_int_equal(rd_le64(rd_strings_at(&s->raw_stacks, stack).at), 1000 + shard->shard);
		else
			assert_int_equal(stack, RD_NONE);
		assert_code(RD_CORRUPT, rd_stack_map_id(&shard->stacks, 3, &stack, &err));
		last = key;
		rows++;
		most = open_shards(s) > most ? open_shards(s) : most;
		assert_ok(rd_stream_step(&stream, &err), &err);
	}
	assert_ok(rc, &err);
	assert_int_equal(rows, SHARDS * ROWS);
	rd_stream_close(&stream);
	return most;
}

static void test_shards_open_in_time(void **state)
{
	struct shards s;

	make_shards(&s, 1);
	assert_true(walk(&s) <= 2);
	release_shards(&s);
	make_shards(&s, 5);
	size_t most = walk(&s);
	assert_true(most >= 5 && most <= 7);
	release_shards(&s);
	make_shards(&s, 1000);
	assert_int_equal(walk(&s), SHARDS);
	release_shards(&s);
}

static void test_closed_in_the_middle(void **state)
{
	struct shards s;
	struct rd_stream stream;
	struct rd_row_key key;
	struct rd_error err;

	make_shards(&s, 5);
	assert_ok(rd_stream_open(&stream, RD_TABLE_SAMPLES, s.refs, SHARDS, &s.raw_stacks, &err), &err);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(rd_stream_peek(&stream, &key, &err), 1);
		assert_ok(rd_stream_step(&stream, &err), &err);
	}
	rd_stream_close(&stream);
	release_shards(&s);
}

static void test_no_rows(void **state)
{
	struct shards s;
	struct rd_stream stream;
	struct rd_row_key key;
	struct rd_error err;

	make_shards(&s, 1);
	/* Summaries of stack records that promise some, where there are none. */
	for (size_t i = 0; i < SHARDS; i++)
		s.refs[i].summary.last_stack_record = 50;
	assert_ok(rd_stream_open(&stream, RD_TABLE_STACK_RECORDS, s.refs, SHARDS, &s.raw_stacks, &err), &err);
	assert_int_equal(rd_stream_peek(&stream, &key, &err), 0);
	rd_stream_close(&stream);
	release_shards(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shards_open_in_time),
		cmocka_unit_test(test_closed_in_the_middle),
		cmocka_unit_test(test_no_rows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
