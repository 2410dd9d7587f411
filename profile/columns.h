/*
 * columns - between an array of rows and the repeated packed fields of a protobuf-c message.
 *
 * A table of columns says which field of a row goes into which field of the
 * message and how: the one encoder and the one decoder of all tables. Every
 * column of the message is of 8-byte numbers: uint64 for plain columns, sint64
 * for deltas (differences modulo 2^64, from 0 and then from the row before).
 * A column holds no value (all rows 0), one (all rows have it) or one a row.
 * Inside profile/ only.
 */
#ifndef RD_PROFILE_COLUMNS_H
#define RD_PROFILE_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include <protobuf-c/protobuf-c.h>

#include "base/error.h"

enum rd_coding { RD_CODING_PLAIN, RD_CODING_DELTA };

struct rd_column {
	const char *name;
	uint16_t row_at;   /* offset of the field in the row */
	uint16_t count_at; /* offsets of the count and of the values in the message */
	uint16_t values_at;
	uint8_t row_bytes; /* 1, 2, 4, 8 */
	uint8_t coding;    /* enum rd_coding */
	uint32_t max;      /* the greatest value that is right; 0: all that the field can hold */
};

/*
 * RD_COLUMN(struct row, Rd__Message, field, PLAIN, max): the message's field has the row's name.
 * RD_COLUMN_AS names both.
 */
#define RD_COLUMN_AS(ROW, field, MESSAGE, column, CODING, MAX)                                                         \
	{                                                                                                              \
		.name = #column, .row_at = offsetof(ROW, field), .count_at = offsetof(MESSAGE, n_##column),            \
		.values_at = offsetof(MESSAGE, column), .row_bytes = sizeof(((ROW *)0)->field),                        \
		.coding = RD_CODING_##CODING, .max = (MAX)                                                             \
	}
#define RD_COLUMN(ROW, MESSAGE, field, CODING, MAX) RD_COLUMN_AS(ROW, field, MESSAGE, field, CODING, MAX)

/* The most bytes that one row takes packed. */
size_t rd_columns_row_bytes(const struct rd_column *c, size_t n);

/*
 * Point the message's columns at the rows' values. `values` has room for n *
 * rows_n numbers and is borrowed by the message.
 */
void rd_columns_set(const struct rd_column *c, size_t n, const void *rows, size_t row_bytes, size_t rows_n,
		    ProtobufCMessage *message, uint64_t *values);

/* Fill every column's field of rows_n rows. RD_CORRUPT: a count that fits no row count, a value too great. */
int rd_columns_get(const struct rd_column *c, size_t n, const ProtobufCMessage *message, void *rows, size_t row_bytes,
		   size_t rows_n, struct rd_error *err);

#endif
