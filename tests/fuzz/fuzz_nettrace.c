/* Any bytes as a nettrace file. */
#include "tests/trace/trace_fuzz.h"
#include "trace/nettrace/nettrace.h"

int rd_fuzz_one(const uint8_t *bytes, size_t size_bytes);

int rd_fuzz_one(const uint8_t *bytes, size_t size_bytes)
{
	fuzz_format(&rd_format_nettrace, bytes, size_bytes);
	return 0;
}
