/*
 * bench_decode - how fast traces become packed partials, one shard a trace, without daemons.
 *
 * Time is the processor's, so that neighbours on the machine count little; of
 * several rounds over all files the best one of each step is told. Beside it
 * stands what reading the same file costs in any case. The digest is over the
 * partial's blocks: equal before and after a change that shall change nothing.
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
#include "profile/partial.h"
#include "profile/shard.h"
#include "trace/etl/buffer.h"
#include "trace/trace.h"

static const char help[] = "usage: bench_decode [--preliminary] [--rounds N] [--tables] TRACE...\n"
			   "  --preliminary   with the histogram of each shard\n"
			   "  --tables        the bytes of every table too\n";

struct words {
	bool preliminary, tables;
	unsigned rounds;
};

struct times {
	double read_ms, index_ms, decode_ms;
};

struct bench {
	const char *path;
	uint64_t file_bytes, plain_bytes;
	struct times best;
	uint64_t partial_bytes, digest;
	uint64_t table_bytes[RD_TABLE_END];
};

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int fail(const char *path, const struct rd_error *err)
{
	fprintf(stderr, "bench_decode: %s: %s\n", path, err->text);
	return -1;
}

static int emit(void *ctx, enum rd_partial_table table, uint32_t seq, struct rd_span block, struct rd_error *err)
{
	struct bench *b = ctx;
	uint64_t parts[4] = {b->digest, table, seq, rd_hash(block.at, block.size_bytes)};

	(void)err;
	b->digest = rd_hash(parts, sizeof parts);
	b->partial_bytes += block.size_bytes;
	b->table_bytes[table] += block.size_bytes;
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

static int decode(struct bench *b, const struct rd_source *s, const struct rd_index *ix, const struct words *w,
		  struct rd_error *err)
{
	struct rd_shard shard = {.info = &ix->info, .blocks = ix->blocks.at, .blocks_n = ix->blocks.n};
	struct rd_shard_options options = {.preliminary = w->preliminary};

	b->digest = b->partial_bytes = 0;
	memset(b->table_bytes, 0, sizeof b->table_bytes);
	return rd_shard_decode(s, &shard, &options, emit, b, err);
}

static double least(double a, double b)
{
	return a == 0 || b < a ? b : a;
}

static int once(struct bench *b, const struct words *w)
{
	struct rd_error err;
	struct rd_source source;
	struct rd_index index = {0};
	const struct rd_format *format;

	rd_error_clear(&err);
	if (rd_source_open(&source, b->path, &err) < 0)
		return fail(b->path, &err);
	double t0 = cpu_ms();
	int rc = read_all(&source, &err);
	double t1 = cpu_ms();
	if (rc == 0)
		rc = rd_trace_probe(&source, &format, &err);
	if (rc == 0)
		rc = format->index(&source, &index, NULL, NULL, &err);
	double t2 = cpu_ms();
	if (rc == 0)
		rc = decode(b, &source, &index, w, &err);
	double t3 = cpu_ms();
	if (rc == 0) {
		b->file_bytes = source.size_bytes;
		b->plain_bytes = plain_bytes(&source, &index, &err);
		b->best.read_ms = least(b->best.read_ms, t1 - t0);
		b->best.index_ms = least(b->best.index_ms, t2 - t1);
		b->best.decode_ms = least(b->best.decode_ms, t3 - t2);
	}
	rd_index_release(&index);
	rd_source_close(&source);
	return rc < 0 ? fail(b->path, &err) : 0;
}

static void tell(const struct bench *b, const struct words *w)
{
	const char *name = strrchr(b->path, '/');
	double ms = b->best.index_ms + b->best.decode_ms;

	printf("%-24.24s %8.1f %8.1f %7.1f %7.1f %8.1f %7.0f %6.1f %9.2f  %016" PRIx64 "\n", name ? name + 1 : b->path,
	       (double)b->file_bytes / 1e6, (double)b->plain_bytes / 1e6, b->best.read_ms, b->best.index_ms,
	       b->best.decode_ms, (double)b->plain_bytes / 1e3 / ms, ms / b->best.read_ms,
	       (double)b->partial_bytes / 1e6, b->digest);
	for (int i = 0; w->tables && i < RD_TABLE_END; i++)
		if (b->table_bytes[i])
			printf("    table %2d %10" PRIu64 "\n", i, b->table_bytes[i]);
}

static int read_words(int argc, char **argv, struct words *w)
{
	static const struct option options[] = {{"preliminary", no_argument, NULL, 'p'},
						{"rounds", required_argument, NULL, 'r'},
						{"tables", no_argument, NULL, 't'},
						{NULL, 0, NULL, 0}};
	int c;

	*w = (struct words){.rounds = 5};
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'p')
			w->preliminary = true;
		else if (c == 't')
			w->tables = true;
		else if (c == 'r')
			w->rounds = (unsigned)strtoul(optarg, NULL, 10);
		else
			return -1;
	}
	return optind < argc && w->rounds > 0 ? 0 : -1;
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
		printf("%-24s %8s %8s %7s %7s %8s %7s %6s %9s  %s\n", "trace", "MB", "plain MB", "read", "index",
		       "decode", "MB/s", "/read", "partial", "digest");
	for (size_t i = 0; i < n && rc == 0; i++)
		tell(&all[i], &w);
	struct rusage usage;
	if (rc == 0 && getrusage(RUSAGE_SELF, &usage) == 0)
		printf("milliseconds of the processor, best of %u; peak memory %.0f MB\n", w.rounds,
		       (double)usage.ru_maxrss / 1e3);
	free(all);
	return rc < 0;
}
