#include "tests/support.h"

#include "base/memory.h"
#include "profile/row_sort.h"
#include "tests/random.h"

struct row {
	uint32_t before;
	uint32_t tie;
	uint64_t time;
	uint32_t behind;
};

static int order(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->tie < y->tie ? -1 : x->tie > y->tie;
}

enum shape { SORTED, FALLING, EQUAL, RUNS, RANDOM, TIES, SHAPES };

static struct row make_row(enum shape shape, size_t i)
{
	struct row r = {.before = 0xaaaa0000u | (uint32_t)i, .behind = (uint32_t)i, .tie = pick(3)};

	switch (shape) {
	case SORTED:
		r.time = i, r.tie = 0;
		break;
	case FALLING:
		r.time = UINT64_MAX - i;
		break;
	case EQUAL:
		r.time = 5, r.tie = 5;
		break;
	case RUNS:
		r.time = i % 100 + pick(3);
		break;
	case RANDOM:
		r.time = (uint64_t)pick(1u << 30) << 34;
		break;
	default:
		r.time = pick(4);
	}
	return r;
}

static void every_shape(void **state)
{
	static const size_t counts[] = {0, 1, 2, 3, 7, 100, 101, 5000};

	for (enum shape shape = 0; shape < SHAPES; shape++) {
		for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
			RD_VEC(struct row) v = {0};
			size_t n = counts[k];
			uint64_t seen = 0, due = 0;
			for (size_t i = 0; i < n; i++) {
				assert_int_equal(rd_vec_reserve(&v, 1), 0);
				v.at[v.n++] = make_row(shape, i);
				due += i * i;
			}
			assert_int_equal(rd_sort_rows(v.at, n, sizeof *v.at, offsetof(struct row, time), order), 0);
			for (size_t i = 0; i < n; i++) {
				assert_true(i == 0 || order(&v.at[i - 1], &v.at[i]) <= 0);
				assert_int_equal(v.at[i].before, 0xaaaa0000u | v.at[i].behind);
				seen += (uint64_t)v.at[i].behind * v.at[i].behind;
			}
			assert_int_equal(seen, due);
			rd_vec_release(&v);
		}
	}
}

static void no_memory(void **state)
{
	RD_VEC(struct row) v = {0};

	for (size_t i = 0; i < 10; i++) {
		assert_int_equal(rd_vec_reserve(&v, 1), 0);
		v.at[v.n++] = make_row(FALLING, i);
	}
	for (uint64_t nth = 1; nth <= 3; nth++) {
		rd_fail_allocation(nth);
		assert_code(RD_NOMEM, rd_sort_rows(v.at, v.n, sizeof *v.at, offsetof(struct row, time), order));
		rd_fail_allocation(0);
		assert_int_equal(v.at[0].time, UINT64_MAX);
	}
	rd_vec_release(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_shape),
		cmocka_unit_test(no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
