#include "tests/support.h"

#include "profile/partial_tables.h"
#include "profile/shard.h"
#include "tests/profile/packed.h"

/* ---- a generic partial: every field of every row is set from its column's description */

static uint64_t random_state;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

enum fill { FILL_ZERO, FILL_MAX, FILL_ALTERNATE, FILL_RANDOM, FILL_RISING, FILL_FALLING, FILLS };

static uint64_t fill_value(enum fill fill, size_t row, uint64_t max)
{
	switch (fill) {
	case FILL_ZERO:
		return 0;
	case FILL_MAX:
		return max;
	case FILL_ALTERNATE:
		return row % 2 ? max : 0;
	case FILL_RISING:
		return row % max;
	case FILL_FALLING:
		return max - row % max;
	default:
		return (next_random() >> next_random() % 64) & max;
	}
}

static void *table_rows(struct rd_partial *p, const struct rd_partial_layout *t, size_t *n)
{
	struct rd_any_vec v;

	if ((const void *)t->columns == (const void *)rd_partial_layout(RD_TABLE_SUMMARY)->columns) {
		*n = 1;
		return &p->summary;
	}
	memcpy(&v, (uint8_t *)p + t->rows_at, sizeof v);
	*n = v.n;
	return v.at;
}

static void fill_rows(struct rd_partial *p, const struct rd_partial_layout *t, size_t n, enum fill fill)
{
	struct rd_any_vec v;

	if (t == rd_partial_layout(RD_TABLE_SUMMARY)) {
		n = 1;
	} else {
		memcpy(&v, (uint8_t *)p + t->rows_at, sizeof v);
		assert_int_equal(rd_grow(&v.at, v.n, &v.cap, n, t->row_bytes), 0);
		v.n = n;
		if (n)
			memset(v.at, 0, n * t->row_bytes);
		memcpy((uint8_t *)p + t->rows_at, &v, sizeof v);
	}
	uint8_t *rows = table_rows(p, t, &n);
	for (size_t c = 0; c < t->columns_n; c++) {
		const struct rd_column *column = &t->columns[c];
		uint64_t max = column->max ? column->max : UINT64_MAX >> (64 - 8 * column->row_bytes);
		for (size_t i = 0; i < n; i++) {
			uint64_t value = fill_value(fill, i, max);
			if (column->max && value > max)
				value %= max + 1;
			memcpy(rows + i * t->row_bytes + column->row_at, &value, column->row_bytes);
		}
	}
}

static void add_stack(struct rd_partial *p, size_t depth, uint64_t seed)
{
	for (size_t i = 0; i < depth; i++) {
		uint64_t *frame = rd_vec_add(&p->stack_frames);
		assert_non_null(frame);
		*frame = seed == 0 ? 0 : seed == UINT64_MAX ? (i % 2 ? 0 : UINT64_MAX) : seed + i * 17;
	}
	uint64_t *end = rd_vec_add(&p->stack_ends);
	assert_non_null(end);
	*end = p->stack_frames.n;
}

static void add_string(struct rd_partial *p, size_t size_bytes, uint8_t first)
{
	uint8_t *text = malloc(size_bytes + 1);

	assert_non_null(text);
	memset(text, 'x', size_bytes);
	for (size_t i = 0; i < size_bytes && i < 8; i++)
		text[i] = i ? (uint8_t)(p->strings.at.n >> (8 * (i - 1))) : first;
	uint32_t id = rd_strings_id(&p->strings, text, size_bytes);
	assert_int_equal(id, p->strings.at.n - 1); /* a new one */
	free(text);
}

static void fill_partial(struct rd_partial *p, size_t n, enum fill fill)
{
	for (uint32_t table = 0; table < RD_TABLE_END; table++) {
		const struct rd_partial_layout *t = rd_partial_layout(table);
		if (t && t->columns_n)
			fill_rows(p, t, n, fill);
	}
	for (size_t i = 0; i < n && i < 300; i++) {
		add_stack(p, i % 40, fill == FILL_MAX ? UINT64_MAX : fill == FILL_ZERO ? 0 : next_random());
		add_string(p, i == 0 ? 0 : 4 + i % 50, (uint8_t)fill);
	}
}

