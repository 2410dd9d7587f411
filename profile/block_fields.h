/*
 * block_fields - the fields of a Block message where they stand, without unpacking them.
 *
 * protobuf-c would make an array of every column before a row is filled. The
 * shape of a block is known, so its columns are found in place and read
 * straight into the rows.
 * Inside profile/ only.
 */
#ifndef RD_PROFILE_BLOCK_FIELDS_H
#define RD_PROFILE_BLOCK_FIELDS_H

#include "base/cursor.h"
#include "base/error.h"
#include "profile/columns.h"

#define RD_BLOCK_FIELDS 32 /* a table's fields have lower numbers; others are unknown and ignored */

struct rd_block_fields {
	uint32_t version, rows;
	uint32_t columns;                      /* which field of the Block holds them; 0 none */
	struct rd_span field[RD_BLOCK_FIELDS]; /* by number in the table's message; empty when it is not there */
};

/* Borrowed from the bytes. RD_CORRUPT: no message of this shape, or a field that stands twice. */
int rd_block_fields(struct rd_span plain, struct rd_block_fields *out, struct rd_error *err);

/* Fill every column's field of rows_n rows of a table whose message is `type`. As rd_columns_get. */
int rd_block_columns(const struct rd_block_fields *b, const ProtobufCMessageDescriptor *type, const struct rd_column *c,
		     size_t n, void *rows, size_t row_bytes, size_t rows_n, struct rd_error *err);

#endif
