/*
 * netperf_build - write netperf files for tests: blocks, events and metadata records appended to bytes.
 *
 * netperf_begin writes the head; in version 3 netperf_block opens a block, and
 * the next one or netperf_end closes it; before version 3 events follow each
 * other and netperf_block does nothing. Nothing is checked: a test may write
 * what no runtime ever would. Running out of memory ends the program.
 */
#ifndef RD_TESTS_TRACE_NETPERF_BUILD_H
#define RD_TESTS_TRACE_NETPERF_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

/* Zero gives what the comment says. */
struct netperf_options {
	uint32_t pointer_bytes; /* 8 */
	uint64_t frequency_hz;  /* 10^9 */
	int32_t version;        /* 3 */
	int32_t oldest_reader;
	uint8_t begin;   /* 4, the tag of objects */
	bool unfinished; /* no end mark */
};

struct netperf_event {
	uint32_t metadata_id; /* as given to netperf_metadata */
	uint32_t thread;
	uint64_t time;
	const void *payload;
	uint32_t payload_bytes;
	const uint64_t *frames;
	uint32_t frames_n;
};

#define NETPERF_IDS 16

struct netperf_build {
	struct netperf_options options;
	struct rd_bytes file;
	struct rd_bytes payload;      /* of the open block */
	bool open;                    /* a block is */
	uint32_t places[NETPERF_IDS]; /* before version 3: where the record of an id began; 0 nowhere */
	struct rd_bytes event;        /* scratch */
};

void netperf_begin(struct netperf_build *b, const struct netperf_options *options);
void netperf_block(struct netperf_build *b);
void netperf_end(struct netperf_build *b);
void netperf_release(struct netperf_build *b);

void netperf_event(struct netperf_build *b, const struct netperf_event *ev);
/* The record of id, less than NETPERF_IDS. Version 1: the providers' GUIDs, "?" repeated for those not known here. */
void netperf_metadata(struct netperf_build *b, uint32_t id, const char *provider, uint32_t event_id, const char *name,
		      uint32_t version);

/*
 * A small file of everything: metadata in two blocks, a method, samples with
 * stacks and without, an event of another provider, an unknown metadata id.
 * 9 events that are no metadata, in blocks of 3, 4 and 2.
 */
void netperf_sample_file(struct netperf_build *b, const struct netperf_options *options);

#endif
