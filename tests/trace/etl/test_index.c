/* What an ETL file says of itself, its buffers in order, and files that are cut, broken, unfinished or circular. */
#include <fcntl.h>
#include <unistd.h>

#include "tests/support.h"
#include "tests/trace/etl/etl_build.h"
#include "tests/trace/etl/etl_run.h"

enum { BUFFER = 4096, N = 5 };

/* N buffers of one event each behind the header's; buffer i holds an event of id i. */
static void build(struct etl_build *e, const struct etl_options *options)
{
	const uint8_t guid[16] = {1};
	struct rd_bytes payload = {0};

	/* Something that does not pack to nothing. */
	for (uint64_t i = 1; i <= 100; i++)
		etl_put(&payload, i * 0x9e3779b97f4a7c15, 8);
	etl_begin(e, options);
	for (uint16_t i = 0; i < N; i++) {
		etl_buffer(e, i % 4, 1000u + i);
		etl_event(e, guid, i, 0, (struct etl_who){1, 2, 2000u + i}, NULL, &payload);
	}
	etl_end(e);
	rd_bytes_release(&payload);
}

static void index_of(struct etl_run *r, const struct etl_build *e)
{
	etl_run_index(r, e->file.at, e->file.n);
	assert_ok(r->indexed, &r->err);
}

static void header_of(uint32_t pointer_bytes)
{
	struct etl_build e;
	struct etl_run r;

	build(&e, &(struct etl_options){
			  .pointer_bytes = pointer_bytes,
			  .cpus = 12,
			  .lost_events = 7,
			  .lost_buffers = 3,
			  .session = "NT Kernel Logger",
		  });
	index_of(&r, &e);
	const struct rd_trace_info *info = &r.index.info;
	assert_int_equal(info->format, RD_FORMAT_ETL);
	assert_int_equal(info->version_major, 10);
	assert_int_equal(info->version_minor, 0);
	assert_int_equal(info->pointer_bytes, pointer_bytes);
	assert_int_equal(info->cpus, 12);
	assert_int_equal(info->lost_events, 7);
	assert_int_equal(info->lost_buffers, 3);
	assert_int_equal(info->size_bytes, e.file.n);
	assert_string_equal(info->recorder, "NT Kernel Logger");
	assert_int_equal(info->clock.kind, RD_CLOCK_QPC);
	assert_int_equal(info->clock.frequency_hz, 10000000);
	assert_int_equal(info->clock.start_ticks, 1000000);
	assert_int_equal(info->clock.start_utc_ns, INT64_C(1704067200000000000)); /* 2024-01-01 */
	assert_int_equal(info->end_ticks, 1000000 + 100000000);
	assert_true(info->complete);
	assert_int_equal(info->cut_at, RD_NO_OFFSET);
	assert_string_equal(info->damage, "");
	assert_int_equal(info->digest, rd_index_digest(&r.index));
	assert_true(r.index.sort_by_time);
	assert_false(r.index.whole);
	assert_int_equal(r.index.blocks.n, N + 1);
	for (uint32_t i = 0; i <= N; i++) {
		const struct rd_block *b = &r.index.blocks.at[i];
		assert_int_equal(b->offset, i * BUFFER);
		assert_int_equal(b->size_bytes, BUFFER);
		assert_int_equal(b->ordinal, i);
		assert_int_equal(b->kind, i ? 0 : 4);
		assert_int_equal(b->time, i ? 999 + i : 0);
		assert_int_equal(b->cpu, i ? (i - 1) % 4 : 0);
		assert_int_equal(b->provides, 0);
		assert_int_equal(b->resets, 0);
	}
	etl_run_release(&r);
	etl_release(&e);
}

static void header(void **state)
{
	header_of(4);
	header_of(8);
}

