/*
 * stats - what the work of a job was made of, and how much its reconciliation changed: for operators.
 */
#ifndef RD_REPORT_STATS_H
#define RD_REPORT_STATS_H

#include "base/out.h"
#include "profile/result.h"

/* "work: 50 shards, …", a few lines. */
void rd_text_stats(const struct rd_result *r, struct rd_out *o);
/* The object "work". */
void rd_json_stats(struct rd_json *j, const struct rd_result *r);

#endif
