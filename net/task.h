/*
 * task - the blobs of a message: what lies behind what.
 *
 * TASK to decode: packed TraceInfo, packed Blocks of the context, packed
 * Blocks to count; their sizes stand in the Assignment.
 * FINISH: the packed TraceInfo of every trace in order, each behind its size
 * as a little-endian u32.
 * The parts themselves are opaque here (profile/index_codec.h unpacks them).
 */
#ifndef RD_NET_TASK_H
#define RD_NET_TASK_H

#include "net/message.h"

struct rd_task_parts {
	struct rd_span info;
	struct rd_span context;
	struct rd_span blocks;
};

/* Append the parts to the blob and write their sizes into *work. */
int rd_task_pack(struct rd_blob *blob, Rd__Assignment *work, const struct rd_task_parts *parts, struct rd_error *err);
/*
 * The parts of a received blob. They borrow from it, or from *room when it has
 * several frames. RD_PROTOCOL when the sizes do not add up.
 */
int rd_task_split(const struct rd_blob *blob, const Rd__Assignment *work, struct rd_bytes *room,
		  struct rd_task_parts *parts, struct rd_error *err);

/* What a task is, for a log's line: "work=open", or "work=decode trace=0 shard=7". */
struct rd_work_text {
	char at[56];
};
struct rd_work_text rd_work_text(Rd__Work work, uint32_t trace, uint32_t shard);

/* The TraceInfos of a FINISH, by trace; spans borrow as above. The vector is the caller's to release. */
typedef RD_VEC(struct rd_span) rd_span_vec;
int rd_infos_pack(struct rd_bytes *out, struct rd_span info, struct rd_error *err);
int rd_infos_split(const struct rd_blob *blob, struct rd_bytes *room, size_t traces, rd_span_vec *out,
		   struct rd_error *err);

#endif
