/*
 * Each step runs down one column, once: from the rows to its numbers, with a
 * look at whether they are all the same; and the same way back. The width of
 * the field is chosen outside the loops.
 */
#include "profile/columns.h"

#include <stdbool.h>
#include <string.h>

/* A varint takes 7 bits a byte; a difference of n bits takes n + 1. */
static size_t value_bytes(const struct rd_column *c)
{
	unsigned bits = c->row_bytes * 8u;

	if (c->max)
		bits = 32 - (unsigned)__builtin_clz(c->max);
	if (c->coding == RD_CODING_DELTA && bits < 64)
		bits++;
	return (bits + 6) / 7;
}

size_t rd_columns_row_bytes(const struct rd_column *c, size_t n)
{
	size_t bytes = 0;

	for (size_t i = 0; i < n; i++)
		bytes += value_bytes(&c[i]);
	return bytes;
}

#define GATHER(TYPE, EACH)                                                                                             \
	for (size_t i = 0; i < n; i++, at += stride) {                                                                 \
		TYPE v;                                                                                                \
		memcpy(&v, at, sizeof v);                                                                              \
		EACH                                                                                                   \
	}
#define GATHER_WIDTHS(EACH)                                                                                            \
	switch (width) {                                                                                               \
	case 1:                                                                                                        \
		GATHER(uint8_t, EACH)                                                                                  \
		break;                                                                                                 \
	case 2:                                                                                                        \
		GATHER(uint16_t, EACH)                                                                                 \
		break;                                                                                                 \
	case 4:                                                                                                        \
		GATHER(uint32_t, EACH)                                                                                 \
		break;                                                                                                 \
	default:                                                                                                       \
		GATHER(uint64_t, EACH)                                                                                 \
		break;                                                                                                 \
	}

/*
 * The values of a column of n > 0 rows, as they are or as differences. How
 * many numbers stand for them: n, or one or none when all rows have the same.
 */
static size_t gather(const uint8_t *at, size_t stride, size_t n, unsigned width, bool delta, uint64_t *out)
{
	uint64_t first = 0, differs = 0;

	memcpy(&first, at, width);
	if (delta) {
		/* The first row differs from nothing. */
		uint64_t before = first;
		GATHER_WIDTHS({
			out[i] = v - before;
			differs |= out[i];
			before = v;
		})
		out[0] = first;
	} else {
		GATHER_WIDTHS({
			out[i] = v;
			differs |= v ^ first;
		})
	}
	return differs ? n : first != 0;
}

#define SCATTER(TYPE)                                                                                                  \
	for (size_t i = 0; i < n; i++, at += stride) {                                                                 \
		sum = sum * keep + values[i * step];                                                                   \
		over |= sum > max;                                                                                     \
		TYPE v = (TYPE)sum;                                                                                    \
		memcpy(at, &v, sizeof v);                                                                              \
	}

/*
 * keep 1 adds differences up, keep 0 takes values as they are; step 0 repeats
 * the one value. Says whether a value was above max.
 */
static bool scatter(uint8_t *at, size_t stride, size_t n, unsigned width, const uint64_t *values, size_t step,
		    uint64_t keep, uint64_t max)
{
	uint64_t sum = 0;
	bool over = false;

	switch (width) {
	case 1:
		SCATTER(uint8_t)
		break;
	case 2:
		SCATTER(uint16_t)
		break;
	case 4:
		SCATTER(uint32_t)
		break;
	default:
		SCATTER(uint64_t)
		break;
	}
	return over;
}

void rd_columns_set(const struct rd_column *c, size_t n, const void *rows, size_t row_bytes, size_t rows_n,
		    ProtobufCMessage *message, uint64_t *values)
{
	for (const struct rd_column *end = c + n; rows_n > 0 && c < end; c++) {
		size_t count = gather((const uint8_t *)rows + c->row_at, row_bytes, rows_n, c->row_bytes,
				      c->coding == RD_CODING_DELTA, values);

		memcpy((uint8_t *)message + c->count_at, &count, sizeof count);
		memcpy((uint8_t *)message + c->values_at, &values, sizeof values);
		values += count;
	}
}

int rd_columns_get(const struct rd_column *c, size_t n, const ProtobufCMessage *message, void *rows, size_t row_bytes,
		   size_t rows_n, struct rd_error *err)
{
	static const uint64_t zero;

	for (const struct rd_column *end = c + n; c < end; c++) {
		const uint64_t *values;
		size_t count;

		memcpy(&count, (const uint8_t *)message + c->count_at, sizeof count);
		memcpy(&values, (const uint8_t *)message + c->values_at, sizeof values);
		if (count > 1 && count != rows_n)
			return rd_fail(err, RD_CORRUPT, "column %s has %zu values for %zu rows", c->name, count,
				       rows_n);
		if (count == 0)
			values = &zero;
		uint64_t max = c->max ? c->max : UINT64_MAX >> (64 - 8 * c->row_bytes);
		/* One value holds for all rows, in a column of differences too. */
		size_t step = count == rows_n;
		if (scatter((uint8_t *)rows + c->row_at, row_bytes, rows_n, c->row_bytes, values, step,
			    step && c->coding == RD_CODING_DELTA, max))
			return rd_fail(err, RD_CORRUPT, "column %s holds a value above %llu", c->name,
				       (unsigned long long)max);
	}
	return 0;
}
