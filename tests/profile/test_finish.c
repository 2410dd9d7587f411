/*
 * What a finish makes of whole traces: options, times, trust, joined traces.
 */
#include "tests/profile/scene.h"
#include "tests/support.h"

#include "profile/losses.h"

static int finish(const struct scene *s, size_t shards, const struct rd_finish_options *opt, struct rd_result *r,
		  struct rd_error *err)
{
	return scene_finish(s, shards, NULL, NULL, opt, r, err);
}

static void run_with(const struct scene *s, const struct rd_finish_options *opt, struct rd_result *r)
{
	struct rd_error err;
	assert_ok(finish(s, 2, opt, r, &err), &err);
}

static void test_nothing(void **state)
{
	struct scene s;
	struct rd_result r;
	struct rd_error err;
	char digest[33];

	scene_init(&s);
	scene_run(&s, &r);
	assert_int_equal(r.samples, 0);
	assert_int_equal(r.rows.n, 0);
	assert_int_equal(r.processes.n, 0);
	assert_int_equal(r.traces.n, 1);
	assert_true(r.first_bucket > r.last_bucket);
	assert_true(r.trust.complete);
	assert_int_equal(r.trust.cut_at, RD_NO_OFFSET);
	assert_int_equal(r.trust.rundown, RD_RUNDOWN_NONE);
	assert_false(r.trust.missing_rundown || r.trust.missing_runtime || r.trust.missing_stacks);
	assert_ok(rd_result_digest(&r, digest, &err), &err);
	assert_int_equal(strlen(digest), 32);
	rd_result_release(&r);
	/* No shard at all: all of them were quarantined. */
	struct rd_byte_range range = {0, 10, 20};
	struct rd_finish_trace t = {.info = &s.info[0], .quarantined = &range, .quarantined_n = 1};
	assert_ok(rd_finish(&t, 1, NULL, &r, &err), &err);
	assert_false(r.trust.complete);
	assert_int_equal(r.trust.quarantined.n, 1);
	assert_int_equal(r.trust.quarantined.at[0].from, 10);
	rd_result_release(&r);
	assert_ok(rd_finish(NULL, 0, NULL, &r, &err), &err);
	assert_int_equal(r.traces.n, 0);
	rd_result_release(&r);
	scene_release(&s);
}

/* ---- filters */

static void check_filter(struct rd_finish_options opt, uint64_t samples, uint64_t weight)
{
	struct scene s;
	struct rd_result r;

	scene_of_samples(&s);
	run_with(&s, &opt, &r);
	assert_int_equal(r.samples, samples);
	assert_int_equal(r.weight, weight);
	assert_int_equal(r.discarded, 9 - samples);
	assert_int_equal(r.kinds[0] + r.kinds[1] + r.kinds[2], samples);
	assert_int_equal(r.thread_time, r.kinds[RD_SAMPLE_MANAGED] > 0);
	/* Buckets do not hang on the filter. */
	assert_int_equal(r.origin_utc_ns, 1000);
	assert_int_equal(r.bucket_width_ns, 1);
	assert_int_equal(r.first_bucket, 10);
	assert_int_equal(r.last_bucket, 50);
	/* The result says which it was. */
	assert_string_equal(r.filter.process, opt.process ? opt.process : "");
	assert_int_equal(r.filter.kind, opt.kind + 1);
	assert_int_equal(r.filter.has_from, opt.has_from);
	assert_int_equal(r.filter.has_to, opt.has_to);
	assert_true(r.filter.from_ns == opt.from_ns || (opt.from_ns == INT64_MIN && r.filter.from_ns < -INT64_MAX + 1001));
	assert_int_equal(r.filter.to_ns > 1000000, opt.to_ns == INT64_MAX);
	assert_true(opt.to_ns == INT64_MAX || r.filter.to_ns == opt.to_ns - (opt.to_is_utc ? 1000 : 0));
	rd_result_release(&r);
	scene_release(&s);
}

