/*
 * stream - the samples, or the stack records, of all shards of a group in the order of time.
 *
 * A k-way merge over the shards' sorted rows by (time, thread, cpu). A shard
 * is opened when the merge reaches the first time that its summary tells, and
 * closed behind its last row; an open one holds one block.
 */
#ifndef RD_PROFILE_STREAM_H
#define RD_PROFILE_STREAM_H

#include "profile/stack_map.h"

/* One shard of one trace of a group, and its stacks while a stream has it open. */
struct rd_shard_ref {
	const struct rd_tables *tables;
	size_t shard;
	uint16_t file; /* of the group */
	struct rd_partial_summary summary;
	struct rd_stack_map stacks;
	bool believed;  /* its preliminary histogram came along */
	bool kept;      /* the stacks are there before somebody has it open */
	unsigned users; /* streams that have it open */
};

struct rd_row_key {
	uint64_t time, thread; /* of a stack record: the sample's */
	uint32_t cpu;
};

struct rd_stream {
	enum rd_partial_table table; /* RD_TABLE_SAMPLES or RD_TABLE_STACK_RECORDS */
	struct rd_shard_ref *shards; /* borrowed */
	struct rd_strings *raw_stacks;
	RD_VEC(struct rd_stream_head) heap;
};

/* shards and raw_stacks are borrowed. */
int rd_stream_open(struct rd_stream *s, enum rd_partial_table table, struct rd_shard_ref *shards, size_t n,
		   struct rd_strings *raw_stacks, struct rd_error *err);
/* The next row without taking it: 1 and *key, *shard, 0 at the end, or an error. */
int rd_stream_peek(struct rd_stream *s, struct rd_row_key *key, struct rd_error *err);
/* The row that was peeked, borrowed until the next step, and the shard that its numbers belong to. */
const struct rd_sample *rd_stream_sample(const struct rd_stream *s, const struct rd_shard_ref **shard);
const struct rd_stack_row *rd_stream_record(const struct rd_stream *s, const struct rd_shard_ref **shard);
/* Which row of its shard it is, counted from 0. */
uint64_t rd_stream_place(const struct rd_stream *s);
/* Step over the row that was peeked. RD_CORRUPT when the shard's rows are not in order or not where its summary says.
 */
int rd_stream_step(struct rd_stream *s, struct rd_error *err);
void rd_stream_close(struct rd_stream *s);

static inline int rd_row_key_compare(const struct rd_row_key *a, const struct rd_row_key *b)
{
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (a->cpu > b->cpu) - (a->cpu < b->cpu);
}

#endif
