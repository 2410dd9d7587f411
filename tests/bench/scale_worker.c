/*
 * scale_worker - rundown-worker whose shards take RD_SCALE_MS milliseconds each, whatever is in them.
 *
 * All of it is the real program but one call, which the linker turns to here (--wrap): the shard is decoded as ever,
 * and then its parser sleeps for what is left. So many of them on few processors cost what their messages cost, and a
 * task has a known length.
 */
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "cli/command.h"
#include "profile/shard.h"
#include "worker/program.h"

int __real_rd_shard_decode(const struct rd_source *s, const struct rd_shard *shard, const struct rd_shard_options *opt,
			   rd_partial_block_fn emit, void *ctx, struct rd_error *err);
int __wrap_rd_shard_decode(const struct rd_source *s, const struct rd_shard *shard, const struct rd_shard_options *opt,
			   rd_partial_block_fn emit, void *ctx, struct rd_error *err);

int __wrap_rd_shard_decode(const struct rd_source *s, const struct rd_shard *shard, const struct rd_shard_options *opt,
			   rd_partial_block_fn emit, void *ctx, struct rd_error *err)
{
	const char *ms = getenv("RD_SCALE_MS");
	uint64_t until = rd_now_ns() + strtoull(ms ? ms : "100", NULL, 10) * 1000000;
	int rc = __real_rd_shard_decode(s, shard, opt, emit, ctx, err);
	uint64_t now = rd_now_ns();

	if (rc == 0 && now < until) {
		struct timespec left = {(time_t)((until - now) / 1000000000), (long)((until - now) % 1000000000)};
		clock_nanosleep(CLOCK_MONOTONIC, 0, &left, NULL);
	}
	return rc;
}

int main(int argc, char **argv)
{
	return rd_begin("rundown-worker") ? rd_worker_program(argc, argv) : RD_EXIT_FAILED;
}
