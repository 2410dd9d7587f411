/*
 * metrics - what a daemon says of itself on its pages: numbers for Prometheus (base/metric.h), and text inside HTML.
 */
#ifndef RD_NET_METRICS_H
#define RD_NET_METRICS_H

#include <stdint.h>

#include "base/metric.h"

#define RD_METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define RD_HTML_TYPE    "text/html; charset=utf-8"

/* What every daemon has: version, resident and peak bytes, time of the processor, open descriptors. */
void rd_metrics_process(struct rd_out *out, const char *role);

/* Anybody's text, as text: escaped, and what a terminal would not show as \x… */
void rd_html_text(struct rd_out *out, const char *text);
/* All up to the body's first heading; it asks again every five seconds. And the end. */
void rd_html_begin(struct rd_out *out, const char *title);
void rd_html_end(struct rd_out *out);

#endif
