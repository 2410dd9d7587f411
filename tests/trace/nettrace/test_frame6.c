/* The head, the framing and the index of nettrace 6 files. */
#include "tests/support.h"

#include "tests/trace/nettrace/nettrace6_build.h"
#include "tests/trace/trace_whole.h"
#include "trace/nettrace/frame6.h"
#include "trace/nettrace/nettrace.h"

static void the_head_says_what_the_file_is(void **state)
{
	struct nettrace6_build b;
	struct rd_index ix;
	struct rd_error err;
	nettrace6_begin(&b, &(struct nettrace6_options){.minor = 3,
							.pairs = {"HardwareThreadCount", "12", "ProcessId", "4242",
								  "ExpectedCPUSamplingRate", "1000000", "Other", "x"}});
	nettrace6_end(&b);
	assert_ok(index_bytes(&rd_format_nettrace, b.file.at, b.file.n, &ix, &err), &err);
	assert_int_equal(ix.info.version_major, 6);
	assert_int_equal(ix.info.version_minor, 3);
	assert_int_equal(ix.info.pointer_bytes, 8);
	assert_int_equal(ix.info.pid, 4242);
	assert_int_equal(ix.info.cpus, 12);
	assert_int_equal(ix.info.sampling_ns, 1000000);
	assert_int_equal(ix.info.clock.kind, RD_CLOCK_QPC);
	assert_int_equal(ix.info.clock.start_ticks, 1000);
	assert_int_equal(ix.info.clock.frequency_hz, 1000000000);
	assert_int_equal(ix.info.clock.start_utc_ns, INT64_C(1709210096789000000));
	assert_int_equal(ix.blocks.n, 0);
	assert_true(ix.info.complete);
	rd_index_release(&ix);
	for (size_t n = 1; n < b.file.n - 4; n++)
		assert_code(RD_TRUNCATED, index_bytes(&rd_format_nettrace, b.file.at, n, &ix, &err));
	nettrace6_release(&b);
}

/* Numbers that are none, or too large, are as if they were not said. */
static void pairs_that_make_no_sense(void **state)
{
	struct nettrace6_build b;
	struct rd_index ix;
	struct rd_error err;
	nettrace6_begin(&b,
			&(struct nettrace6_options){.pairs = {"HardwareThreadCount", "-1", "ProcessId", "4294967296",
							      "ExpectedCPUSamplingRate", "18446744073709551616"}});
	nettrace6_end(&b);
	assert_ok(index_bytes(&rd_format_nettrace, b.file.at, b.file.n, &ix, &err), &err);
	assert_int_equal(ix.info.pid, 0);
	assert_int_equal(ix.info.cpus, 0);
	assert_int_equal(ix.info.sampling_ns, 0);
	rd_index_release(&ix);
	nettrace6_release(&b);
}

/* A recorder may list as much of itself as it likes. */
static void a_head_longer_than_a_page(void **state)
{
	static char value[20001];
	struct nettrace6_build b;
	struct rd_index ix;
	struct rd_error err;
	memset(value, 'x', sizeof value - 1);
	nettrace6_begin(&b, &(struct nettrace6_options){.pairs = {"Story", value, "ProcessId", "7"}});
	nettrace6_stacks(&b, 1);
	nettrace6_end(&b);
	assert_ok(index_bytes(&rd_format_nettrace, b.file.at, b.file.n, &ix, &err), &err);
	assert_int_equal(ix.info.pid, 7);
	assert_int_equal(ix.blocks.n, 1);
	rd_index_release(&ix);
	nettrace6_release(&b);
}

static void odd_heads(void **state)
{
	struct nettrace6_build b;
	struct rd_index ix;
	struct rd_error err;
	nettrace6_begin(&b, &(struct nettrace6_options){.major = 7});
	nettrace6_end(&b);
	assert_code(RD_UNSUPPORTED, index_bytes(&rd_format_nettrace, b.file.at, b.file.n, &ix, &err));
	assert_non_null(strstr(err.text, "nettrace 7.0"));
	nettrace6_release(&b);
	nettrace6_begin(&b, &(struct nettrace6_options){.pointer_bytes = 5});
	nettrace6_end(&b);
	assert_code(RD_CORRUPT, index_bytes(&rd_format_nettrace, b.file.at, b.file.n, &ix, &err));
	/* More pairs than bytes. */
	memset(b.file.at + b.file.n - 8, 0xff, 4);
	assert_code(RD_CORRUPT, index_bytes(&rd_format_nettrace, b.file.at, b.file.n, &ix, &err));
	/* The first block is another one. */
	b.file.at[RD_NETTRACE6_MAGIC_BYTES + 3] = RD_NETTRACE_STACK;
	assert_code(RD_CORRUPT, index_bytes(&rd_format_nettrace, b.file.at, b.file.n, &ix, &err));
	nettrace6_release(&b);
}