static void assert_same_partial(struct rd_partial *a, struct rd_partial *b)
{
	for (uint32_t table = 0; table < RD_TABLE_END; table++) {
		const struct rd_partial_layout *t = rd_partial_layout(table);
		size_t an, bn;
		if (t == NULL || t->columns_n == 0)
			continue;
		void *ar = table_rows(a, t, &an), *br = table_rows(b, t, &bn);
		assert_int_equal(an, bn);
		for (size_t i = 0; i < an; i++)
			for (size_t c = 0; c < t->columns_n; c++)
				assert_memory_equal((uint8_t *)ar + i * t->row_bytes + t->columns[c].row_at,
						    (uint8_t *)br + i * t->row_bytes + t->columns[c].row_at,
						    t->columns[c].row_bytes);
	}
	assert_int_equal(a->strings.at.n, b->strings.at.n);
	for (size_t i = 0; i < a->strings.at.n; i++) {
		assert_int_equal(a->strings.at.at[i].size_bytes, b->strings.at.at[i].size_bytes);
		if (a->strings.at.at[i].size_bytes)
			assert_memory_equal(a->strings.at.at[i].at, b->strings.at.at[i].at,
					    a->strings.at.at[i].size_bytes);
	}
	assert_int_equal(a->stack_ends.n, b->stack_ends.n);
	assert_int_equal(a->stack_frames.n, b->stack_frames.n);
	if (a->stack_ends.n)
		assert_memory_equal(a->stack_ends.at, b->stack_ends.at, a->stack_ends.n * sizeof *a->stack_ends.at);
	if (a->stack_frames.n)
		assert_memory_equal(a->stack_frames.at, b->stack_frames.at,
				    a->stack_frames.n * sizeof *a->stack_frames.at);
}

static void round_trip(struct rd_partial *p, struct packed *k)
{
	struct rd_partial back = {0};
	struct rd_error err;

	assert_ok(rd_partial_pack(p, packed_keep, k, &err), &err);
	assert_ok(packed_unpack(k, &back, &err), &err);
	assert_same_partial(p, &back);
	rd_partial_release(&back);
}

/* ---- tests */

static void every_table_covers_its_rows(void **state)
{
	unsigned tables = 0;

	for (uint32_t table = 0; table < RD_TABLE_END; table++) {
		const struct rd_partial_layout *t = rd_partial_layout(table);
		if (t == NULL)
			continue;
		tables++;
		/* The columns' fields are all there is to a row, but for padding at its end. */
		size_t bytes = 0;
		for (size_t c = 0; c < t->columns_n; c++) {
			bytes += t->columns[c].row_bytes;
			for (size_t d = 0; d < c; d++) {
				assert_int_not_equal(t->columns[c].row_at, t->columns[d].row_at);
				assert_int_not_equal(t->columns[c].values_at, t->columns[d].values_at);
			}
		}
		assert_in_range(t->row_bytes - bytes, 0, 7);
		/* Every field of the message is a column, of the type of its coding. */
		for (size_t i = 0; t->columns_n && i < t->message->n_fields; i++) {
			const ProtobufCFieldDescriptor *f = &t->message->fields[i];
			size_t c = 0;
			while (c < t->columns_n && t->columns[c].values_at != f->offset)
				c++;
			assert_in_range(c, 0, t->columns_n - 1);
			assert_int_equal(t->columns[c].count_at, f->quantifier_offset);
			assert_string_equal(t->columns[c].name, f->name);
			assert_int_equal(f->type, t->columns[c].coding == RD_CODING_DELTA ? PROTOBUF_C_TYPE_SINT64
											  : PROTOBUF_C_TYPE_UINT64);
			assert_true(f->flags & PROTOBUF_C_FIELD_FLAG_PACKED);
		}
		if (t->columns_n)
			assert_int_equal(t->message->n_fields, t->columns_n);
	}
	assert_int_equal(tables, 19);
	assert_null(rd_partial_layout(0));
	assert_null(rd_partial_layout(RD_TABLE_END));
	assert_null(rd_partial_layout(UINT32_MAX));
}

