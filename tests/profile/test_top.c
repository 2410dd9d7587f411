#include "profile/top.h"

#include "tests/support.h"

/* Two shards of a trace and one of another, with methods that meet and methods that do not. */
static struct rd_partial shards[2];

static uint32_t text(struct rd_partial *p, const char *s)
{
	return rd_strings_id(&p->strings, s, strlen(s)) + 1;
}

static void add(struct rd_partial *p, uint32_t pid, const char *module, const char *name, uint64_t exclusive,
		uint64_t inclusive)
{
	struct rd_preliminary_row *r = rd_vec_add(&p->preliminary);

	*r = (struct rd_preliminary_row){.pid = pid,
					 .module = text(p, module),
					 .name = text(p, name),
					 .exclusive = exclusive,
					 .inclusive = inclusive};
}

static int setup(void **state)
{
	memset(shards, 0, sizeof shards);
	add(&shards[0], 1, "m", "hot", 5, 9);
	add(&shards[0], 1, "m", "cold", 1, 9);
	add(&shards[1], 1, "m", "hot", 7, 8);
	/* Equal counts: by name. */
	add(&shards[1], 1, "m", "b", 3, 3);
	add(&shards[1], 1, "m", "a", 3, 3);
	add(&shards[1], 2, "m", "hot", 2, 2);
	return 0;
}

static int teardown(void **state)
{
	rd_partial_release(&shards[0]);
	rd_partial_release(&shards[1]);
	return 0;
}

static int add_all(struct rd_top *t, struct rd_error *err)
{
	const struct rd_partial *in_memory[] = {&shards[0], &shards[1]};
	struct rd_tables tables = {.shards = 2, .in_memory = in_memory};
	int rc = rd_top_add(t, 0, &tables, 0, err);

	if (rc == 0)
		rc = rd_top_add(t, 0, &tables, 1, err);
	return rc == 0 ? rd_top_add(t, 1, &tables, 0, err) : rc;
}

static void the_hottest_first(void **state)
{
	static const struct {
		uint32_t trace, pid;
		const char *name;
		uint64_t exclusive, inclusive;
	} wanted[] = {
		{0, 1, "hot", 12, 17}, {1, 1, "hot", 5, 9},  {0, 1, "a", 3, 3},    {0, 1, "b", 3, 3},
		{0, 2, "hot", 2, 2},   {0, 1, "cold", 1, 9}, {1, 1, "cold", 1, 9},
	};
	rd_top_rows rows = {0};
	struct rd_error err;
	struct rd_top t;

	rd_top_init(&t);
	assert_ok(add_all(&t, &err), &err);
	assert_int_equal(27, t.samples);
	assert_ok(rd_top_hottest(&t, 100, &rows, &err), &err);
	assert_int_equal(7, rows.n);
	for (size_t i = 0; i < rows.n; i++) {
		assert_int_equal(wanted[i].trace, rows.at[i].trace);
		assert_int_equal(wanted[i].pid, rows.at[i].pid);
		assert_span(rows.at[i].name, wanted[i].name);
		assert_span(rows.at[i].module, "m");
		assert_span(rows.at[i].ns, "");
		assert_int_equal(wanted[i].exclusive, rows.at[i].exclusive);
		assert_int_equal(wanted[i].inclusive, rows.at[i].inclusive);
	}
	rows.n = 1;
	assert_ok(rd_top_hottest(&t, 2, &rows, &err), &err);
	assert_int_equal(3, rows.n);
	assert_span(rows.at[1].name, "hot");
	rd_vec_release(&rows);
	rd_top_release(&t);
}

static void nothing_yet(void **state)
{
	rd_top_rows rows = {0};
	struct rd_error err;
	struct rd_top t;

	rd_top_init(&t);
	assert_ok(rd_top_hottest(&t, 10, &rows, &err), &err);
	assert_int_equal(0, rows.n);
	rd_top_release(&t);
}

static void a_string_that_is_not_there(void **state)
{
	struct rd_error err;
	struct rd_top t;

	shards[1].preliminary.at[0].name = 1000;
	rd_top_init(&t);
	assert_code(RD_CORRUPT, add_all(&t, &err));
	rd_top_release(&t);
}

static void memory_that_runs_out(void **state)
{
	for (uint64_t n = 1;; n++) {
		struct rd_error err;
		struct rd_top t;
		rd_fail_allocation(n);
		rd_top_init(&t);
		int rc = add_all(&t, &err);
		rd_fail_allocation(0);
		rd_top_release(&t);
		if (rc == 0)
			break;
		assert_int_equal(RD_NOMEM, rc);
		assert_true(n < 100);
	}
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(the_hottest_first),
		T(nothing_yet),
		T(a_string_that_is_not_there),
		T(memory_that_runs_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
