/*
 * trace_whole - a trace in memory, indexed and decoded whole: its events as they came, and its log.
 */
#ifndef RD_TESTS_TRACE_TRACE_WHOLE_H
#define RD_TESTS_TRACE_TRACE_WHOLE_H

#include "base/memory.h"
#include "tests/trace/trace_log.h"
#include "trace/trace.h"

/* The index of bytes in memory, as the format's index says it; *ix starts empty. */
int index_bytes(const struct rd_format *format, const void *bytes, size_t size_bytes, struct rd_index *ix,
		struct rd_error *err);
/* The first bytes of the file have so many blocks, and are cut at this place. */
void check_cut(const struct rd_format *format, const struct rd_bytes *file, size_t size_bytes, size_t blocks,
	       uint64_t cut_at);

struct trace_whole {
	const struct rd_format *format;
	struct rd_source source;
	struct rd_index index;
	RD_VEC(struct rd_event) events; /* with payloads and stacks of their own; keys live as long as this */
	struct trace_log log;
	struct rd_decoder *decoder;
	struct rd_arena arena;
};

/* Fails the test when an index or a decoder fails. The bytes are borrowed. */
void whole_decode(struct trace_whole *w, const struct rd_format *format, const struct rd_bytes *bytes);
void whole_release(struct trace_whole *w);

/* Block i is refused as another kind, with other sizes and elsewhere: a plan of another file. */
void check_other_plan(const struct trace_whole *w, size_t i, uint32_t other_kind);

/* Frame i of an event's stack. */
uint64_t event_frame(const struct rd_event *ev, size_t i);

#endif
