/*
 * records - walk the records of one plain buffer: where each begins and ends,
 * and who says so (docs/formats/etl.md, "Records").
 *
 * Input is hostile: nothing outside the buffer is read. Knows headers only, no
 * payload and no catalogue. The hot loop of every ETL decode.
 */
#ifndef RD_TRACE_ETL_RECORDS_H
#define RD_TRACE_ETL_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/event.h"

struct rd_etl_walk {
	const uint8_t *plain; /* the buffer from its header on */
	uint32_t used_bytes;
	uint32_t at;        /* of the next record: a multiple of 8 */
	const char *damage; /* why the walk stopped, once it is < 0 */
};

/* Begin behind the buffer's header. used_bytes counts it in; plain is borrowed. */
void rd_etl_walk_init(struct rd_etl_walk *w, const uint8_t *plain, uint32_t used_bytes);

struct rd_etl_record {
	uint32_t at;           /* of its first byte in the plain buffer */
	uint8_t identity;      /* enum rd_identity: KERNEL, CLASSIC, EVENT, WPP, HEADER */
	uint8_t pointer_bytes; /* by the header's type; 0 a kernel record: the file's */
	uint16_t version;      /* KERNEL: the low byte */
	uint32_t id;           /* event id, opcode, header type */
	uint32_t group;        /* KERNEL */
	const uint8_t *guid;   /* CLASSIC, EVENT: 16 bytes; else NULL */
	uint32_t pid;          /* RD_NO_PID none */
	uint32_t thread;
	uint64_t time;
	const uint8_t *payload;
	uint32_t payload_bytes;
	const uint8_t *extended; /* EVENT: the items in front of the payload; NULL none */
	uint32_t extended_bytes;
};

/* Fill *r: 1 a record, 0 the clean end, RD_CORRUPT where no record stands (w->at is the place, w->damage why). */
int rd_etl_walk_next(struct rd_etl_walk *w, struct rd_etl_record *r);

/* The data of the first extended item of this type among those in front of a payload; empty when there is none. */
struct rd_span rd_etl_extended_item(struct rd_span items, uint16_t type);

/* The frames of the stack among an event's extended items; an empty span when there is none. */
struct rd_span rd_etl_extended_stack(const struct rd_etl_record *r, uint8_t *pointer_bytes);

#endif
