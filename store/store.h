/*
 * store - a finished result in LMDB: schema, write, open, read, and whose a folder is.
 *
 * A result is a folder with data.mdb and a seal, and nothing else. It is
 * written to a fresh environment, then put in its place by the caller
 * (rd_deliver). Readers take it on any file system. Every value carries a
 * checksum, and no byte is believed unread: a damaged result is RD_CORRUPT,
 * never a wrong number.
 */
#ifndef RD_STORE_STORE_H
#define RD_STORE_STORE_H

#include "profile/result.h"

#define RD_STORE_VERSION 5

/* Write r into the new folder path (must not exist); synced. On failure nothing is left. */
int rd_store_write(const char *path, const struct rd_result *r, struct rd_error *err);

/* Read a result whole. RD_NOT_FOUND, RD_UNSUPPORTED (another version, by number), RD_CORRUPT, RD_IO. */
int rd_store_read(const char *path, struct rd_result *out, struct rd_error *err);

/*
 * Whether a folder is a result, of whatever version, and nothing but that: 0, and it may be replaced or removed.
 * RD_EXISTS: it is something else, or holds what is no part of a result (the text names it). RD_NOT_FOUND, RD_IO.
 */
int rd_store_own(const char *path, struct rd_error *err);

/*
 * Remove the folder of a result, or of a half-written one. RD_EXISTS, and nothing is removed, when it holds what is no
 * part of a result (the text names it); RD_IO. One that is not there is no error.
 */
int rd_store_remove(const char *path, struct rd_error *err);

#endif