static void empty_partial(void **state)
{
	struct rd_partial p = {0};
	struct packed k = {0};

	round_trip(&p, &k);
	assert_int_equal(k.blocks.n, 1); /* the summary */
	packed_release(&k);
	rd_partial_release(&p);
}

static void edge_values(void **state)
{
	static const size_t counts[] = {1, 2, 3, 100, 1000};

	random_state = 88172645463325252u;
	for (enum fill fill = 0; fill < FILLS; fill++) {
		for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
			struct rd_partial p = {0};
			struct packed k = {0};
			fill_partial(&p, counts[i], fill);
			round_trip(&p, &k);
			packed_release(&k);
			rd_partial_release(&p);
		}
	}
}

static void a_zero_column_takes_nothing(void **state)
{
	struct rd_partial p = {0};
	struct packed k = {0};
	const struct rd_partial_layout *t = rd_partial_layout(RD_TABLE_METHODS);

	fill_rows(&p, t, 10000, FILL_ZERO);
	round_trip(&p, &k);
	assert_int_equal(k.blocks.n, 2);
	assert_in_range(k.blocks.at[1].n, RD_BLOCK_HEAD_BYTES, RD_BLOCK_HEAD_BYTES + 20);
	packed_release(&k);
	/* One column of one value: its tag, length and value. */
	for (size_t i = 0; i < p.methods.n; i++)
		p.methods.at[i].pid = 300;
	round_trip(&p, &k);
	assert_in_range(k.blocks.at[1].n, RD_BLOCK_HEAD_BYTES, RD_BLOCK_HEAD_BYTES + 24);
	packed_release(&k);
	rd_partial_release(&p);
}

static void many_blocks(void **state)
{
	struct rd_partial p = {0};
	struct packed k = {0};

	random_state = 1;
	fill_rows(&p, rd_partial_layout(RD_TABLE_METHODS), 30000, FILL_RANDOM);
	fill_rows(&p, rd_partial_layout(RD_TABLE_SAMPLES), 70000, FILL_ALTERNATE);
	fill_rows(&p, rd_partial_layout(RD_TABLE_DAMAGE), 140000, FILL_ZERO);
	for (size_t i = 0; i < 70000; i++)
		add_string(&p, 8 + i % 40, 'a');
	for (size_t i = 0; i < 5000; i++)
		add_stack(&p, i % 100, next_random());
	round_trip(&p, &k);
	assert_true(k.blocks.n > 10);
	packed_release(&k);
	rd_partial_release(&p);
}

static void long_names_and_deep_stacks(void **state)
{
	struct rd_partial p = {0};
	struct packed k = {0};
	struct rd_error err;

	add_string(&p, RD_NAME_BYTES_MAX, 'a');
	add_string(&p, 30000, 'b');
	add_string(&p, RD_NAME_BYTES_MAX, 'c');
	add_string(&p, RD_NAME_BYTES_MAX, 'd');
	add_stack(&p, 1, 5);
	add_stack(&p, RD_STACK_DEPTH_MAX, UINT64_MAX); /* ten bytes a frame */
	add_stack(&p, 2, UINT64_MAX);
	add_stack(&p, RD_STACK_DEPTH_MAX, 7);
	round_trip(&p, &k);
	packed_release(&k);

	add_string(&p, RD_NAME_BYTES_MAX + 1, 'e');
	assert_code(RD_LIMIT, rd_partial_pack(&p, packed_keep, &k, &err));
	packed_release(&k);
	rd_partial_release(&p);

	add_stack(&p, 3, 1);
	add_stack(&p, RD_STACK_DEPTH_MAX + 1, 1);
	assert_code(RD_LIMIT, rd_partial_pack(&p, packed_keep, &k, &err));
	packed_release(&k);
	rd_partial_release(&p);
}

