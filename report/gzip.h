/*
 * gzip - bytes through zlib into an output. Equal bytes become equal files: no name, no time.
 */
#ifndef RD_REPORT_GZIP_H
#define RD_REPORT_GZIP_H

#include <zlib.h>

#include "base/out.h"

struct rd_gzip {
	z_stream z;
	struct rd_out *out;
	bool failed;
};

/* RD_NOMEM. Borrows out. */
int rd_gzip_init(struct rd_gzip *g, struct rd_out *out);
void rd_gzip_put(struct rd_gzip *g, const void *bytes, size_t size_bytes);
/* Write the end and free; RD_NOMEM when something failed on the way. Errors of writing stay in out. */
int rd_gzip_close(struct rd_gzip *g);

#endif