static void test_filters(void **state)
{
	check_filter((struct rd_finish_options){.kind = -1}, 9, 13);
	check_filter((struct rd_finish_options){.kind = RD_SAMPLE_CPU}, 8, 8);
	check_filter((struct rd_finish_options){.kind = RD_SAMPLE_MANAGED}, 1, 5);
	check_filter((struct rd_finish_options){.kind = -1, .process = "8"}, 4, 4);
	check_filter((struct rd_finish_options){.kind = -1, .process = "shop"}, 4, 4);
	check_filter((struct rd_finish_options){.kind = -1, .process = "SHOP.EXE"}, 4, 4);
	/* A pid, and a name that looks like one. */
	check_filter((struct rd_finish_options){.kind = -1, .process = "7"}, 8, 8);
	check_filter((struct rd_finish_options){.kind = -1, .process = "sho"}, 0, 0);
	check_filter((struct rd_finish_options){.kind = -1, .process = "99999999999"}, 0, 0);
	/* [from, to) since the origin, and in UTC. */
	check_filter((struct rd_finish_options){.kind = -1, .has_from = true, .from_ns = 20}, 7, 11);
	check_filter((struct rd_finish_options){.kind = -1, .has_from = true, .from_ns = 21}, 5, 9);
	check_filter((struct rd_finish_options){.kind = -1, .has_to = true, .to_ns = 20}, 2, 2);
	check_filter((struct rd_finish_options){.kind = -1, .has_to = true, .to_ns = 1020, .to_is_utc = true}, 2, 2);
	check_filter(
		(struct rd_finish_options){
			.kind = -1, .has_from = true, .from_ns = INT64_MIN, .has_to = true, .to_ns = INT64_MAX},
		9, 13);
}

static void check_nothing(struct rd_finish_options opt, const char *text)
{
	struct scene s;
	struct rd_result r;
	struct rd_error err;

	opt.not_nothing = true;
	scene_of_samples(&s);
	assert_int_equal(finish(&s, 2, &opt, &r, &err), RD_NOT_FOUND);
	assert_string_equal(err.text, text);
	scene_release(&s);
}

static void test_a_filter_that_leaves_nothing(void **state)
{
	check_nothing((struct rd_finish_options){.kind = -1, .process = "sho"},
		      "no samples of process 'sho'; there are Shop.exe (pid 7, 4 samples), 7 (pid 8, 4 samples), pid 9 "
		      "(1 sample)");
	check_nothing((struct rd_finish_options){.kind = -1, .has_from = true, .from_ns = 2000000000},
		      "no sample passes the filter; the 9 there are lie from 0.000 s to 0.000 s");
	check_nothing((struct rd_finish_options){.kind = -1, .process = "shop", .has_to = true, .to_ns = -1},
		      "no sample passes the filter; the 9 there are lie from 0.000 s to 0.000 s");
	check_nothing((struct rd_finish_options){.kind = RD_SAMPLE_EXTERNAL},
		      "no sample passes the filter; there are 9 of other kinds");
}

static void test_rows(void **state)
{
	struct scene s;
	struct rd_result r;

	scene_of_samples(&s);
	run_with(&s, NULL, &r);
	assert_int_equal(r.rows.n, 9);
	/* By process, thread, kind, bucket, stack. */
	for (size_t i = 0; i < 8; i++) {
		assert_int_equal(r.rows.at[i].process, i / 4);
		assert_int_equal(r.rows.at[i].bucket, 10 + i % 4 * 10);
		assert_int_equal(r.rows.at[i].count, 1);
		assert_int_equal(r.rows.at[i].weight, 1);
		assert_int_equal(r.rows.at[i].kind, RD_SAMPLE_CPU);
		assert_int_equal(r.rows.at[i].thread, 1);
	}
	const struct rd_result_row *last = &r.rows.at[8];
	assert_int_equal(last->process, 2);
	assert_int_equal(last->thread, 3);
	assert_int_equal(last->kind, RD_SAMPLE_MANAGED);
	assert_int_equal(last->weight, 5);
	assert_null(rd_result_innermost(&r, last->stack));
	rd_result_release(&r);
	scene_release(&s);
}

/* ---- time and trust */

