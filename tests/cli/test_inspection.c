#include "cli/inspection.h"
#include "tests/support.h"
#include "trace/archive.h"

static struct rd_unpacked plain;

static int unpack(void **state)
{
	struct rd_source s;
	rd_unpacked_vec members = {0};
	struct rd_error err;

	assert_ok(rd_source_open(&s, repository_path("tests/traces/shop-small.nettrace.zst"), &err), &err);
	assert_ok(rd_archive_unpack(&s, scratch_folder(), NULL, &members, NULL, NULL, &err), &err);
	rd_source_close(&s);
	assert_int_equal(members.n, 1);
	plain = members.at[0];
	rd_vec_release(&members);
	return 0;
}

static int inspect(struct rd_inspection *in, const char *path)
{
	struct rd_source s;
	struct rd_error err;

	assert_ok(rd_source_open(&s, path, &err), &err);
	int code = rd_inspection_make(in, &s, "", &err);
	rd_source_close(&s);
	return code;
}

static uint64_t count_of(const struct rd_inspection *in, const char *key)
{
	uint32_t id = rd_strings_find(&in->keys, key, strlen(key));
	return id == RD_NONE ? 0 : in->counts.at[id];
}

static void test_a_whole_trace(void **state)
{
	struct rd_inspection in;
	uint64_t sum = 0;

	assert_ok(inspect(&in, plain.path), NULL);
	assert_string_equal(in.format->name, "nettrace");
	assert_true(in.complete);
	assert_true(in.cut_at == RD_NO_OFFSET);
	assert_int_equal(in.damage_n, 0);
	assert_int_equal(in.events, 66426);
	assert_int_equal(in.samples, 9065);
	assert_int_equal(in.kinds[RD_SAMPLE_MANAGED], 3660);
	assert_int_equal(in.kinds[RD_SAMPLE_EXTERNAL], 5405);
	assert_int_equal(in.lost_events, 0);
	assert_int_equal(in.malformed, 0);
	assert_int_equal(in.order.n, 59);
	assert_int_equal(count_of(&in, "Microsoft-DotNETCore-SampleProfiler/0/0"), 9065);
	for (size_t i = 0; i < in.order.n; i++) {
		sum += in.counts.at[in.order.at[i]];
		if (i) {
			struct rd_span a = rd_strings_at(&in.keys, in.order.at[i - 1]);
			struct rd_span b = rd_strings_at(&in.keys, in.order.at[i]);
			size_t n = a.size_bytes < b.size_bytes ? a.size_bytes : b.size_bytes;
			int c = memcmp(a.at, b.at, n);
			assert_true(c < 0 || (c == 0 && a.size_bytes < b.size_bytes));
		}
	}
	assert_int_equal(sum, in.events);
	rd_inspection_release(&in);
}

/* A block that does not decode counts for nothing, and all others for all. */
static void test_a_damaged_block_is_forgotten_whole(void **state)
{
	struct rd_inspection whole, damaged;
	size_t n;
	uint8_t *bytes = read_whole(plain.path, &n);

	assert_ok(inspect(&whole, plain.path), NULL);
	const struct rd_block *b = &whole.index.blocks.at[whole.index.blocks.n / 2];
	while (b->provides)
		b++;
	/* Lengths that run past the end, from the block's middle on. */
	memset(bytes + b->offset + b->size_bytes / 2, 0xff, b->size_bytes / 4);
	const char *path = scratch_file("damaged", bytes, n);
	assert_ok(inspect(&damaged, path), NULL);
	assert_false(damaged.complete);
	assert_int_equal(damaged.damage_n, 1);
	assert_true(damaged.cut_at >= b->offset && damaged.cut_at < b->offset + b->size_bytes);
	assert_true(damaged.events < whole.events);
	uint64_t sum = 0;
	for (size_t i = 0; i < damaged.order.n; i++)
		sum += damaged.counts.at[damaged.order.at[i]];
	assert_int_equal(sum, damaged.events);
	rd_inspection_release(&whole);
	rd_inspection_release(&damaged);
	free(bytes);
}

static void test_nothing_usable(void **state)
{
	struct rd_inspection in;

	assert_code(RD_UNSUPPORTED, inspect(&in, scratch_file("empty", "", 0)));
	rd_inspection_release(&in);
	assert_code(RD_UNSUPPORTED, inspect(&in, scratch_file("text", "hello, this is no trace", 23)));
	rd_inspection_release(&in);
}

static void test_no_memory(void **state)
{
	struct rd_inspection in;
	int code = RD_NOMEM;
	uint64_t nth;

	/* The first allocations one by one, then fewer: each run decodes up to there. */
	for (nth = 1; code != 0; nth += nth < 200 ? 7 : nth) {
		rd_fail_allocation(nth);
		code = inspect(&in, plain.path);
		rd_fail_allocation(0);
		rd_inspection_release(&in);
		if (code != 0)
			assert_code(RD_NOMEM, code);
	}
	assert_true(nth > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_whole_trace),
		cmocka_unit_test(test_a_damaged_block_is_forgotten_whole),
		cmocka_unit_test(test_nothing_usable),
		cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, unpack, NULL);
}
