#include "profile/result.h"

#include "tests/profile/scene.h"
#include "tests/support.h"

static void some_result(struct rd_result *r)
{
	struct scene s;

	scene_init(&s);
	SCENE_METHOD(&s, "A", .time = 1, .op = RD_OP_LOAD, .start = 0x1000, .size_bytes = 0x10, .pid = 7);
	SCENE_SAMPLE(&s, 10, 7, 0x1000, 0x2000);
	SCENE_SAMPLE(&s, 11, 8, 0x1000);
	scene_run(&s, r);
	scene_release(&s);
}

static void digest_of(const struct rd_result *r, char digest[33])
{
	struct rd_error err;
	assert_ok(rd_result_digest(r, digest, &err), &err);
}

/* Each of these is said of the job or the machine, not of the traces. */
static void test_what_the_digest_leaves_out(void **state)
{
	struct rd_result r;
	char before[33], after[33];

	some_result(&r);
	digest_of(&r, before);
	snprintf(r.traces.at[0].path, sizeof r.traces.at[0].path, "elsewhere");
	snprintf(r.traces.at[0].member, sizeof r.traces.at[0].member, "x");
	r.traces.at[0].info.mtime_ns++;
	r.stats.shards++;
	r.stats.finish_ns++;
	r.stats.preliminary_changed++;
	digest_of(&r, after);
	assert_string_equal(before, after);
	rd_result_release(&r);
}

static void test_what_the_digest_holds(void **state)
{
	struct rd_result r;
	char before[33], after[33];

	some_result(&r);
	digest_of(&r, before);
#define CHANGES(field)                                                                                                 \
	do {                                                                                                           \
		r.field++;                                                                                             \
		digest_of(&r, after);                                                                                  \
		assert_string_not_equal(before, after);                                                                \
		r.field--;                                                                                             \
	} while (0)
	CHANGES(rows.at[0].count);
	CHANGES(rows.at[0].weight);
	CHANGES(rows.at[1].bucket);
	CHANGES(rows.at[1].thread);
	CHANGES(rows.at[1].kind);
	CHANGES(frames.at[0].tier);
	CHANGES(frames.at[0].clr);
	CHANGES(calls.at[0].frame);
	CHANGES(processes.at[0].pid);
	CHANGES(processes.at[0].start_utc_ns);
	CHANGES(traces.at[0].duration_ns);
	CHANGES(trust.ambiguous_frames);
	CHANGES(trust.lost_events);
	CHANGES(trust.samples_in_rundown);
	CHANGES(samples);
	CHANGES(discarded);
	CHANGES(bucket_width_ns);
	CHANGES(kinds[0]);
	CHANGES(other[1]);
#undef CHANGES
#define CHANGES(field, other)                                                                                          \
	do {                                                                                                           \
		uint32_t was = r.field;                                                                                \
		r.field = (other);                                                                                     \
		digest_of(&r, after);                                                                                  \
		assert_string_not_equal(before, after);                                                                \
		r.field = was;                                                                                         \
	} while (0)
	assert_int_equal(r.calls.at[1].caller, 1);
	CHANGES(calls.at[1].caller, 0);
	CHANGES(stacks.at[0], r.stacks.at[1]);
#undef CHANGES
	digest_of(&r, after);
	assert_string_equal(before, after);
	rd_result_release(&r);
}

static void test_only_what_rows_refer_to(void **state)
{
	struct scene s;
	struct rd_result r;

	scene_init(&s);
	SCENE_PROCESS(&s, "unseen", .time = 1, .op = RD_OP_LOAD, .pid = 6);
	SCENE_METHOD(&s, "Unseen", .time = 1, .op = RD_OP_LOAD, .start = 0x1000, .size_bytes = 0x10, .pid = 7);
	SCENE_METHOD(&s, "Never", .time = 1, .op = RD_OP_LOAD, .start = 0x9000, .size_bytes = 0x10, .pid = 7);
	SCENE_SAMPLE(&s, 10, 8, 0x1000);
	scene_run(&s, &r);
	assert_int_equal(r.processes.n, 1);
	assert_int_equal(r.frames.n, 1);
	/* "", "?" */
	assert_int_equal(r.strings.at.n, 2);
	assert_span(rd_strings_at(&r.strings, 0), "");
	assert_span(rd_strings_at(&r.strings, 1), "?");
	rd_result_release(&r);
	scene_release(&s);
}

static void test_names(void **state)
{
	char buf[32];

	assert_string_equal(rd_tier_name(RD_TIER_TIER1, buf), "tier 1");
	assert_string_equal(rd_tier_name(RD_TIER_PRECOMPILED, buf), "precompiled");
	assert_string_equal(rd_tier_name(9, buf), "tier 9");
	assert_string_equal(rd_tier_name(99, buf), "tier 99");
	assert_string_equal(rd_tier_name(UINT32_MAX, buf), "tier 4294967295");
	assert_string_equal(rd_sample_kind_name(RD_SAMPLE_EXTERNAL), "external");
	assert_string_equal(rd_sample_kind_name(7), "unknown");
	assert_string_equal(rd_rundown_name(RD_RUNDOWN_NONE), "none");
	assert_string_equal(rd_rundown_name(RD_RUNDOWN_PARTIAL), "partial");
	assert_string_equal(rd_rundown_name(RD_RUNDOWN_COMPLETE), "complete");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_the_digest_leaves_out),
		cmocka_unit_test(test_what_the_digest_holds),
		cmocka_unit_test(test_only_what_rows_refer_to),
		cmocka_unit_test(test_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
