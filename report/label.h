/*
 * label - a method in one piece: "module!Namespace.Name(arguments)".
 *
 * So a frame is called wherever it has no columns of its own, and so the
 * patterns of a view see it.
 */
#ifndef RD_REPORT_LABEL_H
#define RD_REPORT_LABEL_H

#include "report/view.h"

/* The part of a signature that a frame shows: from its first "(" on; empty when it has none. */
struct rd_span rd_signature_arguments(struct rd_span signature);

/* Append the label; with tiers " [tier 1]" behind it. Errors are sticky in b. */
void rd_label(struct rd_bytes *b, const struct rd_view_method *m, bool tiers);
/* The same without the module. */
void rd_label_in_module(struct rd_bytes *b, const struct rd_view_method *m, bool tiers);
/*
 * Either, for people: where it takes more than these columns (0: there is room for all) "(…)" stands for the arguments.
 * It may still take more.
 */
void rd_label_within(struct rd_bytes *b, const struct rd_view_method *m, bool tiers, bool module, size_t columns);

/* "shop (10)", "10", "no owner". */
void rd_label_process(struct rd_bytes *b, const struct rd_result *r, uint32_t process);
/* Pids are numbers; nobody's is -1. */
int64_t rd_pid_number(uint32_t pid);

/* By bytes. */
int rd_compare_spans(struct rd_span a, struct rd_span b);

#endif
