/*
 * gen_large nettrace|nettrace6|etl|netperf FILE - a small trace with more than 4 GiB in its middle, written with a
 * hole. gen_large stacks FILE N                       - a nettrace of N samples, each with a stack of its own.
 *
 * The small ones have two samples before the middle and three behind it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/trace/etl/etl_build.h"
#include "tests/trace/netperf/netperf_build.h"
#include "tests/trace/nettrace/nettrace6_build.h"
#include "tests/trace/nettrace/nettrace_build.h"

#define SAMPLER "Microsoft-DotNETCore-SampleProfiler"
#define RUNTIME "Microsoft-Windows-DotNETRuntime"
#define MIDDLE  ((UINT64_C(1) << 32) + (UINT64_C(64) << 20))

enum { SAMPLE = 1, LOAD, OTHER };

static const uint8_t managed[4] = {2};
static const uint64_t frames[] = {0x4010};

static int fd;

static void put_at(uint64_t offset, const void *bytes, size_t size_bytes)
{
	if (rd_pwrite_all(fd, bytes, size_bytes, offset, NULL) == 0)
		return;
	fprintf(stderr, "gen_large: %s\n", strerror(errno));
	exit(1);
}

/* The file with the middle in front of byte `split`. */
static void put_split(const struct rd_bytes *file, uint64_t split, uint64_t middle)
{
	put_at(0, file->at, (size_t)split);
	put_at(split + middle, file->at + split, file->n - (size_t)split);
}

/* ---- nettrace 4: blocks of a name that nobody knows, of nearly 2 GiB each */

static void samples_4(struct nettrace_build *b, uint32_t first, uint32_t n)
{
	nettrace_block(b, "EventBlock");
	for (uint32_t i = first; i < first + n; i++)
		nettrace_event(b, &(struct nettrace_event){SAMPLE, i, 10, 10, 1, 2000 + i, managed, 4});
}

static void nettrace(void)
{
	enum { NAME_BYTES = 14, HEAD_BYTES = 3 + 12 + NAME_BYTES + 1 + 4 };
	static const uint8_t head[] = "\5\5\1\2\0\0\0\2\0\0\0\16\0\0\0NewKindOfBlock\6", end = 6;
	struct nettrace_build b;
	nettrace_begin(&b, NULL);
	nettrace_block(&b, "MetadataBlock");
	nettrace_metadata(&b, SAMPLE, SAMPLER, 0, "", 0);
	nettrace_stacks(&b, 1);
	nettrace_stack(&b, frames, 1);
	samples_4(&b, 1, 2);
	nettrace_block(&b, "EventBlock");
	uint64_t split = b.file.n;
	samples_4(&b, 3, 3);
	nettrace_end(&b);
	/* Payloads are padded by their place: with blocks of a multiple of 4 bytes nothing behind them moves. */
	uint64_t pad = -(split + HEAD_BYTES) & 3, block_bytes = UINT64_C(0x7ffffff0);
	uint32_t size = (uint32_t)(block_bytes - HEAD_BYTES - pad - 1);
	put_split(&b.file, split, 3 * block_bytes);
	for (uint64_t at = split; at < split + 3 * block_bytes; at += block_bytes) {
		put_at(at, head, HEAD_BYTES - 4);
		put_at(at + HEAD_BYTES - 4, &size, 4);
		put_at(at + block_bytes - 1, &end, 1);
	}
	nettrace_release(&b);
}

/* ---- nettrace 6: blocks of a kind that nobody knows, of nearly 16 MiB each */

static void samples_6(struct nettrace6_build *b, uint64_t time, int n)
{
	nettrace6_block(b, RD_NETTRACE_EVENT);
	for (int i = 0; i < n; i++)
		universal_value(b, (struct nettrace6_event){.thread = 1, .stack_id = 1, .time = time + 1}, U_CPU, 1);
}

