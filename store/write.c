/*
 * write - a result into a fresh LMDB environment, in few big transactions, and its seal.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "store/chunk.h"
#include "store/lmdb.h"
#include "store/seal.h"
#include "store/store.h"

/* LMDB keeps what a transaction has written in memory until its commit. */
#define TRANSACTION_BYTES (32u << 20)
#define PAGE_BYTES        4096u

struct writer {
	MDB_env *env;
	MDB_txn *txn; /* open while there is something to commit */
	MDB_dbi dbi;
	size_t txn_bytes;
	struct rd_bytes value;
	struct rd_contents_row contents[RD_STORE_TABLES_END];
	uint32_t tables;
	struct rd_error *err;
};

/* An upper bound of the file's size. It is address space only: the file grows as it is written. */
static size_t map_bytes(const struct rd_result *r)
{
	const struct rd_store_table *t;
	size_t bytes = r->strings.arena.total_bytes + r->strings.at.n * 10;

	for (size_t i = 0; (t = rd_store_table(i)) != NULL; i++) {
		size_t row = 10 * t->columns_n, n = (size_t)rd_store_rows(t, r);
		for (size_t c = 0; c < t->columns_n; c++)
			row += t->columns[c].kind == RD_COLUMN_TEXT ? t->columns[c].bytes : 0;
		bytes += n * row + (n / t->rows_per_chunk + 1) * 2 * PAGE_BYTES;
	}
	/* Twice, for the pages that later transactions leave behind. */
	return (2 * bytes + (16u << 20)) / PAGE_BYTES * PAGE_BYTES;
}

/* LMDB calls a write that was cut short an I/O error. */
static int fail_write(struct writer *w, int rc)
{
	int fd;

	if (rc == EIO && mdb_env_get_fd(w->env, &fd) == 0 && rd_disk_full(fd))
		rc = ENOSPC;
	return rd_fail_lmdb(w->err, rc, "cannot write the result");
}

static int commit(struct writer *w)
{
	if (w->txn == NULL)
		return 0;
	int rc = mdb_txn_commit(w->txn);
	w->txn = NULL;
	w->txn_bytes = 0;
	return rc ? fail_write(w, rc) : 0;
}

/* The value's body stands in w->value behind room for the checksum. */
static int put(struct writer *w, uint32_t table, uint32_t chunk)
{
	uint8_t key[RD_KEY_BYTES];
	struct rd_span body = {w->value.at + RD_CHECKSUM_BYTES, w->value.n - RD_CHECKSUM_BYTES};
	uint64_t sum = rd_store_checksum(table, chunk, body);
	int rc;

	memcpy(w->value.at, &sum, sizeof sum);
	if (w->txn == NULL) {
		if ((rc = mdb_txn_begin(w->env, NULL, 0, &w->txn)) != 0 ||
		    (rc = mdb_dbi_open(w->txn, NULL, 0, &w->dbi)) != 0)
			return fail_write(w, rc);
	}
	rd_store_key(key, table, chunk);
	MDB_val k = {sizeof key, key}, v = {w->value.n, w->value.at};
	if ((rc = mdb_put(w->txn, w->dbi, &k, &v, MDB_APPEND)) != 0)
		return fail_write(w, rc);
	w->txn_bytes += w->value.n;
	return w->txn_bytes >= TRANSACTION_BYTES ? commit(w) : 0;
}

static int begin_value(struct writer *w)
{
	w->value.n = 0;
	return rd_bytes_extend(&w->value, RD_CHECKSUM_BYTES) ? 0 : rd_fail_nomem(w->err);
}

static int write_table(struct writer *w, const struct rd_store_table *t, const struct rd_result *r)
{
	struct rd_contents_row row = {.table = t->id, .rows = rd_store_rows(t, r)};

	if (row.rows >= RD_NONE)
		return rd_fail(w->err, RD_LIMIT, "the table of %s has too many rows for a result", t->name);
	for (uint64_t at = 0; at < row.rows; row.chunks++) {
		int code = begin_value(w);
		int64_t took = code < 0 ? code : rd_chunk_pack(t, r, at, &w->value, w->err);
		if (took < 0 || (code = put(w, t->id, row.chunks)) < 0)
			return took < 0 ? (int)took : code;
		at += (uint64_t)took;
	}
	w->contents[w->tables++] = row;
	return 0;
}

