/*
 * header - what an ETL file says of itself in its first event, TRACE_LOGFILE_HEADER
 * (docs/formats/etl.md, "Header").
 */
#ifndef RD_TRACE_ETL_HEADER_H
#define RD_TRACE_ETL_HEADER_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/etl/buffer.h"
#include "trace/record.h"
#include "trace/trace.h"

struct rd_etl_header {
	uint32_t buffer_bytes;    /* of a plain buffer of the session; not checked */
	uint32_t buffers_written; /* 0 in a file whose session never ended it */
};

/*
 * Read the first buffer, `plain` from its own header on, into *info (which the
 * caller has cleared) and *h. RD_CORRUPT when it does not begin with that
 * event, RD_TRUNCATED when the event is cut, RD_UNSUPPORTED for a compression
 * or pointer size that is not known.
 */
int rd_etl_header_read(const struct rd_etl_buffer *buffer, const uint8_t *plain, struct rd_trace_info *info,
		       struct rd_etl_header *h, struct rd_error *err);

/*
 * The payload of that event into *out, which the caller has cleared; by_type: bytes of a pointer where it does not say
 * them. false when it is cut short. Names may be empty. With pointers of another size than 4 or 8 bytes only what
 * stands before the first pointer is read.
 */
bool rd_etl_session_read(const uint8_t *payload, size_t size_bytes, unsigned by_type, struct rd_session_record *out);

#endif
