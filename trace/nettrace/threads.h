/*
 * threads - what a thread index of nettrace 6 stands for: docs/formats/nettrace.md, "Threads".
 *
 * A row holds until a second one of its index, a removal, or a reset.
 */
#ifndef RD_TRACE_NETTRACE_THREADS_H
#define RD_TRACE_NETTRACE_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/records.h"
#include "trace/event.h"

struct rd_nettrace_thread {
	uint64_t index;
	uint64_t thread; /* of the operating system; RD_NO_THREAD unknown */
	uint32_t pid;
	bool has_pid;
	bool known; /* false: removed */
};

struct rd_nettrace_threads {
	struct rd_records rows; /* struct rd_nettrace_thread, by index */
	uint32_t recent;        /* the row that was asked for last */
};

void rd_nettrace_threads_init(struct rd_nettrace_threads *t);
void rd_nettrace_threads_release(struct rd_nettrace_threads *t);
/* No index stands for anything from here on. */
void rd_nettrace_threads_reset(struct rd_nettrace_threads *t);

/* Whether a thread block's payload is one. */
bool rd_nettrace_threads_valid(const uint8_t *payload, size_t size_bytes);
/* Take the rows of a valid payload. 0 or RD_NOMEM. */
int rd_nettrace_threads_add(struct rd_nettrace_threads *t, const uint8_t *payload, size_t size_bytes);
void rd_nettrace_threads_remove(struct rd_nettrace_threads *t, uint64_t index);

/* Borrowed until the next change; NULL when nothing has defined this index. */
const struct rd_nettrace_thread *rd_nettrace_threads_find(struct rd_nettrace_threads *t, uint64_t index);

#endif