static void nettrace6(void)
{
	static const uint8_t head[4] = {0xfc, 0xff, 0xff, 77};
	const uint64_t block_bytes = 4 + 0xfffffc;
	struct nettrace6_build b;
	nettrace6_begin(&b, NULL);
	nettrace6_block(&b, RD_NETTRACE_METADATA);
	universal_metadata(&b);
	nettrace6_block(&b, RD_NETTRACE_THREAD);
	nettrace6_thread(&b, 1, 500, 501);
	nettrace6_stacks(&b, 1);
	nettrace6_stack(&b, frames, 1);
	samples_6(&b, 2000, 2);
	nettrace6_block(&b, RD_NETTRACE_EVENT);
	uint64_t split = b.file.n, blocks = MIDDLE / block_bytes + 1;
	samples_6(&b, 3000, 3);
	nettrace6_end(&b);
	put_split(&b.file, split, blocks * block_bytes);
	for (uint64_t i = 0; i < blocks; i++)
		put_at(split + i * block_bytes, head, sizeof head);
	nettrace6_release(&b);
}

/* ---- ETL: buffers without an event, of 1 MiB each */

static void samples_etl(struct etl_build *e, uint64_t time, uint64_t n)
{
	etl_buffer(e, 0, time);
	for (uint64_t i = 0; i < n; i++)
		etl_sample(e, time + i, 70, 0x4010);
}

static void etl(void)
{
	enum { BUFFER_BYTES = 1 << 20, HEAD_BYTES = 0x48, WRITTEN_AT = 0x48 + 32 + 36 };
	const uint32_t buffers = MIDDLE / BUFFER_BYTES;
	struct etl_build e;
	etl_begin(&e, &(struct etl_options){.buffer_bytes = BUFFER_BYTES});
	samples_etl(&e, 2000000, 2);
	etl_buffer(&e, 0, 2500000);
	uint64_t empty = e.file.n;
	samples_etl(&e, 3000000, 3);
	etl_end(&e);
	etl_patch(&e.file, WRITTEN_AT, e.buffers + buffers, 4);
	put_split(&e.file, empty, (uint64_t)buffers * BUFFER_BYTES);
	for (uint64_t i = 0; i < buffers; i++)
		put_at(empty + i * BUFFER_BYTES, e.file.at + empty, HEAD_BYTES);
	etl_release(&e);
}

/* ---- netperf 3: blocks of one event that nobody wants, of 64 MiB each */

static void samples_netperf(struct netperf_build *b, uint64_t time, uint64_t n)
{
	netperf_block(b);
	for (uint64_t i = 0; i < n; i++)
		netperf_event(b, &(struct netperf_event){SAMPLE, 10, time + i, managed, 4, frames, 1});
}

static void netperf(void)
{
	const uint32_t payload_bytes = 64 << 20, blocks = MIDDLE / payload_bytes + 1;
	static const uint8_t end = 6;
	uint8_t *payload = calloc(1, payload_bytes);
	struct netperf_build b;
	if (payload == NULL)
		exit(1);
	netperf_begin(&b, NULL);
	netperf_block(&b);
	netperf_metadata(&b, SAMPLE, SAMPLER, 0, "", 0);
	netperf_metadata(&b, OTHER, "MySource", 7, "Hello", 1);
	samples_netperf(&b, 2000, 2);
	netperf_block(&b);
	uint64_t begin = b.file.n;
	netperf_event(&b, &(struct netperf_event){OTHER, 10, 2500, payload, payload_bytes, NULL, 0});
	netperf_block(&b);
	/* A multiple of 4, as all blocks begin one byte behind one. One of them is in the file already. */
	uint64_t block_bytes = b.file.n - begin;
	samples_netperf(&b, 3000, 3);
	netperf_end(&b);
	put_split(&b.file, begin + block_bytes, blocks * block_bytes);
	for (uint64_t i = 1; i <= blocks; i++) {
		put_at(begin + i * block_bytes, b.file.at + begin, 128);
		put_at(begin + (i + 1) * block_bytes - 1, &end, 1);
	}
	netperf_release(&b);
	free(payload);
}

