/*
 * bench_steps - what the steps of a job cost, one after the other in one process, without daemons.
 *
 * Time is the processor's, so that neighbours on the machine count little; of
 * several rounds over all files the best one of each step is told. Beside it
 * stands what reading the same file costs in any case. The digest is over the
 * partials' blocks, or with --finish the result's: equal before and after a
 * change that shall change nothing.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/memory.h"
#include "base/table.h"
#include "broker/plan.h"
#include "profile/finish.h"
#include "profile/shard.h"
#include "trace/etl/buffer.h"
#include "trace/trace.h"

static const char help[] =
	"usage: bench_steps [--preliminary] [--finish] [--shards N] [--rounds N] [--tables] TRACE...\n"
	"  --preliminary   with the histogram of each shard\n"
	"  --finish        the finish, too\n"
	"  --shards N      in at most N shards (default 1)\n"
	"  --tables        the bytes of every table too\n";

struct words {
	bool preliminary, finish, tables;
	unsigned rounds, shards;
};

enum step { READ, INDEX, DECODE, FINISH, STEPS };

struct kept_block {
	size_t shard;
	uint32_t table, seq;
	uint64_t begin, size_bytes; /* in bench.kept_bytes */
};

struct bench {
	const char *path;
	uint64_t file_bytes, plain_bytes;
	double best_ms[STEPS];
	uint64_t partial_bytes;
	uint64_t table_bytes[RD_TABLE_END];
	char digest[33];
	/* Of one round: */
	size_t shard;
	RD_VEC(struct kept_block) kept;
	RD_VEC(uint8_t) kept_bytes;
};

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int fail(const char *path, const struct rd_error *err)
{
	fprintf(stderr, "bench_steps: %s: %s\n", path, err->text);
	return -1;
}

static int keep(void *ctx, enum rd_partial_table table, uint32_t seq, struct rd_span block, struct rd_error *err)
{
	struct bench *b = ctx;
	struct kept_block *k = rd_vec_add(&b->kept);

	if (k == NULL || rd_vec_reserve(&b->kept_bytes, b->kept_bytes.n + block.size_bytes) < 0)
		return rd_fail_nomem(err);
	*k = (struct kept_block){b->shard, table, seq, b->kept_bytes.n, block.size_bytes};
	memcpy(b->kept_bytes.at + b->kept_bytes.n, block.at, block.size_bytes);
	b->kept_bytes.n += block.size_bytes;
	b->table_bytes[table] += block.size_bytes;
	return 0;
}

static int find_block(void *ctx, size_t shard, enum rd_partial_table table, uint32_t seq, struct rd_span *block,
		      struct rd_error *err)
{
	const struct bench *b = ctx;

	(void)err;
	for (size_t i = 0; i < b->kept.n; i++) {
		const struct kept_block *k = &b->kept.at[i];
		if (k->shard != shard || k->table != table || k->seq != seq)
			continue;
		*block = (struct rd_span){b->kept_bytes.at + k->begin, k->size_bytes};
		return 1;
	}
	return 0;
}

/* The copy that no reader saves, in the pieces that decoders read. */
static int read_all(const struct rd_source *s, struct rd_error *err)
{
	static uint8_t window[256 << 10];

	for (uint64_t at = 0; at < s->size_bytes;) {
		int64_t n = rd_source_some(s, window, sizeof window, at, err);
		if (n <= 0)
			return -1;
		at += (uint64_t)n;
	}
	return 0;
}

/* What the blocks are unpacked: the same as in the file unless it is a compressed ETL. */
static uint64_t plain_bytes(const struct rd_source *s, const struct rd_index *ix, struct rd_error *err)
{
	uint8_t head[RD_ETL_BUFFER_HEAD];
	struct rd_etl_buffer buffer;
	uint64_t sum = 0;

	if (ix->info.format != RD_FORMAT_ETL || ix->info.compression == 0)
		return s->size_bytes;
	for (size_t i = 0; i < ix->blocks.n; i++) {
		if (rd_source_read(s, head, sizeof head, ix->blocks.at[i].offset, err) < 0)
			return 0;
		rd_etl_buffer_read(&buffer, head);
		sum += buffer.used_bytes;
	}
	return sum;
}

static int decode_shard(struct bench *b, const struct rd_source *s, const struct rd_index *ix,
			const struct rd_plan *plan, const struct words *w, struct rd_error *err)
{
	struct rd_shard_options options = {.preliminary = w->preliminary};
	rd_block_vec blocks = {0}, context = {0};
	int rc = rd_plan_shard_blocks(ix, plan, (uint32_t)b->shard, &blocks, &context, err);
	struct rd_shard shard = {&ix->info, context.at, context.n, blocks.at, blocks.n};

	if (rc == 0)
		rc = rd_shard_decode(s, &shard, &options, keep, b, err);
	rd_vec_release(&blocks);
	rd_vec_release(&context);
	return rc;
}

static int decode(struct bench *b, const struct rd_source *s, const struct rd_index *ix, const struct rd_plan *plan,
		  const struct words *w, struct rd_error *err)
{
	int rc = 0;

	memset(b->table_bytes, 0, sizeof b->table_bytes);
	b->kept.n = b->kept_bytes.n = 0;
	for (b->shard = 0; rc == 0 && b->shard < plan->shards.n; b->shard++)
		rc = decode_shard(b, s, ix, plan, w, err);
	b->partial_bytes = b->kept_bytes.n;
	return rc;
}

