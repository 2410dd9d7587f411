/*
 * read - a stored result back, whole, whatever happened to its file.
 *
 * The bytes go into memory of our own (a memfd) and are held against the
 * seal on the way; LMDB opens that copy. So neither a damaged page, nor a
 * file that is cut or replaced while we read, can lead LMDB astray.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "store/chunk.h"
#include "store/lmdb.h"
#include "store/seal.h"
#include "store/store.h"

struct reader {
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;
	struct rd_error *err;
};

/* A descriptor of the checked copy, or a negative code. */
static int copy_checked(const char *data, const struct rd_seal *seal, struct rd_error *err)
{
	struct rd_seal found;
	struct stat st;
	int copy = -1, code = RD_CORRUPT, fd = open(data, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return errno == ENOENT ? rd_fail(err, RD_CORRUPT, "the result has lost its " RD_DATA_NAME)
				       : rd_fail_errno(err, "cannot open the result");
	if (fstat(fd, &st) != 0)
		code = rd_fail_errno(err, "cannot open the result");
	else if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size != seal->size_bytes)
		rd_fail(err, RD_CORRUPT, "the result is damaged: %llu bytes, sealed with %llu",
			(unsigned long long)st.st_size, (unsigned long long)seal->size_bytes);
	else if ((copy = memfd_create("rundown-result", MFD_CLOEXEC)) < 0)
		code = rd_fail_errno(err, "cannot make a copy in memory");
	else
		code = rd_seal_measure(fd, copy, &found, err);
	close(fd);
	if (code == 0 &&
	    (found.size_bytes != seal->size_bytes || found.hash[0] != seal->hash[0] || found.hash[1] != seal->hash[1]))
		code = rd_fail(err, RD_CORRUPT, "the result is damaged: its bytes are not those that were sealed");
	if (code < 0 && copy >= 0)
		close(copy);
	return code < 0 ? code : copy;
}

/* A value's body, checked against its checksum; borrowed while the transaction is open. */
static int get(struct reader *rd, uint32_t table, uint32_t chunk, struct rd_span *body)
{
	uint8_t key[RD_KEY_BYTES];
	uint64_t sum;

	rd_store_key(key, table, chunk);
	MDB_val k = {sizeof key, key}, v;
	int rc = mdb_get(rd->txn, rd->dbi, &k, &v);
	if (rc == MDB_NOTFOUND)
		return rd_fail(rd->err, RD_CORRUPT, "chunk %u of table %u is missing", chunk, table);
	if (rc)
		return rd_fail_lmdb(rd->err, rc, "cannot read the result");
	if (v.mv_size < RD_CHECKSUM_BYTES)
		return rd_fail(rd->err, RD_CORRUPT, "chunk %u of table %u is too short", chunk, table);
	memcpy(&sum, v.mv_data, sizeof sum);
	*body = (struct rd_span){(const uint8_t *)v.mv_data + RD_CHECKSUM_BYTES, v.mv_size - RD_CHECKSUM_BYTES};
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

static int read_copy(int copy, uint64_t size_bytes, struct rd_result *out, struct rd_error *err)
{
	struct reader rd = {.err = err};
	char path[64];
	int code = 0, rc = mdb_env_create(&rd.env);

	if (rc)
		return rd_fail_lmdb(err, rc, "cannot open the result");
	snprintf(path, sizeof path, "/proc/self/fd/%d", copy);
	if ((rc = mdb_env_set_mapsize(rd.env, size_bytes)) != 0 ||
	    (rc = mdb_env_open(rd.env, path, MDB_RDONLY | MDB_NOSUBDIR | MDB_NOLOCK, 0)) != 0 ||
	    (rc = mdb_txn_begin(rd.env, NULL, MDB_RDONLY, &rd.txn)) != 0 ||
	    (rc = mdb_dbi_open(rd.txn, NULL, 0, &rd.dbi)) != 0)
		code = rd_fail_lmdb(err, rc, "cannot open the result");
	if (code == 0)
		code = read_tables(&rd, out);
	if (rd.txn)
		mdb_txn_abort(rd.txn);
	mdb_env_close(rd.env);
	return code;
}

int rd_store_read(const char *path, struct rd_result *out, struct rd_error *err)
{
	struct rd_result r;
	struct rd_seal seal;
	char data[4096];
	int copy = -1, code = rd_seal_read(path, &seal, err);

	memset(&r, 0, sizeof r);
	if (code == 0)
		code = rd_path(data, sizeof data, err, "%s/" RD_DATA_NAME, path);
	if (code == 0)
		code = copy = copy_checked(data, &seal, err);
	if (code >= 0) {
		code = read_copy(copy, seal.size_bytes, &r, err);
		close(copy);
	}
	if (code < 0) {
		rd_result_release(&r);
		return rd_error_at(err, code, path, RD_NO_OFFSET);
	}
	*out = r;
	return 0;
}
