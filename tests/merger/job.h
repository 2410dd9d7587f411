/*
 * job - a real small job for the merger's tests: a trace of the repository, decoded into partials here.
 */
#ifndef RD_TESTS_MERGER_JOB_H
#define RD_TESTS_MERGER_JOB_H

#include "net/message.h"
#include "tests/blocks.h"
#include "trace/trace.h"

#define JOB_SAMPLES 9065

struct test_job {
	struct rd_trace_info info;
	unsigned shards;
	test_block_vec *blocks; /* by shard */
};

/* tests/traces/shop-small.nettrace.zst, unpacked. */
void job_open_trace(struct rd_source *s);
/* Decode tests/traces/shop-small.nettrace.zst in so many shards. */
void job_make(struct test_job *j, unsigned shards);
void job_release(struct test_job *j);

/* The message FINISH for it; released by rd_message_release. Shards from `given_up` on are quarantined. */
void job_order(const struct test_job *j, const char *job, const char *output, bool replace, unsigned given_up,
	       struct rd_message *out);

#endif