static int refuse(void *ctx, enum rd_partial_table table, uint32_t seq, struct rd_span block, struct rd_error *err)
{
	unsigned *calls = ctx;
	return ++*calls == 3 ? rd_fail(err, RD_CANCELLED, "enough") : 0;
}

static void emit_may_end_it(void **state)
{
	struct rd_partial p = {0};
	struct rd_error err;
	unsigned calls = 0;

	fill_partial(&p, 10, FILL_RANDOM);
	assert_code(RD_CANCELLED, rd_partial_pack(&p, refuse, &calls, &err));
	assert_int_equal(calls, 3);
	rd_partial_release(&p);
}

/* Unpack a copy of its exact size; whatever comes, nothing breaks and *out is as before on a failure. */
static int unpack_copy(const uint8_t *bytes, size_t n, struct rd_partial *out, struct rd_error *err)
{
	uint8_t *copy = malloc(n ? n : 1);

	assert_non_null(copy);
	memcpy(copy, bytes, n);
	int code = rd_partial_unpack(out, (struct rd_span){copy, n}, err);
	free(copy);
	return code;
}

static void cut_and_flipped_blocks(void **state)
{
	struct rd_partial p = {0}, out = {0};
	struct packed k = {0};
	struct rd_error err;

	random_state = 42;
	fill_partial(&p, 12, FILL_RANDOM);
	round_trip(&p, &k);
	for (size_t i = 0; i < k.blocks.n; i++) {
		struct packed_block *b = &k.blocks.at[i];
		for (size_t n = 0; n < b->n; n++) {
			int code = unpack_copy(b->at, n, &out, &err);
			assert_true(code == RD_CORRUPT || code == RD_LIMIT);
		}
		for (size_t at = 0; at < b->n; at++) {
			for (int bit = 0; bit < 8; bit += 3) {
				b->at[at] ^= (uint8_t)(1 << bit);
				int code = unpack_copy(b->at, b->n, &out, &err);
				assert_true(code == RD_CORRUPT || (code == RD_UNSUPPORTED && at == 0));
				b->at[at] ^= (uint8_t)(1 << bit);
			}
		}
	}
	assert_int_equal(out.methods.n + out.samples.n + out.strings.at.n + out.stack_ends.n, 0);
	packed_release(&k);
	rd_partial_release(&out);
	rd_partial_release(&p);
}

/* A block whose checksum is right although its bytes are not. */
static void resealed_blocks(void **state)
{
	struct rd_partial p = {0};
	struct packed k = {0};
	struct rd_error err;
	unsigned refused = 0, taken = 0;

	random_state = 43;
	fill_partial(&p, 12, FILL_RANDOM);
	round_trip(&p, &k);
	for (size_t i = 0; i < k.blocks.n; i++) {
		struct packed_block *b = &k.blocks.at[i];
		for (unsigned round = 0; round < 600; round++) {
			struct rd_partial out = {0};
			uint8_t *copy = malloc(b->n);
			assert_non_null(copy);
			memcpy(copy, b->at, b->n);
			size_t n = round % 5 == 0 ? RD_BLOCK_HEAD_BYTES + next_random() % (b->n - RD_BLOCK_HEAD_BYTES)
						  : b->n;
			copy[1 + next_random() % (n - 1)] = (uint8_t)next_random();
			uint64_t sum = rd_block_checksum(copy, copy + RD_BLOCK_HEAD_BYTES, n - RD_BLOCK_HEAD_BYTES);
			memcpy(copy + 8, &sum, sizeof sum);
			int code = unpack_copy(copy, n, &out, &err);
			assert_true(code == 0 || code == RD_CORRUPT || code == RD_LIMIT || code == RD_UNSUPPORTED);
			code ? refused++ : taken++;
			rd_partial_release(&out);
			free(copy);
		}
	}
	assert_true(refused > 100 && taken > 100);
	packed_release(&k);
	rd_partial_release(&p);
}

