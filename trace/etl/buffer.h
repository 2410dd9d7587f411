/*
 * buffer - the 72 bytes in front of every buffer of an ETL file, WMI_BUFFER_HEADER
 * (docs/formats/etl.md, "Buffers").
 */
#ifndef RD_TRACE_ETL_BUFFER_H
#define RD_TRACE_ETL_BUFFER_H

#include <stdbool.h>
#include <stdint.h>

enum {
	RD_ETL_BUFFER_HEAD = 0x48,
	/* What sessions have at most: a compressed buffer unpacks to no more. */
	RD_ETL_PLAIN_MOST = 16 << 20,
	/* A header that names four times that is taken for damage. */
	RD_ETL_BUFFER_MOST = 64 << 20,
};

enum rd_etl_buffer_flag {
	RD_ETL_BUFFER_PROCESSOR_INDEX = 0x20,
	RD_ETL_BUFFER_COMPRESSED = 0x40,
};

struct rd_etl_buffer {
	uint32_t size_bytes; /* in the file, this header included */
	uint32_t used_bytes; /* of the plain buffer, this header included; 0 when the header names no possible length */
	uint64_t time;       /* of the flush: session clock, or FILETIME in relogged files */
	uint64_t sequence;
	uint32_t state; /* in the first buffer of a compressed file: the compression, low 16 bits */
	uint16_t cpu;
	uint16_t flags; /* enum rd_etl_buffer_flag and others */
	uint16_t type;  /* 4 the header's own, 0 events, … */
};

/* Read the RD_ETL_BUFFER_HEAD bytes at head. */
void rd_etl_buffer_read(struct rd_etl_buffer *b, const uint8_t *head);

/* Whether these can be the bytes of a buffer's header: its sizes and type are possible ones. */
bool rd_etl_buffer_plausible(const struct rd_etl_buffer *b);

#endif
