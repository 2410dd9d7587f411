/*
 * nettrace_build - write nettrace 4 files for tests: blocks, events, stacks, numbers appended to bytes.
 *
 * nettrace_begin writes the head; nettrace_block opens a block, the functions
 * for its kind fill it, and the next block or nettrace_end closes it. Nothing is
 * checked: a test may write what no runtime ever would. Running out of memory
 * ends the program.
 */
#ifndef RD_TESTS_TRACE_NETTRACE_BUILD_H
#define RD_TESTS_TRACE_NETTRACE_BUILD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"

/* Zero gives what the comment says. */
struct nettrace_options {
	uint32_t pointer_bytes; /* 8 */
	uint32_t pid;           /* 4242 */
	uint64_t frequency_hz;  /* 10^9 */
	uint64_t start_ticks;   /* 1000 */
	int32_t version;        /* 4, of the Trace object; oldest_reader likewise */
	int32_t oldest_reader;
	bool plain_headers; /* of event and metadata blocks: not compressed */
	bool unfinished;    /* no end mark */
};

struct nettrace_event {
	uint32_t metadata_id;
	uint32_t sequence;
	uint64_t capture_thread, thread;
	uint32_t stack_id;
	uint64_t time;
	const void *payload;
	uint32_t payload_bytes;
};

struct nettrace_build {
	struct nettrace_options options;
	struct rd_bytes file;
	struct rd_bytes payload; /* of the open block */
	const char *name;        /* of the open block, NULL none */
	size_t count_at;         /* in payload: where a stack block or sequence point counts; 0 none */
	uint32_t count;
	struct nettrace_event before; /* the event before in this block */
};

void nettrace_begin(struct nettrace_build *b, const struct nettrace_options *options);
/* A block of this name. EventBlock and MetadataBlock get their header, the others nothing. */
void nettrace_block(struct nettrace_build *b, const char *name);
void nettrace_end(struct nettrace_build *b);
void nettrace_release(struct nettrace_build *b);

/* Inside an EventBlock; the processor is 1. */
void nettrace_event(struct nettrace_build *b, const struct nettrace_event *ev);
/* Inside a MetadataBlock. */
void nettrace_metadata(struct nettrace_build *b, uint32_t id, const char *provider, uint32_t event_id, const char *name,
		       uint32_t version);
/* A stack block of its own with ids first, first + 1, … */
void nettrace_stacks(struct nettrace_build *b, uint32_t first);
void nettrace_stack(struct nettrace_build *b, const uint64_t *frames, size_t n);
/* A sequence point of its own. */
void nettrace_point(struct nettrace_build *b, uint64_t time);
void nettrace_point_thread(struct nettrace_build *b, uint64_t thread, uint32_t number);

/* Numbers, little-endian; strings with their NUL. */
void put_number(struct rd_bytes *out, uint64_t v, size_t size_bytes);
void put_varuint(struct rd_bytes *out, uint64_t v);
void put_utf16(struct rd_bytes *out, const char *ascii);

/* Payloads of the runtime's events, as their version has them. */
struct clr_method {
	uint64_t id, module, start;
	uint32_t size_bytes, token, flags;
	const char *ns, *name, *signature; /* ns NULL: the event without names */
	uint16_t clr;
	uint64_t rejit;
};
void put_clr_method(struct rd_bytes *out, uint32_t version, const struct clr_method *m);
/* Module (app_domain 0) or DomainModule. */
void put_clr_module(struct rd_bytes *out, uint32_t version, uint64_t id, uint64_t app_domain, const char *il_path,
		    uint16_t clr);

/*
 * A small file of everything: metadata, stacks, samples, methods and events of
 * two threads, a sequence point, stack ids used anew, an unknown metadata id,
 * lost events.
 */
void nettrace_sample_file(struct nettrace_build *b, const struct nettrace_options *options);

#endif
