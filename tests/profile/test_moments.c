#include "profile/moments.h"

#include "tests/support.h"

static struct rd_moments moments_of(int64_t start, int64_t first, int64_t last)
{
	struct rd_moments m;

	rd_moments_init(&m);
	rd_moments_add_trace(&m, start);
	rd_moments_add_sample(&m, last);
	rd_moments_add_sample(&m, first);
	rd_moments_seal(&m);
	return m;
}

static void test_width(void **state)
{
	static const struct {
		int64_t start, first, last;
		uint64_t width, first_bucket, last_bucket;
	} rows[] = {
		{0, 0, 0, 1, 0, 0},
		{0, 0, 255, 1, 0, 255},
		{0, 0, 256, 2, 0, 128},
		{0, 1, 512, 5, 0, 102},
		{100, 100, 100 + 1000000000, 5000000, 0, 200},
		/* The edges of buckets count, not the span alone. */
		{0, 1, 256, 1, 1, 256},
		{0, 9, 265 * 2 + 1, 5, 1, 106},
		/* A lone sample long after the start: bucket numbers fit in 32 bits. */
		{0, 3600000000000, 3600000000000, 1000, 3600000000, 3600000000},
		/* A sample before the start moves the origin. */
		{100, 50, 60, 1, 0, 10},
		{0, INT64_MIN, INT64_MAX, 100000000000000000, 0, 184},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct rd_moments m = moments_of(rows[i].start, rows[i].first, rows[i].last);
		assert_int_equal(m.width_ns, rows[i].width);
		assert_int_equal(rd_moments_bucket(&m, rows[i].first), rows[i].first_bucket);
		assert_int_equal(rd_moments_bucket(&m, rows[i].last), rows[i].last_bucket);
		assert_int_equal(m.origin_utc_ns, rows[i].first < rows[i].start ? rows[i].first : rows[i].start);
	}
}

static void test_times_outside(void **state)
{
	struct rd_moments m = moments_of(0, 100, 200);

	assert_int_equal(rd_moments_bucket(&m, 0), 100);
	assert_int_equal(rd_moments_bucket(&m, INT64_MAX), 200);
}

static void test_no_samples(void **state)
{
	struct rd_moments m;

	rd_moments_init(&m);
	rd_moments_add_trace(&m, 7);
	rd_moments_add_trace(&m, 5);
	rd_moments_add_trace(&m, 9);
	rd_moments_seal(&m);
	assert_int_equal(m.origin_utc_ns, 5);
	assert_int_equal(m.width_ns, 1);
}

static void test_utc(void **state)
{
	struct rd_clock c = {.kind = RD_CLOCK_QPC, .frequency_hz = 10000000, .start_ticks = 50, .start_utc_ns = 1000};

	assert_int_equal(rd_utc_ns(&c, 51), 1100);
	assert_int_equal(rd_utc_ns(&c, 49), 900);
	/* A tick that looks like one before the start is one very long after it. */
	assert_int_equal(rd_utc_ns(&c, UINT64_MAX), INT64_MAX);
	c.start_utc_ns = INT64_MAX - 10;
	assert_int_equal(rd_utc_ns(&c, 51), INT64_MAX);
	c.start_utc_ns = INT64_MIN + 10;
	assert_int_equal(rd_utc_ns(&c, 49), INT64_MIN);
}

/* Every tick around a boundary falls to its side, whatever the clock's rounding. */
static void test_ticks_of_a_time(void **state)
{
	const uint64_t frequencies[] = {1, 3, 10000000, 1000000000, 2900000000};

	for (size_t i = 0; i < sizeof frequencies / sizeof *frequencies; i++) {
		struct rd_clock c = {.frequency_hz = frequencies[i], .start_ticks = 1000, .start_utc_ns = 77};
		for (int64_t utc = -50; utc < 3000000000; utc = utc * 3 / 2 + 61) {
			uint64_t tick = rd_ticks_from(&c, utc);
			assert_true(rd_utc_ns(&c, tick) >= utc);
			assert_true(tick == 0 || rd_utc_ns(&c, tick - 1) < utc);
		}
		assert_int_equal(rd_ticks_from(&c, INT64_MIN), 0);
	}
}

static void test_bucket_ends(void **state)
{
	struct rd_moments m = moments_of(1000, 1000, 1000 + 400);

	assert_int_equal(m.width_ns, 2);
	for (uint32_t bucket = 0; bucket < 200; bucket++) {
		int64_t end = rd_moments_bucket_end(&m, bucket);
		assert_int_equal(rd_moments_bucket(&m, end - 1), bucket);
		assert_int_equal(rd_moments_bucket(&m, end), bucket + 1);
	}
	m = moments_of(0, INT64_MIN, INT64_MAX);
	assert_int_equal(rd_moments_bucket_end(&m, 184), INT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_width),           cmocka_unit_test(test_times_outside),
		cmocka_unit_test(test_no_samples),      cmocka_unit_test(test_utc),
		cmocka_unit_test(test_ticks_of_a_time), cmocka_unit_test(test_bucket_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
