/*
 * unmerged - which files are one recording that was never merged, by their names.
 *
 * PerfView and its like write X.etl and, beside it, X.kernel*.etl, X.clr*.etl
 * and X.user*.etl (X.kernelRundown.etl, X.clrRundown.etl, X.kernel.1.etl, …):
 * sessions of one machine and one clock. A set has its main file X.etl; without
 * it the others are just files.
 */
#ifndef RD_TRACE_UNMERGED_H
#define RD_TRACE_UNMERGED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cursor.h"

/*
 * The n-th name, from 0, that the main file of a set with this file in it would have, with a NUL; the shortest comes
 * first. false: there are no more, or it does not fit.
 */
bool rd_unmerged_main(struct rd_span name, size_t n, char *buf, size_t size);

#endif
