/*
 * run_job - hand a job to the private broker, and stay with it until it ends.
 *
 * The loop of `rundown run`: messages, signals, children that die. It ends
 * with the job, with a signal of the user, or with the death of a daemon; it
 * never waits for something that cannot come any more.
 */
#ifndef RD_CLI_RUN_JOB_H
#define RD_CLI_RUN_JOB_H

#include "cli/family.h"
#include "cli/incomplete.h"
#include "cli/progress.h"
#include "cli/run_words.h"
#include "net/validate.h"

struct rd_run_end {
	char job[RD_JOB_ID_MAX + 1]; /* "" the broker took none yet */
	int signal;                  /* of the user, who wants it to end; 0 none */
	struct rd_left_out left_out;
};

/* The signals that the loop takes; call before anything is started. The descriptor, or RD_IO. */
int rd_run_signals(struct rd_error *err);

/* 0 the result is there; RD_CANCELLED: end->signal; else why it came to nothing. */
int rd_run_job(const struct rd_run_words *w, unsigned workers, struct rd_family *f, int signals,
	       struct rd_progress *progress, struct rd_run_end *end, struct rd_error *err);

/* Give the merger a moment to take away what it was writing; a further signal cuts it short. */
void rd_run_wind_down(struct rd_family *f, int signals);

#endif
