/*
 * unpack - the three compressions of ETL buffers (docs/formats/etl.md, "Compression").
 *
 * Input is hostile: nothing outside the two ranges is read or written, and no
 * time is spent that the output does not pay for. The output length is known
 * beforehand (the buffer header says it), so each is one pass into place, and
 * a stream that ends early or asks for more is corrupt. Bytes of the input
 * behind the end of the output are ignored. What stands in the output after a
 * failure is not to be used.
 */
#ifndef RD_TRACE_ETL_UNPACK_H
#define RD_TRACE_ETL_UNPACK_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Fill out with exactly out_bytes; 0, or RD_CORRUPT. */
int rd_lznt1_unpack(const uint8_t *in, size_t in_bytes, uint8_t *out, size_t out_bytes);
int rd_xpress_unpack(const uint8_t *in, size_t in_bytes, uint8_t *out, size_t out_bytes);

/* The decoding table that XPRESS Huffman needs; too large for a stack, the caller keeps it between calls. */
#define RD_XPRESS_CODE_BITS 15
struct rd_xpress_huffman {
	uint16_t entry[1 << RD_XPRESS_CODE_BITS]; /* by the next 15 bits: symbol << 4 | code length; 0 no code */
};
int rd_xpress_huffman_unpack(struct rd_xpress_huffman *h, const uint8_t *in, size_t in_bytes, uint8_t *out,
			     size_t out_bytes);

#endif
