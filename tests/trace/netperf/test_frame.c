/* The head, the framing and the index of netperf files. */
#include "tests/support.h"

#include "tests/trace/netperf/netperf_build.h"
#include "tests/trace/nettrace/nettrace_build.h"
#include "tests/trace/trace_whole.h"
#include "trace/netperf/frame.h"
#include "trace/netperf/netperf.h"

enum { OLD_FIRST_EVENT = 0x72 }; /* where the events of versions 1 and 2 begin */

static void the_head_says_what_the_file_is(void **state)
{
	for (int32_t version = 1; version <= 3; version++) {
		struct netperf_build b;
		struct rd_trace_info info = {0};
		struct rd_error err;
		uint64_t first = 0;
		uint32_t reference = 7;
		netperf_begin(&b, &(struct netperf_options){.version = version, .pointer_bytes = 4});
		assert_ok(rd_netperf_head(b.file.at, b.file.n, &info, &first, &reference, &err), &err);
		assert_int_equal(first, b.file.n);
		assert_int_equal(reference, 0);
		assert_int_equal(info.version_major, version);
		assert_int_equal(info.pointer_bytes, version == 3 ? 4 : 8);
		assert_int_equal(info.pid, version == 3 ? 4242 : 0);
		assert_int_equal(info.cpus, version == 3 ? 2 : 0);
		assert_int_equal(info.sampling_ns, version == 3 ? 1000000 : 0);
		assert_int_equal(info.clock.kind, RD_CLOCK_QPC);
		assert_int_equal(info.clock.start_ticks, 1000);
		assert_int_equal(info.clock.frequency_hz, 1000000000);
		assert_int_equal(info.clock.start_utc_ns, INT64_C(1519779723004000000));
		for (size_t n = 0; n < b.file.n; n++)
			assert_code(RD_TRUNCATED, rd_netperf_head(b.file.at, n, &info, &first, &reference, &err));
		netperf_release(&b);
	}
}

static void other_versions_are_refused_by_name(void **state)
{
	static const struct {
		int32_t version, oldest_reader;
		const char *text;
	} others[] = {{4, 0, "netperf 4:"},
		      {3, 4, "netperf 3:"},
		      {-1, 0, "netperf -1:"},
		      {INT32_MAX, 0, "netperf 2147483647:"}};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		struct netperf_build b;
		struct rd_index ix;
		struct rd_error err;
		netperf_begin(&b, &(struct netperf_options){.version = others[i].version,
							    .oldest_reader = others[i].oldest_reader});
		assert_true(rd_format_netperf.probe(b.file.at, b.file.n));
		assert_code(RD_UNSUPPORTED, index_bytes(&rd_format_netperf, b.file.at, b.file.n, &ix, &err));
		assert_non_null(strstr(err.text, others[i].text));
		netperf_release(&b);
	}
}

static void odd_heads(void **state)
{
	const size_t date = 24 + 21, pointer = date + 32;
	struct netperf_build b;
	struct rd_index ix;
	struct rd_error err;
	netperf_begin(&b, NULL);
	netperf_end(&b);
	assert_ok(index_bytes(&rd_format_netperf, b.file.at, b.file.n, &ix, &err), &err);
	assert_true(ix.info.complete);
	assert_int_equal(ix.blocks.n, 0);
	b.file.at[pointer] = 5;
	assert_code(RD_CORRUPT, index_bytes(&rd_format_netperf, b.file.at, b.file.n, &ix, &err));
	b.file.at[pointer] = 8;
	b.file.at[b.file.n - 2] = 7;
	assert_code(RD_CORRUPT, index_bytes(&rd_format_netperf, b.file.at, b.file.n, &ix, &err));
	b.file.at[b.file.n - 2] = 6;
	/* A name that is no trace's: another program's file. */
	b.file.at[date - 2] = 'k';
	assert_false(rd_format_netperf.probe(b.file.at, b.file.n));
	assert_code(RD_UNSUPPORTED, index_bytes(&rd_format_netperf, b.file.at, b.file.n, &ix, &err));
	b.file.at[0] = 21;
	assert_false(rd_format_netperf.probe(b.file.at, b.file.n));
	assert_code(RD_CORRUPT, index_bytes(&rd_format_netperf, b.file.at, b.file.n, &ix, &err));
	netperf_release(&b);
}

static void a_file_may_have_the_later_tags(void **state)
{
	struct netperf_build b;
	struct rd_index ix;
	struct rd_error err;
	netperf_sample_file(&b, &(struct netperf_options){.begin = 5});
	assert_true(rd_format_netperf.probe(b.file.at, b.file.n));
	assert_ok(index_bytes(&rd_format_netperf, b.file.at, b.file.n, &ix, &err), &err);
	assert_true(ix.info.complete);
	assert_int_equal(ix.blocks.n, 3);
	rd_index_release(&ix);
	netperf_release(&b);
}