/* ---- many samples, each with a stack of its own or all with one */

enum { METHODS = 1000, DEPTH = 8, CHUNK = 10000 };

static void put_methods(struct nettrace_build *b)
{
	struct rd_bytes p = {0};
	nettrace_block(b, "EventBlock");
	for (uint32_t i = 0; i < METHODS; i++) {
		char name[16];
		snprintf(name, sizeof name, "M%u", i);
		p.n = 0;
		put_clr_method(&p, 1,
			       &(struct clr_method){.id = i + 1,
						    .module = 1,
						    .start = 0x100000 + 0x100 * i,
						    .size_bytes = 0x100,
						    .ns = "Many",
						    .name = name,
						    .signature = "void  ()",
						    .clr = 9});
		nettrace_event(b, &(struct nettrace_event){LOAD, i + 1, 10, 10, 0, 2000 + i, p.at, (uint32_t)p.n});
	}
	rd_bytes_release(&p);
}

/* The digits of i say which methods: no two stacks are equal, and the depth is that of a small program. */
static void put_stack_of(struct nettrace_build *b, uint64_t i)
{
	uint64_t stack[DEPTH];
	for (unsigned k = 0; k < DEPTH; k++, i = k % 3 == 0 ? i : i / 100)
		stack[k] = 0x100000 + 0x100 * ((i + 131 * k) % METHODS) + i % 0x100;
	nettrace_stack(b, stack, DEPTH);
}

/* n is a multiple of CHUNK. */
static void many(uint64_t n, bool unique)
{
	const uint32_t stacks = unique ? CHUNK : 1;
	struct nettrace_build b;
	nettrace_begin(&b, NULL);
	nettrace_block(&b, "MetadataBlock");
	nettrace_metadata(&b, SAMPLE, SAMPLER, 0, "", 0);
	nettrace_metadata(&b, LOAD, RUNTIME, 143, "", 1);
	put_methods(&b);
	for (uint64_t i = 0; i < n; i += CHUNK) {
		nettrace_stacks(&b, 1);
		for (uint32_t k = 0; k < stacks; k++)
			put_stack_of(&b, unique ? i + k : 0);
		nettrace_block(&b, "EventBlock");
		for (uint32_t k = 0; k < CHUNK; k++)
			nettrace_event(&b, &(struct nettrace_event){SAMPLE, METHODS + (uint32_t)i + k + 1, 10, 10,
								    unique ? k + 1 : 1, 10000 + 1000 * (i + k), managed,
								    4});
		nettrace_point(&b, 10000 + 1000 * (i + CHUNK));
		nettrace_point_thread(&b, 10, METHODS + (uint32_t)i + CHUNK);
	}
	nettrace_end(&b);
	put_at(0, b.file.at, b.file.n);
	nettrace_release(&b);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*write)(void);
	} kinds[] = {{"nettrace", nettrace}, {"nettrace6", nettrace6}, {"etl", etl}, {"netperf", netperf}};
	fd = argc >= 3 ? open(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : -1;
	bool unique = argc == 4 && strcmp(argv[1], "stacks") == 0;
	if (fd >= 0 && argc == 4 && (unique || strcmp(argv[1], "samples") == 0)) {
		many(strtoull(argv[3], NULL, 10), unique);
		return 0;
	}
	for (size_t i = 0; fd >= 0 && argc == 3 && i < sizeof kinds / sizeof *kinds; i++) {
		if (strcmp(argv[1], kinds[i].name) != 0)
			continue;
		kinds[i].write();
		return 0;
	}
	fprintf(stderr, "usage: gen_large nettrace|nettrace6|etl|netperf FILE, or stacks|samples FILE N\n");
	return 2;
}
