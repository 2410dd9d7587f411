#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "profile/block_fields.h"
#include "profile/partial_tables.h"
#include "profile/shard.h"
#include "profile/varints.h"

/* Fields of the messages that have no columns. */
enum { STRINGS_SIZE_BYTES = 1, STRINGS_TEXT = 2, STACKS_DEPTH = 1, STACKS_FRAME = 2 };

/* Sizes of strings, depths of stacks: one number a row, one for all, or none. Their sum. */
static int get_numbers(const char *name, struct rd_span run, uint64_t *out, size_t rows, size_t max, uint64_t *sum,
		       struct rd_error *err)
{
	struct rd_varints numbers = rd_varints_of(run);
	size_t n = rd_varints_count(run);
	uint64_t v = 0;

	if (n > 1 && n != rows)
		return rd_fail(err, RD_CORRUPT, "%s: %zu values for %zu rows", name, n, rows);
	*sum = 0;
	for (size_t i = 0; i < rows; i++) {
		if (i < n)
			v = rd_varints_next(&numbers);
		if (v > max)
			return rd_fail(err, RD_LIMIT, "%s %llu is above %zu", name, (unsigned long long)v, max);
		out[i] = v;
		*sum += v;
	}
	return rd_varints_over(&numbers) ? 0 : rd_fail(err, RD_CORRUPT, "%s has no end", name);
}

static int get_strings(struct rd_partial *p, const struct rd_block_fields *b, uint64_t *sizes, struct rd_error *err)
{
	struct rd_span all = b->field[STRINGS_TEXT];
	uint64_t sum;
	int code = get_numbers("a string's size", b->field[STRINGS_SIZE_BYTES], sizes, b->rows, RD_NAME_BYTES_MAX, &sum,
			       err);

	if (code < 0)
		return code;
	if (sum != all.size_bytes)
		return rd_fail(err, RD_CORRUPT, "%u strings of %llu bytes lie in %zu", b->rows, (unsigned long long)sum,
			       all.size_bytes);
	if (rd_vec_reserve(&p->strings.at, b->rows) < 0)
		return rd_fail_nomem(err);
	const uint8_t *text = sum ? rd_arena_copy(&p->strings.arena, all.at, sum) : (const uint8_t *)"";
	if (text == NULL)
		return rd_fail_nomem(err);
	for (size_t i = 0; i < b->rows; i++) {
		p->strings.at.at[p->strings.at.n++] = (struct rd_span){text, sizes[i]};
		text += sizes[i];
	}
	return 0;
}

static int get_stacks(struct rd_partial *p, const struct rd_block_fields *b, uint64_t *depths, struct rd_error *err)
{
	struct rd_varints frames = rd_varints_of(b->field[STACKS_FRAME]);
	size_t n = rd_varints_count(b->field[STACKS_FRAME]);
	uint64_t sum, frame = 0;
	int code =
		get_numbers("a stack's depth", b->field[STACKS_DEPTH], depths, b->rows, RD_STACK_DEPTH_MAX, &sum, err);

	if (code < 0)
		return code;
	if (sum != n)
		return rd_fail(err, RD_CORRUPT, "%u stacks of %llu frames have %zu", b->rows, (unsigned long long)sum,
			       n);
	if (rd_vec_reserve(&p->stack_ends, b->rows) < 0 || rd_vec_reserve(&p->stack_frames, n) < 0)
		return rd_fail_nomem(err);
	uint64_t *at = p->stack_frames.at + p->stack_frames.n;
	for (size_t i = 0; i < n; i++)
		at[i] = frame += rd_unzigzag(rd_varints_next(&frames));
	if (!rd_varints_over(&frames))
		return rd_fail(err, RD_CORRUPT, "a frame has no end");
	uint64_t end = p->stack_frames.n;
	p->stack_frames.n += n;
	for (size_t i = 0; i < b->rows; i++)
		p->stack_ends.at[p->stack_ends.n++] = end += depths[i];
	return 0;
}

static int get_rows(struct rd_partial *p, const struct rd_partial_layout *t, const struct rd_block_fields *b,
		    struct rd_error *err)
{
	uint8_t *field = (uint8_t *)p + t->rows_at;
	struct rd_any_vec v;

