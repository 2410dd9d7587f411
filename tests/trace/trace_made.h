/*
 * trace_made - a small made file of every format and shape that the tests hold all readers against.
 *
 * Each has every kind of block of its format. A new format is a new row.
 */
#ifndef RD_TESTS_TRACE_TRACE_MADE_H
#define RD_TESTS_TRACE_TRACE_MADE_H

#include "base/memory.h"
#include "trace/trace.h"

struct trace_made {
	const char *name;
	uint32_t format;
	void (*make)(struct rd_bytes *out); /* appends; ends the program when out of memory */
	uint32_t blocks;                    /* at least; netperf 2 has none of its own, and what is small is one */
};

extern const struct trace_made traces_made[];
extern const size_t traces_made_n;

#define EACH_MADE(c) for (const struct trace_made *c = traces_made; c < traces_made + traces_made_n; c++)

#endif
