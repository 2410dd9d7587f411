/*
 * run_words - what the user asked of `rundown run`, and whether it can be done at all.
 */
#ifndef RD_CLI_RUN_WORDS_H
#define RD_CLI_RUN_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/inputs.h"
#include "cli/values.h"

#define RD_RUN_NAME "rundown run"

struct rd_run_words {
	const char *name;         /* of the command, for lines about these words */
	const char *const *words; /* the traces as given: files and folders */
	size_t words_n;
	const char *output; /* as given; NULL none */
	const char *process;
	struct rd_moment from, to;
	int kind; /* enum rd_sample_kind; -1 all */
	bool force, join, apart, strict, stats, quiet;
	uint64_t workers;             /* 0: our choice */
	uint64_t shards, shard_bytes, finish_memory_bytes; /* 0: not given */
	uint64_t top;
	int progress; /* enum rd_progress_form */
	int log;      /* enum rd_log_level; -1 none */

	/* by rd_run_check */
	struct rd_inputs inputs; /* the files behind the words */
	char result[4096];       /* absolute */
	char result_shown[4096]; /* as a user of this folder would write it */
};

struct rd_option;
#define RD_JOB_OPTIONS_MAX 16
/* The rows of a job's options, whoever does the job; how many there are. `to` has room for RD_JOB_OPTIONS_MAX. */
size_t rd_run_job_options(struct rd_run_words *w, struct rd_option *to);
/* Words of the job that are right each but not together: 0, or the exit code. */
int rd_run_check_words(const struct rd_run_words *w);
/* true: go on. */
bool rd_run_read_words(struct rd_run_words *w, int argc, char **argv, int *exit_code);
/*
 * Whether inputs can be read and the result be written, before anything is
 * started. 0, or the exit code; a line is out for each thing that is wrong.
 */
int rd_run_check(struct rd_run_words *w);
/* Its halves: w->inputs; w->result, of w->output or the first word. */
int rd_run_check_inputs(struct rd_run_words *w);
int rd_run_check_result(struct rd_run_words *w);
/* As many as there are processors for us, fewer where the traces are small. */
unsigned rd_run_workers(const struct rd_run_words *w);
void rd_run_words_release(struct rd_run_words *w);

#endif
