/*
 * Stacks share what they have outside: however often a stack comes to mean
 * another one, only what differs is kept, and what lasts is not looked at again.
 */
#include "profile/stack_order.h"
#include "tests/profile/scene.h"
#include "tests/random.h"
#include "tests/support.h"

#define DEPTH   1000
#define SAMPLES 2000

/* Where the address stands whose method is another one at each sample. */
static size_t changing_at;

/* The one stack becomes a deep one; all its addresses but one belong to methods that stay. */
static void deepen(struct rd_partial *p, size_t shard)
{
	p->stack_frames.n = p->stack_ends.n = 0;
	assert_int_equal(rd_vec_reserve(&p->stack_frames, DEPTH), 0);
	for (size_t i = 0; i < DEPTH; i++)
		p->stack_frames.at[p->stack_frames.n++] = i == changing_at ? 0x1000 : 0x100000 + i * 0x10;
	p->stack_ends.at[p->stack_ends.n++] = DEPTH;
}

static int count_words(void *ctx, uint64_t done, uint64_t total)
{
	++*(uint64_t *)ctx;
	return 0;
}

/* What the finish makes of it, and how often it said that it goes on. */
static uint64_t finish_changing(size_t at, struct rd_result *r)
{
	char names[SAMPLES][16];
	uint64_t words = 0;
	struct rd_finish_options opt = {.kind = -1, .progress = count_words, .progress_ctx = &words};
	struct rd_error err;
	struct scene s;

	changing_at = at;
	scene_init(&s);
	s.spoil = deepen;
	SCENE_METHOD(&s, "stays", .time = 1, .op = RD_OP_LOAD, .start = 0x100000, .size_bytes = DEPTH * 0x10, .pid = 7);
	for (size_t i = 0; i < SAMPLES; i++) {
		snprintf(names[i], sizeof names[i], "m%zu", i);
		SCENE_METHOD(&s, names[i], .time = 100 + i * 10, .op = RD_OP_LOAD, .start = 0x1000, .size_bytes = 0x10,
			     .pid = 7);
		SCENE_SAMPLE(&s, 105 + i * 10, 7, 0x1000);
	}
	assert_ok(scene_finish(&s, 1, NULL, NULL, &opt, r, &err), &err);
	scene_release(&s);
	assert_int_equal(r->samples, SAMPLES);
	assert_int_equal(r->stacks.n, SAMPLES);
	assert_int_equal(r->trust.frames, (uint64_t)SAMPLES * DEPTH);
	return words;
}

static uint32_t depth_of(const struct rd_result *r, uint32_t stack)
{
	uint32_t depth = 0;

	for (const struct rd_result_call *c = rd_result_innermost(r, stack); c; c = rd_result_call(r, c->caller))
		depth++;
	return depth;
}

static void test_a_changing_leaf_costs_one_call(void **state)
{
	struct rd_result r;

	/* Few words: what lasts was not gone through at each sample. */
	assert_in_range(finish_changing(0, &r), 0, 3);
	assert_int_equal(r.calls.n, DEPTH - 1 + SAMPLES);
	for (uint32_t i = 0; i < SAMPLES; i++)
		assert_int_equal(depth_of(&r, i), DEPTH);
	rd_result_release(&r);
}

static void test_a_change_in_between_costs_what_is_inside(void **state)
{
	struct rd_result r;

	finish_changing(9, &r);
	assert_int_equal(r.calls.n, DEPTH - 10 + SAMPLES * 10);
	rd_result_release(&r);
}

/* The outermost changes: nothing can be shared, it is long work, and it says so all the while. */
static void test_long_work_is_heard(void **state)
{
	struct rd_result r;

	assert_in_range(finish_changing(DEPTH - 1, &r), (uint64_t)SAMPLES * DEPTH / RD_PROGRESS_STEPS, 200);
	assert_int_equal(r.calls.n, (uint64_t)SAMPLES * DEPTH);
	rd_result_release(&r);
}

static int stop_at_third(void *ctx, uint64_t done, uint64_t total)
{
	return ++*(uint64_t *)ctx == 3 ? RD_CANCELLED : 0;
}

static void test_long_work_can_be_stopped(void **state)
{
	uint64_t told = 0;
	struct rd_finish_options opt = {.kind = -1, .progress = stop_at_third, .progress_ctx = &told};
	struct rd_result r;
	struct rd_error err;
	struct scene s;

	changing_at = DEPTH - 1;
	scene_init(&s);
	s.spoil = deepen;
	for (size_t i = 0; i < 500; i++) {
		SCENE_METHOD(&s, i % 2 ? "a" : "b", .time = 100 + i * 10, .op = RD_OP_LOAD, .start = 0x1000,
			     .size_bytes = 0x10, .pid = 7);
		SCENE_SAMPLE(&s, 105 + i * 10, 7, 0x1000);
	}
	assert_code(RD_CANCELLED, scene_finish(&s, 1, NULL, NULL, &opt, &r, &err));
	assert_int_equal(told, 3);
	scene_release(&s);
}

/* ---- the preliminary histogram is folded over the shared calls */