	/* A vector is read and written as bytes: its type is the table's. */
	memcpy(&v, field, sizeof v);
	int code = rd_grow(&v.at, v.n, &v.cap, b->rows, t->row_bytes);
	memcpy(field, &v, sizeof v);
	if (code < 0)
		return rd_fail_nomem(err);
	uint8_t *first = (uint8_t *)v.at + v.n * t->row_bytes;
	memset(first, 0, (size_t)b->rows * t->row_bytes);
	code = rd_block_columns(b, t->message, t->columns, t->columns_n, first, t->row_bytes, b->rows, err);
	if (code < 0)
		return code;
	v.n += b->rows;
	memcpy(field, &v, sizeof v);
	return 0;
}

static int get_summary(struct rd_partial *p, const struct rd_partial_layout *t, const struct rd_block_fields *b,
		       struct rd_error *err)
{
	struct rd_partial_summary summary = {0};

	if (b->rows != 1)
		return rd_fail(err, RD_CORRUPT, "a summary has %u rows", b->rows);
	int code = rd_block_columns(b, t->message, t->columns, t->columns_n, &summary, sizeof summary, 1, err);
	if (code == 0)
		p->summary = summary;
	return code;
}

static int get_table(struct rd_partial *p, uint32_t table, const struct rd_block_fields *b, struct rd_error *err)
{
	const struct rd_partial_layout *t = rd_partial_layout(table);

	if (b->version != RD_BLOCK_VERSION)
		return rd_fail(err, RD_UNSUPPORTED, "columns of version %u; this build reads %u", b->version,
			       RD_BLOCK_VERSION);
	if (b->columns != RD_PARTIAL_FIELD(table))
		return rd_fail(err, RD_CORRUPT, "field %u where the columns of table %u are due", b->columns, table);
	if (b->rows == 0 || b->rows > RD_BLOCK_ROWS_MAX)
		return rd_fail(err, RD_LIMIT, "%u rows in a block", b->rows);
	if (table == RD_TABLE_SUMMARY)
		return get_summary(p, t, b, err);
	if (table != RD_TABLE_STRINGS && table != RD_TABLE_STACKS)
		return get_rows(p, t, b, err);

	uint64_t *numbers = rd_realloc(NULL, b->rows * sizeof *numbers);
	if (numbers == NULL)
		return rd_fail_nomem(err);
	int code = table == RD_TABLE_STRINGS ? get_strings(p, b, numbers, err) : get_stacks(p, b, numbers, err);
	rd_free(numbers);
	return code;
}

/* The payload as plain bytes: itself, or in *room (from rd_realloc). */
static int plain_payload(const struct rd_block_head *head, struct rd_span *plain, uint8_t **room, struct rd_error *err)
{
	*plain = head->payload;
	if (head->codec == RD_BLOCK_PLAIN)
		return 0;
	*room = rd_realloc(NULL, head->plain_bytes ? head->plain_bytes : 1);
	if (*room == NULL)
		return rd_fail_nomem(err);
	size_t n = ZSTD_decompress(*room, head->plain_bytes, head->payload.at, head->payload.size_bytes);
	if (ZSTD_isError(n) && ZSTD_getErrorCode(n) == ZSTD_error_memory_allocation)
		return rd_fail_nomem(err);
	if (n != head->plain_bytes)
		return rd_fail(err, RD_CORRUPT, "zstd: %s",
			       ZSTD_isError(n) ? ZSTD_getErrorName(n) : "fewer bytes than claimed");
	*plain = (struct rd_span){*room, n};
	return 0;
}

int rd_partial_unpack(struct rd_partial *p, struct rd_span block, struct rd_error *err)
{
	struct rd_block_fields fields;
	struct rd_block_head head;
	struct rd_span plain;
	uint8_t *room = NULL;

	int code = rd_block_open(block, &head, err);
	if (code < 0)
		return code;
	code = plain_payload(&head, &plain, &room, err);
	if (code == 0)
		code = rd_block_fields(plain, &fields, err);
	if (code == 0)
		code = get_table(p, head.table, &fields, err);
	rd_free(room);
	if (code < 0)
		rd_error_in(err, code, "unpacking table %s", rd_partial_layout(head.table)->name);
	return code;
}
