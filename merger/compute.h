/*
 * compute - from a job's partials in the working store to its result in memory.
 *
 * Opens the store to read, so it runs in a process that has it not open.
 */
#ifndef RD_MERGER_COMPUTE_H
#define RD_MERGER_COMPUTE_H

#include "net/message.h"
#include "profile/result.h"

/*
 * `order` is a FINISH that rd_validate accepted, `state` the merger's folder
 * (the store is its `work`). Every shard that is not given up is there and
 * whole, else RD_NOT_FOUND or RD_CORRUPT. *out is filled on success only.
 */
int rd_compute(const char *state, const struct rd_message *order,
	       int (*progress)(void *ctx, uint64_t done, uint64_t total), void *ctx, struct rd_result *out,
	       struct rd_error *err);

#endif