static const struct rd_preliminary_row *row_named(const struct rd_partial *p, const char *name)
{
	for (size_t i = 0; i < p->preliminary.n; i++) {
		const struct rd_preliminary_row *row = &p->preliminary.at[i];
		struct rd_span text = rd_strings_at(&p->strings, row->name - 1);
		if (text.size_bytes == strlen(name) && memcmp(text.at, name, strlen(name)) == 0)
			return row;
	}
	fail_msg("no row of %s", name);
	return NULL;
}

static void check_row(const struct rd_partial *p, const char *name, uint64_t exclusive, uint64_t inclusive)
{
	const struct rd_preliminary_row *row = row_named(p, name);

	assert_int_equal(row->exclusive, exclusive);
	assert_int_equal(row->inclusive, inclusive);
}

static void test_each_method_once_a_sample(void **state)
{
	struct scene s;
	struct rd_partial p = {0};
	struct rd_error err;

	scene_init(&s);
	SCENE_METHOD(&s, "A", .time = 1, .op = RD_OP_LOAD, .start = 0x1000, .size_bytes = 0x10, .pid = 7);
	SCENE_METHOD(&s, "B", .time = 1, .op = RD_OP_LOAD, .start = 0x2000, .size_bytes = 0x10, .pid = 7);
	SCENE_METHOD(&s, "C", .time = 1, .op = RD_OP_LOAD, .start = 0x3000, .size_bytes = 0x10, .pid = 7);
	SCENE_METHOD(&s, "D", .time = 1, .op = RD_OP_LOAD, .start = 0x4000, .size_bytes = 0x10, .pid = 7);
	SCENE_SAMPLE(&s, 10, 7, 0x1000);
	SCENE_SAMPLE(&s, 11, 7, 0x2000, 0x1000);
	SCENE_SAMPLE(&s, 12, 7, 0x2000, 0x1000);
	SCENE_SAMPLE(&s, 13, 7, 0x1000, 0x2000, 0x1000);
	SCENE_SAMPLE(&s, 14, 7, 0x2000, 0x1000, 0x2000, 0x1000);
	SCENE_SAMPLE(&s, 15, 7, 0x3000, 0x2000);
	SCENE_SAMPLE(&s, 16, 7, 0x4000);
	scene_partial(&s, &p);
	assert_ok(rd_finish_preliminary(&s.info[0], &p, NULL, &err), &err);
	assert_int_equal(p.preliminary.n, 4);
	check_row(&p, "A", 2, 5);
	check_row(&p, "B", 3, 5);
	check_row(&p, "C", 1, 1);
	check_row(&p, "D", 1, 1);
	rd_partial_release(&p);
	scene_release(&s);
}

/* ---- the order of stacks */

/* As it is defined: frame by frame from the innermost, the shorter first. */
static int compare(const struct rd_content *c, const uint32_t *place, uint32_t a, uint32_t b)
{
	const struct rd_result_call *x = rd_content_call_at(c, a), *y = rd_content_call_at(c, b);

	while (x && y && place[x->frame] == place[y->frame]) {
		x = rd_content_call_at(c, x->caller);
		y = rd_content_call_at(c, y->caller);
	}
	if (x == NULL || y == NULL)
		return (x != NULL) - (y != NULL);
	return place[x->frame] < place[y->frame] ? -1 : 1;
}

static void test_the_order_of_stacks(void **state)
{
	enum { CALLS = 3000, FRAMES = 5 };
	static const uint32_t place[FRAMES] = {3, 0, 4, 1, 2};
	struct rd_content c;
	struct rd_error err;
	static uint32_t stacks[CALLS + 1];

	random_begin(5);
	assert_ok(rd_content_init(&c, &err), &err);
	for (size_t i = 0; i < CALLS; i++) {
		/* Now and then from anywhere, mostly deeper: the tree has long chains of equal frames. */
		uint32_t n = (uint32_t)c.calls.n, caller = next_random() % 8 && n ? n : n ? next_random() % n : 0;
		uint32_t frame = next_random() % 4 ? 0 : next_random() % FRAMES;
		assert_int_not_equal(rd_content_call(&c, caller, frame), RD_NONE);
	}
	size_t n = c.calls.n + 1;
	for (uint32_t i = 0; i < n; i++)
		stacks[i] = i;
	for (size_t i = n; i > 1; i--) {
		size_t k = next_random() % i;
		uint32_t swap = stacks[i - 1];
		stacks[i - 1] = stacks[k];
		stacks[k] = swap;
	}
	assert_ok(rd_stack_order(&c, place, stacks, n, NULL, &err), &err);
	assert_int_equal(stacks[0], 0);
	for (size_t i = 1; i < n; i++)
		assert_int_equal(compare(&c, place, stacks[i - 1], stacks[i]), -1);
	for (uint64_t nth = 1; nth <= 2; nth++) {
		rd_fail_allocation(nth);
		assert_code(RD_NOMEM, rd_stack_order(&c, place, stacks, n, NULL, &err));
	}
	rd_fail_allocation(0);
	assert_ok(rd_stack_order(&c, place, stacks, 0, NULL, &err), &err);
	rd_content_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_changing_leaf_costs_one_call),
		cmocka_unit_test(test_a_change_in_between_costs_what_is_inside),
		cmocka_unit_test(test_long_work_is_heard),
		cmocka_unit_test(test_long_work_can_be_stopped),
		cmocka_unit_test(test_each_method_once_a_sample),
		cmocka_unit_test(test_the_order_of_stacks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
