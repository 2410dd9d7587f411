/*
 * Any rows, finished: whatever facts say, however they contradict each other,
 * the finish ends, with a result or an error, and two ways of sharding give one digest.
 *
 * Input: u8 pointer size (odd: 4), then rows: u8 table, then a byte a column. Bytes from
 * 0xe0 on stand for numbers near 2^64. There are six strings and four stacks.
 */
#include <stdlib.h>
#include <string.h>

#include "profile/finish.h"
#include "profile/partial_tables.h"

int rd_fuzz_one(const uint8_t *bytes, size_t size_bytes);

#define SHARDS   2
#define ROWS_MAX 2000 /* of an input: the finish is quick, the fuzzer's inputs are not small by themselves */

struct blocks {
	RD_VEC(struct rd_span) at[RD_TABLE_END];
};

static void make_names(struct rd_partial *p)
{
	static const char *const names[] = {"", "a", "/x/b.dll", "?", "_a", "i [a] b::c(d)[Optimized]"};
	static const uint64_t frames[] = {0x10, 0x20, UINT64_MAX - 0x10, 0x10, 0x10};
	static const uint64_t ends[] = {0, 1, 3, 5};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (rd_strings_id(&p->strings, names[i], strlen(names[i])) == RD_NONE)
			abort();
	if (rd_vec_reserve(&p->stack_frames, 5) < 0 || rd_vec_reserve(&p->stack_ends, 4) < 0)
		abort();
	memcpy(p->stack_frames.at, frames, sizeof frames);
	p->stack_frames.n = 5;
	memcpy(p->stack_ends.at, ends, sizeof ends);
	p->stack_ends.n = 4;
	p->summary.first_sample = p->summary.first_stack_record = UINT64_MAX;
}

/* Numbers of strings and stacks are mostly right. */
static bool is_reference(const char *column)
{
	static const char *const names[] = {"ns",           "name",         "signature", "il_path",
					    "native_path",  "pdb_path",     "pdb_guid",  "path",
					    "command_line", "version_text", "stack"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(column, names[i]) == 0)
			return true;
	return false;
}

/* One row of the table, a byte a column, kept within what a block may say. */
static void add_row(struct rd_partial *p, const struct rd_partial_layout *t, struct rd_cursor *c)
{
	struct rd_any_vec v;

	memcpy(&v, (uint8_t *)p + t->rows_at, sizeof v);
	if (rd_grow(&v.at, v.n, &v.cap, 1, t->row_bytes) < 0)
		abort();
	uint8_t *row = (uint8_t *)v.at + v.n++ * t->row_bytes;
	memset(row, 0, t->row_bytes);
	for (size_t i = 0; i < t->columns_n; i++) {
		uint8_t byte = rd_u8(c);
		uint64_t value = byte >= 0xe0 ? (uint64_t)(int64_t)(int8_t)byte : byte;
		if (is_reference(t->columns[i].name) && byte != 0xff)
			value %= strcmp(t->columns[i].name, "stack") == 0 ? 5 : 7;
		if (t->columns[i].max)
			value %= (uint64_t)t->columns[i].max + 1;
		memcpy(row + t->columns[i].row_at, &value, t->columns[i].row_bytes);
	}
	memcpy((uint8_t *)p + t->rows_at, &v, sizeof v);
}

