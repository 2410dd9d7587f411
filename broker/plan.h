/*
 * plan - cut a trace's blocks into shards, and find what each needs as context.
 *
 * A shard is a run of blocks of about equal bytes, cut at any block, in the
 * order of time (ETL) or of the file (nettrace). Nothing of the answer hangs
 * on where the cuts are: every block is counted by exactly one shard. Context
 * is what stands before a shard in the file, still holds there and is not the
 * shard's own: it is replayed and never counted (docs/design.md, section 4).
 */
#ifndef RD_BROKER_PLAN_H
#define RD_BROKER_PLAN_H

#include <stdint.h>

#include "base/error.h"
#include "base/memory.h"
#include "profile/index_codec.h"

#define RD_SHARD_BYTES       (UINT64_C(64) << 20) /* where nobody asks for another size */
#define RD_SHARD_BYTES_LEAST (UINT64_C(8) << 20)  /* less is not worth a shard, only to keep workers busy */
#define RD_SHARDS_MAX        100000

struct rd_plan_options {
	uint64_t shard_bytes; /* 0: the plan's choice */
	uint32_t shards;      /* at most so many; 0: as shard_bytes says */
	uint32_t workers;     /* to keep busy */
};

struct rd_plan_shard {
	uint32_t first, n; /* in `order` */
	uint64_t bytes;
};

struct rd_plan {
	RD_VEC(uint32_t) order; /* positions in the index's blocks, shard after shard, ascending in each */
	RD_VEC(struct rd_plan_shard) shards;
};

/* At least one shard, which is empty when the index is. RD_NOMEM, RD_LIMIT (too many blocks to number). */
int rd_plan_make(const struct rd_index *ix, const struct rd_plan_options *opt, struct rd_plan *out,
		 struct rd_error *err);
void rd_plan_release(struct rd_plan *p);

/* Append the shard's blocks and its context, both in the order of the file. RD_NOMEM. */
int rd_plan_shard_blocks(const struct rd_index *ix, const struct rd_plan *p, uint32_t shard, rd_block_vec *blocks,
			 rd_block_vec *context, struct rd_error *err);

/* Bytes [from, to) of the file. */
struct rd_plan_range {
	uint64_t from, to;
};
typedef RD_VEC(struct rd_plan_range) rd_plan_range_vec;
/* Append the shard's bytes, neighbours as one, ascending. RD_NOMEM. */
int rd_plan_shard_ranges(const struct rd_index *ix, const struct rd_plan *p, uint32_t shard, rd_plan_range_vec *out,
			 struct rd_error *err);

#endif
