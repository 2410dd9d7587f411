/* The head, the framing and the index of nettrace files. */
#include "tests/support.h"

#include "tests/trace/nettrace/nettrace_build.h"
#include "tests/trace/trace_whole.h"
#include "trace/nettrace/frame.h"
#include "trace/nettrace/nettrace.h"

static void the_head_says_what_the_file_is(void **state)
{
	struct nettrace_build b;
	struct rd_trace_info info = {0};
	struct rd_error err;
	uint64_t first = 0;
	nettrace_begin(&b, NULL);
	assert_ok(rd_nettrace_head(b.file.at, b.file.n, &info, &first, &err), &err);
	assert_int_equal(first, b.file.n);
	assert_int_equal(info.version_major, 4);
	assert_int_equal(info.pointer_bytes, 8);
	assert_int_equal(info.pid, 4242);
	assert_int_equal(info.cpus, 2);
	assert_int_equal(info.sampling_ns, 1000000);
	assert_int_equal(info.clock.kind, RD_CLOCK_QPC);
	assert_int_equal(info.clock.start_ticks, 1000);
	assert_int_equal(info.clock.frequency_hz, 1000000000);
	assert_int_equal(info.clock.start_utc_ns, INT64_C(1709210096789000000));
	for (size_t n = 0; n < b.file.n; n++)
		assert_code(RD_TRUNCATED, rd_nettrace_head(b.file.at, n, &info, &first, &err));
	nettrace_release(&b);
}

static void odd_heads(void **state)
{
	struct nettrace_build b;
	struct rd_trace_info info = {0};
	struct rd_error err;
	uint64_t first;
	nettrace_begin(&b, NULL);
	const size_t date = 32 + 21, frequency = date + 24, pointer = frequency + 8;
	memset(b.file.at + frequency, 0, 8);
	memset(b.file.at + date + 2, 0, 2);
	assert_ok(rd_nettrace_head(b.file.at, b.file.n, &info, &first, &err), &err);
	assert_int_equal(info.clock.frequency_hz, 1000000000);
	assert_int_equal(info.clock.start_utc_ns, 0);
	b.file.at[pointer] = 5;
	assert_code(RD_CORRUPT, rd_nettrace_head(b.file.at, b.file.n, &info, &first, &err));
	b.file.at[pointer] = 8;
	b.file.at[b.file.n - 1] = 7;
	assert_code(RD_CORRUPT, rd_nettrace_head(b.file.at, b.file.n, &info, &first, &err));
	b.file.at[b.file.n - 1] = 6;
	b.file.at[32 + 15] = 't';
	assert_code(RD_CORRUPT, rd_nettrace_head(b.file.at, b.file.n, &info, &first, &err));
	b.file.at[8] = 19;
	assert_code(RD_CORRUPT, rd_nettrace_head(b.file.at, b.file.n, &info, &first, &err));
	nettrace_release(&b);
}

static void other_versions_are_refused_by_name(void **state)
{
	static const uint8_t seven[] = "Nettrace\0\0\0\0\7\0\0\0\1\0\0\0";
	struct nettrace_build b;
	struct rd_index ix;
	struct rd_error err;
	assert_code(RD_UNSUPPORTED, index_bytes(&rd_format_nettrace, seven, sizeof seven - 1, &ix, &err));
	assert_non_null(strstr(err.text, "nettrace 7.1"));
	assert_code(RD_TRUNCATED, index_bytes(&rd_format_nettrace, seven, sizeof seven - 2, &ix, &err));
	nettrace_begin(&b, &(struct nettrace_options){.version = 7, .oldest_reader = 7});
	assert_code(RD_UNSUPPORTED, index_bytes(&rd_format_nettrace, b.file.at, b.file.n, &ix, &err));
	assert_non_null(strstr(err.text, "nettrace 7"));
	nettrace_release(&b);
	nettrace_begin(&b, &(struct nettrace_options){.version = 5, .oldest_reader = 4});
	nettrace_end(&b);
	assert_ok(index_bytes(&rd_format_nettrace, b.file.at, b.file.n, &ix, &err), &err);
	assert_int_equal(ix.info.version_major, 5);
	nettrace_release(&b);
}

static void blocks_have_kinds_times_and_context(void **state)
{
	static const uint8_t kinds[] = {RD_NETTRACE_METADATA,       RD_NETTRACE_METADATA, RD_NETTRACE_STACK,
					RD_NETTRACE_EVENT,          RD_NETTRACE_STACK,    RD_NETTRACE_EVENT,
					RD_NETTRACE_SEQUENCE_POINT, RD_NETTRACE_STACK,    RD_NETTRACE_EVENT};
	struct nettrace_build b;
	struct rd_index ix;
	struct rd_error err;
	nettrace_sample_file(&b, NULL);
	assert_ok(index_bytes(&rd_format_nettrace, b.file.at, b.file.n, &ix, &err), &err);
	assert_int_equal(ix.blocks.n, sizeof kinds);
	assert_true(ix.info.complete);
	assert_false(ix.sort_by_time);
	assert_false(ix.whole);
	for (size_t i = 0; i < ix.blocks.n; i++) {
		const struct rd_block *k = &ix.blocks.at[i];
		assert_int_equal(k->kind, kinds[i]);
		assert_int_equal(k->provides, k->kind == RD_NETTRACE_METADATA ? RD_CONTEXT_METADATA
					      : k->kind == RD_NETTRACE_STACK  ? RD_CONTEXT_STACKS
									      : 0);
		assert_int_equal(k->resets, k->kind == RD_NETTRACE_SEQUENCE_POINT ? RD_CONTEXT_STACKS : 0);
		/* The block that this build does not know stands before the fifth. */
		if (i != 0 && i != 4)
			assert_int_equal(k->offset, k[-1].offset + k[-1].size_bytes);
	}
	assert_true(ix.blocks.at[4].offset > ix.blocks.at[3].offset + ix.blocks.at[3].size_bytes);
	assert_int_equal(ix.blocks.at[6].time, 4000);
	rd_index_release(&ix);
	nettrace_release(&b);
}