static int finish(struct bench *b, const struct rd_index *ix, const struct rd_plan *plan, struct rd_result *out,
		  struct rd_error *err)
{
	struct rd_finish_trace trace = {
		.path = b->path,
		.info = &ix->info,
		.partials = {.ctx = b, .shards = plan->shards.n, .block = find_block},
	};

	return rd_finish(&trace, 1, &(struct rd_finish_options){.kind = -1}, out, err);
}

/* A step ends: its time is told if it is the best. */
static double took(struct bench *b, enum step step, double since_ms)
{
	double now_ms = cpu_ms(), ms = now_ms - since_ms;

	if (b->best_ms[step] == 0 || ms < b->best_ms[step])
		b->best_ms[step] = ms;
	return now_ms;
}

static int steps(struct bench *b, const struct words *w, const struct rd_source *source, struct rd_index *index,
		 struct rd_error *err)
{
	const struct rd_plan_options options = {.shards = w->shards, .workers = 1};
	const struct rd_format *format;
	struct rd_plan plan = {0};
	struct rd_result result = {0};
	double since = cpu_ms();
	int rc = read_all(source, err);

	since = took(b, READ, since);
	if (rc == 0)
		rc = rd_trace_probe(source, &format, err);
	if (rc == 0)
		rc = format->index(source, index, NULL, NULL, err);
	since = took(b, INDEX, since);
	if (rc == 0)
		rc = rd_plan_make(index, &options, &plan, err);
	if (rc == 0)
		rc = decode(b, source, index, &plan, w, err);
	since = took(b, DECODE, since);
	snprintf(b->digest, sizeof b->digest, "%016" PRIx64, rd_hash(b->kept_bytes.at, b->kept_bytes.n));
	if (rc == 0 && w->finish) {
		since = cpu_ms();
		rc = finish(b, index, &plan, &result, err);
		took(b, FINISH, since);
		if (rc == 0)
			rc = rd_result_digest(&result, b->digest, err);
	}
	rd_result_release(&result);
	rd_plan_release(&plan);
	return rc;
}

static int once(struct bench *b, const struct words *w)
{
	struct rd_error err;
	struct rd_source source;
	struct rd_index index = {0};

	rd_error_clear(&err);
	if (rd_source_open(&source, b->path, &err) < 0)
		return fail(b->path, &err);
	int rc = steps(b, w, &source, &index, &err);
	if (rc == 0) {
		b->file_bytes = source.size_bytes;
		b->plain_bytes = plain_bytes(&source, &index, &err);
	}
	rd_index_release(&index);
	rd_source_close(&source);
	rd_vec_release(&b->kept);
	rd_vec_release(&b->kept_bytes);
	return rc < 0 ? fail(b->path, &err) : 0;
}

static void tell(const struct bench *b, const struct words *w)
{
	const char *name = strrchr(b->path, '/');
	double ms = b->best_ms[INDEX] + b->best_ms[DECODE];

	printf("%-24.24s %8.1f %8.1f %7.1f %7.1f %8.1f %8.1f %7.0f %6.1f %9.2f  %s\n", name ? name + 1 : b->path,
	       (double)b->file_bytes / 1e6, (double)b->plain_bytes / 1e6, b->best_ms[READ], b->best_ms[INDEX],
	       b->best_ms[DECODE], b->best_ms[FINISH], (double)b->plain_bytes / 1e3 / ms, ms / b->best_ms[READ],
	       (double)b->partial_bytes / 1e6, b->digest);
	for (int i = 0; w->tables && i < RD_TABLE_END; i++)
		if (b->table_bytes[i])
			printf("    table %2d %10" PRIu64 "\n", i, b->table_bytes[i]);
}

static int read_words(int argc, char **argv, struct words *w)
{
	static const struct option options[] = {
		{"preliminary", no_argument, NULL, 'p'},  {"finish", no_argument, NULL, 'f'},
		{"shards", required_argument, NULL, 's'}, {"rounds", required_argument, NULL, 'r'},
		{"tables", no_argument, NULL, 't'},       {NULL, 0, NULL, 0}};
	int c;

	*w = (struct words){.rounds = 5, .shards = 1};
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'p')
			w->preliminary = true;
		else if (c == 'f')
			w->finish = true;
		else if (c == 's')
			w->shards = (unsigned)strtoul(optarg, NULL, 10);
		else if (c == 't')
			w->tables = true;
		else if (c == 'r')
			w->rounds = (unsigned)strtoul(optarg, NULL, 10);
		else
			return -1;
	}
	return optind < argc && w->rounds > 0 && w->shards > 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct words w;

	if (read_words(argc, argv, &w) < 0) {
		fputs(help, stderr);
		return 2;
	}
	size_t n = (size_t)(argc - optind);
	struct bench *all = calloc(n, sizeof *all);
	int rc = all ? 0 : -1;
	for (unsigned round = 0; round < w.rounds && rc == 0; round++)
		for (size_t i = 0; i < n && rc == 0; i++) {
			all[i].path = argv[optind + (int)i];
			rc = once(&all[i], &w);
		}
	if (rc == 0)
		printf("%-24s %8s %8s %7s %7s %8s %8s %7s %6s %9s  %s\n", "trace", "MB", "plain MB", "read", "index",
		       "decode", "finish", "MB/s", "/read", "partial", "digest");
	for (size_t i = 0; i < n && rc == 0; i++)
		tell(&all[i], &w);
	struct rusage usage;
	if (rc == 0 && getrusage(RUSAGE_SELF, &usage) == 0)
		printf("milliseconds of the processor, best of %u; peak memory %.0f MB\n", w.rounds,
		       (double)usage.ru_maxrss / 1e3);
	free(all);
	return rc < 0;
}
