/*
 * nettrace - the format row of EventPipe's files (docs/formats/nettrace.md).
 *
 * Versions 4, "5" (which is 4 with later metadata tags) and 6. A file of another
 * version is recognised by the probe and refused by name by the index.
 */
#ifndef RD_TRACE_NETTRACE_H
#define RD_TRACE_NETTRACE_H

#include "trace/trace.h"

extern const struct rd_format rd_format_nettrace;

#endif
