/*
 * json_parts - what the JSON forms have in common.
 */
#ifndef RD_REPORT_JSON_PARTS_H
#define RD_REPORT_JSON_PARTS_H

#include "base/out.h"
#include "report/format.h"
#include "report/view.h"

/* The whole report, as docs/report-json.md says. */
void rd_json_report(struct rd_json *j, const struct rd_view *v, const struct rd_report_options *o);
/* Module, namespace, name, signature; with tiers the tier. */
void rd_json_names(struct rd_json *j, const struct rd_view_method *m, bool tiers);
/* The members that name a method or a group of one result. */
void rd_json_method(struct rd_json *j, const struct rd_view *v, const struct rd_view_method *m);
/* "filter": of the run; that of the report is the view. */
void rd_json_filter(struct rd_json *j, const struct rd_result_filter *f);
/* "view": the words of the filter that was given. */
void rd_json_view(struct rd_json *j, const struct rd_view *v);
/* "frames", "calls", "stacks", "rows": all that a page or a program needs to count anew. */
void rd_json_stacks(struct rd_json *j, const struct rd_view *v);

#endif