static void blocks_have_kinds_times_and_context(void **state)
{
	static const struct {
		uint8_t kind, provides, resets;
	} rows[] = {
		{RD_NETTRACE_METADATA, RD_CONTEXT_METADATA, 0},
		{RD_NETTRACE_SEQUENCE_POINT, 0, RD_CONTEXT_STACKS | RD_CONTEXT_THREADS},
		{RD_NETTRACE_STACK, RD_CONTEXT_STACKS, 0},
		{RD_NETTRACE_THREAD, RD_CONTEXT_THREADS, 0},
		{RD_NETTRACE_LABEL_LIST, RD_CONTEXT_STACKS, 0},
		{RD_NETTRACE_EVENT, 0, 0},
		{RD_NETTRACE_REMOVE_THREAD, RD_CONTEXT_THREADS, 0},
		{RD_NETTRACE_EVENT, 0, 0},
		{RD_NETTRACE_THREAD, RD_CONTEXT_THREADS, 0},
		{RD_NETTRACE_EVENT, 0, 0},
		{RD_NETTRACE_SEQUENCE_POINT, 0, RD_CONTEXT_STACKS},
		{RD_NETTRACE_EVENT, 0, 0},
		{RD_NETTRACE_SEQUENCE_POINT, 0, RD_CONTEXT_STACKS | RD_CONTEXT_METADATA},
		{RD_NETTRACE_METADATA, RD_CONTEXT_METADATA, 0},
		{RD_NETTRACE_STACK, RD_CONTEXT_STACKS, 0},
		{RD_NETTRACE_EVENT, 0, 0},
		{RD_NETTRACE_SEQUENCE_POINT, 0, RD_CONTEXT_STACKS | RD_CONTEXT_THREADS | RD_CONTEXT_METADATA},
		{RD_NETTRACE_METADATA, RD_CONTEXT_METADATA, 0},
		{RD_NETTRACE_EVENT, 0, 0},
	};
	struct nettrace6_build b;
	struct rd_index ix;
	struct rd_error err;
	nettrace6_sample_file(&b, NULL);
	assert_ok(index_bytes(&rd_format_nettrace, b.file.at, b.file.n, &ix, &err), &err);
	assert_int_equal(ix.blocks.n, sizeof rows / sizeof *rows);
	assert_true(ix.info.complete);
	assert_false(ix.sort_by_time);
	assert_false(ix.whole);
	for (size_t i = 0; i < ix.blocks.n; i++) {
		assert_int_equal(ix.blocks.at[i].kind, rows[i].kind);
		assert_int_equal(ix.blocks.at[i].provides, rows[i].provides);
		assert_int_equal(ix.blocks.at[i].resets, rows[i].resets);
	}
	/* The unknown block between them is nobody's to read. */
	assert_int_equal(ix.blocks.at[6].offset, ix.blocks.at[5].offset + ix.blocks.at[5].size_bytes + 4 + 8);
	assert_int_equal(ix.blocks.at[10].time, 3000);
	rd_index_release(&ix);
	nettrace6_release(&b);
}

/* A point too short for its flags drops the stacks, and no more. */
static void points_without_flags(void **state)
{
	uint8_t payload[12] = {[8] = 3};
	for (size_t n = 0; n < 12; n++)
		assert_int_equal(rd_nettrace6_point_resets(payload, n), RD_CONTEXT_STACKS);
	assert_int_equal(rd_nettrace6_point_resets(payload, 12),
			 RD_CONTEXT_STACKS | RD_CONTEXT_THREADS | RD_CONTEXT_METADATA);
}

static void check_end(const struct nettrace6_build *b, const char *damage, uint64_t cut_at, size_t blocks)
{
	struct rd_index ix;
	struct rd_error err;
	assert_ok(index_bytes(&rd_format_nettrace, b->file.at, b->file.n, &ix, &err), &err);
	assert_int_equal(ix.blocks.n, blocks);
	assert_int_equal(ix.info.complete, damage == NULL);
	assert_true(ix.info.cut_at == cut_at);
	if (damage != NULL)
		assert_non_null(strstr(ix.info.damage, damage));
	rd_index_release(&ix);
}

