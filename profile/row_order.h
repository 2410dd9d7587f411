/*
 * row_order - the rows of a result in the order of process, thread, kind, bucket and stack.
 */
#ifndef RD_PROFILE_ROW_ORDER_H
#define RD_PROFILE_ROW_ORDER_H

#include "profile/result.h"

/* Processes and stacks are their places already. 0 or RD_NOMEM. */
int rd_row_order(struct rd_result *r);

#endif
