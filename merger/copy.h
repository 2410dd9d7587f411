/*
 * copy - a finished result onto a file system that LMDB cannot write to. LMDB is not asked: the seal is of the bytes.
 */
#ifndef RD_MERGER_COPY_H
#define RD_MERGER_COPY_H

#include "base/error.h"

/* Copy the files of `from` into a new folder `to`, and wait for the disk. RD_IO. */
int rd_copy_result(const char *from, const char *to, struct rd_error *err);

#endif
