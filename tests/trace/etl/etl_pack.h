/*
 * etl_pack - small compressors for tests: what the unpackers of trace/etl/ read.
 *
 * Greedy and plain: they exist to make every form of match and length.
 */
#ifndef RD_TESTS_TRACE_ETL_PACK_H
#define RD_TESTS_TRACE_ETL_PACK_H

#include "base/memory.h"

/* Append the packed form of plain to out. */
void etl_pack_lznt1(struct rd_bytes *out, const uint8_t *plain, size_t size_bytes);
void etl_pack_xpress(struct rd_bytes *out, const uint8_t *plain, size_t size_bytes);
void etl_pack_xpress_huffman(struct rd_bytes *out, const uint8_t *plain, size_t size_bytes);

/* By enum rd_etl_compression; RD_ETL_PLAIN copies. */
void etl_pack(struct rd_bytes *out, uint32_t compression, const uint8_t *plain, size_t size_bytes);

#endif