/* A recorder that died leaves whole blocks, part of a block, or a block whose head it never filled in. */
static void row_01_ends_of_all_kinds(void **state)
{
	struct nettrace6_build b;
	nettrace6_begin(&b, &(struct nettrace6_options){.unfinished = true});
	nettrace6_stacks(&b, 1);
	nettrace6_end(&b);
	uint64_t end = b.file.n;
	check_end(&b, "without its end mark", end, 1);
	put_number(&b.file, 0, 3);
	check_end(&b, "inside a block's head", end, 1);
	put_number(&b.file, 0, 1);
	check_end(&b, NULL, RD_NO_OFFSET, 1);
	put_number(&b.file, 0x1234, 2);
	check_end(&b, "behind the end mark", end, 1);
	/* The end mark of a later version may say something. */
	b.file.at[end] = 2;
	check_end(&b, NULL, RD_NO_OFFSET, 1);
	b.file.at[end + 3] = RD_NETTRACE_TRACE;
	check_end(&b, "a second head", end, 1);
	b.file.at[end + 3] = RD_NETTRACE_EVENT;
	b.file.at[end] = 3;
	check_end(&b, "inside a block", end, 1);
	/* The longest that a block may say it is. */
	memset(b.file.at + end, 0xff, 3);
	check_end(&b, "inside a block", end, 1);
	b.file.at[end + 3] = 0xff;
	check_end(&b, "inside a block", end, 1);
	nettrace6_release(&b);
}

/* A recorder still writes. What came after the file was opened is not there. */
static void row_04_a_file_that_grows(void **state)
{
	struct nettrace6_build b;
	struct rd_source s;
	struct rd_error err;
	nettrace6_begin(&b, NULL);
	nettrace6_stacks(&b, 1);
	nettrace6_end(&b);
	memory_source(&s, b.file.at, b.file.n);
	for (size_t less = 1; less <= 4 + 4 + 8; less++) {
		struct rd_index ix = {0};
		s.size_bytes = b.file.n - less;
		assert_ok(rd_format_nettrace.index(&s, &ix, NULL, NULL, &err), &err);
		assert_false(ix.info.complete);
		assert_int_equal(ix.info.cut_at, less <= 4 ? b.file.n - 4 : b.file.n - 16);
		assert_int_equal(ix.blocks.n, less <= 4);
		rd_index_release(&ix);
	}
	rd_source_close(&s);
	nettrace6_release(&b);
}

/* Blocks of length 0. */
static void row_02_blocks_of_length_0(void **state)
{
	struct nettrace6_build b;
	struct trace_log log = {0};
	struct rd_index ix;
	struct rd_source s;
	struct rd_error err;
	nettrace6_begin(&b, NULL);
	for (unsigned kind = RD_NETTRACE_EVENT; kind <= RD_NETTRACE_LABEL_LIST + 2; kind++) {
		nettrace6_block(&b, (uint8_t)kind);
		b.payload.n = 0;
	}
	nettrace6_end(&b);
	memory_source(&s, b.file.at, b.file.n);
	assert_ok(rd_format_nettrace.index(&s, &ix, NULL, NULL, &err), &err);
	assert_int_equal(ix.blocks.n, RD_NETTRACE_LABEL_LIST - 1);
	assert_ok(log_blocks(&log, &rd_format_nettrace, &s, &ix, 0, ix.blocks.n, RD_WANT_ALL, &err), &err);
	/* No rows are a whole block of threads, and of removed ones. */
	assert_int_equal(log.undone, 5);
	log_release(&log);
	rd_index_release(&ix);
	rd_source_close(&s);
	nettrace6_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_head_says_what_the_file_is),
		cmocka_unit_test(pairs_that_make_no_sense),
		cmocka_unit_test(a_head_longer_than_a_page),
		cmocka_unit_test(odd_heads),
		cmocka_unit_test(blocks_have_kinds_times_and_context),
		cmocka_unit_test(points_without_flags),
		cmocka_unit_test(row_01_ends_of_all_kinds),
		cmocka_unit_test(row_04_a_file_that_grows),
		cmocka_unit_test(row_02_blocks_of_length_0),
	};
	return cmocka_run_group_tests_name("nettrace/frame6", tests, NULL, NULL);
}