static void row_30_clocks(void **state)
{
	const uint64_t filetime = UINT64_C(133485408000000000);
	const struct {
		struct etl_options options;
		struct rd_clock clock;
		uint64_t end_ticks;
	} cases[] = {
		{{.clock = 1, .frequency_hz = 2441406, .start_ticks = 5},
		 {RD_CLOCK_QPC, 2441406, 5, INT64_C(1704067200000000000)},
		 5 + 24414060},
		{{.clock = 2, .start_ticks = filetime + 17},
		 {RD_CLOCK_SYSTEM, 10000000, filetime, INT64_C(1704067200000000000)},
		 filetime + 100000000},
		{{.clock = 3, .cpu_mhz = 2400, .start_ticks = 99},
		 {RD_CLOCK_CYCLES, 2400000000, 99, INT64_C(1704067200000000000)},
		 99 + UINT64_C(24000000000)},
		/* No clock is named: by what the times look like. */
		{{.clock = 9, .start_ticks = 77},
		 {RD_CLOCK_QPC, 10000000, 77, INT64_C(1704067200000000000)},
		 100000077},
		{{.clock = 9, .start_ticks = filetime + 30},
		 {RD_CLOCK_SYSTEM, 10000000, filetime, INT64_C(1704067200000000000)},
		 filetime + 100000000},
		{{.end_filetime = 1}, {RD_CLOCK_QPC, 10000000, 1000000, INT64_C(1704067200000000000)}, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct etl_build e;
		struct etl_run r;
		build(&e, &cases[i].options);
		index_of(&r, &e);
		assert_int_equal(r.index.info.clock.kind, cases[i].clock.kind);
		assert_int_equal(r.index.info.clock.frequency_hz, cases[i].clock.frequency_hz);
		assert_int_equal(r.index.info.clock.start_ticks, cases[i].clock.start_ticks);
		assert_int_equal(r.index.info.clock.start_utc_ns, cases[i].clock.start_utc_ns);
		assert_int_equal(r.index.info.end_ticks, cases[i].end_ticks);
		etl_run_release(&r);
		etl_release(&e);
	}
}

/* All buffers whole: complete, whatever the counts and the end say. */
static void unfinished(void **state)
{
	struct etl_build e;
	struct etl_run r;

	build(&e, &(struct etl_options){.unfinished = true});
	index_of(&r, &e);
	assert_true(r.index.info.complete);
	assert_int_equal(r.index.info.end_ticks, 0);
	assert_int_equal(r.index.blocks.n, N + 1);
	etl_run_release(&r);

	/* Space that was kept for more buffers is no damage; bytes that are not zero are. */
	for (int i = 0; i < 3 * BUFFER + 100; i++)
		etl_put(&e.file, 0, 1);
	index_of(&r, &e);
	assert_true(r.index.info.complete);
	assert_int_equal(r.index.blocks.n, N + 1);
	etl_run_release(&r);
	e.file.at[e.file.n - 1] = 1;
	index_of(&r, &e);
	assert_false(r.index.info.complete);
	assert_int_equal(r.index.info.cut_at, (N + 1) * BUFFER);
	etl_run_release(&r);
	etl_release(&e);
}

static void row_03_no_etl(void **state)
{
	struct etl_build e;
	struct etl_run r;
	uint8_t zeros[200] = {0};

	build(&e, NULL);
	const size_t sizes[] = {71, 72, 79, 104, 200, 4095};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		etl_run_index(&r, e.file.at, sizes[i]);
		assert_int_equal(r.indexed, RD_TRUNCATED);
		assert_int_equal(r.err.code, RD_TRUNCATED);
		assert_string_equal(r.err.file + strlen(r.err.file) - 7, "run.etl");
		etl_run_release(&r);
	}
	etl_run_index(&r, zeros, sizeof zeros);
	assert_int_equal(r.indexed, RD_CORRUPT);
	etl_run_release(&r);
	assert_false(rd_format_etl.probe(zeros, sizeof zeros));
	assert_false(rd_format_etl.probe(e.file.at, 79));
	assert_true(rd_format_etl.probe(e.file.at, 80));
	/* Another event in front, and a compression that nobody knows. */
	e.file.at[0x48 + 6] = 1;
	etl_run_index(&r, e.file.at, e.file.n);
	assert_int_equal(r.indexed, RD_CORRUPT);
	etl_run_release(&r);
	e.file.at[0x48 + 6] = 0;
	e.file.at[0x48 + 32 + 35] = 0x04;
	e.file.at[0x2c] = 5;
	etl_run_index(&r, e.file.at, e.file.n);
	assert_int_equal(r.indexed, RD_UNSUPPORTED);
	assert_non_null(strstr(r.err.text, "compression 5"));
	etl_run_release(&r);
	etl_release(&e);
}

/* A header event cut by its buffer's own length: never a read behind it. */
static void short_header(void **state)
{
	struct etl_build e;
	struct etl_run r;

	build(&e, NULL);
	for (uint16_t size = 0; size < 32 + 280 + 40; size++) {
		etl_patch(&e.file, 0x48 + 4, size, 2);
		etl_patch(&e.file, 4, 0x48u + size, 4);
		etl_run_index(&r, e.file.at, e.file.n);
		if (size < 32)
			assert_int_equal(r.indexed, RD_CORRUPT);
		else
			assert_int_equal(r.indexed, size < 32 + 280 ? RD_TRUNCATED : 0);
		etl_run_release(&r);
	}
	etl_release(&e);
}

