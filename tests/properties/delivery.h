/*
 * delivery - a trace cut into shards at random, its partials brought to the merger's store as a bad night would, and
 * finished from there. By tests/random.h.
 */
#ifndef RD_TESTS_PROPERTIES_DELIVERY_H
#define RD_TESTS_PROPERTIES_DELIVERY_H

#include "profile/finish.h"
#include "trace/trace.h"

struct opened_trace {
	struct rd_source source;
	const struct rd_format *format;
	struct rd_index ix;
};
int open_trace(struct opened_trace *t, const char *path, struct rd_error *err);
void close_trace(struct opened_trace *t);

/* The store is made in folder; remove_store removes it and the trace there, whatever is left of them. */
int deliver_and_finish(const struct opened_trace *t, const char *folder, uint32_t shards, struct rd_result *out,
		       struct rd_error *err);
void remove_store(const char *folder);

#endif
