/*
 * The whole of a worker's work on real traces: however a file is cut, the
 * union of what the shards say is the same.
 */
#include "tests/support.h"

#include <unistd.h>

#include "base/memory.h"
#include "profile/losses.h"
#include "profile/partial_tables.h"
#include "profile/shard.h"
#include "tests/profile/packed.h"
#include "trace/archive.h"

struct opened {
	struct rd_source source;
	const struct rd_format *format;
	struct rd_index ix;
};

/* The first trace in a packed file, indexed. */
static void open_trace(struct opened *o, const char *packed_path)
{
	struct rd_source packed;
	rd_unpacked_vec found = {0};
	struct rd_error err;

	memset(o, 0, sizeof *o);
	assert_ok(rd_source_open(&packed, packed_path, &err), &err);
	assert_ok(rd_archive_unpack(&packed, scratch_folder(), NULL, &found, NULL, NULL, &err), &err);
	rd_source_close(&packed);
	assert_ok(rd_source_open(&o->source, found.at[0].path, &err), &err);
	rd_vec_release(&found);
	assert_ok(rd_trace_probe(&o->source, &o->format, &err), &err);
	assert_ok(o->format->index(&o->source, &o->ix, NULL, NULL, &err), &err);
}

static void close_trace(struct opened *o)
{
	rd_index_release(&o->ix);
	unlink(o->source.path); /* the next one has the same name */
	rd_source_close(&o->source);
}

/* What the blocks before `first` still have to say. */
static size_t context_of(const struct rd_index *ix, size_t first, struct rd_block *out)
{
	uint8_t gone = 0;
	size_t n = 0;

	for (size_t i = first; i-- > 0;) {
		const struct rd_block *b = &ix->blocks.at[i];
		gone |= b->resets;
		if (b->provides & ~gone)
			out[n++] = *b;
	}
	for (size_t i = 0; i < n / 2; i++) {
		struct rd_block swap = out[i];
		out[i] = out[n - 1 - i];
		out[n - 1 - i] = swap;
	}
	return n;
}

/* ---- a sum over all rows, whatever their order and numbers */

struct sums {
	uint64_t rows[RD_TABLE_END]; /* of the hashes of a table's rows */
	uint64_t counts[RD_TABLE_END];
	struct rd_partial_summary summary;
	RD_VEC(struct rd_sequence_row) sequences;
};

enum meaning { A_NUMBER, A_NAME, A_STACK };

static enum meaning meaning_of(const char *column)
{
	static const char *const names[] = {"ns",           "name",         "signature", "il_path",
					    "native_path",  "pdb_path",     "pdb_guid",  "path",
					    "command_line", "version_text", "what"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(column, names[i]) == 0)
			return A_NAME;
	return strcmp(column, "stack") == 0 ? A_STACK : A_NUMBER;
}

/* A field's value; a number of a string or stack becomes the hash of what it stands for. */
static uint64_t resolve(const struct rd_partial *p, enum meaning m, uint64_t value)
{
	if (m == A_NAME && value) {
		assert_true(value <= p->strings.at.n);
		struct rd_span text = rd_strings_at(&p->strings, (uint32_t)value - 1);
		return rd_hash(text.at, text.size_bytes) | 1;
	}
	if (m == A_STACK && value) {
		assert_true(value <= p->stack_ends.n);
		uint64_t begin = value > 1 ? p->stack_ends.at[value - 2] : 0;
		return rd_hash(p->stack_frames.at + begin, (p->stack_ends.at[value - 1] - begin) * 8) | 1;
	}
	return value;
}

static void add_rows(struct sums *s, const struct rd_partial *p, uint32_t table)
{
	const struct rd_partial_layout *t = rd_partial_layout(table);
	enum meaning meanings[16];
	struct rd_any_vec v;

	memcpy(&v, (const uint8_t *)p + t->rows_at, sizeof v);
	assert_in_range(t->columns_n, 1, 16);
	for (size_t c = 0; c < t->columns_n; c++)
		meanings[c] = meaning_of(t->columns[c].name);
	for (size_t i = 0; i < v.n; i++) {
		uint64_t hash = table;
		for (size_t c = 0; c < t->columns_n; c++) {
			uint64_t value = 0;
			memcpy(&value, (uint8_t *)v.at + i * t->row_bytes + t->columns[c].row_at,
			       t->columns[c].row_bytes);
			hash = rd_hash_u64(hash * 31 + resolve(p, meanings[c], value));
		}
		s->rows[table] += hash;
	}
	s->counts[table] += v.n;
}