static int compare_keys(const uint64_t *x, const uint64_t *y)
{
	for (size_t i = 0; i < 3; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

static int compare_samples(const void *a, const void *b)
{
	const struct rd_sample *x = a, *y = b;
	return compare_keys((uint64_t[]){x->time, x->thread, x->cpu}, (uint64_t[]){y->time, y->thread, y->cpu});
}

static int compare_records(const void *a, const void *b)
{
	const struct rd_stack_row *x = a, *y = b;
	return compare_keys((uint64_t[]){x->sample_time, x->thread, x->cpu},
			    (uint64_t[]){y->sample_time, y->thread, y->cpu});
}

static void sort_and_sum(struct rd_partial *p)
{
	struct rd_partial_summary *s = &p->summary;

	if (p->samples.n) {
		qsort(p->samples.at, p->samples.n, sizeof *p->samples.at, compare_samples);
		s->first_sample = p->samples.at[0].time;
		s->last_sample = p->samples.at[p->samples.n - 1].time;
	}
	if (p->stack_records.n) {
		qsort(p->stack_records.at, p->stack_records.n, sizeof *p->stack_records.at, compare_records);
		s->first_stack_record = p->stack_records.at[0].sample_time;
		s->last_stack_record = p->stack_records.at[p->stack_records.n - 1].sample_time;
	}
	s->samples = p->samples.n;
	s->stack_records = p->stack_records.n;
}

static uint32_t table_of(uint8_t byte)
{
	if (byte >= 0xf8)
		return byte % 2 ? RD_TABLE_SYMBOLS : RD_TABLE_MAPPINGS;
	return RD_TABLE_METHODS + byte % (RD_TABLE_STACK_RECORDS - RD_TABLE_METHODS + 1);
}

/* The rows of the input, dealt out to n shards. Places are made distinct, as those of a file are. */
static void deal(const uint8_t *bytes, size_t size_bytes, struct rd_partial *shards, size_t n)
{
	struct rd_cursor c = rd_cursor_of(bytes, size_bytes);

	for (size_t i = 0; i < n; i++)
		make_names(&shards[i]);
	for (uint64_t i = 1; rd_left(&c) > 0 && i < ROWS_MAX; i++) {
		uint32_t table = table_of(rd_u8(&c));
		const struct rd_partial_layout *t = rd_partial_layout(table);
		struct rd_partial *p = &shards[i % n];
		add_row(p, t, &c);
		if (table == RD_TABLE_SAMPLES)
			continue;
		/* A fact begins with its time and place; so does the own time of a stack record. */
		struct rd_any_vec v;
		memcpy(&v, (uint8_t *)p + t->rows_at, sizeof v);
		size_t at = table == RD_TABLE_STACK_RECORDS ? offsetof(struct rd_stack_row, place)
							    : offsetof(struct rd_fact_method, place);
		memcpy((uint8_t *)v.at + (v.n - 1) * t->row_bytes + at, &i, sizeof i);
	}
	for (size_t i = 0; i < n; i++)
		sort_and_sum(&shards[i]);
}

static int keep(void *ctx, enum rd_partial_table table, uint32_t seq, struct rd_span block, struct rd_error *err)
{
	struct blocks *b = ctx;
	uint8_t *copy = malloc(block.size_bytes);

	(void)err;
	if (copy == NULL || seq != b->at[table].n || rd_vec_reserve(&b->at[table], 1) < 0)
		abort();
	memcpy(copy, block.at, block.size_bytes);
	b->at[table].at[b->at[table].n++] = (struct rd_span){copy, block.size_bytes};
	return 0;
}

static int give(void *ctx, size_t shard, enum rd_partial_table table, uint32_t seq, struct rd_span *block,
		struct rd_error *err)
{
	const struct blocks *b = (const struct blocks *)ctx + shard;

	(void)err;
	if (seq >= b->at[table].n)
		return 0;
	*block = b->at[table].at[seq];
	return 1;
}

/* The digest, or the error's code. */
static int finish(const uint8_t *bytes, size_t size_bytes, const struct rd_trace_info *info, size_t n, char digest[33])
{
	struct rd_partial shards[SHARDS] = {0};
	struct blocks blocks[SHARDS] = {0};
	struct rd_finish_trace trace = {.info = info, .partials = {blocks, n, give}};
	struct rd_result r;
	struct rd_error err;

	deal(bytes, size_bytes, shards, n);
	for (size_t i = 0; i < n; i++) {
		if (i == 0 && n == 1)
			(void)rd_finish_preliminary(info, &shards[i], NULL, &err);
		if (rd_partial_pack(&shards[i], keep, &blocks[i], &err) < 0)
			abort();
		rd_partial_release(&shards[i]);
	}
	int rc = rd_finish(&trace, 1, NULL, &r, &err);
	if (rc == 0) {
		if (rd_result_digest(&r, digest, &err) < 0)
			abort();
		rd_result_release(&r);
	}
	for (size_t i = 0; i < n; i++) {
		for (size_t t = 0; t < RD_TABLE_END; t++) {
			for (size_t k = 0; k < blocks[i].at[t].n; k++)
				free((void *)(uintptr_t)blocks[i].at[t].at[k].at);
			rd_vec_release(&blocks[i].at[t]);
		}
	}
	return rc;
}

int rd_fuzz_one(const uint8_t *bytes, size_t size_bytes)
{
	struct rd_trace_info info = {
		.format = RD_FORMAT_ETL,
		.pointer_bytes = size_bytes && bytes[0] % 2 ? 4 : 8,
		.clock = {.kind = RD_CLOCK_QPC, .frequency_hz = 10000000, .start_ticks = 5},
		.complete = true,
		.cut_at = RD_NO_OFFSET,
	};
	char one[33] = "", two[33] = "";

	if (size_bytes == 0)
		return 0;
	int rc = finish(bytes + 1, size_bytes - 1, &info, 1, one);
	if (finish(bytes + 1, size_bytes - 1, &info, 2, two) != rc || strcmp(one, two) != 0)
		abort();
	return 0;
}
