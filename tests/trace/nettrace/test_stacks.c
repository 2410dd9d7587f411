/* Stack ids and their frames. */
#include "tests/support.h"

#include "tests/trace/nettrace/nettrace_build.h"
#include "trace/nettrace/stacks.h"

/* A stack block's payload: `count` stacks from id `first`, each of one frame, base + its id. */
static void put_stacks(struct rd_bytes *out, uint32_t first, uint32_t count, uint64_t base)
{
	out->n = 0;
	put_number(out, first, 4);
	put_number(out, count, 4);
	for (uint32_t i = 0; i < count; i++) {
		put_number(out, 8, 4);
		put_number(out, base + first + i, 8);
	}
}

static void add(struct rd_nettrace_stacks *s, uint32_t first, uint32_t count, uint64_t base)
{
	struct rd_bytes p = {0};
	put_stacks(&p, first, count, base);
	assert_true(rd_nettrace_stacks_valid(p.at, p.n, 8));
	assert_int_equal(rd_nettrace_stacks_add(s, p.at, p.n), 0);
	rd_bytes_release(&p);
}

static void check(const struct rd_nettrace_stacks *s, uint32_t id, uint64_t frame)
{
	struct rd_span f = rd_nettrace_stacks_find(s, id);
	assert_int_equal(f.size_bytes, 8);
	assert_int_equal(rd_le64(f.at), frame);
}

static void check_empty(const struct rd_nettrace_stacks *s, uint32_t id)
{
	assert_int_equal(rd_nettrace_stacks_find(s, id).size_bytes, 0);
	assert_null(rd_nettrace_stacks_find(s, id).at);
}

static void ids_in_order_and_out_of_it(void **state)
{
	struct rd_nettrace_stacks s = {0};
	check_empty(&s, 0);
	add(&s, 5, 3, 1000);
	add(&s, 8, 2, 1000);
	/* A block is missing between: 10 to 19. */
	add(&s, 20, 3, 1000);
	/* And one that came late, below the first. */
	add(&s, 1, 2, 1000);
	add(&s, UINT32_MAX, 1, 0);
	for (uint32_t id = 5; id < 10; id++)
		check(&s, id, 1000 + id);
	for (uint32_t id = 20; id < 23; id++)
		check(&s, id, 1000 + id);
	check(&s, 1, 1001);
	check(&s, 2, 1002);
	check(&s, UINT32_MAX, UINT32_MAX);
	check_empty(&s, 0);
	check_empty(&s, 3);
	check_empty(&s, 10);
	check_empty(&s, 23);
	rd_nettrace_stacks_release(&s);
}

static void the_later_definition_holds_until_the_reset(void **state)
{
	struct rd_nettrace_stacks s = {0};
	add(&s, 1, 4, 1000);
	add(&s, 3, 4, 2000);
	add(&s, 100, 2, 1000);
	add(&s, 101, 2, 2000);
	check(&s, 2, 1002);
	check(&s, 3, 2003);
	check(&s, 6, 2006);
	check(&s, 100, 1100);
	check(&s, 101, 2101);
	rd_nettrace_stacks_reset(&s);
	check_empty(&s, 2);
	check_empty(&s, 101);
	add(&s, 1, 1, 5000);
	check(&s, 1, 5001);
	check_empty(&s, 2);
	rd_nettrace_stacks_release(&s);
}

static void payloads_that_are_none(void **state)
{
	struct rd_bytes p = {0};
	put_stacks(&p, 1, 3, 0);
	for (size_t n = 0; n < p.n; n++)
		assert_false(rd_nettrace_stacks_valid(p.at, n, 8));
	assert_true(rd_nettrace_stacks_valid(p.at, p.n, 8));
	assert_true(rd_nettrace_stacks_valid(p.at, p.n, 4));
	p.at[8] = 4;
	assert_false(rd_nettrace_stacks_valid(p.at, p.n, 8));
	memset(p.at + 4, 0xff, 4);
	assert_false(rd_nettrace_stacks_valid(p.at, p.n, 8));
	/* Nothing at all, and an empty stack. */
	put_stacks(&p, 9, 0, 0);
	assert_true(rd_nettrace_stacks_valid(p.at, p.n, 8));
	rd_bytes_release(&p);
}

static void any_allocation_may_fail(void **state)
{
	struct rd_bytes p = {0}, far = {0};
	put_stacks(&p, 1, 3, 0);
	put_stacks(&far, 1000, 3, 0);
	for (uint64_t nth = 1;; nth++) {
		struct rd_nettrace_stacks s = {0};
		rd_fail_allocation(nth);
		int rc = rd_nettrace_stacks_add(&s, p.at, p.n);
		if (rc == 0)
			rc = rd_nettrace_stacks_add(&s, far.at, far.n);
		rd_fail_allocation(0);
		rd_nettrace_stacks_release(&s);
		if (rc == 0)
			break;
		assert_code(RD_NOMEM, rc);
	}
	rd_bytes_release(&p);
	rd_bytes_release(&far);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_in_order_and_out_of_it),
		cmocka_unit_test(the_later_definition_holds_until_the_reset),
		cmocka_unit_test(payloads_that_are_none),
		cmocka_unit_test(any_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("nettrace/stacks", tests, NULL, NULL);
}