static void blocks_are_one_shard(void **state)
{
	/* Of the first event, which may be a metadata record. */
	static const uint64_t times[] = {0, 0, 4100};
	struct netperf_build b;
	struct rd_index ix;
	struct rd_error err;
	netperf_sample_file(&b, NULL);
	assert_ok(index_bytes(&rd_format_netperf, b.file.at, b.file.n, &ix, &err), &err);
	assert_true(ix.whole);
	assert_false(ix.sort_by_time);
	assert_int_equal(ix.blocks.n, 3);
	for (size_t i = 0; i < ix.blocks.n; i++) {
		const struct rd_block *k = &ix.blocks.at[i];
		assert_int_equal(k->kind, RD_NETPERF_BLOCK);
		assert_int_equal(k->provides, RD_CONTEXT_METADATA);
		assert_int_equal(k->resets, 0);
		assert_int_equal(k->time, times[i]);
		assert_true(i == 0 || k->offset == k[-1].offset + k[-1].size_bytes);
	}
	rd_index_release(&ix);
	netperf_release(&b);
}

/* A writer that died: at a block's edge without the end mark, and inside every byte of a block. */
static void a_cut_file_keeps_its_whole_blocks(void **state)
{
	struct netperf_build b;
	struct rd_index ix;
	struct rd_error err;
	netperf_sample_file(&b, NULL);
	assert_ok(index_bytes(&rd_format_netperf, b.file.at, b.file.n, &ix, &err), &err);
	const struct rd_block last = ix.blocks.at[2];
	check_cut(&rd_format_netperf, &b.file, b.file.n - 1, 3, b.file.n - 1);
	for (uint64_t n = last.offset; n < last.offset + last.size_bytes; n++)
		check_cut(&rd_format_netperf, &b.file, (size_t)n, 2, last.offset);
	check_cut(&rd_format_netperf, &b.file, (size_t)ix.blocks.at[0].offset, 0, ix.blocks.at[0].offset);
	rd_index_release(&ix);
	/* Bytes behind the end mark are nothing. */
	put_number(&b.file, 0x0404, 2);
	assert_ok(index_bytes(&rd_format_netperf, b.file.at, b.file.n, &ix, &err), &err);
	assert_true(ix.info.complete);
	assert_int_equal(ix.blocks.n, 3);
	rd_index_release(&ix);
	netperf_release(&b);
}

/* Broken framing of the second block ends the file there; what came before stays. */
static void broken_framing_ends_the_file(void **state)
{
	enum { BEGIN = 0, TYPE = 2, OLDEST = 7, NAME_BYTES = 11, NAME = 15, TYPE_END = 25, SIZE = 26 };
	static const struct {
		size_t at;
		uint64_t value;
		size_t size_bytes;
	} faults[] = {
		{BEGIN, 3, 1},         {TYPE, 5, 1},          {OLDEST, 2, 4},     {NAME_BYTES, 129, 4},
		{NAME_BYTES, ~0u, 4},  {NAME, 'T', 1},        {TYPE_END, 5, 1},   {SIZE, 0, 4},
		{SIZE, 0x7fffffff, 4}, {SIZE, 0x80000000, 4}, {NAME_BYTES, 0, 4},
	};
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
		struct netperf_build b;
		struct rd_index ix;
		struct rd_error err;
		netperf_sample_file(&b, NULL);
		assert_ok(index_bytes(&rd_format_netperf, b.file.at, b.file.n, &ix, &err), &err);
		uint64_t at = ix.blocks.at[1].offset;
		rd_index_release(&ix);
		memcpy(b.file.at + at + faults[i].at, &faults[i].value, faults[i].size_bytes);
		check_cut(&rd_format_netperf, &b.file, b.file.n, 1, at);
		netperf_release(&b);
	}
}

/* The whole events of a file that was cut, or whose writer died before it wrote where they end. */
static void events_without_blocks_end_anywhere(void **state)
{
	struct netperf_build b;
	struct rd_index ix;
	struct rd_error err;
	netperf_sample_file(&b, &(struct netperf_options){.version = 2});
	assert_ok(index_bytes(&rd_format_netperf, b.file.at, b.file.n, &ix, &err), &err);
	assert_true(ix.info.complete);
	assert_true(ix.whole);
	assert_int_equal(ix.info.pointer_bytes, 8);
	assert_int_equal(ix.blocks.n, 1);
	const struct rd_block run = ix.blocks.at[0];
	const uint64_t end = b.file.n - 17, last = end - 62;
	assert_int_equal(run.kind, RD_NETPERF_RUN);
	assert_int_equal(run.offset, OLD_FIRST_EVENT);
	assert_int_equal(run.size_bytes, end - OLD_FIRST_EVENT);
	rd_index_release(&ix);
	for (uint64_t n = end; n < b.file.n; n++)
		check_cut(&rd_format_netperf, &b.file, (size_t)n, 1, end);
	for (uint64_t n = last; n < end; n++)
		check_cut(&rd_format_netperf, &b.file, (size_t)n, 1, last);
	check_cut(&rd_format_netperf, &b.file, OLD_FIRST_EVENT, 0, OLD_FIRST_EVENT);
	check_cut(&rd_format_netperf, &b.file, OLD_FIRST_EVENT + 70, 0, OLD_FIRST_EVENT);
	netperf_release(&b);
}