/* A writer that died: at a block's edge without the end mark, and inside every byte of a block. */
static void a_cut_file_keeps_its_whole_blocks(void **state)
{
	struct nettrace_build b;
	struct rd_index ix;
	struct rd_error err;
	nettrace_sample_file(&b, NULL);
	assert_ok(index_bytes(&rd_format_nettrace, b.file.at, b.file.n, &ix, &err), &err);
	const struct rd_block last = ix.blocks.at[ix.blocks.n - 1];
	check_cut(&rd_format_nettrace, &b.file, b.file.n - 1, ix.blocks.n, b.file.n - 1);
	for (uint64_t n = last.offset + 1; n < last.offset + last.size_bytes; n++)
		check_cut(&rd_format_nettrace, &b.file, (size_t)n, ix.blocks.n - 1, last.offset);
	check_cut(&rd_format_nettrace, &b.file, (size_t)last.offset, ix.blocks.n - 1, last.offset);
	check_cut(&rd_format_nettrace, &b.file, (size_t)ix.blocks.at[0].offset, 0, ix.blocks.at[0].offset);
	rd_index_release(&ix);
	nettrace_release(&b);
}

static void bytes_behind_the_end_mark_are_nothing(void **state)
{
	struct nettrace_build b;
	struct rd_index ix;
	struct rd_error err;
	nettrace_sample_file(&b, NULL);
	put_number(&b.file, 0x0505, 2);
	assert_ok(index_bytes(&rd_format_nettrace, b.file.at, b.file.n, &ix, &err), &err);
	assert_true(ix.info.complete);
	assert_int_equal(ix.blocks.n, 9);
	rd_index_release(&ix);
	nettrace_release(&b);
}

/* Broken framing of the fourth block ends the file there; what came before stays. */
static void broken_framing_ends_the_file(void **state)
{
	enum { BEGIN = 0, TYPE = 2, OLDEST = 7, NAME_BYTES = 11, TYPE_END = 25, SIZE = 26 };
	static const struct {
		size_t at;
		uint64_t value;
		size_t size_bytes;
	} faults[] = {
		{BEGIN, 4, 1},    {TYPE, 5, 1}, {OLDEST, 3, 4},        {NAME_BYTES, 129, 4},  {NAME_BYTES, ~0u, 4},
		{TYPE_END, 5, 1}, {SIZE, 0, 4}, {SIZE, 0x7fffffff, 4}, {SIZE, 0x80000000, 4}, {SIZE, ~0u, 4},
	};
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
		struct nettrace_build b;
		struct rd_index ix;
		struct rd_error err;
		nettrace_sample_file(&b, NULL);
		assert_ok(index_bytes(&rd_format_nettrace, b.file.at, b.file.n, &ix, &err), &err);
		uint64_t at = ix.blocks.at[3].offset;
		rd_index_release(&ix);
		memcpy(b.file.at + at + faults[i].at, &faults[i].value, faults[i].size_bytes);
		check_cut(&rd_format_nettrace, &b.file, b.file.n, 3, at);
		nettrace_release(&b);
	}
}

static void a_second_head_ends_the_file(void **state)
{
	struct nettrace_build b;
	nettrace_begin(&b, NULL);
	uint64_t at = b.file.n;
	nettrace_block(&b, "Trace");
	nettrace_end(&b);
	check_cut(&rd_format_nettrace, &b.file, b.file.n, 0, at);
	nettrace_release(&b);
}

static uint64_t told;
static void on_progress(void *ctx, uint64_t bytes)
{
	assert_true(bytes >= told);
	told = bytes;
}

/* Larger than what the index looks at, so that it steps over most of it. */
static void a_large_file_is_not_read(void **state)
{
	struct nettrace_build b;
	struct rd_source s;
	struct rd_index ix = {0};
	struct rd_error err;
	nettrace_begin(&b, NULL);
	for (int i = 0; i < 3; i++) {
		nettrace_block(&b, "EventBlock");
		assert_non_null(rd_bytes_extend(&b.payload, 3 << 20));
		memset(b.payload.at + 20, 0x55, b.payload.n - 20);
	}
	nettrace_end(&b);
	memory_source(&s, b.file.at, b.file.n);
	assert_ok(rd_format_nettrace.index(&s, &ix, on_progress, NULL, &err), &err);
	assert_int_equal(ix.blocks.n, 3);
	assert_int_equal(told, b.file.n);
	rd_index_release(&ix);
	rd_source_close(&s);
	nettrace_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_head_says_what_the_file_is),
		cmocka_unit_test(odd_heads),
		cmocka_unit_test(other_versions_are_refused_by_name),
		cmocka_unit_test(blocks_have_kinds_times_and_context),
		cmocka_unit_test(a_cut_file_keeps_its_whole_blocks),
		cmocka_unit_test(bytes_behind_the_end_mark_are_nothing),
		cmocka_unit_test(broken_framing_ends_the_file),
		cmocka_unit_test(a_second_head_ends_the_file),
		cmocka_unit_test(a_large_file_is_not_read),
	};
	return cmocka_run_group_tests_name("nettrace/frame", tests, NULL, NULL);
}
