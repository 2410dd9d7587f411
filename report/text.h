/*
 * text - a report for people.
 *
 * On a terminal all fits its width: names are cut in the middle, long lines
 * are wrapped between words. Elsewhere a line stays a line and names are whole,
 * the method's last. Whatever a trace calls its methods, nothing but printable
 * text goes out.
 */
#ifndef RD_REPORT_TEXT_H
#define RD_REPORT_TEXT_H

#include <stddef.h>

#include "report/format.h"

/* The line that was made, and a newline: wrapped at so many columns (0: not), its further lines indented. Ends line. */
void rd_text_wrapped(struct rd_out *line, unsigned columns, struct rd_out *o);

/* The whole report: what was recorded, the first methods, the line of trust. */
void rd_text_report(const struct rd_view *v, const struct rd_report_options *opt, struct rd_out *o);

/* Heading and the first methods of the whole result, by exclusive samples: what `run` ends with. */
int rd_text_hottest(const struct rd_result *r, const struct rd_report_options *opt, struct rd_out *o,
		    struct rd_error *err);

/* "trust: complete, 0 events lost, …" and a newline. */
void rd_text_trust(const struct rd_result *r, const struct rd_report_options *opt, struct rd_out *o);

#endif