static void test_a_row_again_after_its_gap(void **state)
{
	struct scene s;
	struct rd_result r;

	/* One bucket, one thread, one raw stack; the method changes under it. */
	scene_init(&s);
	SCENE_METHOD(&s, "A", .time = 1, .op = RD_OP_LOAD, .start = 0x1000, .size_bytes = 0x10, .pid = 7);
	SCENE_METHOD(&s, "B", .time = 30, .op = RD_OP_LOAD, .start = 0x1000, .size_bytes = 0x10, .pid = 7);
	SCENE_SAMPLE(&s, 10, 7, 0x1000);
	SCENE_SAMPLE(&s, 20, 7, 0x1000);
	SCENE_SAMPLE(&s, 30, 7, 0x1000);
	SCENE_SAMPLE(&s, 40, 7, 0x1000);
	SCENE_SAMPLE(&s, 1000000000, 7, 0x1000);
	scene_run(&s, &r);
	assert_folded(&r, "7;A 2\n7;B 3\n");
	assert_int_equal(r.rows.n, 3);
	assert_int_equal(r.bucket_width_ns, 5000000);
	assert_int_equal(r.last_bucket, 200);
	rd_result_release(&r);
	scene_release(&s);
}

static void spoil_damage(struct rd_partial *p, size_t shard)
{
	struct rd_damage_row *row = rd_vec_add(&p->damage);
	*row = (struct rd_damage_row){.offset = 500 - shard};
	p->summary.malformed_events = 3;
	p->summary.other[RD_OTHER_CSWITCH] = 4;
	p->summary.latest = 900 - 100 * shard;
}

static void test_trust_of_files(void **state)
{
	struct scene s;
	struct rd_result r;

	scene_init(&s);
	s.info[0].lost_events = 11;
	s.info[0].lost_buffers = 2;
	s.info[0].clock.start_ticks = 5;
	SCENE_METHOD(&s, "A", .time = 70, .op = RD_OP_LOAD, .start = 0x1000, .size_bytes = 0x10, .pid = 7);
	SCENE_SAMPLE(&s, 10, 7);
	run_with(&s, NULL, &r);
	assert_true(r.trust.complete);
	assert_int_equal(r.trust.lost_events, 11);
	assert_int_equal(r.trust.lost_buffers, 2);
	assert_int_equal(r.traces.at[0].duration_ns, 65);
	assert_string_equal(r.traces.at[0].path, "made.etl");
	assert_true(r.trust.missing_stacks);
	rd_result_release(&r);

	s.spoil = spoil_damage;
	run_with(&s, NULL, &r);
	assert_false(r.trust.complete);
	assert_int_equal(r.trust.cut_at, 499);
	assert_int_equal(r.traces.at[0].cut_at, 499);
	assert_int_equal(r.trust.malformed_events, 6);
	assert_int_equal(r.other[RD_OTHER_CSWITCH], 8);
	/* Events that a profile has no use for tell how long it took, too. */
	assert_int_equal(r.traces.at[0].duration_ns, 900);
	rd_result_release(&r);

	s.info[0].complete = false;
	s.info[0].cut_at = 77;
	run_with(&s, NULL, &r);
	assert_int_equal(r.trust.cut_at, 77);
	/* The end was cut off: that the rundown is missing is nobody's fault. */
	assert_false(r.trust.missing_rundown);
	rd_result_release(&r);
	scene_release(&s);
}

static void spoil_sequences(struct rd_partial *p, size_t shard)
{
	struct rd_losses l = {.out = p};

	/* Blocks 0 and 1: one event of thread 5 each, 3 and 9. */
	assert_int_equal(rd_losses_begin(&l, (uint32_t)shard), 0);
	assert_int_equal(rd_losses_tell(&l, 5, RD_SEQ_EVENT, shard ? 9 : 3, 1), 0);
	assert_int_equal(rd_losses_end(&l, false), 0);
	rd_losses_finish(&l);
	rd_losses_release(&l);
}

static void test_lost_by_sequence(void **state)
{
	struct scene s;
	struct rd_result r;

	scene_init(&s);
	s.info[0].lost_events = 100;
	SCENE_SAMPLE(&s, 10, 7);
	s.spoil = spoil_sequences;
	run_with(&s, NULL, &r);
	/* Before 3: two; between 3 and 9: five. */
	assert_int_equal(r.trust.lost_events, 107);
	assert_int_equal(r.traces.at[0].lost_events, 107);
	rd_result_release(&r);
	scene_release(&s);
}

/* ---- several traces */

