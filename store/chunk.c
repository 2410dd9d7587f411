#include "store/chunk.h"

#include <string.h>

/* A chunk of strings ends early when its bytes pass this. */
#define STRING_CHUNK_BYTES (256u << 10)
#define VARINT_BYTES       10
/* A report's axis of time; the finish makes at most 257 buckets. */
#define BUCKETS_MAX        4096

/* ---- packing */

static uint8_t *put_varint(uint8_t *at, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*at++ = (uint8_t)(v | 0x80);
	*at++ = (uint8_t)v;
	return at;
}

static uint64_t zigzag(uint64_t v)
{
	return v << 1 ^ (uint64_t)((int64_t)v >> 63);
}

static uint64_t unzigzag(uint64_t v)
{
	return v >> 1 ^ (0 - (v & 1));
}

static uint64_t load(const uint8_t *field, uint32_t bytes)
{
	uint64_t v64;
	uint32_t v32;

	if (bytes == 8) {
		memcpy(&v64, field, 8);
		return v64;
	}
	if (bytes == 4) {
		memcpy(&v32, field, 4);
		return v32;
	}
	return *field;
}

static int pack_texts(const struct rd_column *c, const uint8_t *rows, uint32_t row_bytes, uint32_t n,
		      struct rd_bytes *out)
{
	uint8_t head[VARINT_BYTES];

	for (uint32_t i = 0; i < n; i++) {
		const char *text = (const char *)rows + (size_t)i * row_bytes + c->offset;
		size_t length = strnlen(text, c->bytes - 1);
		rd_bytes_append(out, head, (size_t)(put_varint(head, length) - head));
		rd_bytes_append(out, text, length);
	}
	return out->failed ? RD_NOMEM : 0;
}

static int pack_numbers(const struct rd_column *c, const uint8_t *rows, uint32_t row_bytes, uint32_t n,
			struct rd_bytes *out)
{
	uint64_t before = 0;
	size_t start = out->n;
	uint8_t *begin = rd_bytes_extend(out, (size_t)n * VARINT_BYTES);
	uint8_t *at = begin;

	if (begin == NULL)
		return RD_NOMEM;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t v = load(rows + (size_t)i * row_bytes + c->offset, c->bytes);
		at = put_varint(at, c->kind == RD_COLUMN_DELTA ? zigzag(v - before) : v);
		before = v;
	}
	out->n = start + (size_t)(at - begin);
	return 0;
}

static int64_t pack_strings(const struct rd_strings *s, uint64_t first, struct rd_bytes *out, uint32_t most)
{
	uint8_t head[VARINT_BYTES];
	size_t bytes = 0;
	uint32_t n = 0;

	while (n < most && first + n < s->at.n && (n == 0 || bytes < STRING_CHUNK_BYTES))
		bytes += rd_strings_at(s, (uint32_t)(first + n++)).size_bytes;
	rd_bytes_append(out, &n, sizeof n);
	for (uint32_t i = 0; i < n; i++) {
		size_t length = rd_strings_at(s, (uint32_t)first + i).size_bytes;
		rd_bytes_append(out, head, (size_t)(put_varint(head, length) - head));
	}
	for (uint32_t i = 0; i < n; i++) {
		struct rd_span text = rd_strings_at(s, (uint32_t)first + i);
		rd_bytes_append(out, text.at, text.size_bytes);
	}
	return out->failed ? RD_NOMEM : (int64_t)n;
}

int64_t rd_chunk_pack(const struct rd_store_table *t, const struct rd_result *r, uint64_t first, struct rd_bytes *out,
		      struct rd_error *err)
{
	const uint8_t *rows = (const uint8_t *)r;
	uint64_t left = rd_store_rows(t, r) - first;
	uint32_t n = left < t->rows_per_chunk ? (uint32_t)left : t->rows_per_chunk;
	struct rd_any_vec v;

	if (t->id == RD_STORE_STRINGS) {
		int64_t took = pack_strings(&r->strings, first, out, n);
		return took < 0 ? rd_fail_nomem(err) : took;
	}
	if (t->id != RD_STORE_SUMMARY) {
		memcpy(&v, (const char *)r + t->vec, sizeof v);
		rows = (const uint8_t *)v.at + first * t->row_bytes;
	}
	if (rd_bytes_append(out, &n, sizeof n) != 0)
		return rd_fail_nomem(err);
	for (size_t i = 0; i < t->columns_n; i++) {
		const struct rd_column *c = &t->columns[i];
		int code = c->kind == RD_COLUMN_TEXT ? pack_texts(c, rows, t->row_bytes, n, out)
						     : pack_numbers(c, rows, t->row_bytes, n, out);
		if (code < 0)
			return rd_fail_nomem(err);
	}
	return n;
}

