/*
 * metrics - numbers as Prometheus reads them (text format 0.0.4), and text inside HTML.
 *
 *   rd_metric(out, "rundown_jobs", "gauge", "Jobs by state.");
 *   rd_metric_u64(out, "rundown_jobs", "state=\"queued\"", n);
 *
 * Names and labels are literals of ours: nothing that a user or a file says
 * becomes a label, so their number has a bound.
 */
#ifndef RD_NET_METRICS_H
#define RD_NET_METRICS_H

#include <stdint.h>

#include "base/out.h"

#define RD_METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define RD_HTML_TYPE    "text/html; charset=utf-8"

/* The head of a family; its values follow. */
void rd_metric(struct rd_out *out, const char *name, const char *type, const char *help);
/* labels NULL: none. */
void rd_metric_u64(struct rd_out *out, const char *name, const char *labels, uint64_t value);
void rd_metric_double(struct rd_out *out, const char *name, const char *labels, double value);
/* A family of one value: head and all. */
void rd_metric_gauge(struct rd_out *out, const char *name, const char *help, uint64_t value);
void rd_metric_counter(struct rd_out *out, const char *name, const char *help, uint64_t value);
/* What every daemon has: version, resident and peak bytes, time of the processor, open descriptors. */
void rd_metrics_process(struct rd_out *out, const char *role);

/* Anybody's text, as text: escaped, and what a terminal would not show as \x… */
void rd_html_text(struct rd_out *out, const char *text);
/* All up to the body's first heading; it asks again every five seconds. And the end. */
void rd_html_begin(struct rd_out *out, const char *title);
void rd_html_end(struct rd_out *out);

#endif
