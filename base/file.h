/*
 * file - whole reads and writes, private folders, where links lead.
 */
#ifndef RD_BASE_FILE_H
#define RD_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/memory.h"

/* Read exactly size_bytes at offset; RD_TRUNCATED when the file ends before, RD_IO else. */
int rd_pread_all(int fd, void *buf, size_t size_bytes, uint64_t offset, struct rd_error *err);
/* Read what there is, at most size_bytes; the count, or a negative code. */
int64_t rd_pread_some(int fd, void *buf, size_t size_bytes, uint64_t offset, struct rd_error *err);
/*
 * Append what a file begins with, at most size_bytes: for small files that are read whole, with one byte more than any
 * may have. RD_IO with the path, RD_NOMEM.
 */
int rd_read_start(const char *path, size_t size_bytes, struct rd_bytes *out, struct rd_error *err);
/* Write all, through EINTR and short writes. */
int rd_write_all(int fd, const void *buf, size_t size_bytes, struct rd_error *err);
/* The same at a place of the file. */
int rd_pwrite_all(int fd, const void *buf, size_t size_bytes, uint64_t offset, struct rd_error *err);

/* A new 0700 folder ROOT/PREFIX-XXXXXX; root NULL means $TMPDIR or /tmp. Fills path. */
int rd_private_folder(const char *root, const char *prefix, char *path, size_t path_size, struct rd_error *err);
/* Make a folder and those above it, with this mode, where they are not there; an existing one is as good. RD_IO. */
int rd_make_folders(const char *path, unsigned mode, struct rd_error *err);
/* Remove a folder and all in it, following no link. A missing one is no error. */
int rd_remove_tree(const char *path, struct rd_error *err);

/*
 * The path behind the links that a path's last name leads through, whether something is there or not: 0. 1: `buf` is a
 * link of /proc, which stands for an open file that no path may name. RD_LIMIT too long, RD_IO.
 */
int rd_follow(const char *path, char *buf, size_t size, struct rd_error *err);
/*
 * Whether so little room is left on the file system of fd that a write which was cut short was cut by that. For callers
 * of libraries that only say "I/O error".
 */
bool rd_disk_full(int fd);
/* fsync a file or folder by path. */
int rd_sync_path(const char *path, struct rd_error *err);

/* printf into buf; RD_LIMIT when it does not fit. */
int rd_path(char *buf, size_t size, struct rd_error *err, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* As rd_path, "FOLDER/NAME"; of a folder "" only the name, and a folder's last slash is not doubled. */
int rd_path_below(char *buf, size_t size, struct rd_error *err, const char *folder, const char *name);
/* Whether there is a folder, also behind links. */
bool rd_is_folder(const char *path);

#endif
