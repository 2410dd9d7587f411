/*
 * collect_rows - a decoded event as a row of its table. Inside the collector only.
 */
#ifndef RD_PROFILE_COLLECT_ROWS_H
#define RD_PROFILE_COLLECT_ROWS_H

#include "profile/collect.h"

/* The event does not hold what it promises; it left no row. */
#define RD_COLLECT_MALFORMED 1

/* 0 (a row, or nothing that a profile needs), RD_COLLECT_MALFORMED, or an error that ends the shard. */
int rd_collect_row(struct rd_collector *c, const struct rd_event *ev, const struct rd_record *r);

#endif
