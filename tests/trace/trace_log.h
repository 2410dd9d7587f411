/*
 * trace_log - index and decode any trace, and keep what the sink heard as lines of text.
 *
 * What a dropped block said is forgotten, as the sink's contract asks. Equal
 * logs are equal traces: tests compare them across ways of cutting a file.
 */
#ifndef RD_TESTS_TRACE_TRACE_LOG_H
#define RD_TESTS_TRACE_TRACE_LOG_H

#include "base/memory.h"
#include "trace/trace.h"

/* A source over bytes in memory; closed by rd_source_close. */
void memory_source(struct rd_source *s, const void *bytes, size_t size_bytes);

struct trace_log {
	struct rd_bytes events;  /* a line an event, in the order of the calls */
	struct rd_bytes damage;  /* a line a call of damage */
	struct rd_bytes numbers; /* the sequence operations, runs of one thread that follow on put together */
	size_t kept_events;      /* bytes of events up to the last block's end */
	RD_VEC(struct log_number) operations;
	size_t kept_operations;
	uint64_t event_count; /* kept ones */
	uint64_t pending_count;
	uint64_t calls;                /* of any kind */
	uint64_t begun, ended, undone; /* blocks */
	/* The n-th call of the sink from now fails with RD_CANCELLED; 0 none. */
	uint64_t fail_in;
};

struct log_number {
	uint64_t thread;
	uint32_t op, first, count;
	size_t order;
};

/* A sink that writes to the log. */
struct rd_sink log_sink(struct trace_log *log, uint64_t want);
/* Decode blocks [from, to) of an index, after their context, with a decoder of their own. */
int log_blocks(struct trace_log *log, const struct rd_format *f, const struct rd_source *s, const struct rd_index *ix,
	       size_t from, size_t to, uint64_t want, struct rd_error *err);
/* Events, damage and the sequence numbers by thread as one text, NUL-ended, in a buffer of the log's. Call it last. */
const char *log_text(struct trace_log *log);
void log_release(struct trace_log *log);

/* Whether block i has to be replayed before block `from`: it provides what nothing has made void since. */
bool is_context(const struct rd_index *ix, size_t i, size_t from);

#endif
