/*
 * store - a finished result in LMDB: schema, write, open, read.
 *
 * A result is a folder with data.mdb. It is written to a fresh environment,
 * then copied compacted to its place by the caller (rd_deliver). Readers open
 * it read-only without locks, on any file system. Every value carries a
 * checksum: a damaged result is RD_CORRUPT, never a wrong number. A reader
 * that must not die by SIGBUS reads the file whole and checks it first
 * (rd_store_read does).
 */
#ifndef RD_STORE_STORE_H
#define RD_STORE_STORE_H

#include "profile/result.h"

#define RD_STORE_VERSION 2

/* Write r into the new folder path (must not exist); synced. On failure nothing is left. */
int rd_store_write(const char *path, const struct rd_result *r, struct rd_error *err);

/* Read a result whole. RD_NOT_FOUND, RD_UNSUPPORTED (another version, by number), RD_CORRUPT, RD_IO. */
int rd_store_read(const char *path, struct rd_result *out, struct rd_error *err);

/* Whether the folder looks like a result, by name of its parts. */
bool rd_store_is(const char *path);

#endif
