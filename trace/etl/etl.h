/*
 * etl - Windows event trace logs: rd_format_etl (docs/formats/etl.md).
 *
 * A block is a buffer of the log. Buffers may be decoded in any order and
 * need no context. Ordinals are the file's order, in circular files that of
 * the buffers' sequence numbers.
 *
 * What a decoder of this format hands out:
 * - Every record of every buffer whose kind is wanted. pid and thread are the
 *   header's; perfinfo records have neither (RD_NO_PID, 0): their payload
 *   names a thread.
 * - pointer_bytes is the file's for kernel events and the record's own for all
 *   others. A stack that came with an event is in `stack`.
 * - Where a buffer's walk stops before its end, one event of identity BAD
 *   (whose payload is the rest of the buffer) and one call of `damage`. What
 *   precedes counts. A buffer that does not unpack holds nothing but such a
 *   stop.
 */
#ifndef RD_TRACE_ETL_ETL_H
#define RD_TRACE_ETL_ETL_H

#include "trace/trace.h"

/* rd_trace_info.compression, as Windows numbers it. */
enum rd_etl_compression {
	RD_ETL_PLAIN = 0,
	RD_ETL_LZNT1 = 2,
	RD_ETL_XPRESS = 3,
	RD_ETL_XPRESS_HUFFMAN = 4,
};

/* Bits of rd_trace_info.log_file_mode that change how a file is read. */
enum rd_etl_mode {
	RD_ETL_MODE_CIRCULAR = 0x00000002,
	RD_ETL_MODE_APPEND = 0x00000004,
	RD_ETL_MODE_NEWFILE = 0x00000008,
	RD_ETL_MODE_COMPRESSED = 0x04000000,
};

extern const struct rd_format rd_format_etl;

#endif