static void assert_sorted(const struct rd_partial *p)
{
	for (size_t i = 1; i < p->samples.n; i++)
		assert_true(p->samples.at[i - 1].time <= p->samples.at[i].time);
	for (size_t i = 1; i < p->stack_records.n; i++)
		assert_true(p->stack_records.at[i - 1].sample_time <= p->stack_records.at[i].sample_time);
}

static void add_partial(struct sums *s, const struct rd_partial *p)
{
	assert_sorted(p);
	for (uint32_t table = RD_TABLE_METHODS; table <= RD_TABLE_STACK_RECORDS; table++)
		add_rows(s, p, table);
	add_rows(s, p, RD_TABLE_DAMAGE);
	add_rows(s, p, RD_TABLE_MAPPINGS);
	add_rows(s, p, RD_TABLE_SYMBOLS);
	for (size_t i = 0; i < p->sequences.n; i++) {
		struct rd_sequence_row *row = rd_vec_add(&s->sequences);
		assert_non_null(row);
		*row = p->sequences.at[i];
	}
	s->summary.blocks += p->summary.blocks;
	s->summary.block_bytes += p->summary.block_bytes;
	s->summary.events += p->summary.events;
	s->summary.malformed_events += p->summary.malformed_events;
	s->summary.other[0] += p->summary.other[0];
	s->summary.other[1] += p->summary.other[1];
	s->summary.providers_seen |= p->summary.providers_seen;
}

static void decode_shard(const struct opened *o, const struct rd_shard *shard, struct sums *s)
{
	/* Not with each of hundreds of shards: it takes its time. */
	struct rd_shard_options opt = {.preliminary = shard->blocks_n > 10};
	struct rd_partial p = {0};
	struct packed k = {0};
	struct rd_error err;

	assert_ok(rd_shard_decode(&o->source, shard, &opt, packed_keep, &k, &err), &err);
	assert_ok(packed_unpack(&k, &p, &err), &err);
	add_partial(s, &p);
	packed_release(&k);
	rd_partial_release(&p);
}

/* Runs of blocks of about equal number. */
static void cut_in_runs(const struct opened *o, size_t pieces, struct sums *s)
{
	size_t n = o->ix.blocks.n;
	struct rd_block *context = malloc((n + 1) * sizeof *context);

	assert_non_null(context);
	memset(s, 0, sizeof *s);
	for (size_t i = 0; i < pieces; i++) {
		size_t first = n * i / pieces, end = n * (i + 1) / pieces;
		size_t context_n = context_of(&o->ix, first, context);
		struct rd_shard shard = {&o->ix.info, context, context_n, o->ix.blocks.at + first, end - first};
		decode_shard(o, &shard, s);
	}
	free(context);
}

/* Block i in shard i mod pieces; for formats without context. */
static void strew(const struct opened *o, size_t pieces, struct sums *s)
{
	size_t n = o->ix.blocks.n;
	struct rd_block *blocks = malloc((n + 1) * sizeof *blocks);

	assert_non_null(blocks);
	memset(s, 0, sizeof *s);
	for (size_t i = 0; i < pieces; i++) {
		struct rd_shard shard = {.info = &o->ix.info, .blocks = blocks};
		for (size_t k = i; k < n; k += pieces)
			blocks[shard.blocks_n++] = o->ix.blocks.at[k];
		decode_shard(o, &shard, s);
	}
	free(blocks);
}

static uint64_t lost(struct sums *s)
{
	struct rd_error err;
	uint64_t n = 0;

	assert_ok(rd_losses_merge(s->sequences.at, s->sequences.n, &n, &err), &err);
	return n;
}

