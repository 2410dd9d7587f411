/*
 * write_events - what both nettrace writers share: event heads, blocks in the making, sequence numbers.
 */
#ifndef RD_TESTS_GEN_WRITE_EVENTS_H
#define RD_TESTS_GEN_WRITE_EVENTS_H

#include "tests/gen/writer.h"

/* An event's head; what is equal to the one before in its block need not be said. */
struct gen_head {
	uint32_t metadata, sequence, processor, stack, extra; /* extra: version 4 a GUID or not, 6 a label list */
	uint64_t capture_thread, thread, time;
	uint32_t payload_bytes;
};

/* A block of events, open for one capture thread. */
struct gen_block {
	struct rd_bytes events;
	struct gen_head before;
	uint64_t first, last; /* times */
	bool plain;           /* heads are not compressed */
};

/* What a reader knows of a capture thread's numbers, and the next one. */
struct gen_numbers {
	uint32_t next, last;
	bool known;
};

/* A type of event in the file's metadata: its id is its place + 1. */
struct gen_type {
	const char *provider, *name;
	uint16_t id;
	uint8_t version;
	bool written;
	uint32_t key; /* in the truth */
};

/* Both writers have this first in their own. */
struct gen_events {
	struct gen_block blocks[GEN_CPUS_MAX + 1];
	struct gen_numbers numbers[GEN_CPUS_MAX + 1];
	RD_VEC(struct gen_type) types;
	RD_VEC(uint32_t) stack_ids;               /* by stack of the act; 0 none yet */
	uint32_t next_stack, first_stack, stacks; /* ids; those that wait to be written */
	struct rd_bytes stack_bytes;
	uint32_t cycles; /* how often all was flushed */
	size_t pending;  /* bytes of events */
	uint64_t last_time;
};

void gen_events_init(struct gen_writer *w, struct gen_events *e);
void gen_events_release(struct gen_events *e);
/* A new act, or a sequence point: stacks get other ids. */
void gen_events_forget_stacks(struct gen_writer *w, struct gen_events *e, bool ids_too);
uint32_t gen_events_stack(struct gen_writer *w, struct gen_events *e, uint32_t stack);
uint32_t gen_events_type(struct gen_writer *w, struct gen_events *e, const char *provider, const char *name,
			 uint16_t id, uint8_t version);
/* The event with w->payload, into the capture thread's block; takes a number, and counts the event. */
void gen_events_add(struct gen_writer *w, struct gen_events *e, const struct gen_cue *c, struct gen_head h, bool six);
/* A number without an event. */
void gen_events_lose(struct gen_events *e, uint32_t cpu);
/* What a sequence point or a removal tells. */
void gen_events_point(struct gen_writer *w, struct gen_numbers *n, uint32_t said);
/* The header of a block: its size, flags, first and last time. */
void gen_events_block_head(const struct gen_block *b, uint8_t head[20]);
void gen_bytes(struct rd_bytes *to, const void *at, size_t n);

#endif
