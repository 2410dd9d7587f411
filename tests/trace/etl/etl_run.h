/*
 * etl_run - index and decode an ETL file that a test built, and keep all that the sink heard.
 */
#ifndef RD_TESTS_TRACE_ETL_RUN_H
#define RD_TESTS_TRACE_ETL_RUN_H

#include "base/memory.h"
#include "trace/etl/etl.h"

struct etl_run {
	struct rd_source source;
	struct rd_index index;
	struct rd_error err;
	int indexed;                    /* what the index returned */
	int decoded;                    /* what the decoder returned */
	RD_VEC(struct rd_event) events; /* copies: keys, payloads and stacks live until release */
	RD_VEC(uint64_t) damage;        /* the file offsets */
	const char *damage_text;        /* of the last one */
	unsigned begun, ended;          /* blocks */
	struct rd_arena arena;
};

/* Write the bytes to a scratch file, index it, and decode its blocks in the index's order. */
void etl_run(struct etl_run *r, const void *bytes, size_t size_bytes, uint64_t want);
/* The index alone. */
void etl_run_index(struct etl_run *r, const void *bytes, size_t size_bytes);
/* Decode these blocks with a new decoder; adds to what was seen. */
void etl_run_blocks(struct etl_run *r, const struct rd_block *blocks, size_t n, uint64_t want);
void etl_run_release(struct etl_run *r);

/* How many events have this text for a key. */
size_t etl_run_count(const struct etl_run *r, const char *key);
/* The i-th event of this key; fails the test when there is none. */
const struct rd_event *etl_run_event(const struct etl_run *r, const char *key, size_t i);

#endif
