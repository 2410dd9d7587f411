/*
 * text - a report for people.
 *
 * On a terminal long names are cut in the middle to its width; elsewhere they
 * stay whole. Whatever a trace calls its methods, nothing but printable text
 * goes out.
 */
#ifndef RD_REPORT_TEXT_H
#define RD_REPORT_TEXT_H

#include <stddef.h>

#include "base/out.h"
#include "report/view.h"

/* Columns of the terminal behind fd; 0 when it is none. */
unsigned rd_terminal_columns(int fd);

/* The whole report: what was recorded, the `top` first methods (0: all), the line of trust. columns 0: no limit. */
void rd_text_report(const struct rd_view *v, size_t top, unsigned columns, struct rd_out *o);

/* Heading and the `top` first methods of the whole result, by exclusive samples: what `run` ends with. */
int rd_text_hottest(const struct rd_result *r, size_t top, unsigned columns, struct rd_out *o, struct rd_error *err);

/* "trust: complete, 0 events lost, …" and a newline. */
void rd_text_trust(const struct rd_result *r, struct rd_out *o);

#endif