/* ---- unpacking */

static inline __attribute__((always_inline)) uint64_t take_varint(struct rd_cursor *c)
{
	/* Most numbers have one byte or two. */
	if (c->at < c->end && c->at[0] < 0x80)
		return *c->at++;
	if (c->end - c->at >= 2 && c->at[1] < 0x80) {
		c->at += 2;
		return (uint64_t)(c->at[-2] & 0x7f) | (uint64_t)c->at[-1] << 7;
	}
	return rd_varu64(c);
}

static void save(uint8_t *field, uint32_t bytes, uint64_t v)
{
	uint32_t v32 = (uint32_t)v;

	if (bytes == 8)
		memcpy(field, &v, 8);
	else if (bytes == 4)
		memcpy(field, &v32, 4);
	else
		*field = (uint8_t)v;
}

/* The largest value that a column may hold; the smallest number past it may be 0, when nothing is allowed: then false.
 */
static bool column_max(const struct rd_column *c, const struct rd_result *r, uint64_t *max)
{
	*max = c->bytes == 8 ? UINT64_MAX : c->bytes == 4 ? UINT32_MAX : UINT8_MAX;
	if (c->max && c->max < *max)
		*max = c->max;
	if (c->refers) {
		uint64_t rows = rd_store_rows(rd_store_table(c->refers - 1), r);
		if (rows == 0)
			return false;
		if (rows - 1 < *max)
			*max = rows - 1;
	}
	return true;
}

/* One column; inlined for each width and kind below, so that the loop asks neither. */
static inline __attribute__((always_inline)) bool unpack_run(uint8_t *field, uint32_t row_bytes, uint32_t n,
							     uint64_t max, struct rd_cursor *in, uint32_t bytes,
							     bool delta)
{
	struct rd_cursor c = *in;
	uint64_t before = 0, largest = 0;

	for (uint32_t i = 0; i < n; i++, field += row_bytes) {
		uint64_t v = take_varint(&c);
		if (delta)
			v = before += unzigzag(v);
		largest = v > largest ? v : largest;
		save(field, bytes, v);
	}
	*in = c;
	return largest <= max && !c.failed;
}

static bool unpack_numbers(const struct rd_column *c, uint8_t *rows, uint32_t row_bytes, uint32_t n, uint64_t max,
			   struct rd_cursor *in)
{
	uint8_t *field = rows + c->offset;
	bool delta = c->kind == RD_COLUMN_DELTA;

	if (c->bytes == 8)
		return delta ? unpack_run(field, row_bytes, n, max, in, 8, true)
			     : unpack_run(field, row_bytes, n, max, in, 8, false);
	if (c->bytes == 4)
		return delta ? unpack_run(field, row_bytes, n, max, in, 4, true)
			     : unpack_run(field, row_bytes, n, max, in, 4, false);
	return unpack_run(field, row_bytes, n, max, in, 1, delta);
}

static bool unpack_texts(const struct rd_column *c, uint8_t *rows, uint32_t row_bytes, uint32_t n, struct rd_cursor *in)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t length = take_varint(in);
		if (length >= c->bytes)
			return false;
		const uint8_t *text = rd_take(in, (size_t)length);
		if (text == NULL || memchr(text, 0, (size_t)length))
			return false;
		memcpy(rows + (size_t)i * row_bytes + c->offset, text, (size_t)length);
	}
	return true;
}

static int corrupt(const struct rd_store_table *t, const char *what, struct rd_error *err)
{
	return rd_fail(err, RD_CORRUPT, "the table of %s: %s", t->name, what);
}

static int unpack_strings(const struct rd_store_table *t, struct rd_strings *s, uint32_t n, struct rd_cursor *in,
			  struct rd_error *err)
{
	struct rd_cursor lengths = *in;

