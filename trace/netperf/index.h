/*
 * index - the blocks of a netperf file, or runs of its events. The row's function; see rd_format.index.
 */
#ifndef RD_TRACE_NETPERF_INDEX_H
#define RD_TRACE_NETPERF_INDEX_H

#include "trace/trace.h"

int rd_netperf_index(const struct rd_source *s, struct rd_index *out, void (*progress)(void *ctx, uint64_t bytes),
		     void *ctx, struct rd_error *err);

#endif
