/*
 * Any bytes as a plain and as a Huffman XPRESS stream: the first three say how
 * long the output is to be, up to beyond one Huffman block.
 */
#include "base/cursor.h"
#include "base/memory.h"
#include "trace/etl/unpack.h"

int rd_fuzz_one(const uint8_t *bytes, size_t size_bytes);

static struct rd_xpress_huffman huffman;

int rd_fuzz_one(const uint8_t *bytes, size_t size_bytes)
{
	if (size_bytes < 3)
		return 0;
	size_t out_bytes = rd_le16(bytes) + (size_t)(bytes[2] & 3) * 65536 + 1;
	uint8_t *out = rd_realloc(NULL, out_bytes);
	if (out) {
		(void)rd_xpress_unpack(bytes + 3, size_bytes - 3, out, out_bytes);
		(void)rd_xpress_huffman_unpack(&huffman, bytes + 3, size_bytes - 3, out, out_bytes);
	}
	rd_free(out);
	return 0;
}
