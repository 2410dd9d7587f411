/* Any bytes as an LZNT1 stream: the first two say how long the output is to be. */
#include "base/cursor.h"
#include "base/memory.h"
#include "trace/etl/unpack.h"

int rd_fuzz_one(const uint8_t *bytes, size_t size_bytes);

int rd_fuzz_one(const uint8_t *bytes, size_t size_bytes)
{
	if (size_bytes < 2)
		return 0;
	size_t out_bytes = rd_le16(bytes) + 1u;
	uint8_t *out = rd_realloc(NULL, out_bytes);
	if (out)
		(void)rd_lznt1_unpack(bytes + 2, size_bytes - 2, out, out_bytes);
	rd_free(out);
	return 0;
}
