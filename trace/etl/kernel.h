/*
 * kernel - the payloads of the kernel's own events (docs/formats/etl.md, "Kernel records").
 *
 * Each is an rd_event_decode_fn. Pointers have the file's size
 * (rd_event.pointer_bytes). The header's process and thread are those that
 * wrote the event; whom it is about stands in the payload. A version higher
 * than those known is read as the highest known one.
 */
#ifndef RD_TRACE_ETL_KERNEL_H
#define RD_TRACE_ETL_KERNEL_H

#include "trace/event.h"

/* kernel_profile.c */
int rd_kernel_sample(const struct rd_event *ev, struct rd_record *out);
int rd_kernel_interval(const struct rd_event *ev, struct rd_record *out);
int rd_kernel_pmc(const struct rd_event *ev, struct rd_record *out);
int rd_kernel_cswitch(const struct rd_event *ev, struct rd_record *out);

/* kernel_stack.c */
int rd_kernel_stack(const struct rd_event *ev, struct rd_record *out);
int rd_kernel_stack_kernel_key(const struct rd_event *ev, struct rd_record *out);
int rd_kernel_stack_user_key(const struct rd_event *ev, struct rd_record *out);
int rd_kernel_stack_definition(const struct rd_event *ev, struct rd_record *out);

/* kernel_process.c */
int rd_kernel_process(const struct rd_event *ev, struct rd_record *out);
int rd_kernel_thread(const struct rd_event *ev, struct rd_record *out);
int rd_kernel_image(const struct rd_event *ev, struct rd_record *out);

/* kernel_session.c: for people; what is cut short says less, and is not malformed. */
int rd_kernel_session(const struct rd_event *ev, struct rd_record *out);
int rd_kernel_build(const struct rd_event *ev, struct rd_record *out);
int rd_kernel_cpu(const struct rd_event *ev, struct rd_record *out);
int rd_etl_event_info(const struct rd_event *ev, struct rd_record *out);

#endif
