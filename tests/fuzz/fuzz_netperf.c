/* Any bytes as a netperf file. */
#include "tests/trace/trace_fuzz.h"
#include "trace/netperf/netperf.h"

int rd_fuzz_one(const uint8_t *bytes, size_t size_bytes);

int rd_fuzz_one(const uint8_t *bytes, size_t size_bytes)
{
	fuzz_format(&rd_format_netperf, bytes, size_bytes);
	return 0;
}
