/*
 * schema - the tables of a stored result, column by column.
 *
 * The tables here are all that store knows of a result: packing, unpacking
 * and the check of ranges follow them. docs/formats/result.md describes the
 * bytes and says how to make a new version.
 */
#ifndef RD_STORE_SCHEMA_H
#define RD_STORE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/result.h"

/* In the order in which they are stored: what others refer to comes first. A number is a version's own. */
enum rd_store_table_id {
	RD_STORE_STRINGS = 1,
	RD_STORE_TRACES = 2,
	RD_STORE_PROCESSES = 3,
	RD_STORE_FRAMES = 4,
	RD_STORE_CALLS = 5,
	RD_STORE_STACKS = 6,
	RD_STORE_ROWS = 7,
	RD_STORE_QUARANTINED = 8,
	RD_STORE_SUMMARY = 9, /* one row, whose struct is the result itself */
	RD_STORE_TABLES_END,
};

enum rd_column_kind {
	RD_COLUMN_NUMBER, /* unsigned, of 1, 4 or 8 bytes in memory */
	RD_COLUMN_DELTA,  /* the same, stored as the difference from the row before */
	RD_COLUMN_TEXT,   /* a char array, NUL-ended in memory, stored as length and bytes */
};

struct rd_column {
	const char *name;
	uint32_t offset; /* in the row's struct */
	uint32_t bytes;
	enum rd_column_kind kind;
	enum rd_store_table_id refers; /* the value is the number of a row of this table; 0: it is not */
	uint64_t max;                  /* largest allowed value; 0: no bound */
};

struct rd_store_table {
	enum rd_store_table_id id;
	const char *name;
	uint32_t rows_per_chunk;
	uint32_t row_bytes;              /* of the struct */
	uint32_t vec;                    /* offset of its RD_VEC in struct rd_result; summary: unused */
	const struct rd_column *columns; /* NULL for strings, which have a packing of their own */
	size_t columns_n;
};

/* In stored order, by number from 0; NULL past the end. */
const struct rd_store_table *rd_store_table(size_t i);

/* Rows of a table in r. */
uint64_t rd_store_rows(const struct rd_store_table *t, const struct rd_result *r);

#endif