static void two_traces(struct scene *s)
{
	scene_init(s);
	s->files = 2;
	SCENE_METHOD(s, "A", .time = 1, .op = RD_OP_LOAD, .start = 0x1000, .size_bytes = 0x10, .pid = 7);
	SCENE_SAMPLE(s, 10, 7, 0x1000);
	scene_add(s, (struct scene_item){.table = RD_TABLE_SAMPLES,
					 .file = 1,
					 .frames = {0x1000},
					 .sample = {.time = 20, .pid = 7, .weight = 1}});
}

static void test_apart(void **state)
{
	struct scene s;
	struct rd_result r;

	two_traces(&s);
	s.group[1] = 1;
	s.info[1].clock.start_utc_ns = -500;
	run_with(&s, NULL, &r);
	assert_folded(&r, "7;? 1\n7;A 1\n");
	assert_int_equal(r.processes.n, 2);
	assert_int_equal(r.processes.at[0].trace, 0);
	assert_int_equal(r.processes.at[1].trace, 1);
	assert_int_equal(r.origin_utc_ns, -500);
	assert_int_equal(r.first_bucket, 10);
	rd_result_release(&r);
	scene_release(&s);
}

static void test_joined(void **state)
{
	struct scene s;
	struct rd_result r;
	struct rd_error err;

	two_traces(&s);
	run_with(&s, NULL, &r);
	assert_folded(&r, "7;A 2\n");
	assert_int_equal(r.processes.n, 1);
	assert_int_equal(r.traces.n, 2);
	rd_result_release(&r);

	s.info[1].clock.frequency_hz = 10000000;
	assert_code(RD_UNSUPPORTED, finish(&s, 1, NULL, &r, &err));
	assert_non_null(strstr(err.text, "clocks"));
	scene_release(&s);
}

static void test_files_decide_before_places(void **state)
{
	struct scene s;
	struct rd_result r;

	scene_init(&s);
	s.files = 2;
	scene_add(
		&s,
		(struct scene_item){
			.table = RD_TABLE_METHODS,
			.file = 1,
			.text = {"", "Second", ""},
			.method = {
				.time = 5, .place = 1, .op = RD_OP_LOAD, .start = 0x1000, .size_bytes = 1, .pid = 7}});
	scene_add(
		&s,
		(struct scene_item){
			.table = RD_TABLE_METHODS,
			.file = 0,
			.text = {"", "First", ""},
			.method = {
				.time = 5, .place = 2, .op = RD_OP_LOAD, .start = 0x1000, .size_bytes = 1, .pid = 7}});
	SCENE_SAMPLE(&s, 10, 7, 0x1000);
	run_with(&s, NULL, &r);
	assert_folded(&r, "7;Second 1\n");
	rd_result_release(&r);
	scene_release(&s);
}

/* ---- the belief */

static void test_what_reconciliation_changed(void **state)
{
	struct scene s;
	struct rd_result r;
	struct rd_error err;

	scene_init(&s);
	s.spoil = scene_believe;
	SCENE_METHOD(&s, "A", .time = 1, .op = RD_OP_LOAD, .start = 0x1000, .size_bytes = 0x10, .pid = 7);
	SCENE_SAMPLE(&s, 5, 7, 0x1000);
	SCENE_SAMPLE(&s, 6, 7, 0x1000);
	scene_run(&s, &r);
	assert_int_equal(r.stats.preliminary_changed, 0);
	rd_result_release(&r);
	/* The load and the second sample meet in shard 0; shard 1 has the first alone and does not know the method. */
	assert_ok(finish(&s, 2, NULL, &r, &err), &err);
	assert_int_equal(r.stats.preliminary_changed, 1);
	assert_int_equal(r.stats.shards, 2);
	assert_int_equal(r.stats.samples, 2);
	rd_result_release(&r);
	scene_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_a_filter_that_leaves_nothing),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_a_row_again_after_its_gap),
		cmocka_unit_test(test_trust_of_files),
		cmocka_unit_test(test_lost_by_sequence),
		cmocka_unit_test(test_apart),
		cmocka_unit_test(test_joined),
		cmocka_unit_test(test_files_decide_before_places),
		cmocka_unit_test(test_what_reconciliation_changed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
