#include "tests/support.h"

#include "profile/index_codec.h"

static struct rd_trace_info some_info(void)
{
	struct rd_trace_info info = {
		.format = RD_FORMAT_ETL,
		.version_major = 10,
		.version_minor = 2,
		.pointer_bytes = 8,
		.cpus = 16,
		.pid = 77,
		.compression = 3,
		.log_file_mode = 0x04010001,
		.size_bytes = UINT64_C(1) << 40,
		.mtime_ns = INT64_MIN + 5,
		.clock = {RD_CLOCK_CYCLES, 2400000000u, UINT64_MAX, -5},
		.end_ticks = 123456789,
		.sampling_ns = 1000000,
		.lost_events = 3,
		.lost_buffers = 1,
		.digest = 0xfedcba9876543210,
		.complete = false,
		.cut_at = UINT64_C(1) << 39,
		.damage = "a buffer ends early",
		.recorder = "NT Kernel Logger",
	};
	return info;
}

static void assert_same_info(const struct rd_trace_info *a, const struct rd_trace_info *b)
{
	assert_int_equal(a->format, b->format);
	assert_int_equal(a->version_major, b->version_major);
	assert_int_equal(a->version_minor, b->version_minor);
	assert_int_equal(a->pointer_bytes, b->pointer_bytes);
	assert_int_equal(a->cpus, b->cpus);
	assert_int_equal(a->pid, b->pid);
	assert_int_equal(a->compression, b->compression);
	assert_int_equal(a->log_file_mode, b->log_file_mode);
	assert_int_equal(a->size_bytes, b->size_bytes);
	assert_int_equal(a->mtime_ns, b->mtime_ns);
	assert_int_equal(a->clock.kind, b->clock.kind);
	assert_int_equal(a->clock.frequency_hz, b->clock.frequency_hz);
	assert_int_equal(a->clock.start_ticks, b->clock.start_ticks);
	assert_int_equal(a->clock.start_utc_ns, b->clock.start_utc_ns);
	assert_int_equal(a->end_ticks, b->end_ticks);
	assert_int_equal(a->sampling_ns, b->sampling_ns);
	assert_int_equal(a->lost_events, b->lost_events);
	assert_int_equal(a->lost_buffers, b->lost_buffers);
	assert_int_equal(a->digest, b->digest);
	assert_int_equal(a->complete, b->complete);
	assert_int_equal(a->cut_at, b->cut_at);
	assert_string_equal(a->damage, b->damage);
	assert_string_equal(a->recorder, b->recorder);
}

static void assert_same_blocks(const struct rd_block *a, const struct rd_block *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(a[i].offset, b[i].offset);
		assert_int_equal(a[i].size_bytes, b[i].size_bytes);
		assert_int_equal(a[i].time, b[i].time);
		assert_int_equal(a[i].ordinal, b[i].ordinal);
		assert_int_equal(a[i].cpu, b[i].cpu);
		assert_int_equal(a[i].kind, b[i].kind);
		assert_int_equal(a[i].provides, b[i].provides);
		assert_int_equal(a[i].resets, b[i].resets);
	}
}

static void fill_blocks(rd_block_vec *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct rd_block *b = rd_vec_add(v);
		assert_non_null(b);
		*b = (struct rd_block){
			.offset = i * 65536,
			.size_bytes = 65536 - i % 3,
			.time = i * i * 1000 % 77777777,
			.ordinal = (uint32_t)i * 2,
			.cpu = (uint16_t)(i % 300),
			.kind = (uint8_t)(i % 6),
			.provides = i % 8,
			.resets = i / 8 % 8,
		};
	}
}

static struct rd_span span_of(const struct rd_bytes *b)
{
	return (struct rd_span){b->at, b->n};
}

static void info_round_trip(void **state)
{
	struct rd_trace_info info = some_info(), back;
	struct rd_bytes bytes = {0};
	struct rd_error err;

	for (int round = 0; round < 2; round++) {
		bytes.n = 0;
		assert_ok(rd_info_pack(&info, &bytes, &err), &err);
		assert_ok(rd_info_unpack(&back, span_of(&bytes), &err), &err);
		assert_same_info(&info, &back);
		info.complete = true;
		info.cut_at = RD_NO_OFFSET;
		memset(info.damage, 'x', sizeof info.damage - 1);
		info.recorder[0] = 0;
	}
	rd_bytes_release(&bytes);
}

