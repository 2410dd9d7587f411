#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "profile/partial_tables.h"
#include "profile/shard.h"
#include "proto/budget.h"

/* A packed varint of one byte unpacks to eight. */
#define BUDGET_BYTES(plain) (65536 + UINT64_C(12) * (plain))

/* Sizes of strings, depths of stacks: a column whose row is the number itself. */
static int get_numbers(const char *name, const struct rd_column *c, const ProtobufCMessage *message, uint64_t *out,
		       size_t rows, size_t max, uint64_t *sum, struct rd_error *err)
{
	int code = rd_columns_get(c, 1, message, out, sizeof *out, rows, err);

	*sum = 0;
	for (size_t i = 0; code == 0 && i < rows; i++) {
		if (out[i] > max)
			return rd_fail(err, RD_LIMIT, "%s %llu is above %zu", name, (unsigned long long)out[i], max);
		*sum += out[i];
	}
	return code;
}

static int get_strings(struct rd_partial *p, const Rd__Strings *m, uint64_t *sizes, size_t rows, struct rd_error *err)
{
	static const struct rd_column column = {
		.name = "size_bytes",
		.count_at = offsetof(Rd__Strings, n_size_bytes),
		.values_at = offsetof(Rd__Strings, size_bytes),
		.row_bytes = 8,
		.coding = RD_CODING_PLAIN,
	};
	uint64_t sum;
	int code = get_numbers("a string's size", &column, &m->base, sizes, rows, RD_NAME_BYTES_MAX, &sum, err);

	if (code < 0)
		return code;
	if (sum != m->text.len)
		return rd_fail(err, RD_CORRUPT, "%zu strings of %llu bytes lie in %zu", rows, (unsigned long long)sum,
			       m->text.len);
	if (rd_vec_reserve(&p->strings.at, rows) < 0)
		return rd_fail_nomem(err);
	const uint8_t *text = sum ? rd_arena_copy(&p->strings.arena, m->text.data, sum) : (const uint8_t *)"";
	if (text == NULL)
		return rd_fail_nomem(err);
	for (size_t i = 0; i < rows; i++) {
		p->strings.at.at[p->strings.at.n++] = (struct rd_span){text, sizes[i]};
		text += sizes[i];
	}
	return 0;
}

static int get_stacks(struct rd_partial *p, const Rd__Stacks *m, uint64_t *depths, size_t rows, struct rd_error *err)
{
	static const struct rd_column column = {
		.name = "depth",
		.count_at = offsetof(Rd__Stacks, n_depth),
		.values_at = offsetof(Rd__Stacks, depth),
		.row_bytes = 8,
		.coding = RD_CODING_PLAIN,
	};
	uint64_t sum, frame = 0;
	int code = get_numbers("a stack's depth", &column, &m->base, depths, rows, RD_STACK_DEPTH_MAX, &sum, err);

	if (code < 0)
		return code;
	if (sum != m->n_frame)
		return rd_fail(err, RD_CORRUPT, "%zu stacks of %llu frames have %zu", rows, (unsigned long long)sum,
			       m->n_frame);
	if (rd_vec_reserve(&p->stack_ends, rows) < 0 || rd_vec_reserve(&p->stack_frames, sum) < 0)
		return rd_fail_nomem(err);
	uint64_t end = p->stack_frames.n;
	for (size_t i = 0; i < rows; i++) {
		end += depths[i];
		p->stack_ends.at[p->stack_ends.n++] = end;
	}
	for (size_t i = 0; i < m->n_frame; i++) {
		frame += (uint64_t)m->frame[i];
		p->stack_frames.at[p->stack_frames.n++] = frame;
	}
	return 0;
}

static int get_rows(struct rd_partial *p, const struct rd_partial_layout *t, const ProtobufCMessage *message,
		    size_t rows, struct rd_error *err)
{
	uint8_t *field = (uint8_t *)p + t->rows_at;
	struct rd_any_vec v;

	/* A vector is read and written as bytes: its type is the table's. */
	memcpy(&v, field, sizeof v);
	int code = rd_grow(&v.at, v.n, &v.cap, rows, t->row_bytes);
	memcpy(field, &v, sizeof v);
	if (code < 0)
		return rd_fail_nomem(err);
	uint8_t *first = (uint8_t *)v.at + v.n * t->row_bytes;
	memset(first, 0, rows * t->row_bytes);
	code = rd_columns_get(t->columns, t->columns_n, message, first, t->row_bytes, rows, err);
	if (code < 0)
		return code;
	v.n += rows;
	memcpy(field, &v, sizeof v);
	return 0;
}

static int get_summary(struct rd_partial *p, const struct rd_partial_layout *t, const ProtobufCMessage *message,
		       size_t rows, struct rd_error *err)
{
	struct rd_partial_summary summary = {0};

	if (rows != 1)
		return rd_fail(err, RD_CORRUPT, "a summary has %zu rows", rows);
	int code = rd_columns_get(t->columns, t->columns_n, message, &summary, sizeof summary, 1, err);
	if (code == 0)
		p->summary = summary;
	return code;
}

static int get_table(struct rd_partial *p, uint32_t table, const Rd__Block *b, struct rd_error *err)
{
	const struct rd_partial_layout *t = rd_partial_layout(table);
	const ProtobufCMessage *message;

	if (b->version != RD_BLOCK_VERSION)
		return rd_fail(err, RD_UNSUPPORTED, "columns of version %u; this build reads %u", b->version,
			       RD_BLOCK_VERSION);
	memcpy(&message, &b->summary, sizeof message); /* all members of the union are pointers */
	if ((uint32_t)b->columns_case != RD_PARTIAL_FIELD(table) || message == NULL)
		return rd_fail(err, RD_CORRUPT, "field %d where the columns of table %u are due", (int)b->columns_case,
			       table);
	if (b->rows == 0 || b->rows > RD_BLOCK_ROWS_MAX)
		return rd_fail(err, RD_LIMIT, "%u rows in a block", b->rows);
	if (table == RD_TABLE_SUMMARY)
		return get_summary(p, t, message, b->rows, err);
	if (table != RD_TABLE_STRINGS && table != RD_TABLE_STACKS)
		return get_rows(p, t, message, b->rows, err);

	uint64_t *numbers = rd_realloc(NULL, b->rows * sizeof *numbers);
	if (numbers == NULL)
		return rd_fail_nomem(err);
	int code = table == RD_TABLE_STRINGS ? get_strings(p, b->strings, numbers, b->rows, err)
					     : get_stacks(p, b->stacks, numbers, b->rows, err);
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
	struct rd_block_head head;
	struct rd_budget budget;
	struct rd_span plain;
	uint8_t *room = NULL;
	Rd__Block *b = NULL;

	int code = rd_block_open(block, &head, err);
	if (code < 0)
		return code;
	code = plain_payload(&head, &plain, &room, err);
	if (code == 0) {
		rd_budget_init(&budget, BUDGET_BYTES(plain.size_bytes));
		b = rd__block__unpack(&budget.allocator, plain.size_bytes, plain.at);
		code = b ? get_table(p, head.table, b, err) : rd_budget_fail(&budget, err, "a block of a partial");
		if (b)
			rd__block__free_unpacked(b, &budget.allocator);
	}
	rd_free(room);
	if (code < 0)
		rd_error_in(err, code, "unpacking table %s", rd_partial_layout(head.table)->name);
	return code;
}
