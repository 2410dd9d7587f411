/*
 * spool - the chunks of one attempt until its COMMIT: in memory while there is room for them, else in an unnamed file.
 *
 * Spools share a budget of memory, so that a thousand workers cost no more
 * than one; a spool that finds it used up moves into a file. That has no
 * name: nothing is left of a merger that dies, and what was not committed is
 * done again.
 */
#ifndef RD_MERGER_SPOOL_H
#define RD_MERGER_SPOOL_H

#include "base/cursor.h"
#include "base/memory.h"

struct rd_spooled {
	uint32_t table, seq;
	uint32_t size_bytes;
};

/* A new unnamed file: the descriptor, or RD_IO with ENOSPC in sys_errno when the disk is full. */
typedef int (*rd_spool_file_fn)(void *ctx, struct rd_error *err);

struct rd_spool {
	rd_spool_file_fn file;
	void *ctx;
	uint64_t *budget; /* bytes that all spools together may still keep in memory */
	int fd;           /* -1 while all is in `kept` */
	struct rd_bytes kept;
	uint64_t from_budget; /* taken for `kept` */
	uint64_t bytes;
	uint64_t checksum; /* over the blocks so far, in order */
	RD_VEC(struct rd_spooled) blocks;
};

/* The budget must outlive the spool. */
void rd_spool_init(struct rd_spool *s, rd_spool_file_fn file, void *ctx, uint64_t *budget);
/* May be called again, and on a spool of zeros. */
void rd_spool_release(struct rd_spool *s);

/* The usual file: in this folder. */
int rd_spool_file(const char *folder, struct rd_error *err);

/*
 * Take the next block: its table is not before the last one's, and its number
 * follows. RD_PROTOCOL when not; RD_CORRUPT or RD_UNSUPPORTED when it is no
 * block; RD_LIMIT when the partial is too large. After a failure the spool is
 * as before, so a full disk can be waited out.
 */
int rd_spool_add(struct rd_spool *s, uint32_t table, uint32_t seq, struct rd_span block, struct rd_error *err);

/* Read block i, which starts at offset, into room for its size. */
int rd_spool_read(const struct rd_spool *s, size_t i, uint64_t offset, void *to, struct rd_error *err);

/*
 * How a checksum over blocks goes on; begins with 0. It covers the order, sizes and heads, and a head the checksum of
 * its block: with the blocks' own checks it proves every byte.
 */
uint64_t rd_spool_checksum(uint64_t so_far, struct rd_span block);

#endif