/* Seal a hand-made message into a block and unpack it. */
static int unpack_message(uint32_t table, Rd__Block *b, struct rd_partial *out, struct rd_error *err)
{
	size_t n = rd__block__get_packed_size(b);
	uint8_t *block = calloc(1, RD_BLOCK_HEAD_BYTES + n);
	uint32_t plain = (uint32_t)n;

	assert_non_null(block);
	block[0] = RD_BLOCK_VERSION;
	block[2] = (uint8_t)table;
	memcpy(block + 4, &plain, sizeof plain);
	rd__block__pack(b, block + RD_BLOCK_HEAD_BYTES);
	uint64_t sum = rd_block_checksum(block, block + RD_BLOCK_HEAD_BYTES, n);
	memcpy(block + 8, &sum, sizeof sum);
	int code = unpack_copy(block, RD_BLOCK_HEAD_BYTES + n, out, err);
	free(block);
	return code;
}

static void wrong_columns(void **state)
{
	struct rd_partial out = {0};
	struct rd_error err;
	Rd__Block b = RD__BLOCK__INIT;
	Rd__Threads threads = RD__THREADS__INIT;
	int64_t time[] = {5, 1, -7};
	uint64_t op[] = {1, 5};

	b.version = RD_BLOCK_VERSION;
	b.rows = 3;
	b.columns_case = RD__BLOCK__COLUMNS_THREADS;
	b.threads = &threads;
	threads.n_time = 3;
	threads.time = time;
	assert_ok(unpack_message(RD_TABLE_THREADS, &b, &out, &err), &err);
	assert_int_equal(out.threads.n, 3);
	assert_int_equal(out.threads.at[1].time, 6);
	assert_int_equal(out.threads.at[2].time, UINT64_MAX);
	assert_int_equal(out.threads.at[2].op, 0);

	/* The message of another table. */
	assert_code(RD_CORRUPT, unpack_message(RD_TABLE_MARKERS, &b, &out, &err));
	/* A column of two values for three rows. */
	threads.n_time = 2;
	assert_code(RD_CORRUPT, unpack_message(RD_TABLE_THREADS, &b, &out, &err));
	threads.n_time = 3;
	/* An op that is none; a pid above 32 bits. */
	threads.n_op = 1;
	threads.op = &op[1];
	assert_code(RD_CORRUPT, unpack_message(RD_TABLE_THREADS, &b, &out, &err));
	threads.op = &op[0];
	int64_t pid = INT64_C(1) << 32;
	threads.n_pid = 1;
	threads.pid = &pid;
	assert_code(RD_CORRUPT, unpack_message(RD_TABLE_THREADS, &b, &out, &err));
	pid--;
	assert_ok(unpack_message(RD_TABLE_THREADS, &b, &out, &err), &err);
	assert_int_equal(out.threads.n, 6);
	assert_int_equal(out.threads.at[5].pid, UINT32_MAX);
	/* No rows; too many; another version. */
	b.rows = 0;
	assert_code(RD_LIMIT, unpack_message(RD_TABLE_THREADS, &b, &out, &err));
	b.rows = UINT32_MAX;
	threads.n_time = 0;
	assert_code(RD_LIMIT, unpack_message(RD_TABLE_THREADS, &b, &out, &err));
	b.rows = 3;
	b.version = 2;
	assert_code(RD_UNSUPPORTED, unpack_message(RD_TABLE_THREADS, &b, &out, &err));
	assert_int_equal(out.threads.n, 6);
	rd_partial_release(&out);
}