static int write_contents(struct writer *w)
{
	uint32_t head[2] = {RD_STORE_VERSION, w->tables};
	int code = begin_value(w);

	if (code < 0)
		return code;
	_Static_assert(sizeof head == RD_CONTENTS_HEAD_BYTES, "version and number of tables");
	rd_bytes_append(&w->value, head, sizeof head);
	if (rd_bytes_append(&w->value, w->contents, w->tables * sizeof *w->contents) != 0)
		return rd_fail_nomem(w->err);
	return put(w, RD_STORE_CONTENTS, 0);
}

/* With so much address space for the file. *opened: it was to be had. */
static int write_mapped(const char *path, const struct rd_result *r, size_t map, bool *opened, struct rd_error *err)
{
	struct writer w = {.err = err};
	const struct rd_store_table *t;
	int code = 0, rc = mdb_env_create(&w.env);

	*opened = false;
	if (rc)
		return rd_fail_lmdb(err, rc, "cannot begin a result");
	/* Nobody else knows this folder yet, so there is nothing to lock against, and no lock file to remove. */
	if ((rc = mdb_env_set_mapsize(w.env, map)) != 0 || (rc = mdb_env_open(w.env, path, MDB_NOLOCK, 0666)) != 0)
		code = rd_fail_lmdb(err, rc, "cannot begin a result");
	*opened = code == 0;
	for (size_t i = 0; code == 0 && (t = rd_store_table(i)) != NULL; i++)
		code = write_table(&w, t, r);
	if (code == 0)
		code = write_contents(&w);
	if (code == 0)
		code = commit(&w);
	if (w.txn)
		mdb_txn_abort(w.txn);
	mdb_env_close(w.env);
	rd_bytes_release(&w.value);
	return code;
}

/* The upper bound takes much more than is needed. Where address space is limited, less may do; else twice that. */
static int write_data(const char *path, const struct rd_result *r, struct rd_error *err)
{
	uint64_t most = map_bytes(r), map = rd_map_first(most);
	char data[4096];
	bool opened, grown = false;
	int code = rd_path(data, sizeof data, err, "%s/" RD_DATA_NAME, path);

	while (code == 0) {
		code = write_mapped(path, r, (size_t)map, &opened, err);
		if (code == RD_LIMIT && map < most) {
			map *= 2;
			grown = true;
			/* Written anew: nobody has seen it. */
			code = unlink(data) == 0 ? 0 : rd_fail_errno(err, "writing the result anew");
		} else if (code == RD_NOMEM && !opened && !grown && map > RD_MAP_BYTES_MIN) {
			map /= 2;
			code = 0;
		} else {
			return code == RD_NOMEM && !opened ? rd_fail_map(err, "a result", map) : code;
		}
	}
	return code;
}

/* Read what was written back, so that the seal is of the file and not of our intent. */
static int write_seal(const char *path, struct rd_error *err)
{
	char data[4096];
	struct rd_seal seal;
	int code = rd_path(data, sizeof data, err, "%s/" RD_DATA_NAME, path);

	if (code < 0)
		return code;
	int fd = open(data, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return rd_fail_errno(err, "cannot read it back");
	code = rd_seal_measure(fd, &seal, err);
	close(fd);
	return code < 0 ? code : rd_seal_write(path, &seal, err);
}

int rd_store_write(const char *path, const struct rd_result *r, struct rd_error *err)
{
	int code;

	if (mkdir(path, 0777) != 0) {
		code = errno == EEXIST ? rd_fail(err, RD_EXISTS, "it is there already")
				       : rd_fail_errno(err, "cannot make the folder of the result");
		return rd_error_at(err, code, path, RD_NO_OFFSET);
	}
	code = write_data(path, r, err);
	if (code == 0)
		code = write_seal(path, err);
	if (code == 0)
		code = rd_sync_path(path, err);
	if (code < 0) {
		rd_error_at(err, code, path, RD_NO_OFFSET);
		rd_remove_tree(path, NULL);
	}
	return code;
}