static void assert_same(struct sums *a, struct sums *b)
{
	assert_memory_equal(a->counts, b->counts, sizeof a->counts);
	assert_memory_equal(a->rows, b->rows, sizeof a->rows);
	assert_memory_equal(&a->summary, &b->summary, sizeof a->summary);
	assert_int_equal(lost(a), lost(b));
	rd_vec_release(&b->sequences);
}

/* ---- tests */

static void nettrace_in_any_number_of_pieces(void **state)
{
	struct opened o;
	struct sums one, many;

	open_trace(&o, repository_path("tests/traces/shop-small.nettrace.zst"));
	cut_in_runs(&o, 1, &one);
	assert_int_equal(one.counts[RD_TABLE_SAMPLES], 9065);
	assert_true(one.counts[RD_TABLE_METHODS] > 2063 && one.counts[RD_TABLE_MODULES] > 128);
	assert_int_equal(one.summary.blocks, o.ix.blocks.n);
	assert_int_equal(one.summary.malformed_events, 0);
	assert_int_equal(lost(&one), 0);
	assert_int_equal(one.summary.providers_seen, RD_SEEN_RUNTIME | RD_SEEN_RUNDOWN | RD_SEEN_SAMPLES |
							     RD_SEEN_STACKS | RD_SEEN_RUNTIME_METHODS |
							     RD_SEEN_RUNDOWN_METHODS);
	static const size_t pieces[] = {2, 7};
	for (size_t i = 0; i < 2; i++) {
		cut_in_runs(&o, pieces[i], &many);
		assert_same(&one, &many);
	}
	cut_in_runs(&o, o.ix.blocks.n, &many); /* a block each */
	assert_same(&one, &many);
	rd_vec_release(&one.sequences);
	close_trace(&o);
}

/* Mappings, symbols and samples of a machine's recorder; threads and stacks are forgotten at every point. */
static void nettrace6_in_any_number_of_pieces(void **state)
{
	struct opened o;
	struct sums one, many;

	open_trace(&o, repository_path("tests/traces/linux-cpu-v6.nettrace.zst"));
	assert_int_equal(o.ix.info.version_major, 6);
	cut_in_runs(&o, 1, &one);
	assert_int_equal(one.counts[RD_TABLE_SAMPLES], 7924);
	assert_int_equal(one.counts[RD_TABLE_MAPPINGS], 1018);
	assert_int_equal(one.counts[RD_TABLE_SYMBOLS], 26829);
	assert_int_equal(one.counts[RD_TABLE_PROCESSES], 31);
	assert_int_equal(one.summary.malformed_events, 0);
	assert_int_equal(lost(&one), 0);
	for (size_t pieces = 2; pieces <= o.ix.blocks.n; pieces *= 2) {
		cut_in_runs(&o, pieces, &many);
		assert_same(&one, &many);
	}
	rd_vec_release(&one.sequences);
	close_trace(&o);
}

static void a_crashed_trace(void **state)
{
	struct opened o;
	struct sums one, many;

	open_trace(&o, repository_path("tests/traces/site-crashed.nettrace.zst"));
	cut_in_runs(&o, 1, &one);
	assert_true(one.counts[RD_TABLE_SAMPLES] > 0);
	cut_in_runs(&o, 9, &many);
	assert_same(&one, &many);
	rd_vec_release(&one.sequences);
	close_trace(&o);
}

static void etl_in_any_order(void **state)
{
	struct opened o;
	struct sums one, many;

	open_trace(&o, shared_path("traces/perfview/net.4.5.2.x64.etl.zip"));
	cut_in_runs(&o, 1, &one);
	assert_true(one.counts[RD_TABLE_SAMPLES] > 0 && one.counts[RD_TABLE_STACK_RECORDS] > 0);
	assert_int_equal(one.summary.malformed_events, 0);
	assert_int_equal(lost(&one), 0);
	cut_in_runs(&o, 5, &many);
	assert_same(&one, &many);
	strew(&o, 3, &many);
	assert_same(&one, &many);
	rd_vec_release(&one.sequences);
	close_trace(&o);
}

static int count_progress(void *ctx, uint64_t bytes)
{
	uint64_t *told = ctx;

	assert_true(bytes > *told);
	*told = bytes;
	return 0;
}