static void info_is_checked(void **state)
{
	struct rd_trace_info back = {.cpus = 4711};
	struct rd_bytes bytes = {0};
	struct rd_error err;
	struct rd_trace_info bad[7];

	for (int i = 0; i < 7; i++)
		bad[i] = some_info();
	/* One that is left out says why. */
	bad[0].format = RD_FORMAT_NONE;
	bad[0].damage[0] = 0;
	bad[1].format = 99;
	bad[2].pointer_bytes = 5;
	bad[3].clock.kind = 4;
	bad[4].clock.frequency_hz = 0;
	bad[5].complete = true;
	bad[6].cut_at = bad[6].size_bytes + 1;
	for (int i = 0; i < 7; i++) {
		bytes.n = 0;
		assert_ok(rd_info_pack(&bad[i], &bytes, &err), &err);
		assert_code(RD_CORRUPT, rd_info_unpack(&back, span_of(&bytes), &err));
	}
	assert_code(RD_UNSUPPORTED, rd_info_unpack(&back, (struct rd_span){(const uint8_t *)"", 0}, &err));
	assert_int_equal(back.cpus, 4711);
	rd_bytes_release(&bytes);
}

static void a_trace_that_is_left_out_is_empty(void **state)
{
	struct rd_index ix = {.info = some_info()}, back;
	struct rd_bytes bytes = {0};
	struct rd_error err;

	ix.info.format = RD_FORMAT_NONE;
	ix.info.complete = false;
	strcpy(ix.info.damage, "an empty file");
	assert_ok(rd_index_pack(&ix, &bytes, &err), &err);
	assert_ok(rd_index_unpack(&back, span_of(&bytes), &err), &err);
	assert_true(rd_trace_is_left_out(&back.info));
	assert_string_equal("an empty file", back.info.damage);
	rd_index_release(&back);
	fill_blocks(&ix.blocks, 1);
	bytes.n = 0;
	assert_ok(rd_index_pack(&ix, &bytes, &err), &err);
	assert_code(RD_CORRUPT, rd_index_unpack(&back, span_of(&bytes), &err));
	rd_bytes_release(&bytes);
	rd_index_release(&ix);
}

static void index_round_trip(void **state)
{
	static const size_t counts[] = {0, 1, 2, 8191, 8192, 8193, 20000};
	struct rd_error err;

	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		struct rd_index ix = {.info = some_info(), .sort_by_time = i % 2, .whole = i % 3}, back;
		struct rd_bytes bytes = {0};
		rd_block_vec blocks = {0};
		fill_blocks(&ix.blocks, counts[i]);
		assert_ok(rd_index_pack(&ix, &bytes, &err), &err);
		assert_ok(rd_index_unpack(&back, span_of(&bytes), &err), &err);
		assert_same_info(&ix.info, &back.info);
		assert_int_equal(back.sort_by_time, ix.sort_by_time);
		assert_int_equal(back.whole, ix.whole);
		assert_int_equal(back.blocks.n, counts[i]);
		assert_same_blocks(ix.blocks.at, back.blocks.at, counts[i]);
		/* A few bytes a block, for times in disorder and every kind of context. */
		assert_true(bytes.n < 200 + 18 * counts[i]);

		bytes.n = 0;
		fill_blocks(&blocks, 1);
		assert_ok(rd_blocks_pack(ix.blocks.at, counts[i], &bytes, &err), &err);
		assert_ok(rd_blocks_unpack(&blocks, span_of(&bytes), &err), &err);
		assert_int_equal(blocks.n, 1 + counts[i]);
		assert_same_blocks(ix.blocks.at, blocks.at + 1, counts[i]);
		rd_vec_release(&blocks);
		rd_vec_release(&back.blocks);
		rd_vec_release(&ix.blocks);
		rd_bytes_release(&bytes);
	}
}

static void edge_blocks(void **state)
{
	struct rd_block in[3] = {
		{.offset = UINT64_MAX,
		 .time = UINT64_MAX,
		 .ordinal = UINT32_MAX,
		 .cpu = UINT16_MAX,
		 .kind = 255,
		 .provides = 7,
		 .resets = 7},
		{.size_bytes = UINT64_MAX},
		{.offset = 5, .time = 1, .ordinal = 9},
	};
	struct rd_bytes bytes = {0};
	rd_block_vec out = {0};
	struct rd_error err;

	assert_ok(rd_blocks_pack(in, 3, &bytes, &err), &err);
	assert_ok(rd_blocks_unpack(&out, span_of(&bytes), &err), &err);
	assert_int_equal(out.n, 3);
	assert_same_blocks(in, out.at, 3);

	bytes.n = 0;
	in[1].offset = 1; /* ends beyond 2^64 */
	assert_ok(rd_blocks_pack(in, 3, &bytes, &err), &err);
	assert_code(RD_CORRUPT, rd_blocks_unpack(&out, span_of(&bytes), &err));
	bytes.n = 0;
	in[1] = (struct rd_block){.resets = 8};
	assert_ok(rd_blocks_pack(in, 3, &bytes, &err), &err);
	assert_code(RD_CORRUPT, rd_blocks_unpack(&out, span_of(&bytes), &err));
	assert_int_equal(out.n, 3);
	rd_vec_release(&out);
	rd_bytes_release(&bytes);
}

