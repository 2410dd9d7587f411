/*
 * trace_fuzz - the fuzz body of every format that is read in blocks with context.
 *
 * Any bytes are indexed, decoded in one piece, and again block by block with
 * context. What the index and the decoder promise each other holds on any input,
 * and both ways hand out the same events. Aborts where they do not.
 */
#ifndef RD_TESTS_TRACE_TRACE_FUZZ_H
#define RD_TESTS_TRACE_TRACE_FUZZ_H

#include "trace/trace.h"

void fuzz_format(const struct rd_format *f, const uint8_t *bytes, size_t size_bytes);

#endif
