/*
 * rows - small traces of the kinds of fault that users report of such tools (tests/README.md has the list).
 *
 * A function appends one file; the number in its name is the report's row.
 */
#ifndef RD_TESTS_GEN_ROWS_H
#define RD_TESTS_GEN_ROWS_H

#include "base/memory.h"

struct row_file {
	const char *name; /* of the file */
	void (*make)(struct rd_bytes *out);
};

/* NULL-ended. */
extern const struct row_file rows_nettrace[];
extern const struct row_file rows_etl[];

#endif