/* What the last bytes say is not to be trusted; if they say nothing, the tag that closes the object is no event. */
static void the_end_may_lie(void **state)
{
	struct netperf_build b;
	netperf_sample_file(&b, &(struct netperf_options){.version = 2});
	const size_t n = b.file.n, end = n - 17, label = n - 12, table = n - 8, self = n - 4;
	const struct {
		size_t at;
		uint32_t value;
	} lies[] = {{self, 0},
		    {self, (uint32_t)n - 9},
		    {table, 0},
		    {table, (uint32_t)n},
		    {label, 0},
		    {label, (uint32_t)n},
		    {label, OLD_FIRST_EVENT},
		    {table, (uint32_t)n - 6}};
	for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
		uint8_t was[4];
		memcpy(was, b.file.at + lies[i].at, 4);
		memcpy(b.file.at + lies[i].at, &lies[i].value, 4);
		check_cut(&rd_format_netperf, &b.file, n, 1, end);
		memcpy(b.file.at + lies[i].at, was, 4);
	}
	/* An end inside the last event, at a byte that happens to be the tag: the event reaches over it. */
	const uint32_t inside = (uint32_t)end - 1;
	b.file.at[inside] = 6;
	memcpy(b.file.at + label, &inside, 4);
	struct rd_index ix;
	struct rd_error err;
	assert_ok(index_bytes(&rd_format_netperf, b.file.at, n, &ix, &err), &err);
	assert_false(ix.info.complete);
	assert_int_equal(ix.info.cut_at, end - 62);
	rd_index_release(&ix);
	/* Another reference, beyond the table. */
	b.file.at[OLD_FIRST_EVENT - 32 - 4] = 1;
	assert_ok(index_bytes(&rd_format_netperf, b.file.at, n, &ix, &err), &err);
	assert_false(ix.info.complete);
	rd_index_release(&ix);
	netperf_release(&b);
}

/* No field says it: a stack that is no multiple of 8 does. */
static void short_pointers_show_in_the_stacks(void **state)
{
	struct netperf_build b;
	struct rd_index ix;
	struct rd_error err;
	netperf_sample_file(&b, &(struct netperf_options){.version = 2, .pointer_bytes = 4});
	assert_ok(index_bytes(&rd_format_netperf, b.file.at, b.file.n, &ix, &err), &err);
	assert_true(ix.info.complete);
	assert_int_equal(ix.info.pointer_bytes, 4);
	rd_index_release(&ix);
	netperf_release(&b);
}

/* The second event: what the first said stays. */
static void a_broken_event_without_blocks_ends_the_file(void **state)
{
	enum { SIZE = 0, PAYLOAD_BYTES = 52 };
	struct netperf_build b;
	netperf_begin(&b, &(struct netperf_options){.version = 2});
	netperf_metadata(&b, 1, "MySource", 1, "", 0);
	size_t at = b.file.n;
	netperf_event(&b, &(struct netperf_event){.metadata_id = 1, .payload = "12345678", .payload_bytes = 8});
	netperf_event(&b, &(struct netperf_event){.metadata_id = 1, .payload = "12345678", .payload_bytes = 8});
	netperf_end(&b);
	static const struct {
		size_t at;
		uint32_t value;
	} faults[] = {
		{SIZE, 0},
		{SIZE, 55},
		{SIZE, 63},
		{SIZE, 68},
		{SIZE, 0x7fffffff},
		{SIZE, 0x80000000},
		{SIZE, 0xffffffff},
		{PAYLOAD_BYTES, 9},
		{PAYLOAD_BYTES, 0},
		{PAYLOAD_BYTES, 12},
		{64, 1},
		{64, 4},
		{64, 0xffffffff},
		{PAYLOAD_BYTES, 0xffffffff},
	};
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
		uint8_t was[4];
		memcpy(was, b.file.at + at + faults[i].at, 4);
		memcpy(b.file.at + at + faults[i].at, &faults[i].value, 4);
		check_cut(&rd_format_netperf, &b.file, b.file.n, 1, at);
		memcpy(b.file.at + at + faults[i].at, was, 4);
	}
	netperf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_head_says_what_the_file_is),
		cmocka_unit_test(other_versions_are_refused_by_name),
		cmocka_unit_test(odd_heads),
		cmocka_unit_test(a_file_may_have_the_later_tags),
		cmocka_unit_test(blocks_are_one_shard),
		cmocka_unit_test(a_cut_file_keeps_its_whole_blocks),
		cmocka_unit_test(broken_framing_ends_the_file),
		cmocka_unit_test(events_without_blocks_end_anywhere),
		cmocka_unit_test(the_end_may_lie),
		cmocka_unit_test(short_pointers_show_in_the_stacks),
		cmocka_unit_test(a_broken_event_without_blocks_ends_the_file),
	};
	return cmocka_run_group_tests_name("netperf/frame", tests, NULL, NULL);
}
