#include "merger/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/table.h"
#include "profile/partial.h"

/* Covers a block's head, which holds the checksum of the rest: so a look at one page proves a block of a mebibyte. */
#define HEAD_BYTES        64
/* A transaction holds a partial in memory while it commits; plans cut shards far below this. */
#define PARTIAL_BYTES_MAX ((uint64_t)512 << 20)

int rd_spool_file(const char *folder, struct rd_error *err)
{
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
		/* A file system without unnamed files. */
		char path[4096];
		int code = rd_path(path, sizeof path, err, "%s/spool-XXXXXX", folder);
		if (code < 0)
			return code;
		fd = mkostemp(path, O_CLOEXEC);
		if (fd >= 0)
			unlink(path);
	}
	if (fd >= 0)
		return fd;
	return rd_error_at(err, rd_fail_errno(err, "making room for a partial"), folder, RD_NO_OFFSET);
}

void rd_spool_init(struct rd_spool *s, rd_spool_file_fn file, void *ctx, uint64_t *budget)
{
	*s = (struct rd_spool){.file = file, .ctx = ctx, .budget = budget, .fd = -1};
}

static void give_back(struct rd_spool *s)
{
	rd_bytes_release(&s->kept);
	if (s->budget)
		*s->budget += s->from_budget;
	s->from_budget = 0;
}

void rd_spool_release(struct rd_spool *s)
{
	give_back(s);
	if (s->file && s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	rd_vec_release(&s->blocks);
}

uint64_t rd_spool_checksum(uint64_t so_far, struct rd_span block)
{
	size_t head = block.size_bytes < HEAD_BYTES ? block.size_bytes : HEAD_BYTES;
	return rd_hash_u64(so_far ^ rd_hash(block.at, head) ^ rd_hash_u64(block.size_bytes));
}

static int check_order(const struct rd_spool *s, uint32_t table, uint32_t seq, struct rd_error *err)
{
	const struct rd_spooled *last = s->blocks.n ? &s->blocks.at[s->blocks.n - 1] : NULL;

	if (last == NULL && (table != RD_TABLE_SUMMARY || seq != 0))
		return rd_fail(err, RD_PROTOCOL, "the first chunks of this partial did not come here");
	bool follows = last == NULL || (table == last->table ? seq == last->seq + 1 : table > last->table && seq == 0);
	if (!follows)
		return rd_fail(err, RD_PROTOCOL, "block %u of table %u does not follow block %u of table %u", seq,
			       table, last->seq, last->table);
	return 0;
}

static int write_at(int fd, struct rd_span bytes, uint64_t offset, struct rd_error *err)
{
	int code = rd_pwrite_all(fd, bytes.at, bytes.size_bytes, offset, err);

	return code < 0 ? rd_error_in(err, code, "keeping a chunk") : 0;
}

/* Take room for a block from the budget and keep it; false when there is none. */
static bool keep(struct rd_spool *s, struct rd_span block)
{
	if (s->fd >= 0 || block.size_bytes > *s->budget)
		return false;
	if (rd_bytes_append(&s->kept, block.at, block.size_bytes) != 0) {
		s->kept.failed = 0;
		return false;
	}
	*s->budget -= block.size_bytes;
	s->from_budget += block.size_bytes;
	return true;
}

static int put(struct rd_spool *s, struct rd_span block, struct rd_error *err)
{
	if (keep(s, block))
		return 0;
	if (s->fd < 0) {
		int fd = s->file(s->ctx, err);
		if (fd < 0)
			return fd;
		int code = write_at(fd, (struct rd_span){s->kept.at, s->kept.n}, 0, err);
		if (code < 0) {
			close(fd);
			return code;
		}
		s->fd = fd;
		give_back(s);
	}
	return write_at(s->fd, block, s->bytes, err);
}

int rd_spool_add(struct rd_spool *s, uint32_t table, uint32_t seq, struct rd_span block, struct rd_error *err)
{
	enum rd_partial_table inner;
	int code = check_order(s, table, seq, err);

	if (code == 0)
		code = rd_partial_block_check(block, &inner, err);
	if (code < 0)
		return code;
	if (inner != table)
		return rd_fail(err, RD_PROTOCOL, "a block of table %u came as one of table %u", inner, table);
	if (s->bytes + block.size_bytes > PARTIAL_BYTES_MAX)
		return rd_fail(err, RD_LIMIT, "a partial of more than %llu MiB",
			       (unsigned long long)(PARTIAL_BYTES_MAX >> 20));
	if (rd_vec_reserve(&s->blocks, 1) < 0)
		return rd_fail_nomem(err);
	if ((code = put(s, block, err)) < 0)
		return code;
	s->blocks.at[s->blocks.n++] = (struct rd_spooled){table, seq, (uint32_t)block.size_bytes};
	s->bytes += block.size_bytes;
	s->checksum = rd_spool_checksum(s->checksum, block);
	return 0;
}

int rd_spool_read(const struct rd_spool *s, size_t i, uint64_t offset, void *to, struct rd_error *err)
{
	if (s->fd < 0) {
		memcpy(to, s->kept.at + offset, s->blocks.at[i].size_bytes);
		return 0;
	}
	int code = rd_pread_all(s->fd, to, s->blocks.at[i].size_bytes, offset, err);
	return code < 0 ? rd_error_in(err, code, "reading a chunk back") : code;
}
