/*
 * job_top - the hottest methods of a job that still runs, as its shards believe them.
 */
#ifndef RD_CLI_JOB_TOP_H
#define RD_CLI_JOB_TOP_H

#include <stdint.h>

#include "base/out.h"
#include "cli/client.h"

/*
 * Whether there is a result of it: 1 and its path, as the broker's machine has it; 0 the job still runs; RD_NOT_FOUND,
 * or why it came to nothing.
 */
int rd_job_result_path(const struct rd_client_words *w, const char *job, char *path, size_t size, struct rd_error *err);

/* Ask the broker how far the job is and what is hottest, and tell it; at most n rows. */
int rd_job_top(const struct rd_client_words *w, const char *job, uint32_t n, bool json, struct rd_out *o,
	       struct rd_error *err);

/* The table of it, for people. */
void rd_job_top_rows(struct rd_out *o, const Rd__Top *top);

#endif
