#include "tests/trace/trace_made.h"

#include <stdlib.h>

#include "tests/trace/etl/etl_build.h"
#include "tests/trace/netperf/netperf_build.h"
#include "tests/trace/nettrace/nettrace6_build.h"
#include "tests/trace/nettrace/nettrace_build.h"

static void take(struct rd_bytes *out, const struct rd_bytes *file)
{
	if (rd_bytes_append(out, file->at, file->n) != 0)
		abort();
}

static void take_nettrace(struct rd_bytes *out, const struct nettrace_options *options)
{
	struct nettrace_build b;
	nettrace_sample_file(&b, options);
	take(out, &b.file);
	nettrace_release(&b);
}

static void make_nettrace(struct rd_bytes *out)
{
	take_nettrace(out, NULL);
}

static void make_nettrace_plain(struct rd_bytes *out)
{
	take_nettrace(out, &(struct nettrace_options){.plain_headers = true, .pointer_bytes = 4});
}

static void take_nettrace6(struct rd_bytes *out, const struct nettrace6_options *options)
{
	struct nettrace6_build b;
	nettrace6_sample_file(&b, options);
	take(out, &b.file);
	nettrace6_release(&b);
}

static void make_nettrace6(struct rd_bytes *out)
{
	take_nettrace6(out, &(struct nettrace6_options){.pairs = {"HardwareThreadCount", "2", "ProcessId", "500"}});
}

static void make_nettrace6_plain(struct rd_bytes *out)
{
	take_nettrace6(out, &(struct nettrace6_options){.plain_headers = true, .pointer_bytes = 4});
}

static void take_etl(struct rd_bytes *out, const struct etl_options *options)
{
	static const uint64_t frames[] = {0x4010, 0x5000};
	struct etl_build e;
	etl_begin(&e, options);
	etl_buffer(&e, 0, 1100);
	etl_process(&e, 3, 1100, 42, 1, "shop.exe", "shop.exe --all");
	etl_thread(&e, 3, 1110, 42, 77);
	etl_image(&e, 3, 1120, 42, 0x4000, 0x1000, "C:\\shop.exe");
	etl_sample(&e, 1200, 77, 0x4010);
	etl_stack(&e, 1210, 1200, 42, 77, frames, 2);
	etl_buffer(&e, 1, 1300);
	etl_sample(&e, 1300, 77, 0x4020);
	etl_stack_key(&e, 1310, 1300, 42, 77, 2, 0xfeed);
	etl_stack_definition(&e, 1400, 0xfeed, frames, 2);
	etl_end(&e);
	take(out, &e.file);
	etl_release(&e);
}

static void make_etl(struct rd_bytes *out)
{
	take_etl(out, &(struct etl_options){.buffer_bytes = 1024});
}

static void make_etl_packed(struct rd_bytes *out)
{
	take_etl(out, &(struct etl_options){.buffer_bytes = 1024, .compression = 3});
}

static void take_netperf(struct rd_bytes *out, const struct netperf_options *options)
{
	struct netperf_build b;
	netperf_sample_file(&b, options);
	take(out, &b.file);
	netperf_release(&b);
}

static void make_netperf(struct rd_bytes *out)
{
	take_netperf(out, NULL);
}

static void make_netperf_32_bits(struct rd_bytes *out)
{
	take_netperf(out, &(struct netperf_options){.pointer_bytes = 4});
}

static void make_netperf_2(struct rd_bytes *out)
{
	take_netperf(out, &(struct netperf_options){.version = 2});
}

const struct trace_made traces_made[] = {
	{"nettrace", RD_FORMAT_NETTRACE, make_nettrace, 3},
	{"nettrace with plain headers", RD_FORMAT_NETTRACE, make_nettrace_plain, 3},
	{"nettrace 6", RD_FORMAT_NETTRACE, make_nettrace6, 3},
	{"nettrace 6 with plain headers", RD_FORMAT_NETTRACE, make_nettrace6_plain, 3},
	{"etl", RD_FORMAT_ETL, make_etl, 3},
	{"etl, packed", RD_FORMAT_ETL, make_etl_packed, 3},
	{"netperf", RD_FORMAT_NETPERF, make_netperf, 3},
	{"netperf of 32 bits", RD_FORMAT_NETPERF, make_netperf_32_bits, 3},
	{"netperf 2", RD_FORMAT_NETPERF, make_netperf_2, 1},
};

const size_t traces_made_n = sizeof traces_made / sizeof *traces_made;
