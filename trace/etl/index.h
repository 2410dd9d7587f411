/*
 * index - list the buffers of an ETL file without decoding them.
 */
#ifndef RD_TRACE_ETL_INDEX_H
#define RD_TRACE_ETL_INDEX_H

#include "trace/trace.h"

/* See struct rd_format. */
int rd_etl_index(const struct rd_source *s, struct rd_index *out, void (*progress)(void *ctx, uint64_t bytes),
		 void *ctx, struct rd_error *err);

#endif