/* The whole buffers before the cut are there, and the cut is where the first one begins that is not. */
static void cut_of(uint32_t compression)
{
	struct etl_build e;
	struct etl_run r, whole;

	build(&e, &(struct etl_options){.compression = compression, .header_bytes = compression ? 512 : 0});
	index_of(&whole, &e);
	assert_true(whole.index.info.complete);
	assert_int_equal(whole.index.info.compression, compression);
	assert_int_equal(whole.index.blocks.n, N + 1);
	size_t first = (size_t)whole.index.blocks.at[0].size_bytes;
	for (size_t size = first; size < e.file.n; size += 61) {
		size_t expect = 0;
		uint64_t end = 0;
		while (whole.index.blocks.at[expect].offset + whole.index.blocks.at[expect].size_bytes <= size) {
			end = whole.index.blocks.at[expect].offset + whole.index.blocks.at[expect].size_bytes;
			expect++;
		}
		etl_run_index(&r, e.file.at, size);
		assert_int_equal(r.indexed, 0);
		assert_int_equal(r.index.blocks.n, expect);
		assert_false(r.index.info.complete);
		assert_int_equal(r.index.info.cut_at, end);
		assert_string_not_equal(r.index.info.damage, "");
		etl_run_release(&r);
	}
	etl_run_release(&whole);
	etl_release(&e);
}

static void cut(void **state)
{
	cut_of(RD_ETL_PLAIN);
	cut_of(RD_ETL_XPRESS);
}

/*
 * One buffer's size is broken: all others are there. So may be the broken one,
 * when the size is a possible one: then the damage begins behind it.
 */
static void broken_of(uint32_t compression, uint32_t which, uint32_t value)
{
	struct etl_build e;
	struct etl_run r, whole;

	build(&e, &(struct etl_options){.compression = compression, .header_bytes = compression ? 1024 : 0});
	index_of(&whole, &e);
	uint64_t at = whole.index.blocks.at[which].offset;
	etl_patch(&e.file, at, value, 4);
	index_of(&r, &e);
	assert_false(r.index.info.complete);
	bool kept = r.index.blocks.n == N + 1;
	assert_int_equal(r.index.info.cut_at, kept ? at + value : at);
	assert_int_equal(r.index.blocks.n, kept ? N + 1 : N);
	for (size_t i = 0, k = 0; i < r.index.blocks.n; i++, k++) {
		if (k == which && !kept)
			k++;
		assert_int_equal(r.index.blocks.at[i].offset, whole.index.blocks.at[k].offset);
		assert_int_equal(r.index.blocks.at[i].ordinal, i);
	}
	etl_run_release(&r);
	etl_run_release(&whole);
	etl_release(&e);
}

static void broken(void **state)
{
	const uint32_t values[] = {0, 71, 72, 2048, 4097, 3 * 4096 + 8, 0x7fffffff, 0xffffffff};

	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		for (uint32_t which = 1; which < N; which++) {
			broken_of(RD_ETL_PLAIN, which, values[i]);
			broken_of(RD_ETL_XPRESS, which, values[i]);
			broken_of(RD_ETL_LZNT1, which, values[i]);
		}
	}
}

/* A stretch of a compressed file that is all garbage, larger than a window of the search. */
static void garbage(void **state)
{
	struct etl_build e;
	struct etl_run r;
	uint64_t seed = 1;

	build(&e, &(struct etl_options){.compression = RD_ETL_XPRESS});
	struct rd_bytes file = {0};
	size_t hole = 600000, half;
	index_of(&r, &e);
	half = (size_t)r.index.blocks.at[3].offset;
	etl_run_release(&r);
	assert_int_equal(rd_bytes_append(&file, e.file.at, half), 0);
	uint8_t *random = rd_bytes_extend(&file, hole);
	for (size_t i = 0; i < hole; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		random[i] = (uint8_t)(seed >> 56);
	}
	assert_int_equal(rd_bytes_append(&file, e.file.at + half, e.file.n - half), 0);
	etl_run_index(&r, file.at, file.n);
	assert_int_equal(r.indexed, 0);
	assert_false(r.index.info.complete);
	assert_int_equal(r.index.info.cut_at, half);
	assert_int_equal(r.index.blocks.n, N + 1);
	assert_int_equal(r.index.blocks.at[3].offset, half + hole);
	etl_run_release(&r);
	rd_bytes_release(&file);
	etl_release(&e);
}

