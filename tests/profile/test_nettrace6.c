/* nettrace 6 from bytes to a result: a made file in any number of shards, and containers. */
#include "tests/support.h"

#include "profile/finish.h"
#include "profile/shard.h"
#include "tests/profile/packed.h"
#include "tests/profile/scene.h"
#include "tests/trace/nettrace/nettrace6_build.h"
#include "tests/trace/trace_log.h"
#include "trace/nettrace/nettrace.h"

#define SHARDS_MAX 64

struct file {
	struct rd_source source;
	struct rd_index ix;
	struct packed shards[SHARDS_MAX];
	size_t shards_n;
};

static int give_block(void *ctx, size_t shard, enum rd_partial_table table, uint32_t seq, struct rd_span *block,
		      struct rd_error *err)
{
	const struct packed *k = &((const struct file *)ctx)->shards[shard];

	for (size_t i = 0; i < k->blocks.n; i++) {
		if (k->blocks.at[i].table == table && k->blocks.at[i].seq == seq) {
			*block = (struct rd_span){k->blocks.at[i].at, k->blocks.at[i].n};
			return 1;
		}
	}
	return 0;
}

/* Blocks [from, to) after their context, packed as a worker packs them. */
static void decode_shard(struct file *f, size_t from, size_t to)
{
	struct rd_block *context = calloc(f->ix.blocks.n + 1, sizeof *context);
	struct rd_shard_options opt = {.preliminary = true};
	struct rd_error err;
	struct rd_shard shard = {
		.info = &f->ix.info, .context = context, .blocks = f->ix.blocks.at + from, .blocks_n = to - from};

	assert_non_null(context);
	for (size_t i = 0; i < from; i++)
		if (is_context(&f->ix, i, from))
			context[shard.context_n++] = f->ix.blocks.at[i];
	assert_ok(rd_shard_decode(&f->source, &shard, &opt, packed_keep, &f->shards[f->shards_n++], &err), &err);
	free(context);
}

/* The result of what was built, in so many shards; the last one is the first: no order is promised. */
static void finish(const struct nettrace6_build *b, size_t shards, const struct rd_finish_options *opt,
		   struct rd_result *out)
{
	struct file f = {0};
	struct rd_error err;

	memory_source(&f.source, b->file.at, b->file.n);
	assert_ok(rd_format_nettrace.index(&f.source, &f.ix, NULL, NULL, &err), &err);
	size_t n = f.ix.blocks.n;
	shards = shards < n ? shards : n;
	for (size_t i = shards; i > 0; i--)
		decode_shard(&f, n * (i - 1) / shards, n * i / shards);
	struct rd_finish_trace trace = {
		.path = "made.nettrace",
		.info = &f.ix.info,
		.partials = {.ctx = &f, .shards = f.shards_n, .block = give_block},
	};
	assert_ok(rd_finish(&trace, 1, opt, out, &err), &err);
	for (size_t i = 0; i < f.shards_n; i++)
		packed_release(&f.shards[i]);
	rd_index_release(&f.ix);
	rd_source_close(&f.source);
}

static void a_file_of_everything(void **state)
{
	static const size_t shards[] = {1, 2, 3, 7, SHARDS_MAX};
	char first[33], digest[33];
	struct rd_error err;

	for (size_t i = 0; i < sizeof shards / sizeof *shards; i++) {
		struct nettrace6_build b;
		struct rd_result r;
		nettrace6_sample_file(&b, &(struct nettrace6_options){.plain_headers = i == 3});
		finish(&b, shards[i], NULL, &r);
		/* Whose thread is known to nobody is nobody's; the runtime's method holds before the mapping. */
		assert_folded(&r, "-1;? 1\n"
				  "-1;[no stack] 1\n"
				  "500;Fib;libone.so!?;libone.so!fast_path 1\n"
				  "500;[no stack] 1\n"
				  "500;libone.so!fast_path 2\n"
				  "600;shop!Fib 1\n");
		assert_int_equal(r.samples, 7);
		assert_int_equal(r.weight, 9);
		assert_int_equal(r.kinds[RD_SAMPLE_CPU], 7);
		assert_false(r.thread_time);
		assert_int_equal(r.other[RD_OTHER_CSWITCH], 1);
		assert_int_equal(r.other[RD_OTHER_PMC], 0);
		assert_true(r.trust.complete);
		assert_int_equal(r.trust.unowned_samples, 2);
		assert_int_equal(r.trust.malformed_events, 2);
		assert_int_equal(r.trust.samples_without_stack, 2);
		/* Row 5: removals 3 and 2, points 3 and 6. */
		assert_int_equal(r.trust.lost_events, 14);
		assert_ok(rd_result_digest(&r, i ? digest : first, &err), &err);
		if (i)
			assert_string_equal(digest, first);
		rd_result_release(&r);
		nettrace6_release(&b);
	}
}

