/*
 * waiting - stay with jobs that a broker does, one after the other, until each has ended.
 */
#ifndef RD_CLI_WAITING_H
#define RD_CLI_WAITING_H

#include "cli/client.h"
#include "cli/run_words.h"
#include "net/validate.h"

struct rd_waited_job {
	char id[RD_JOB_ID_MAX + 1];
};

/* The worst of all: a failure before an incomplete result. */
int rd_worse_exit(int a, int b);

/*
 * The exit code; progress and lines are out. *killed_by, 0 before: the signal that ended the wait. The jobs go on then,
 * which is told, and the caller dies by it.
 */
int rd_wait_for_jobs(const struct rd_run_words *run, const struct rd_client_words *words,
		     const struct rd_waited_job *jobs, size_t n, int *killed_by);

#endif
