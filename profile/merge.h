/*
 * merge - several results as one, for reports: as if one run had been given all their traces, less what each decided
 * for itself.
 *
 * Traces and processes follow each other in the order given. Time buckets of
 * different origins and widths do not fit together, so there is one for all.
 */
#ifndef RD_PROFILE_MERGE_H
#define RD_PROFILE_MERGE_H

#include "profile/result.h"

/*
 * Add what is in `more` to *all, which is a merged result or zeros. RD_UNSUPPORTED: they were made with different
 * filters; RD_EXISTS: both have the same trace, whose samples would count twice; RD_LIMIT, RD_NOMEM. After a failure *all
 * is good for its release only.
 */
int rd_result_merge(struct rd_result *all, const struct rd_result *more, struct rd_error *err);

#endif
