#include "profile/history.h"

#include "tests/support.h"

/* ---- addresses */

static void make_addresses(struct rd_addresses *a, const uint64_t *at, size_t n)
{
	struct rd_error err;

	rd_addresses_init(a);
	for (size_t i = 0; i < n; i++)
		assert_ok(rd_addresses_add(a, at[i], &err), &err);
	assert_ok(rd_addresses_seal(a, &err), &err);
}

static void test_ranks(void **state)
{
	const uint64_t at[] = {0x3000, 0x1008, UINT64_MAX, 0x1000, 0x3000, 0x900000, 0, 0x1fff};
	struct rd_addresses a;

	make_addresses(&a, at, sizeof at / sizeof *at);
	assert_int_equal(a.at.n, 7);
	for (uint32_t i = 0; i < a.at.n; i++)
		assert_int_equal(rd_addresses_rank(&a, a.at.at[i]), i);
	assert_int_equal(rd_addresses_rank(&a, 1), RD_NONE);
	assert_int_equal(rd_addresses_rank(&a, 0x1004), RD_NONE);
	assert_int_equal(rd_addresses_rank(&a, 0x800000), RD_NONE);
	rd_addresses_release(&a);
	make_addresses(&a, at, 0);
	assert_int_equal(rd_addresses_rank(&a, 0), RD_NONE);
	rd_addresses_release(&a);
}

/* Against a look at every address, for ranges within a page, over a few and over many. */
static void test_ranges(void **state)
{
	enum { N = 400 };
	uint64_t at[N], random = 1;
	const uint64_t sizes[] = {0, 1, 7, 64, 4096, 9000, 60000, 70000, 1 << 20, UINT64_MAX};
	struct rd_addresses a;

	for (size_t i = 0; i < N; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		at[i] = i % 10 ? random >> 43 : UINT64_MAX - (random >> 48);
	}
	make_addresses(&a, at, N);
	for (size_t i = 0; i < N; i++) {
		for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
			uint64_t start = at[i] - k % 3, size = sizes[k];
			uint32_t low = 0, high = 0, first = RD_NONE, n = 0;
			for (uint32_t r = 0; r < a.at.n; r++) {
				if (a.at.at[r] < start || a.at.at[r] - start >= size)
					continue;
				first = first == RD_NONE ? r : first;
				n++;
			}
			assert_int_equal(rd_addresses_in(&a, start, size, &low, &high), n > 0);
			if (n > 0) {
				assert_int_equal(low, first);
				assert_int_equal(high - low, n);
			}
		}
	}
	/* Up to the very last address. */
	uint32_t low, high;
	assert_true(rd_addresses_in(&a, 0, UINT64_MAX, &low, &high));
	assert_int_equal(low, 0);
	rd_addresses_release(&a);
}

/* ---- history */

static uint32_t owner_is_id(const void *ctx, uint32_t id)
{
	return id;
}

static void add(struct rd_history *h, uint64_t time, uint32_t op, uint32_t owner, uint64_t start, uint64_t size)
{
	struct rd_when when = {time, h->events.n, 0, (uint16_t)op, owner};
	struct rd_error err;
	uint32_t low, high;

	assert_true(rd_addresses_in(h->addresses, start, size, &low, &high));
	assert_ok(rd_history_add(h, when, low, high, &err), &err);
}

static void test_the_nearest_events(void **state)
{
	const uint64_t at[] = {10, 20, 30, 40, 50};
	struct rd_addresses a;
	struct rd_history h;
	struct rd_error err;

	make_addresses(&a, at, 5);
	rd_history_init(&h, &a);
	add(&h, 300, RD_OP_UNLOAD, 1, 10, 100);
	add(&h, 100, RD_OP_LOAD, 1, 10, 100);
	add(&h, 200, RD_OP_LOAD, 1, 30, 1);
	add(&h, 150, RD_OP_LOAD, 2, 30, 11);
	assert_ok(rd_history_seal(&h, owner_is_id, NULL, &err), &err);
	/* Sorted: 100, 150, 200, 300. */
	const struct {
		uint32_t owner, rank;
		uint64_t time;
		uint32_t before, after;
	} rows[] = {
		{1, 2, 99, RD_NONE, 0},
		{1, 2, 100, 0, 2},
		{1, 2, 199, 0, 2},
		{1, 2, 200, 2, 3},
		{1, 2, 300, 3, RD_NONE},
		{1, 1, 200, 0, 3},
		{1, 4, 250, 0, 3},
		{2, 2, 150, 1, RD_NONE},
		{2, 3, 149, RD_NONE, 1},
		{2, 1, 150, RD_NONE, RD_NONE},
		{3, 2, 150, RD_NONE, RD_NONE},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct rd_near near = rd_history_near(&h, rows[i].owner, rows[i].rank, rows[i].time);
		assert_int_equal(near.before, rows[i].before);
		assert_int_equal(near.after, rows[i].after);
	}
	struct rd_ownership o = rd_history_owner(&h, 1, 2, 150, NULL, NULL);
	assert_int_equal(o.owner, 0);
	assert_int_equal(o.rival, RD_NONE);
	assert_int_equal(o.until, 200);
	o = rd_history_owner(&h, 1, 2, 300, NULL, NULL);
	assert_int_equal(o.owner, RD_NONE);
	assert_int_equal(o.until, UINT64_MAX);
	rd_history_release(&h);
	rd_addresses_release(&a);
}

static void test_one_address_and_none(void **state)
{
	const uint64_t at[] = {10};
	struct rd_addresses a;
	struct rd_history h;
	struct rd_error err;

	make_addresses(&a, at, 1);
	rd_history_init(&h, &a);
	add(&h, 5, RD_OP_DCEND, 0, 10, 1);
	assert_ok(rd_history_seal(&h, owner_is_id, NULL, &err), &err);
	assert_int_equal(rd_history_owner(&h, 0, 0, 1, NULL, NULL).owner, 0);
	rd_history_release(&h);
	rd_addresses_release(&a);
	make_addresses(&a, at, 0);
	rd_history_init(&h, &a);
	assert_ok(rd_history_seal(&h, owner_is_id, NULL, &err), &err);
	rd_history_release(&h);
	rd_addresses_release(&a);
}

/* Ranges nested in each other, to make lists of owners quadratic. */
static void test_hostile_nesting(void **state)
{
	enum { N = 20000 };
	struct rd_addresses a;
	struct rd_history h;
	struct rd_error err;

	rd_addresses_init(&a);
	for (uint64_t i = 0; i < N; i++)
		assert_ok(rd_addresses_add(&a, i, &err), &err);
	assert_ok(rd_addresses_seal(&a, &err), &err);
	rd_history_init(&h, &a);
	for (uint64_t i = 0; i < N / 2; i++)
		add(&h, i + 1, RD_OP_LOAD, 0, i, N - 2 * i);
	assert_ok(rd_history_seal(&h, owner_is_id, NULL, &err), &err);
	/* Two nodes a level at most. */
	assert_true(h.entries.n <= (size_t)N / 2 * 2 * 15);
	for (uint32_t rank = 0; rank < N; rank++) {
		uint32_t depth = rank < N / 2 ? rank : N - 1 - rank;
		assert_int_equal(rd_history_owner(&h, 0, rank, UINT64_MAX, NULL, NULL).owner, depth);
	}
	rd_history_release(&h);
	rd_addresses_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_the_nearest_events),
		cmocka_unit_test(test_one_address_and_none),
		cmocka_unit_test(test_hostile_nesting),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
