/*
 * join - the stack of a sample out of the stack records of all shards.
 *
 * Rules: docs/reconciliation.md, "Stack". Samples must be asked for in the
 * order of the stream; those of one (thread, time) get the same parts.
 */
#ifndef RD_PROFILE_JOIN_H
#define RD_PROFILE_JOIN_H

#include "profile/order.h"
#include "profile/stream.h"
#include "profile/timeline.h"

struct rd_part {
	bool there;          /* some record is this part, even if its key is undefined */
	struct rd_when when; /* of that record; id: its pid */
	uint32_t stack;      /* raw; RD_NONE undefined */
};

struct rd_parts {
	struct rd_part kernel, user;
};

struct rd_join {
	struct rd_stream records;
	const struct rd_timeline *keys; /* by key; id: a raw stack */
	uint32_t pointer_bytes;         /* of the trace: where the kernel's half begins */
	struct rd_row_key at;           /* the samples that `parts` are for */
	bool asked;                     /* some sample asked for them */
	struct rd_parts parts;
	uint64_t records_n, used_n; /* records that passed, and those that are a part of some sample */
};

/* shards, raw_stacks and keys are borrowed; keys are sealed. */
int rd_join_open(struct rd_join *j, struct rd_shard_ref *shards, size_t n, struct rd_strings *raw_stacks,
		 const struct rd_timeline *keys, uint32_t pointer_bytes, struct rd_error *err);
/* *parts is borrowed until the next call. */
int rd_join_sample(struct rd_join *j, const struct rd_sample *sample, const struct rd_parts **parts,
		   struct rd_error *err);
/* Pass over what is left, so that all records are counted. */
int rd_join_finish(struct rd_join *j, struct rd_error *err);
void rd_join_close(struct rd_join *j);

#endif
