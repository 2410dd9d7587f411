/*
 * nettrace6_build - write nettrace 6 files for tests, in the manner of nettrace_build.
 *
 * nettrace6_block opens a block, the functions for its kind fill it, and the
 * next block or nettrace6_end closes it. Nothing is checked.
 */
#ifndef RD_TESTS_TRACE_NETTRACE6_BUILD_H
#define RD_TESTS_TRACE_NETTRACE6_BUILD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"
#include "tests/trace/nettrace/nettrace_build.h"
#include "trace/nettrace/frame.h"

/* Zero gives what the comment says. */
struct nettrace6_options {
	uint32_t pointer_bytes; /* 8 */
	uint32_t major;         /* 6 */
	uint32_t minor;
	uint64_t frequency_hz; /* 10^9 */
	uint64_t start_ticks;  /* 1000 */
	const char *pairs[8];  /* key, value, …: none */
	bool plain_headers;    /* events are not compressed */
	bool unfinished;       /* no end mark */
};

/* Types of fields, as the file numbers them. */
enum {
	FIELD_OBJECT = 1,
	FIELD_UINT16 = 8,
	FIELD_UINT32 = 10,
	FIELD_UINT64 = 12,
	FIELD_GUID = 17,
	FIELD_UTF16 = 18,
	FIELD_ARRAY = 19,
	FIELD_VARINT = 20,
	FIELD_VARUINT = 21,
	FIELD_FIXED_ARRAY = 22,
	FIELD_UTF8 = 23,
};

struct nettrace6_field {
	const char *name; /* NULL ends a list */
	uint8_t type;
	uint8_t element; /* of arrays */
	uint16_t count;  /* of arrays of a fixed length */
};

struct nettrace6_event {
	uint32_t metadata_id;
	uint32_t sequence;
	uint64_t capture_thread, thread; /* indices */
	uint32_t stack_id;
	uint64_t time;
	uint32_t label_list;
	const void *payload;
	uint32_t payload_bytes;
};

struct nettrace6_build {
	struct nettrace6_options options;
	struct rd_bytes file;
	struct rd_bytes payload; /* of the open block */
	int kind;                /* of the open block; -1 none */
	size_t count_at;         /* in payload: where the block counts its rows; 0 none */
	uint32_t count;
	struct nettrace6_event before; /* the event before in this block */
};

void nettrace6_begin(struct nettrace6_build *b, const struct nettrace6_options *options);
/* A block of this kind; those of events and metadata get their header. */
void nettrace6_block(struct nettrace6_build *b, uint8_t kind);
void nettrace6_end(struct nettrace6_build *b);
void nettrace6_release(struct nettrace6_build *b);

/* Inside a block of metadata. version 0: not said. */
void nettrace6_metadata(struct nettrace6_build *b, uint32_t id, const char *provider, uint32_t event_id,
			const char *name, uint8_t version, const struct nettrace6_field *fields);
/* Inside a block of events; the processor is 1. */
void nettrace6_event(struct nettrace6_build *b, const struct nettrace6_event *ev);
/* Blocks of their own, and what is inside them. */
void nettrace6_stacks(struct nettrace6_build *b, uint32_t first);
void nettrace6_stack(struct nettrace6_build *b, const uint64_t *frames, size_t n);
void nettrace6_point(struct nettrace6_build *b, uint64_t time, uint32_t flags);
void nettrace6_point_thread(struct nettrace6_build *b, uint64_t index, uint32_t number);
void nettrace6_labels(struct nettrace6_build *b, uint32_t first);
/* A list of two labels: a key with a value, and a version. */
void nettrace6_label_version(struct nettrace6_build *b, uint8_t version);
/* Inside a block of threads, and of removed ones. */
void nettrace6_thread(struct nettrace6_build *b, uint64_t index, uint64_t pid, uint64_t thread);
void nettrace6_removed(struct nettrace6_build *b, uint64_t index, uint32_t number);

/* UTF-8: behind its length as a varuint, and as a u16. */
void put_string6(struct rd_bytes *out, const char *text);
void put_text6(struct rd_bytes *out, const char *text);

/* The usual ids and fields of Universal.* in a metadata block, and their events. */
enum {
	U_CPU = 1,
	U_CSWITCH = 2,
	U_EXISTING = 4,
	U_CREATE = 5,
	U_EXIT = 6,
	U_MAPPING = 7,
	U_SYMBOL = 8,
};
void universal_metadata(struct nettrace6_build *b);
/* Inside a block of events. The sequence number follows the event before; `at` gives thread, time and stack. */
void universal_value(struct nettrace6_build *b, struct nettrace6_event at, uint32_t id, uint64_t value);
void universal_process(struct nettrace6_build *b, struct nettrace6_event at, uint32_t id, uint64_t namespace_pid,
		       const char *name);
void universal_mapping(struct nettrace6_build *b, struct nettrace6_event at, uint64_t mapping, uint64_t start,
		       uint64_t end, const char *path);
void universal_symbol(struct nettrace6_build *b, struct nettrace6_event at, uint64_t mapping, uint64_t start,
		      uint64_t last, const char *name);

/*
 * A small file of everything: two processes, their mappings and symbols, cpu
 * samples and a context switch, a method of the CLR whose version stands in its
 * labels, an unknown block, thread rows that are removed and used anew,
 * sequence points of all flags, lost events, ids that nothing defined.
 */
void nettrace6_sample_file(struct nettrace6_build *b, const struct nettrace6_options *options);

#endif
