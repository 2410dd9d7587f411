/*
 * netperf - the format row of EventPipe's first files (docs/formats/netperf.md).
 *
 * Version 3 of .NET Core 2.1 and 2.2, versions 1 and 2 of .NET Core 2.0 and its
 * previews. A file of another version is recognised by the probe and refused
 * by name by the index. One shard a file: whatever an event needs to be
 * understood may stand in any block before it.
 */
#ifndef RD_TRACE_NETPERF_H
#define RD_TRACE_NETPERF_H

#include "trace/trace.h"

extern const struct rd_format rd_format_netperf;

#endif
