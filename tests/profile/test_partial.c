#include "tests/support.h"

#include "profile/shard.h"
#include "tests/profile/filled.h"
#include "tests/profile/packed.h"
#include "tests/random.h"

static void round_trip(struct rd_partial *p, struct packed *k)
{
	struct rd_partial back = {0};
	struct rd_error err;

	assert_ok(rd_partial_pack(p, packed_keep, k, &err), &err);
	assert_ok(packed_unpack(k, &back, &err), &err);
	assert_same_partial(p, &back);
	rd_partial_release(&back);
}

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

	random_begin(88172645463325252u);
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

	random_begin(1);
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

	random_begin(42);
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

	random_begin(43);
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

	random_begin(44);
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
	assert_true(nth > 20);
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
