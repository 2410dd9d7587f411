/*
 * metric - numbers as Prometheus reads them (text format 0.0.4).
 *
 *   rd_metric(out, "rundown_jobs", "gauge", "Jobs by state.");
 *   rd_metric_u64(out, "rundown_jobs", "state=\"queued\"", n);
 *
 * Labels are complete, as they stand between the braces; what is not a literal
 * of ours goes through rd_metric_label.
 */
#ifndef RD_BASE_METRIC_H
#define RD_BASE_METRIC_H

#include <stdint.h>

#include "base/out.h"

/* The head of a family; its values follow. */
void rd_metric(struct rd_out *out, const char *name, const char *type, const char *help);
/* labels NULL: none. */
void rd_metric_u64(struct rd_out *out, const char *name, const char *labels, uint64_t value);
void rd_metric_double(struct rd_out *out, const char *name, const char *labels, double value);
/* A family of one value: head and all. */
void rd_metric_gauge(struct rd_out *out, const char *name, const char *help, uint64_t value);
void rd_metric_counter(struct rd_out *out, const char *name, const char *help, uint64_t value);
/* Append NAME="VALUE", with a comma before it unless it is the first; VALUE may be any bytes. Errors are sticky in b. */
void rd_metric_label(struct rd_bytes *b, const char *name, struct rd_span value);

#endif