/* Two containers, each with its program as process 1 and named alike; and the host's own process 1. */
static void build_containers(struct nettrace6_build *b)
{
	static const uint64_t frames[] = {0x4010};
	static const struct {
		uint64_t pid, namespace_pid;
		const char *name;
		uint64_t samples;
	} rows[] = {{1, 0, "init", 1}, {500, 1, "shop", 2}, {600, 1, "shop", 3}, {700, 7, "other", 4}};

	nettrace6_begin(b, NULL);
	nettrace6_block(b, RD_NETTRACE_METADATA);
	universal_metadata(b);
	nettrace6_block(b, RD_NETTRACE_THREAD);
	for (size_t i = 0; i < 4; i++)
		nettrace6_thread(b, i, rows[i].pid, rows[i].pid + 1);
	for (size_t i = 0; i < 4; i++) {
		struct nettrace6_event at = {.thread = i, .time = 1000, .stack_id = 1};
		nettrace6_point(b, 500 + i, 0);
		nettrace6_stacks(b, 1);
		nettrace6_stack(b, frames, 1);
		nettrace6_block(b, RD_NETTRACE_EVENT);
		universal_process(b, at, i % 2 ? U_CREATE : U_EXISTING, rows[i].namespace_pid, rows[i].name);
		for (uint64_t k = 0; k < rows[i].samples; k++)
			universal_value(b, at, U_CPU, 1);
	}
	nettrace6_end(b);
}

static uint64_t samples_of(const struct nettrace6_build *b, const char *process)
{
	struct rd_finish_options opt = {.process = process, .kind = -1};
	struct rd_result r;

	finish(b, 3, &opt, &r);
	uint64_t samples = r.samples;
	assert_int_equal(r.samples + r.discarded, 10);
	rd_result_release(&r);
	return samples;
}

/* diagnostics#5738, perfetto#179: both ids are kept, and either is good for a filter. */
static void row_21_container_pids(void **state)
{
	struct nettrace6_build b;
	struct rd_result r;

	build_containers(&b);
	finish(&b, 5, NULL, &r);
	assert_int_equal(r.processes.n, 4);
	const struct rd_result_process *p = r.processes.at;
	for (size_t i = 1; i <= 2; i++) {
		assert_int_equal(p[i].pid, 400 + 100 * i);
		assert_int_equal(p[i].namespace_pid, 1);
		assert_span(rd_strings_at(&r.strings, p[i].name), "shop");
		assert_int_equal(p[i].samples, 1 + i);
	}
	assert_int_equal(p[0].pid, 1);
	assert_int_equal(p[0].namespace_pid, 0);
	assert_int_equal(p[3].namespace_pid, 7);
	rd_result_release(&r);
	assert_int_equal(samples_of(&b, "600"), 3);
	assert_int_equal(samples_of(&b, "1"), 1 + 2 + 3);
	assert_int_equal(samples_of(&b, "7"), 4);
	assert_int_equal(samples_of(&b, "shop"), 2 + 3);
	assert_int_equal(samples_of(&b, "0"), 0);
	nettrace6_release(&b);
}

/* So many processes, each with one sample of one and the same stack. */
static void build_many(struct nettrace6_build *b, uint64_t processes, size_t depth)
{
	uint64_t *frames = calloc(depth, sizeof *frames);

	assert_non_null(frames);
	for (size_t i = 0; i < depth; i++)
		frames[i] = 0x10000 + i * 16;
	nettrace6_begin(b, NULL);
	nettrace6_block(b, RD_NETTRACE_METADATA);
	universal_metadata(b);
	nettrace6_block(b, RD_NETTRACE_THREAD);
	for (uint64_t i = 0; i < processes; i++)
		nettrace6_thread(b, i, 100 + i, 100 + i);
	nettrace6_stacks(b, 1);
	nettrace6_stack(b, frames, depth);
	nettrace6_block(b, RD_NETTRACE_EVENT);
	for (uint64_t i = 0; i < processes; i++)
		universal_value(b, (struct nettrace6_event){.thread = i, .time = 1000 + i, .stack_id = 1}, U_CPU, 1);
	nettrace6_end(b);
	free(frames);
}

/* What a shard believes is left out where it costs processes times depth; its samples are not. */
static void a_belief_has_a_budget(void **state)
{
	static const struct {
		uint64_t processes;
		size_t depth;
		bool believes;
	} rows[] = {{3, 10000, true}, {500, 20000, false}};

	for (size_t i = 0; i < 2; i++) {
		struct nettrace6_build b;
		struct file f = {0};
		struct rd_partial p = {0};
		struct rd_error err;
		build_many(&b, rows[i].processes, rows[i].depth);
		memory_source(&f.source, b.file.at, b.file.n);
		assert_ok(rd_format_nettrace.index(&f.source, &f.ix, NULL, NULL, &err), &err);
		decode_shard(&f, 0, f.ix.blocks.n);
		assert_ok(packed_unpack(&f.shards[0], &p, &err), &err);
		assert_int_equal(p.samples.n, rows[i].processes);
		assert_int_equal(p.stack_frames.n, rows[i].depth);
		assert_int_equal(p.preliminary.n > 0, rows[i].believes);
		rd_partial_release(&p);
		packed_release(&f.shards[0]);
		rd_index_release(&f.ix);
		rd_source_close(&f.source);
		nettrace6_release(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_of_everything),
		cmocka_unit_test(row_21_container_pids),
		cmocka_unit_test(a_belief_has_a_budget),
	};
	return cmocka_run_group_tests_name("profile/nettrace6", tests, NULL, NULL);
}