static void wrong_strings_and_stacks(void **state)
{
	struct rd_partial out = {0};
	struct rd_error err;
	Rd__Block b = RD__BLOCK__INIT;
	Rd__Strings strings = RD__STRINGS__INIT;
	Rd__Stacks stacks = RD__STACKS__INIT;
	uint64_t sizes[] = {2, 0, 3};
	int64_t frames[] = {100, -1};

	b.version = RD_BLOCK_VERSION;
	b.rows = 3;
	b.columns_case = RD__BLOCK__COLUMNS_STRINGS;
	b.strings = &strings;
	strings.n_size_bytes = 3;
	strings.size_bytes = sizes;
	strings.text = (ProtobufCBinaryData){5, (uint8_t *)"abcde"};
	assert_ok(unpack_message(RD_TABLE_STRINGS, &b, &out, &err), &err);
	assert_int_equal(out.strings.at.n, 3);
	assert_span(rd_strings_at(&out.strings, 0), "ab");
	assert_span(rd_strings_at(&out.strings, 1), "");
	assert_span(rd_strings_at(&out.strings, 2), "cde");
	strings.text.len = 4;
	assert_code(RD_CORRUPT, unpack_message(RD_TABLE_STRINGS, &b, &out, &err));
	sizes[0] = UINT64_MAX;
	sizes[1] = 6;
	sizes[2] = 0;
	strings.text.len = 5;
	assert_code(RD_LIMIT, unpack_message(RD_TABLE_STRINGS, &b, &out, &err));
	assert_int_equal(out.strings.at.n, 3);

	b.rows = 2;
	b.columns_case = RD__BLOCK__COLUMNS_STACKS;
	b.stacks = &stacks;
	sizes[0] = 1;
	stacks.n_depth = 1; /* both are one deep */
	stacks.depth = sizes;
	stacks.n_frame = 2;
	stacks.frame = frames;
	assert_ok(unpack_message(RD_TABLE_STACKS, &b, &out, &err), &err);
	assert_int_equal(out.stack_ends.n, 2);
	assert_int_equal(out.stack_ends.at[1], 2);
	assert_int_equal(out.stack_frames.at[1], 99);
	sizes[0] = 2;
	assert_code(RD_CORRUPT, unpack_message(RD_TABLE_STACKS, &b, &out, &err));
	sizes[0] = RD_STACK_DEPTH_MAX + 1;
	assert_code(RD_LIMIT, unpack_message(RD_TABLE_STACKS, &b, &out, &err));
	assert_int_equal(out.stack_ends.n, 2);
	assert_int_equal(out.stack_frames.n, 2);
	rd_partial_release(&out);
}

static void no_memory(void **state)
{
	struct rd_partial p = {0};
	struct packed k = {0};
	struct rd_error err;
	uint64_t nth;

	random_state = 44;
	fill_partial(&p, 20, FILL_RANDOM);
	round_trip(&p, &k);
	for (nth = 1;; nth++) {
		unsigned calls = 10;
		rd_fail_allocation(nth);
		int code = rd_partial_pack(&p, refuse, &calls, &err);
		rd_fail_allocation(0);
		if (code == 0)
			break;
		assert_int_equal(code, RD_NOMEM);
	}
	assert_true(nth > 2);
	for (nth = 1;; nth++) {
		struct rd_partial out = {0};
		rd_fail_allocation(nth);
		int code = packed_unpack(&k, &out, &err);
		rd_fail_allocation(0);
		rd_partial_release(&out);
		if (code == 0)
			break;
		assert_int_equal(code, RD_NOMEM);
	}
	assert_true(nth > 50);
	packed_release(&k);
	rd_partial_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_table_covers_its_rows),
		cmocka_unit_test(empty_partial),
		cmocka_unit_test(edge_values),
		cmocka_unit_test(a_zero_column_takes_nothing),
		cmocka_unit_test(many_blocks),
		cmocka_unit_test(long_names_and_deep_stacks),
		cmocka_unit_test(emit_may_end_it),
		cmocka_unit_test(cut_and_flipped_blocks),
		cmocka_unit_test(resealed_blocks),
		cmocka_unit_test(wrong_columns),
		cmocka_unit_test(wrong_strings_and_stacks),
		cmocka_unit_test(no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
