/* Records go back to what they were when a block began, however often it changed them. */
#include "cli/seen/undo.h"
#include "tests/support.h"

struct row {
	uint32_t key;
	rd_undo_mark mark;
	uint64_t value;
};

static void begin(struct rd_undo *u)
{
	rd_undo_init(u, sizeof(struct row), sizeof(uint32_t), offsetof(struct row, mark));
}

static void add(struct rd_undo *u, uint32_t key, uint64_t n)
{
	struct row *row = rd_undo_change(u, &key);
	assert_non_null(row);
	row->value += n;
}

static uint64_t value(const struct rd_undo *u, uint32_t key)
{
	uint32_t id = rd_records_find(&u->rows, &key);
	return id == RD_NONE ? 0 : ((const struct row *)rd_records_at(&u->rows, id))->value;
}

static void blocks_are_kept_or_forgotten(void **state)
{
	struct rd_undo u;

	begin(&u);
	add(&u, 7, 1);
	add(&u, 7, 1);
	rd_undo_end(&u, false);
	assert_int_equal(value(&u, 7), 2);
	add(&u, 7, 10);
	add(&u, 8, 5);
	add(&u, 7, 10);
	rd_undo_end(&u, true);
	assert_int_equal(value(&u, 7), 2);
	assert_int_equal(value(&u, 8), 0);
	rd_undo_end(&u, true);
	assert_int_equal(value(&u, 7), 2);
	/* What a forgotten block made is there for the next one. */
	add(&u, 8, 3);
	add(&u, 7, 1);
	rd_undo_end(&u, false);
	assert_int_equal(value(&u, 7), 3);
	assert_int_equal(value(&u, 8), 3);
	assert_int_equal(u.rows.n, 2);
	rd_undo_release(&u);
}

static void many_records_and_blocks(void **state)
{
	struct rd_undo u;
	uint64_t wanted[64] = {0}, saved[64];

	begin(&u);
	for (uint32_t block = 0; block < 500; block++) {
		bool undo = block % 3 == 0;
		memcpy(saved, wanted, sizeof saved);
		for (uint32_t i = 0; i < 20; i++) {
			uint32_t key = (block * 31 + i * 17) % 64;
			add(&u, key, i);
			wanted[key] += i;
		}
		rd_undo_end(&u, undo);
		if (undo)
			memcpy(wanted, saved, sizeof saved);
		for (uint32_t i = 0; i < 64; i++)
			assert_int_equal(value(&u, i), wanted[i]);
	}
	rd_undo_release(&u);
}

static void no_memory(void **state)
{
	struct rd_undo u;
	uint32_t key = 1;

	for (uint64_t nth = 1; nth < 4; nth++) {
		begin(&u);
		rd_fail_allocation(nth);
		assert_null(rd_undo_change(&u, &key));
		rd_fail_allocation(0);
		rd_undo_release(&u);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_are_kept_or_forgotten),
		cmocka_unit_test(many_records_and_blocks),
		cmocka_unit_test(no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
