/*
 * method_names - methods by their names, whatever result they are of.
 *
 * Pids, runtimes and addresses are others in the next recording; what stays is
 * module, namespace, name and signature. So methods of several views get one
 * numbering, in the order of their first coming.
 */
#ifndef RD_REPORT_METHOD_NAMES_H
#define RD_REPORT_METHOD_NAMES_H

#include "base/records.h"
#include "report/view.h"

struct rd_method_names {
	struct rd_strings strings;
	struct rd_records methods; /* its own keys: names as strings, tier, what */
};

void rd_method_names_init(struct rd_method_names *n);
void rd_method_names_release(struct rd_method_names *n);

typedef RD_VEC(uint32_t) rd_method_numbers;
/* The number of each of the view's methods. RD_NOMEM. Grouped by process, a process is its name. */
int rd_method_names_add(struct rd_method_names *n, const struct rd_view *v, rd_method_numbers *numbers);
/* A method as rows of views have them, for labels. Its names are borrowed until one is added. */
struct rd_view_method rd_method_names_at(const struct rd_method_names *n, uint32_t id);
/* By module, namespace, name, signature, then tier. */
int rd_method_names_compare(const struct rd_method_names *n, uint32_t a, uint32_t b);

struct rd_method_count {
	uint64_t exclusive, inclusive;
};
typedef RD_VEC(struct rd_method_count) rd_method_counts;
/*
 * The view's samples by the number of a method, `numbers` having it of each of the view's. Anew from the stacks: two
 * methods of a view may be one here, and one sample is counted once. RD_NOMEM.
 */
int rd_method_names_count(const struct rd_method_names *n, const struct rd_view *v, const rd_method_numbers *numbers,
			  rd_method_counts *counts);

#endif