static int stop(void *ctx, uint64_t bytes)
{
	return RD_CANCELLED;
}

static void progress_and_depth(void **state)
{
	uint64_t told = 0;
	struct rd_shard_options opt = {.progress = count_progress, .progress_ctx = &told, .stack_depth = 2};
	struct rd_partial p = {0};
	struct packed k = {0};
	struct rd_error err;
	struct opened o;

	open_trace(&o, repository_path("tests/traces/shop-small.nettrace.zst"));
	struct rd_shard shard = {.info = &o.ix.info, .blocks = o.ix.blocks.at, .blocks_n = o.ix.blocks.n};
	assert_ok(rd_shard_decode(&o.source, &shard, &opt, packed_keep, &k, &err), &err);
	assert_true(told >= 4 << 20 && told <= o.source.size_bytes);
	assert_ok(packed_unpack(&k, &p, &err), &err);
	assert_int_equal(p.preliminary.n, 0);
	for (size_t i = 0; i < p.stack_ends.n; i++)
		assert_in_range(p.stack_ends.at[i] - (i ? p.stack_ends.at[i - 1] : 0), 1, 2);
	packed_release(&k);
	rd_partial_release(&p);
	close_trace(&o);

	open_trace(&o, repository_path("tests/traces/shop-verbose.nettrace.zst"));
	shard = (struct rd_shard){.info = &o.ix.info, .blocks = o.ix.blocks.at, .blocks_n = o.ix.blocks.n};
	opt.progress = stop;
	assert_code(RD_CANCELLED, rd_shard_decode(&o.source, &shard, &opt, packed_keep, &k, &err));
	assert_int_equal(k.blocks.n, 0);
	packed_release(&k);
	close_trace(&o);
}

static int keep_nothing(void *ctx, enum rd_partial_table table, uint32_t seq, struct rd_span block, struct rd_error *err)
{
	return 0;
}

/* Whichever allocation fails, what the caller reads is that. */
static void a_failed_allocation_is_told(void **state)
{
	struct rd_error err;
	struct opened o;
	int code = RD_NOMEM;

	open_trace(&o, repository_path("tests/traces/shop-small.nettrace.zst"));
	struct rd_shard shard = {.info = &o.ix.info, .blocks = o.ix.blocks.at, .blocks_n = 12};
	for (uint64_t nth = 1; code == RD_NOMEM; nth += 1 + nth / 16) {
		memset(&err, 0, sizeof err);
		rd_fail_allocation(nth);
		code = rd_shard_decode(&o.source, &shard, NULL, keep_nothing, NULL, &err);
		rd_fail_allocation(0);
		if (code == 0)
			break;
		assert_code(RD_NOMEM, code);
		assert_int_equal(err.code, RD_NOMEM);
		assert_string_equal(err.text, "out of memory");
	}
	assert_int_equal(code, 0);
	close_trace(&o);
}

static void nothing_to_decode(void **state)
{
	struct rd_trace_info info = {.format = RD_FORMAT_NETTRACE, .version_major = 4, .pointer_bytes = 8};
	struct rd_shard shard = {.info = &info};
	struct packed k = {0};
	struct rd_source source;
	struct rd_error err;

	assert_ok(rd_source_open(&source, repository_path("tests/traces/LIST"), &err), &err);
	assert_ok(rd_shard_decode(&source, &shard, NULL, packed_keep, &k, &err), &err);
	assert_int_equal(k.blocks.n, 1);
	assert_int_equal(k.blocks.at[0].table, RD_TABLE_SUMMARY);
	packed_release(&k);
	info.format = 99;
	assert_code(RD_UNSUPPORTED, rd_shard_decode(&source, &shard, NULL, packed_keep, &k, &err));
	rd_source_close(&source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nettrace_in_any_number_of_pieces),
		cmocka_unit_test(nettrace6_in_any_number_of_pieces),
		cmocka_unit_test(a_crashed_trace),
		cmocka_unit_test(etl_in_any_order),
		cmocka_unit_test(progress_and_depth),
		cmocka_unit_test(a_failed_allocation_is_told),
		cmocka_unit_test(nothing_to_decode),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
