/*
 * Nights in one process: every seed is one, with kills of anybody, connections that break or hold back what they
 * carry, full disks, a broker that dies around its commits, parsers and finishes that crash or hang. Whatever
 * happens, the job ends, and its result is that of a quiet night, or it says which shards are missing. A seed that
 * fails prints itself: RD_SEED=N repeats it, RD_SEEDS=N tries so many.
 */
#include <string.h>

#include "base/log.h"
#include "tests/merger/job.h"
#include "tests/simulation/world.h"

static struct recording recording;
static char quiet_digest[33];
static struct {
	unsigned kills, breaks, holds, crashes, hangs, broker_restarts, quarantined, nights;
} all;

static int open_recording(void **state)
{
	const struct rd_format *format;
	struct rd_error err;

	rd_log_init(RD_LOG_ERROR, "simulation");
	job_open_trace(&recording.source);
	assert_ok(rd_trace_probe(&recording.source, &format, &err), &err);
	assert_ok(format->index(&recording.source, &recording.index, NULL, NULL, &err), &err);
	return 0;
}

static int close_recording(void **state)
{
	forget_answers();
	rd_index_release(&recording.index);
	rd_source_close(&recording.source);
	return 0;
}

static void a_quiet_night(void **state)
{
	open_world(&recording, 1);
	world.storm = false;
	world.crash_percent = 0;
	world.poison = UINT64_MAX;
	run_world();
	assert_string_equal(world.state, "done");
	assert_int_equal(world.quarantined, 0);
	assert_int_equal(world.merger.made_samples, JOB_SAMPLES);
	assert_int_equal(world.merger.commits, world.shards);
	memcpy(quiet_digest, world.merger.delivered, sizeof quiet_digest);
	close_world();
	assert_int_equal(strlen(quiet_digest), 32);
}

/* Shards that are not there are named, and only they are not there; if all are gone the job has failed. */
static void check_night(void)
{
	if (strcmp(world.state, "failed") == 0) {
		if (world.quarantined == 0)
			fail_msg("the job failed: %s", world.error);
		return;
	}
	assert_string_equal(world.state, "done");
	assert_int_equal(strlen(world.merger.delivered), 32);
	assert_true(world.merger.made_samples <= JOB_SAMPLES);
	if (world.quarantined == 0)
		assert_string_equal(world.merger.delivered, quiet_digest);
	else
		assert_string_not_equal(world.merger.delivered, quiet_digest);
	/* One shard may always crash its parser; then it, and at least it, is missing. */
	assert_true(world.poison == UINT64_MAX || world.quarantined > 0);
}

static void a_night(uint64_t seed)
{
	open_world(&recording, seed);
	run_world();
	check_night();
	all.kills += world.kills;
	all.breaks += world.breaks;
	all.holds += world.holds;
	all.crashes += world.crashes;
	all.hangs += world.hangs;
	all.broker_restarts += world.broker_restarts;
	all.quarantined += world.quarantined;
	all.nights++;
	close_world();
}

static void every_night_ends_well(void **state)
{
	random_seeds(200, a_night);
	printf("# %u nights: %u kills, %u restarts of the broker around a commit, %u connections broken and %u held "
	       "back, %u children crashed and %u hung, %u shards quarantined\n",
	       all.nights, all.kills, all.broker_restarts, all.breaks, all.holds, all.crashes, all.hangs,
	       all.quarantined);
	if (all.nights < 100)
		return;
	assert_true(all.kills > all.nights && all.broker_restarts > 0 && all.breaks > 0 && all.holds > 0);
	assert_true(all.crashes > 0 && all.hangs > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_quiet_night),
		cmocka_unit_test(every_night_ends_well),
	};
	return cmocka_run_group_tests(tests, open_recording, close_recording);
}
