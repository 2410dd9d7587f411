/*
 * reader - decode buffers of an ETL file: read, unpack, walk, hand out.
 */
#ifndef RD_TRACE_ETL_READER_H
#define RD_TRACE_ETL_READER_H

#include "trace/trace.h"

/* See struct rd_format. */
int rd_etl_decoder_new(const struct rd_source *s, const struct rd_trace_info *info, const struct rd_sink *sink,
		       struct rd_decoder **out, struct rd_error *err);
int rd_etl_decoder_context(struct rd_decoder *d, const struct rd_block *b, struct rd_error *err);
int rd_etl_decoder_blocks(struct rd_decoder *d, const struct rd_block *blocks, size_t n, struct rd_error *err);
void rd_etl_decoder_free(struct rd_decoder *d);

#endif
