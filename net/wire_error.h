/*
 * wire_error - a struct rd_error as a message's field, and back.
 */
#ifndef RD_NET_WIRE_ERROR_H
#define RD_NET_WIRE_ERROR_H

#include <stdbool.h>

#include "base/error.h"
#include "proto/wire.pb-c.h"

/* Borrows the texts of *err, which must outlive *out. */
void rd_wire_error(Rd__Error *out, const struct rd_error *err, bool retry);
/* An unknown code of a newer peer becomes RD_INTERNAL. NULL in: RD_INTERNAL without a text. */
void rd_wire_error_take(struct rd_error *err, const Rd__Error *in);

/*
 * Whether another attempt at a worker's task can end otherwise: not when the
 * input is what is wrong, or the task was cancelled.
 */
bool rd_wire_error_retry(int code);

#endif
