/*
 * chunk - some rows of one table as the bytes of one value, and back.
 *
 * A chunk is the number of rows (u32) and then, column after column, one
 * number a row (LEB128) or, for texts, a length and the bytes. Whether a
 * value came whole is the checksum's matter (store/read.c); here every value
 * is still checked against its table, so that no bytes whatever make rows
 * that lead a reader astray.
 */
#ifndef RD_STORE_CHUNK_H
#define RD_STORE_CHUNK_H

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "store/schema.h"

/*
 * Append the chunk that begins with row `first` to out. The number of rows it took, at least 1, or
 * RD_NOMEM. `first` is below rd_store_rows().
 */
int64_t rd_chunk_pack(const struct rd_store_table *t, const struct rd_result *r, uint64_t first, struct rd_bytes *out,
		      struct rd_error *err);

/*
 * Append the rows of a chunk to their table in *r. Tables that this one refers to must be there. RD_CORRUPT,
 * RD_NOMEM; the table may then hold some of the rows.
 */
int rd_chunk_unpack(const struct rd_store_table *t, struct rd_result *r, struct rd_span chunk, struct rd_error *err);

/* What only the whole can tell: callers come before whom they call, buckets lie within their bounds. */
int rd_result_check(const struct rd_result *r, struct rd_error *err);

#endif
