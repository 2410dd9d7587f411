/*
 * archive_names - the names of an archive's members: which are refused, and how they are shown.
 *
 * No name becomes a path, so none can do harm here; but an archive that has an
 * absolute name, one with "..", or one name twice was not made by packing
 * traces, and other programs would read something else out of it.
 */
#ifndef RD_TRACE_ARCHIVE_NAMES_H
#define RD_TRACE_ARCHIVE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/table.h"

/* 0, RD_CORRUPT (absolute, "..", or among those seen already), RD_NOMEM. Adds it to those seen. */
int rd_archive_name_check(struct rd_strings *seen, const char *name, struct rd_error *err);

/* The name with its folders, fit to be printed; of a long one the end. */
void rd_archive_name_shown(char *out, size_t size, const char *name);

/* Whether it ends as names of traces do. */
bool rd_archive_name_says_trace(const char *name);

#endif