	/* The texts stand behind all the lengths. */
	for (uint32_t i = 0; i < n; i++)
		take_varint(in);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t length = take_varint(&lengths);
		const uint8_t *text = length <= rd_left(in) ? rd_take(in, (size_t)length) : NULL;
		if (text == NULL || in->failed)
			return corrupt(t, "a chunk ends early", err);
		uint32_t due = (uint32_t)s->at.n;
		uint32_t id = rd_strings_id(s, text, (size_t)length);
		if (id == RD_NONE)
			return rd_fail_nomem(err);
		if (id != due)
			return corrupt(t, "a string stands twice", err);
	}
	return rd_left(in) ? corrupt(t, "bytes behind the last row", err) : 0;
}

int rd_chunk_unpack(const struct rd_store_table *t, struct rd_result *r, struct rd_span chunk, struct rd_error *err)
{
	struct rd_cursor in = rd_cursor_of(chunk.at, chunk.size_bytes);
	uint32_t n = rd_u32(&in);
	uint8_t *rows = (uint8_t *)r;
	struct rd_any_vec v = {NULL, 0, 0};

	/* Every row takes a byte at least, so the number of rows is bounded by what is there. */
	if (in.failed || n == 0 || n > t->rows_per_chunk || n > rd_left(&in))
		return corrupt(t, "a chunk with a wrong number of rows", err);
	if (t->id == RD_STORE_STRINGS)
		return unpack_strings(t, &r->strings, n, &in, err);
	if (t->id != RD_STORE_SUMMARY) {
		memcpy(&v, (char *)r + t->vec, sizeof v);
		if (v.n + n >= RD_NONE)
			return corrupt(t, "too many rows", err);
		int code = rd_grow(&v.at, v.n, &v.cap, n, t->row_bytes);
		if (code < 0)
			return rd_fail_nomem(err);
		rows = (uint8_t *)v.at + v.n * t->row_bytes;
		memset(rows, 0, (size_t)n * t->row_bytes);
		memcpy((char *)r + t->vec, &v, sizeof v);
	}
	for (size_t i = 0; i < t->columns_n; i++) {
		const struct rd_column *c = &t->columns[i];
		uint64_t max;
		bool good = c->kind == RD_COLUMN_TEXT
				    ? unpack_texts(c, rows, t->row_bytes, n, &in)
				    : column_max(c, r, &max) && unpack_numbers(c, rows, t->row_bytes, n, max, &in);
		if (!good)
			return rd_fail(err, RD_CORRUPT, "the table of %s: a wrong %s", t->name, c->name);
	}
	if (rd_left(&in))
		return corrupt(t, "bytes behind the last row", err);
	/* Only now do the rows exist: a chunk counts whole or not at all. */
	if (t->id != RD_STORE_SUMMARY) {
		v.n += n;
		memcpy((char *)r + t->vec, &v, sizeof v);
	}
	return 0;
}

int rd_result_check(const struct rd_result *r, struct rd_error *err)
{
	for (size_t i = 0; i < r->traces.n; i++)
		if (r->traces.at[i].group > i)
			return rd_fail(err, RD_CORRUPT, "trace %zu is joined with a later one", i);
	for (size_t i = 0; i < r->calls.n; i++)
		if (r->calls.at[i].caller > i)
			return rd_fail(err, RD_CORRUPT, "call %zu comes before its caller", i);
	for (size_t i = 0; i < r->stacks.n; i++)
		if (r->stacks.at[i] > r->calls.n)
			return rd_fail(err, RD_CORRUPT, "stack %zu has a call that is not there", i);
	if (r->rows.n == 0)
		return 0;
	if (r->first_bucket > r->last_bucket || r->last_bucket - r->first_bucket >= BUCKETS_MAX ||
	    r->bucket_width_ns == 0)
		return rd_fail(err, RD_CORRUPT, "time buckets %u to %u", r->first_bucket, r->last_bucket);
	for (size_t i = 0; i < r->rows.n; i++) {
		if (r->rows.at[i].bucket < r->first_bucket || r->rows.at[i].bucket > r->last_bucket)
			return rd_fail(err, RD_CORRUPT, "row %zu lies outside the time buckets", i);
		/* What reports count on to be done in one pass. */
		if (i && r->rows.at[i].process < r->rows.at[i - 1].process)
			return rd_fail(err, RD_CORRUPT, "row %zu stands behind a later process", i);
	}
	return 0;
}
