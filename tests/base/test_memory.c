#include "tests/support.h"

#include "base/memory.h"

static int never_again(void **state)
{
	rd_fail_allocation(0);
	return 0;
}

static void allocation_fails_on_order(void **state)
{
	rd_fail_allocation(2);
	void *p = rd_realloc(NULL, 10);
	assert_non_null(p);
	assert_null(rd_realloc(p, 20)); /* p stays good */
	p = rd_realloc(p, 30);
	assert_non_null(p);
	assert_null(rd_realloc(p, 0));
	assert_null(rd_realloc(NULL, SIZE_MAX));
	assert_null(rd_realloc(NULL, (size_t)PTRDIFF_MAX + 1));
	rd_free(NULL);
}

static void arrays_grow(void **state)
{
	RD_VEC(uint32_t) v = {0};

	for (uint32_t i = 0; i < 10000; i++) {
		uint32_t *p = rd_vec_add(&v);
		assert_non_null(p);
		*p = i * 7;
	}
	assert_int_equal(v.n, 10000);
	assert_true(v.cap >= 10000 && v.cap <= 15000);
	for (uint32_t i = 0; i < 10000; i++)
		assert_int_equal(v.at[i], i * 7);
	assert_int_equal(rd_vec_reserve(&v, 100000), 0);
	assert_true(v.cap >= 110000);
	assert_int_equal(v.n, 10000);
	rd_vec_release(&v);
	assert_null(v.at);
	assert_int_equal(v.cap, 0);
}

static void arrays_refuse_the_absurd(void **state)
{
	RD_VEC(uint64_t) v = {0};

	*rd_vec_add(&v) = 5;
	assert_int_equal(rd_vec_reserve(&v, SIZE_MAX), RD_NOMEM);
	assert_int_equal(rd_vec_reserve(&v, SIZE_MAX / 8), RD_NOMEM);
	assert_int_equal(rd_vec_reserve(&v, SIZE_MAX / 16), RD_NOMEM);
	assert_int_equal(v.n, 1);
	assert_true(v.at[0] == 5);
	size_t cap = v.cap;
	rd_fail_allocation(1);
	assert_int_equal(rd_vec_reserve(&v, cap), RD_NOMEM);
	v.n = cap;
	rd_fail_allocation(1);
	assert_null(rd_vec_add(&v));
	assert_int_equal(v.n, cap);
	assert_int_equal(v.cap, cap);
	rd_vec_release(&v);
}

static void bytes_append(void **state)
{
	struct rd_bytes b = {0};

	assert_int_equal(rd_bytes_append(&b, NULL, 0), 0);
	assert_int_equal(rd_bytes_append(&b, "abc", 3), 0);
	uint8_t *p = rd_bytes_extend(&b, 2);
	assert_non_null(p);
	memcpy(p, "de", 2);
	assert_non_null(rd_bytes_extend(&b, 0));
	assert_int_equal(b.n, 5);
	assert_memory_equal(b.at, "abcde", 5);
	rd_bytes_release(&b);
	assert_null(b.at);
}

static void a_failed_append_sticks(void **state)
{
	struct rd_bytes b = {0};

	rd_bytes_append(&b, "abc", 3);
	rd_fail_allocation(1);
	assert_null(rd_bytes_extend(&b, 100));
	assert_int_equal(b.n, 3);
	assert_memory_equal(b.at, "abc", 3);
	assert_int_equal(rd_bytes_append(&b, "d", 1), RD_NOMEM);
	assert_int_equal(rd_bytes_append(&b, "d", 0), RD_NOMEM);
	assert_int_equal(b.n, 3);
	assert_true(b.failed);
	rd_bytes_release(&b);
	assert_false(b.failed);
	assert_null(rd_bytes_extend(&b, SIZE_MAX));
	rd_bytes_release(&b);
}

static void arenas_hand_out_aligned_memory(void **state)
{
	struct rd_arena a = {0};
	uint8_t *taken[3000];
	size_t sizes[3000];
	size_t total = 0;

	for (size_t i = 0; i < 3000; i++) {
		sizes[i] = i % 100 == 99 ? 20000 : i % 37;
		taken[i] = rd_arena_take(&a, sizes[i]);
		assert_non_null(taken[i]);
		assert_int_equal((uintptr_t)taken[i] % 8, 0);
		memset(taken[i], (int)i, sizes[i]);
		total += sizes[i];
	}
	/* Nothing overlaps: every piece still holds what was put there. */
	for (size_t i = 0; i < 3000; i++)
		for (size_t k = 0; k < sizes[i]; k++)
			assert_int_equal(taken[i][k], (uint8_t)i);
	assert_true(a.total_bytes >= total && a.total_bytes < total + 3000 * 8);
	assert_string_equal(rd_arena_copy(&a, "hello", 6), "hello");
	assert_non_null(rd_arena_copy(&a, NULL, 0));
	assert_ptr_not_equal(rd_arena_take(&a, 0), rd_arena_take(&a, 0));
	rd_arena_release(&a);
	assert_null(a.block);
	assert_int_equal(a.total_bytes, 0);
}

static void arenas_survive_failure(void **state)
{
	struct rd_arena a = {0};

	assert_null(rd_arena_take(&a, SIZE_MAX));
	assert_null(rd_arena_take(&a, (size_t)PTRDIFF_MAX));
	rd_fail_allocation(1);
	assert_null(rd_arena_take(&a, 5));
	rd_fail_allocation(1);
	assert_null(rd_arena_copy(&a, "x", 1 << 20));
	char *p = rd_arena_copy(&a, "kept", 5);
	rd_fail_allocation(1);
	assert_null(rd_arena_take(&a, 100000));
	assert_string_equal(p, "kept");
	assert_non_null(rd_arena_take(&a, 100));
	rd_arena_release(&a);
	rd_arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(allocation_fails_on_order, never_again),
		cmocka_unit_test(arrays_grow),
		cmocka_unit_test_teardown(arrays_refuse_the_absurd, never_again),
		cmocka_unit_test(bytes_append),
		cmocka_unit_test_teardown(a_failed_append_sticks, never_again),
		cmocka_unit_test(arenas_hand_out_aligned_memory),
		cmocka_unit_test_teardown(arenas_survive_failure, never_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
