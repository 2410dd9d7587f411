#include "tests/support.h"

#include "base/table.h"

struct numbers {
	const uint64_t *at;
	unsigned compared;
};

static bool same_number(const void *ctx, uint32_t index, const void *key)
{
	struct numbers *n = (struct numbers *)(uintptr_t)ctx;
	n->compared++;
	return n->at[index] == *(const uint64_t *)key;
}

static void finds_what_was_put(void **state)
{
	enum { N = 20000 };
	static uint64_t keys[N];
	struct numbers numbers = {keys, 0};
	struct rd_table t = {0};

	for (uint32_t i = 0; i < N; i++) {
		keys[i] = (uint64_t)i * 0x100000001u;
		uint64_t hash = rd_hash_u64(keys[i]);
		assert_int_equal(rd_table_find(&t, hash, same_number, &numbers, &keys[i]), RD_NONE);
		assert_int_equal(rd_table_put(&t, hash, i), 0);
		assert_true(t.n * 5 <= t.cap * 3);
	}
	assert_int_equal(t.n, N);
	numbers.compared = 0;
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(rd_table_find(&t, rd_hash_u64(keys[i]), same_number, &numbers, &keys[i]), i);
	/* A key is compared for itself, hardly ever for another. */
	assert_true(numbers.compared >= N && numbers.compared < N + 100);
	uint64_t strange = 12345678901u;
	assert_int_equal(rd_table_find(&t, rd_hash_u64(strange), same_number, &numbers, &strange), RD_NONE);
	rd_table_release(&t);
	assert_int_equal(t.cap, 0);
}

/* The caller's equal decides, whatever the hash says. */
static void equal_hashes_are_told_apart(void **state)
{
	static const uint64_t keys[100] = {[0] = 1, [50] = 51, [99] = 100};
	struct numbers numbers = {keys, 0};
	struct rd_table t = {0};

	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(rd_table_put(&t, UINT64_MAX, i), 0);
	uint64_t key = 51;
	assert_int_equal(rd_table_find(&t, UINT64_MAX, same_number, &numbers, &key), 50);
	key = 100;
	assert_int_equal(rd_table_find(&t, UINT64_MAX, same_number, &numbers, &key), 99);
	key = 77;
	assert_int_equal(rd_table_find(&t, UINT64_MAX, same_number, &numbers, &key), RD_NONE);
	assert_int_equal(rd_table_find(&t, 0, same_number, &numbers, &key), RD_NONE);
	rd_table_release(&t);
}

static void a_failed_put_changes_nothing(void **state)
{
	static const uint64_t keys[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
	struct numbers numbers = {keys, 0};
	struct rd_table t = {0};

	rd_fail_allocation(1);
	assert_int_equal(rd_table_put(&t, 1, 0), RD_NOMEM);
	assert_int_equal(rd_table_put(&t, 1, RD_NONE), RD_LIMIT);
	uint32_t i = 0;
	for (rd_fail_allocation(2); rd_table_put(&t, rd_hash_u64(keys[i]), i) == 0; i++)
		;
	assert_int_equal(i, 9); /* the first that does not fit into 16 slots */
	for (i = 0; i < 9; i++)
		assert_int_equal(rd_table_find(&t, rd_hash_u64(keys[i]), same_number, &numbers, &keys[i]), i);
	assert_int_equal(rd_table_put(&t, rd_hash_u64(keys[9]), 9), 0);
	assert_int_equal(rd_table_find(&t, rd_hash_u64(keys[9]), same_number, &numbers, &keys[9]), 9);
	rd_table_release(&t);
}

static void hashes_are_stable(void **state)
{
	/* XXH3's published values: an id may rest on a hash that another process worked out. */
	assert_true(rd_hash("", 0) == 0x2d06800538d394c2u);
	assert_true(rd_hash(NULL, 0) == rd_hash("", 0));
	assert_true(rd_hash("a", 1) != rd_hash("b", 1));
	assert_true(rd_hash_u64(0) == 0);
	assert_true(rd_hash_u64(1) >> 32 != 0);
}

static void strings_get_dense_ids(void **state)
{
	struct rd_strings s = {0};
	char name[32];

	assert_int_equal(rd_strings_find(&s, "x", 1), RD_NONE);
	assert_int_equal(rd_strings_id(&s, "x", 1), 0);
	assert_int_equal(rd_strings_id(&s, "", 0), 1);
	assert_int_equal(rd_strings_id(&s, NULL, 0), 1);
	assert_int_equal(rd_strings_id(&s, "x\0y", 3), 2);
	assert_int_equal(rd_strings_id(&s, "x", 1), 0);
	for (uint32_t i = 3; i < 30000; i++)
		assert_int_equal(rd_strings_id(&s, name, (size_t)snprintf(name, sizeof name, "name %u", i)), i);
	for (uint32_t i = 3; i < 30000; i++) {
		assert_int_equal(rd_strings_find(&s, name, (size_t)snprintf(name, sizeof name, "name %u", i)), i);
		assert_span(rd_strings_at(&s, i), name);
	}
	assert_span(rd_strings_at(&s, 1), "");
	assert_int_equal(rd_strings_at(&s, 2).size_bytes, 3);
	assert_int_equal(rd_strings_find(&s, "name 30000", 10), RD_NONE);
	rd_strings_release(&s);
}

static void strings_survive_each_failing_allocation(void **state)
{
	for (uint64_t nth = 1; nth < 12; nth++) {
		struct rd_strings s = {0};
		unsigned failures = 0;
		char name[16];
		rd_fail_allocation(nth);
		for (uint32_t i = 0; i < 100; i++) {
			size_t n = (size_t)snprintf(name, sizeof name, "%u", i);
			uint32_t id = rd_strings_id(&s, name, n);
			if (id == RD_NONE) {
				failures++;
				id = rd_strings_id(&s, name, n);
			}
			assert_int_equal(id, i);
		}
		assert_true(failures <= 1);
		if (nth <= 3)
			assert_int_equal(failures, 1);
		rd_fail_allocation(0);
		rd_strings_release(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_what_was_put),
		cmocka_unit_test(equal_hashes_are_told_apart),
		cmocka_unit_test(a_failed_put_changes_nothing),
		cmocka_unit_test(hashes_are_stable),
		cmocka_unit_test(strings_get_dense_ids),
		cmocka_unit_test(strings_survive_each_failing_allocation),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
