#include "profile/block_fields.h"

#include <string.h>

#include "profile/varints.h"

enum { WIRE_VARINT = 0, WIRE_8_BYTES = 1, WIRE_BYTES = 2, WIRE_4_BYTES = 5 };

enum { FIELD_VERSION = 1, FIELD_ROWS = 2, FIELD_TABLES = 100 };

static int corrupt(struct rd_error *err)
{
	return rd_fail(err, RD_CORRUPT, "a block of a partial is no message of its kind");
}

/* The next field: 1, its number and either its value or its bytes; 0 at the end, -1 when it is none. */
static int next_field(struct rd_cursor *c, uint32_t *number, bool *is_bytes, uint64_t *value, struct rd_span *bytes)
{
	if (rd_left(c) == 0)
		return 0;
	uint64_t tag = rd_varu64(c);
	if (tag >> 32 || tag >> 3 == 0)
		return -1;
	*number = (uint32_t)(tag >> 3);
	*is_bytes = (tag & 7) == WIRE_BYTES;
	switch (tag & 7) {
	case WIRE_VARINT:
		*value = rd_varu64(c);
		break;
	case WIRE_8_BYTES:
		rd_skip(c, 8);
		break;
	case WIRE_4_BYTES:
		rd_skip(c, 4);
		break;
	case WIRE_BYTES:
		*value = rd_varu64(c);
		if (*value > rd_left(c))
			return -1;
		*bytes = (struct rd_span){rd_take(c, (size_t)*value), (size_t)*value};
		break;
	default:
		return -1;
	}
	return c->failed ? -1 : 1;
}

static int read_table(struct rd_span table, struct rd_block_fields *out, struct rd_error *err)
{
	struct rd_cursor c = rd_cursor_of(table.at, table.size_bytes);
	struct rd_span bytes;
	uint32_t number;
	uint64_t value;
	bool is_bytes;
	int got;

	while ((got = next_field(&c, &number, &is_bytes, &value, &bytes)) > 0) {
		if (number >= RD_BLOCK_FIELDS)
			continue;
		if (!is_bytes || out->field[number].at)
			return corrupt(err);
		out->field[number] = bytes;
	}
	return got < 0 ? corrupt(err) : 0;
}

int rd_block_fields(struct rd_span plain, struct rd_block_fields *out, struct rd_error *err)
{
	struct rd_cursor c = rd_cursor_of(plain.at, plain.size_bytes);
	struct rd_span bytes;
	uint32_t number;
	uint64_t value;
	bool is_bytes;
	int got;

	memset(out, 0, sizeof *out);
	while ((got = next_field(&c, &number, &is_bytes, &value, &bytes)) > 0) {
		if (number == FIELD_VERSION || number == FIELD_ROWS) {
			if (is_bytes || value > UINT32_MAX)
				return corrupt(err);
			*(number == FIELD_ROWS ? &out->rows : &out->version) = (uint32_t)value;
		} else if (number > FIELD_TABLES && is_bytes) {
			if (out->columns)
				return corrupt(err);
			out->columns = number;
			int code = read_table(bytes, out, err);
			if (code < 0)
				return code;
		}
	}
	return got < 0 ? corrupt(err) : 0;
}

/* ---- columns */

/* The number of a column's field. */
static uint32_t number_of(const ProtobufCMessageDescriptor *type, const struct rd_column *c)
{
	for (unsigned i = 0; i < type->n_fields; i++)
		if (type->fields[i].quantifier_offset == c->count_at)
			return type->fields[i].id;
	return 0;
}

#define FILL(TYPE)                                                                                                     \
	for (size_t i = 0; i < n; i++, at += stride) {                                                                 \
		uint64_t v = rd_varints_next(run);                                                                     \
		sum = delta ? sum + rd_unzigzag(v) : v;                                                                \
		over |= sum > max;                                                                                     \
		TYPE narrow = (TYPE)sum;                                                                               \
		memcpy(at, &narrow, sizeof narrow);                                                                    \
	}

/* One number a row. Says whether a value was above max. */
static inline __attribute__((always_inline)) bool fill(uint8_t *at, size_t stride, size_t n, unsigned width,
						       struct rd_varints *run, bool delta, uint64_t max)
{
	uint64_t sum = 0;
	bool over = false;

	switch (width) {
	case 1:
		FILL(uint8_t)
		break;
	case 2:
		FILL(uint16_t)
		break;
	case 4:
		FILL(uint32_t)
		break;
	default:
		FILL(uint64_t)
		break;
	}
	return over;
}

/* The same value in each row; rows are zeros by now. */
static bool repeat(uint8_t *at, size_t stride, size_t n, unsigned width, uint64_t value, uint64_t max)
{
	if (value == 0)
		return false;
	for (size_t i = 0; i < n; i++, at += stride)
		memcpy(at, &value, width);
	return value > max;
}

static int read_column(const struct rd_column *c, struct rd_span bytes, uint8_t *rows, size_t row_bytes, size_t rows_n,
		       struct rd_error *err)
{
	struct rd_varints run = rd_varints_of(bytes);
	uint64_t max = c->max ? c->max : UINT64_MAX >> (64 - 8 * c->row_bytes);
	uint8_t *at = rows + c->row_at;
	bool delta = c->coding == RD_CODING_DELTA, over = false;

	if (bytes.size_bytes == 0)
		return 0;
	uint64_t first = rd_varints_slowly(&run);
	if (rd_varints_over(&run)) {
		/* One value holds for all rows, in a column of differences too. */
		over = repeat(at, row_bytes, rows_n, c->row_bytes, delta ? rd_unzigzag(first) : first, max);
	} else {
		run = rd_varints_of(bytes);
		over = delta ? fill(at, row_bytes, rows_n, c->row_bytes, &run, true, max)
			     : fill(at, row_bytes, rows_n, c->row_bytes, &run, false, max);
	}
	if (!rd_varints_over(&run))
		return rd_fail(err, RD_CORRUPT, "column %s has %zu values for %zu rows", c->name,
			       rd_varints_count(bytes), rows_n);
	if (over)
		return rd_fail(err, RD_CORRUPT, "column %s holds a value above %llu", c->name, (unsigned long long)max);
	return 0;
}

int rd_block_columns(const struct rd_block_fields *b, const ProtobufCMessageDescriptor *type, const struct rd_column *c,
		     size_t n, void *rows, size_t row_bytes, size_t rows_n, struct rd_error *err)
{
	int code = 0;

	for (const struct rd_column *end = c + n; code == 0 && c < end; c++) {
		uint32_t number = number_of(type, c);
		if (number == 0 || number >= RD_BLOCK_FIELDS)
			return rd_fail(err, RD_INTERNAL, "column %s has no field", c->name);
		code = read_column(c, b->field[number], rows, row_bytes, rows_n, err);
	}
	return code;
}
