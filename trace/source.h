/*
 * source - a plain trace file, read by place.
 *
 * pread only: a file that another host cuts must not raise SIGBUS. The
 * identity (size, mtime) is taken at open and can be asked for again, so that
 * a file which changes during a job is an error and never a mix. What is
 * written behind that size later is not there: a file that grows is what it
 * was when it was opened.
 */
#ifndef RD_TRACE_SOURCE_H
#define RD_TRACE_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct rd_source {
	int fd;
	uint64_t size_bytes;
	int64_t mtime_ns;
	char path[4096];
};

/* Open for reading; a folder, a FIFO or a device is refused with a clear text (RD_USAGE). */
int rd_source_open(struct rd_source *s, const char *path, struct rd_error *err);
void rd_source_close(struct rd_source *s);

/* As much as there is of size_bytes at offset: how many bytes, or a negative code. */
int64_t rd_source_some(const struct rd_source *s, void *buf, size_t size_bytes, uint64_t offset, struct rd_error *err);

/* Exactly size_bytes at offset; the error names the file and the byte. */
int rd_source_read(const struct rd_source *s, void *buf, size_t size_bytes, uint64_t offset, struct rd_error *err);

/* RD_CHANGED when size or mtime are not those given. */
int rd_source_same(const struct rd_source *s, uint64_t size_bytes, int64_t mtime_ns, struct rd_error *err);

#endif
