/*
 * read - a stored result back, whole, whatever happened to its file.
 *
 * The bytes go into memory of our own and are held against the seal on the
 * way; values are found in that copy without trust in its pages. So neither a
 * damaged page, nor a forged one under a seal that fits, nor a file that is cut
 * or replaced while we read, can lead astray.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "store/chunk.h"
#include "store/lmdb.h"
#include "store/pages.h"
#include "store/seal.h"
#include "store/store.h"

struct reader {
	struct rd_pages pages;
	struct rd_error *err;
};

static int fail_damaged(uint64_t size_bytes, const struct rd_seal *seal, struct rd_error *err)
{
	return rd_fail(err, RD_CORRUPT, "the result is damaged: %llu bytes, sealed with %llu",
		       (unsigned long long)size_bytes, (unsigned long long)seal->size_bytes);
}

/* All bytes of the open file, if they are those that were sealed; *copy is to be freed. */
static int copy_checked(int fd, const struct rd_seal *seal, uint8_t **copy, struct rd_error *err)
{
	struct rd_seal found;
	struct stat st;

	if (fstat(fd, &st) != 0)
		return rd_fail_errno(err, "cannot open the result");
	/* Nothing is allocated by what the seal says alone. */
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size != seal->size_bytes || seal->size_bytes > SIZE_MAX - 1)
		return fail_damaged((uint64_t)st.st_size, seal, err);
	*copy = rd_realloc(NULL, (size_t)seal->size_bytes + 1);
	if (*copy == NULL)
		return rd_fail_nomem(err);
	/* One more, so that a file which grows shows. */
	int64_t n = rd_pread_some(fd, *copy, (size_t)seal->size_bytes + 1, 0, err);
	if (n < 0)
		return (int)n;
	if ((uint64_t)n != seal->size_bytes)
		return fail_damaged((uint64_t)n, seal, err);
	rd_seal_of((struct rd_span){*copy, (size_t)n}, &found);
	return found.hash[0] == seal->hash[0] && found.hash[1] == seal->hash[1]
		       ? 0
		       : rd_fail(err, RD_CORRUPT, "the result is damaged: its bytes are not those that were sealed");
}

/* A value's body, checked against its checksum; borrowed from the copy. */
static int get(struct reader *rd, uint32_t table, uint32_t chunk, struct rd_span *body)
{
	uint8_t key[RD_KEY_BYTES];
	uint64_t sum;

	rd_store_key(key, table, chunk);
	struct rd_span v;
	int rc = rd_pages_get(&rd->pages, (struct rd_span){key, sizeof key}, &v, rd->err);
	if (rc < 0)
		return rc;
	if (rc == 0)
		return rd_fail(rd->err, RD_CORRUPT, "chunk %u of table %u is missing", chunk, table);
	if (v.size_bytes < RD_CHECKSUM_BYTES)
		return rd_fail(rd->err, RD_CORRUPT, "chunk %u of table %u is too short", chunk, table);
	memcpy(&sum, v.at, sizeof sum);
	*body = (struct rd_span){v.at + RD_CHECKSUM_BYTES, v.size_bytes - RD_CHECKSUM_BYTES};
	if (sum != rd_store_checksum(table, chunk, *body))
		return rd_fail(rd->err, RD_CORRUPT, "chunk %u of table %u has a wrong checksum", chunk, table);
	return 0;
}

static int read_table(struct reader *rd, const struct rd_store_table *t, const struct rd_contents_row *row,
		      struct rd_result *out)
{
	struct rd_span body;
	int code;

	if (row->table != t->id)
		return rd_fail(rd->err, RD_CORRUPT, "the contents name table %u, not %u", row->table, t->id);
	for (uint32_t i = 0; i < row->chunks; i++)
		if ((code = get(rd, t->id, i, &body)) < 0 || (code = rd_chunk_unpack(t, out, body, rd->err)) < 0)
			return code;
	if (rd_store_rows(t, out) != row->rows || (t->id == RD_STORE_SUMMARY && row->chunks != 1))
		return rd_fail(rd->err, RD_CORRUPT, "the table of %s has another number of rows", t->name);
	return 0;
}

static int read_tables(struct reader *rd, struct rd_result *out)
{
	const struct rd_store_table *t;
	struct rd_contents_row row;
	struct rd_span body;
	int code = get(rd, RD_STORE_CONTENTS, 0, &body);

	if (code < 0)
		return code;
	struct rd_cursor in = rd_cursor_of(body.at, body.size_bytes);
	uint32_t version = rd_u32(&in), tables = rd_u32(&in);
	if (version != RD_STORE_VERSION || tables != RD_STORE_TABLES_END - 1 || rd_left(&in) != tables * sizeof row)
		return rd_fail(rd->err, RD_CORRUPT, "the contents do not fit the version");
	for (size_t i = 0; (t = rd_store_table(i)) != NULL; i++) {
		memcpy(&row, rd_take(&in, sizeof row), sizeof row);
		if ((code = read_table(rd, t, &row, out)) < 0)
			return code;
	}
	return rd_result_check(out, rd->err);
}

static int read_copy(struct rd_span copy, struct rd_result *out, struct rd_error *err)
{
	struct reader rd = {.err = err};
	int code = rd_pages_open(&rd.pages, copy, err);

	if (code == 0)
		code = read_tables(&rd, out);
	return code == RD_CORRUPT ? rd_error_in(err, code, "the result is damaged") : code;
}

static int read_data(const char *data, const struct rd_seal *seal, struct rd_result *out, struct rd_error *err)
{
	uint8_t *copy = NULL;
	int fd = open(data, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return errno == ENOENT ? rd_fail(err, RD_CORRUPT, "the result has lost its " RD_DATA_NAME)
				       : rd_fail_errno(err, "cannot open the result");
	int code = copy_checked(fd, seal, &copy, err);
	close(fd);
	if (code == 0)
		code = read_copy((struct rd_span){copy, (size_t)seal->size_bytes}, out, err);
	rd_free(copy);
	return code;
}

int rd_store_read(const char *path, struct rd_result *out, struct rd_error *err)
{
	struct rd_result r;
	struct rd_seal seal;
	char data[4096];
	int code = rd_seal_read(path, &seal, err);

	memset(&r, 0, sizeof r);
	if (code == 0)
		code = rd_path(data, sizeof data, err, "%s/" RD_DATA_NAME, path);
	if (code == 0)
		code = read_data(data, &seal, &r, err);
	if (code < 0) {
		rd_result_release(&r);
		return rd_error_at(err, code, path, RD_NO_OFFSET);
	}
	*out = r;
	return 0;
}
