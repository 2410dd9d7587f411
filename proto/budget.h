/*
 * budget - an allocator for protobuf-c that stops at a cap.
 *
 * A message may unpack to many times its size. The budget counts all that an
 * unpack allocates, frees or not, and remembers why it said no, so that the
 * caller can tell a broken message from a bomb and from an empty machine.
 * Threads: one budget an unpack.
 */
#ifndef RD_PROTO_BUDGET_H
#define RD_PROTO_BUDGET_H

#include <stdint.h>

#include <protobuf-c/protobuf-c.h>

#include "base/error.h"

struct rd_budget {
	ProtobufCAllocator allocator; /* for the calls of protobuf-c; borrowed from the struct, which must not move */
	uint64_t left_bytes;
	int code; /* RD_LIMIT or RD_NOMEM once an allocation was refused; else 0 */
};

/* Memory comes through rd_realloc. */
void rd_budget_init(struct rd_budget *b, uint64_t bytes);

/* For an unpack that returned NULL: RD_LIMIT, RD_NOMEM, or RD_CORRUPT when the message itself is broken. */
int rd_budget_fail(const struct rd_budget *b, struct rd_error *err, const char *what);

#endif
