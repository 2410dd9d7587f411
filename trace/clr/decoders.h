/*
 * decoders - the payloads of the runtime's own events, all versions (docs/formats/clr.md).
 *
 * Each is an rd_event_decode_fn. The layouts only ever grew at the end, so a
 * version higher than those known is read as the highest known one.
 */
#ifndef RD_TRACE_CLR_DECODERS_H
#define RD_TRACE_CLR_DECODERS_H

#include "trace/event.h"

int rd_clr_method(const struct rd_event *ev, struct rd_record *out);
int rd_clr_method_verbose(const struct rd_event *ev, struct rd_record *out);
int rd_clr_module(const struct rd_event *ev, struct rd_record *out);
int rd_clr_domain_module(const struct rd_event *ev, struct rd_record *out);
int rd_clr_start_init(const struct rd_event *ev, struct rd_record *out);
int rd_clr_start_complete(const struct rd_event *ev, struct rd_record *out);
int rd_clr_end_init(const struct rd_event *ev, struct rd_record *out);
int rd_clr_end_complete(const struct rd_event *ev, struct rd_record *out);
int rd_clr_runtime_information(const struct rd_event *ev, struct rd_record *out);

#endif
