/*
 * index_codec - an index, its trace info and lists of blocks as bytes for the wire and the journal.
 *
 * Packed by proto/partial.proto's Index, TraceInfo and Blocks: columns, deltas.
 * Unpacking checks everything a peer could have made up.
 */
#ifndef RD_PROFILE_INDEX_CODEC_H
#define RD_PROFILE_INDEX_CODEC_H

#include "base/error.h"
#include "base/memory.h"
#include "trace/trace.h"

int rd_info_pack(const struct rd_trace_info *info, struct rd_bytes *out, struct rd_error *err);
int rd_info_unpack(struct rd_trace_info *info, struct rd_span bytes, struct rd_error *err);

int rd_blocks_pack(const struct rd_block *blocks, size_t n, struct rd_bytes *out, struct rd_error *err);
int rd_blocks_unpack(rd_block_vec *out, struct rd_span bytes, struct rd_error *err);

int rd_index_pack(const struct rd_index *ix, struct rd_bytes *out, struct rd_error *err);
int rd_index_unpack(struct rd_index *ix, struct rd_span bytes, struct rd_error *err);

#endif
