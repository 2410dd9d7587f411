/*
 * text_table - the methods of a text report, a line each.
 *
 * On a terminal the columns of names share its width; elsewhere names are
 * whole, and only what is longer than most sticks out of its column.
 */
#ifndef RD_REPORT_TEXT_TABLE_H
#define RD_REPORT_TEXT_TABLE_H

#include "report/format.h"

/* The first methods, and how many there are; or that no sample passes. */
void rd_text_table(const struct rd_view *v, const struct rd_report_options *opt, struct rd_out *o);

#endif