static void index_is_checked(void **state)
{
	struct rd_index ix = {.info = some_info()}, back = {0};
	struct rd_bytes bytes = {0};
	struct rd_error err;

	fill_blocks(&ix.blocks, 4);
	ix.blocks.at[2].ordinal = ix.blocks.at[1].ordinal;
	assert_ok(rd_index_pack(&ix, &bytes, &err), &err);
	assert_code(RD_CORRUPT, rd_index_unpack(&back, span_of(&bytes), &err));
	ix.blocks.at[2].ordinal++;
	bytes.n = 0;
	assert_ok(rd_index_pack(&ix, &bytes, &err), &err);
	assert_ok(rd_index_unpack(&back, span_of(&bytes), &err), &err);
	rd_vec_release(&back.blocks);
	/* One block fewer than the head says. */
	struct rd_bytes short_one = {0};
	assert_ok(rd_bytes_append(&short_one, bytes.at, 4 + rd_le32(bytes.at)), NULL);
	assert_ok(rd_blocks_pack(ix.blocks.at, 3, &short_one, &err), &err);
	assert_code(RD_CORRUPT, rd_index_unpack(&back, span_of(&short_one), &err));
	assert_string_equal(err.text, "an index of 4 blocks has 3");
	rd_bytes_release(&short_one);
	/* Outside the file. */
	ix.info.size_bytes = 3 * 65536;
	ix.info.cut_at = RD_NO_OFFSET;
	bytes.n = 0;
	assert_ok(rd_index_pack(&ix, &bytes, &err), &err);
	assert_code(RD_CORRUPT, rd_index_unpack(&back, span_of(&bytes), &err));
	assert_null(back.blocks.at);
	rd_vec_release(&ix.blocks);
	rd_bytes_release(&bytes);
}

static void cut_and_flipped(void **state)
{
	struct rd_index ix = {.info = some_info(), .sort_by_time = true}, back;
	struct rd_bytes bytes = {0};
	struct rd_error err;

	fill_blocks(&ix.blocks, 40);
	assert_ok(rd_index_pack(&ix, &bytes, &err), &err);
	for (size_t n = 0; n < bytes.n; n++) {
		uint8_t *copy = malloc(n + 1);
		assert_non_null(copy);
		memcpy(copy, bytes.at, n);
		assert_true(rd_index_unpack(&back, (struct rd_span){copy, n}, &err) < 0);
		free(copy);
	}
	for (size_t at = 0; at < bytes.n; at++) {
		for (int bit = 0; bit < 8; bit++) {
			bytes.at[at] ^= (uint8_t)(1 << bit);
			if (rd_index_unpack(&back, span_of(&bytes), &err) == 0)
				rd_vec_release(&back.blocks);
			bytes.at[at] ^= (uint8_t)(1 << bit);
		}
	}
	rd_vec_release(&ix.blocks);
	rd_bytes_release(&bytes);
}

static void no_memory(void **state)
{
	struct rd_index ix = {.info = some_info()}, back;
	struct rd_bytes bytes = {0};
	struct rd_error err;
	uint64_t nth;
	int code;

	fill_blocks(&ix.blocks, 10);
	for (nth = 1, code = RD_NOMEM; code != 0; nth++) {
		rd_bytes_release(&bytes);
		rd_fail_allocation(nth);
		code = rd_index_pack(&ix, &bytes, &err);
		rd_fail_allocation(0);
		assert_true(code == 0 || code == RD_NOMEM);
	}
	for (nth = 1, code = RD_NOMEM; code != 0; nth++) {
		rd_fail_allocation(nth);
		code = rd_index_unpack(&back, span_of(&bytes), &err);
		rd_fail_allocation(0);
		assert_true(code == 0 || code == RD_NOMEM);
	}
	assert_true(nth > 8);
	rd_vec_release(&back.blocks);
	rd_vec_release(&ix.blocks);
	rd_bytes_release(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(info_round_trip),  cmocka_unit_test(info_is_checked),
		cmocka_unit_test(a_trace_that_is_left_out_is_empty),
		cmocka_unit_test(index_round_trip), cmocka_unit_test(edge_blocks),
		cmocka_unit_test(index_is_checked), cmocka_unit_test(cut_and_flipped),
		cmocka_unit_test(no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
