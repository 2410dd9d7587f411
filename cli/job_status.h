/*
 * job_status - what a broker says of a job, for people, programs and exit codes.
 */
#ifndef RD_CLI_JOB_STATUS_H
#define RD_CLI_JOB_STATUS_H

#include <stdbool.h>

#include "base/error.h"
#include "base/out.h"
#include "proto/wire.pb-c.h"

/* Priorities as users say them, NULL-ended, for an option. */
extern const char *const rd_priority_words[];
#define RD_PRIORITY_NORMAL 2
/* What stands in a SUBMIT for the word of this place; and back, NULL: no word has it. */
int32_t rd_priority_of(int word);
const char *rd_priority_word(int32_t priority);

bool rd_job_is_over(const Rd__Status *s);
/* The broker does not know the job that was asked for. */
bool rd_job_is_unknown(const Rd__Status *s);

/* Of an ended job: as `rundown run` would end with it. */
int rd_job_exit(const Rd__Status *s, bool strict);
/* Why a job failed, or what became of its quarantined shards. */
void rd_job_error(const Rd__Status *s, struct rd_error *err);

void rd_job_json(struct rd_json *j, const Rd__Status *s);
/* The head of a table of jobs, and a line of it. */
void rd_job_row_head(struct rd_out *o);
void rd_job_row(struct rd_out *o, const Rd__Status *s);
/* All about one job, a line a thing. */
void rd_job_lines(struct rd_out *o, const Rd__Status *s);

#endif
