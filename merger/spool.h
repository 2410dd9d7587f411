/*
 * spool - the chunks of one attempt until its COMMIT: an unnamed file.
 *
 * The file has no name, so that nothing is left of a merger that dies: what
 * was not committed is done again. Memory holds twelve bytes a block.
 */
#ifndef RD_MERGER_SPOOL_H
#define RD_MERGER_SPOOL_H

#include "base/cursor.h"
#include "base/memory.h"

struct rd_spooled {
	uint32_t table, seq;
	uint32_t size_bytes;
};

struct rd_spool {
	int fd;
	uint64_t bytes;
	uint64_t checksum; /* over the blocks so far, in order */
	RD_VEC(struct rd_spooled) blocks;
};

/* In this folder. RD_IO, with ENOSPC in sys_errno when the disk is full. */
int rd_spool_open(struct rd_spool *s, const char *folder, struct rd_error *err);
void rd_spool_close(struct rd_spool *s);

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