/* Buffers are in the file as they fit; their order is that of their numbers. */
static void row_34_circular(void **state)
{
	struct etl_build e;
	struct etl_run r;
	const uint64_t sequences[N] = {12, 13, 9, 10, 11};
	const uint64_t offsets[N + 1] = {0, 3 * BUFFER, 4 * BUFFER, 5 * BUFFER, BUFFER, 2 * BUFFER};

	for (int circle = 0; circle < 2; circle++) {
		build(&e, &(struct etl_options){.mode = circle ? RD_ETL_MODE_CIRCULAR : 0});
		for (size_t i = 0; i < N; i++)
			etl_patch(&e.file, (i + 1) * BUFFER + 0x18, sequences[i], 8);
		/* How many were written says nothing in a circular file. */
		etl_patch(&e.file, 0x48 + 32 + 36, 1000, 4);
		index_of(&r, &e);
		assert_int_equal(r.index.info.complete, circle);
		assert_int_equal(r.index.blocks.n, N + 1);
		for (size_t i = 0; i <= N; i++) {
			assert_int_equal(r.index.blocks.at[i].offset, circle ? offsets[i] : i * BUFFER);
			assert_int_equal(r.index.blocks.at[i].ordinal, i);
		}
		if (!circle) {
			assert_int_equal(r.index.info.cut_at, e.file.n);
			assert_non_null(strstr(r.index.info.damage, "1000 buffers"));
		}
		etl_run_release(&r);
		etl_release(&e);
	}
}

/* Buffers beyond 2^32 bytes, behind a hole. */
static void large(void **state)
{
	enum { LARGE = 1 << 20 };
	const uint64_t far = (UINT64_C(5) << 30);
	struct etl_build e;
	struct etl_run r;
	const uint8_t guid[16] = {1};

	etl_begin(&e, &(struct etl_options){.buffer_bytes = LARGE, .unfinished = true});
	etl_buffer(&e, 0, 1000);
	etl_event(&e, guid, 7, 0, (struct etl_who){1, 2, 2000}, NULL, NULL);
	etl_end(&e);
	etl_run_index(&r, e.file.at, e.file.n);
	assert_int_equal(r.index.blocks.n, 2);
	rd_index_release(&r.index);
	int fd = open(r.source.path, O_WRONLY);
	assert_int_equal(pwrite(fd, e.file.at + LARGE, LARGE, (off_t)far), LARGE);
	assert_int_equal(pwrite(fd, e.file.at + LARGE, LARGE, (off_t)far + LARGE), LARGE);
	close(fd);
	r.source.size_bytes = far + 2 * LARGE;
	assert_ok(rd_format_etl.index(&r.source, &r.index, NULL, NULL, &r.err), &r.err);
	assert_int_equal(r.index.blocks.n, 4);
	assert_int_equal(r.index.blocks.at[2].offset, far);
	assert_int_equal(r.index.blocks.at[3].offset, far + LARGE);
	assert_false(r.index.info.complete);
	assert_int_equal(r.index.info.cut_at, 2 * LARGE);
	etl_run_blocks(&r, r.index.blocks.at, 4, RD_WANT_ALL);
	assert_ok(r.decoded, &r.err);
	assert_int_equal(r.events.n, 1 + 3);
	assert_int_equal(r.damage.n, 0);
	assert_int_equal(truncate(r.source.path, 0), 0);
	etl_run_release(&r);
	etl_release(&e);
}

static void out_of_memory(void **state)
{
	struct etl_build e;
	struct etl_run r;
	bool failed = true;

	build(&e, &(struct etl_options){.mode = RD_ETL_MODE_CIRCULAR});
	etl_run_index(&r, e.file.at, e.file.n);
	rd_index_release(&r.index);
	for (uint64_t nth = 1; failed; nth++) {
		assert_true(nth < 100);
		rd_fail_allocation(nth);
		int rc = rd_format_etl.index(&r.source, &r.index, NULL, NULL, &r.err);
		rd_fail_allocation(0);
		failed = rc != 0;
		if (failed)
			assert_int_equal(rc, RD_NOMEM);
	}
	etl_run_release(&r);
	etl_release(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(header),        cmocka_unit_test(row_30_clocks), cmocka_unit_test(unfinished),
		cmocka_unit_test(row_03_no_etl), cmocka_unit_test(short_header),  cmocka_unit_test(cut),
		cmocka_unit_test(broken),        cmocka_unit_test(garbage),       cmocka_unit_test(row_34_circular),
		cmocka_unit_test(large),         cmocka_unit_test(out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
