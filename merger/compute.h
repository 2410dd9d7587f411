/*
 * compute - from a job's partials in the working store to its result in memory.
 *
 * The store is open already, to read: whoever computes has no need to open a file any more.
 */
#ifndef RD_MERGER_COMPUTE_H
#define RD_MERGER_COMPUTE_H

#include "merger/work.h"
#include "net/message.h"
#include "profile/result.h"
#include "profile/top.h"

/*
 * `order` is a FINISH that rd_validate accepted, `work` was opened by
 * rd_work_open_reader. Every shard that is not given up is there and
 * whole, else RD_NOT_FOUND or RD_CORRUPT. *out is filled on success only.
 */
int rd_compute(struct rd_work *work, const struct rd_message *order,
	       int (*progress)(void *ctx, uint64_t done, uint64_t total), void *ctx, struct rd_result *out,
	       struct rd_error *err);

/*
 * The same question while shards are still to come, answered by those that are there: the hottest methods, reconciled
 * over them. Gives up with RD_LIMIT after the deadline (rd_now_ns). *shards says how many there are. *top is
 * initialised, and undefined after a failure, but for its release.
 */
int rd_compute_so_far(struct rd_work *work, const struct rd_message *order, uint64_t deadline_ns, struct rd_top *top,
		      uint32_t *shards, struct rd_error *err);

#endif
