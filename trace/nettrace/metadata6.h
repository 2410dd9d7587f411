/*
 * metadata6 - the rows of a metadata block of nettrace 6.
 *
 * docs/formats/nettrace.md, "Metadata of version 6".
 */
#ifndef RD_TRACE_NETTRACE_METADATA6_H
#define RD_TRACE_NETTRACE_METADATA6_H

#include "base/cursor.h"
#include "trace/nettrace/types.h"

/* Step over the header of a block's payload; the cursor says whether it was there. */
void rd_nettrace_metadata6_begin(struct rd_cursor *c);
/* The next row; false when the bytes are none. Ask only while bytes are left. */
bool rd_nettrace_metadata6_next(struct rd_cursor *c, struct rd_nettrace_metadata *out);

#endif
