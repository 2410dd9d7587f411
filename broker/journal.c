#include "broker/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lmdb.h>
#include <xxhash.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/place.h"
#include "net/metrics.h"
#include "store/lmdb.h"

#define MAP_BYTES ((uint64_t)4 << 30)
#define SUM_BYTES 8
#define WHOSE     "the journal"

struct rd_journal {
	int lock, folder;
	MDB_env *env;
	MDB_dbi table;
	uint64_t map_bytes;
	uint64_t commits, full, commit_ns, slowest_ns; /* full: that found no room */
};

static int fail(struct rd_journal *j, struct rd_error *err, int rc, const char *what)
{
	/* LMDB calls a short write an I/O error. */
	if (rc == EIO && rd_disk_full(j->folder))
		rc = ENOSPC;
	return rd_fail_lmdb(err, rc, what);
}

bool rd_journal_disk_full(const struct rd_error *err)
{
	return err->code == RD_IO && (err->sys_errno == ENOSPC || err->sys_errno == EDQUOT);
}

static uint64_t sum_of(struct rd_span key, const void *value, size_t n)
{
	return XXH3_64bits_withSeed(value, n, XXH3_64bits(key.at, key.size_bytes));
}

/* ---- open and close */

static int open_env(struct rd_journal *j, const char *path, struct rd_error *err)
{
	int rc = mdb_env_create(&j->env);

	if (rc == 0)
		rc = mdb_env_set_mapsize(j->env, (size_t)j->map_bytes);
	if (rc == 0)
		rc = mdb_env_open(j->env, path, 0, 0600);
	if (rc == 0)
		return 0;
	if (j->env)
		mdb_env_close(j->env);
	j->env = NULL;
	return fail(j, err, rc, "opening the journal");
}

static int open_table(struct rd_journal *j, struct rd_error *err)
{
	MDB_envinfo info;
	MDB_txn *txn;
	int dead = 0;

	/* Readers of a broker that was killed. */
	mdb_reader_check(j->env, &dead);
	/* A file that was larger before keeps its size. */
	mdb_env_info(j->env, &info);
	j->map_bytes = info.me_mapsize;
	int rc = mdb_txn_begin(j->env, NULL, MDB_RDONLY, &txn);
	if (rc == 0) {
		rc = mdb_dbi_open(txn, NULL, 0, &j->table);
		if (rc == 0)
			rc = mdb_txn_commit(txn);
		else
			mdb_txn_abort(txn);
	}
	return rc ? fail(j, err, rc, "opening the journal") : 0;
}

static int open_all(struct rd_journal *j, const char *folder, struct rd_error *err)
{
	char path[4096];
	int code;

	if ((j->lock = rd_place_own(folder, "broker", false, err)) < 0)
		return j->lock;
	if ((code = rd_path(path, sizeof path, err, "%s/journal", folder)) < 0)
		return code;
	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		return rd_error_at(err, rd_fail_errno(err, "making the journal"), path, RD_NO_OFFSET);
	if ((j->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		return rd_error_at(err, rd_fail_errno(err, "opening the journal"), path, RD_NO_OFFSET);
	/* Reserve less where there is no more. */
	while ((code = open_env(j, path, err)) == RD_NOMEM && j->map_bytes > RD_MAP_BYTES_MIN)
		j->map_bytes /= 2;
	if (code == RD_NOMEM)
		rd_fail_map(err, WHOSE, RD_MAP_BYTES_MIN);
	if (code == 0)
		code = open_table(j, err);
	return rd_error_at(err, code, path, RD_NO_OFFSET);
}

int rd_journal_open(const char *folder, struct rd_journal **out, struct rd_error *err)
{
	struct rd_journal *j = rd_realloc(NULL, sizeof *j);

	if (j == NULL)
		return rd_fail_nomem(err);
	*j = (struct rd_journal){.lock = -1, .folder = -1, .map_bytes = rd_map_first(MAP_BYTES)};
	int code = open_all(j, folder, err);
	if (code < 0) {
		rd_journal_close(j);
		return code;
	}
	*out = j;
	return 0;
}

void rd_journal_close(struct rd_journal *j)
{
	if (j == NULL)
		return;
	if (j->env)
		mdb_env_close(j->env);
	if (j->folder >= 0)
		close(j->folder);
	if (j->lock >= 0)
		close(j->lock);
	rd_free(j);
}

/* ---- reading */

static int recall_one(struct rd_broker *b, const MDB_val *k, const MDB_val *v, struct rd_error *err)
{
	struct rd_span key = {k->mv_data, k->mv_size};
	const uint8_t *at = v->mv_data;
	uint64_t sum;

	if (v->mv_size < SUM_BYTES)
		return rd_fail(err, RD_CORRUPT, "the journal: a record is cut");
	memcpy(&sum, at, sizeof sum);
	if (sum != sum_of(key, at + SUM_BYTES, v->mv_size - SUM_BYTES))
		return rd_fail(err, RD_CORRUPT, "the journal: the checksum of a record is off");
	return rd_broker_recall(b, key, (struct rd_span){at + SUM_BYTES, v->mv_size - SUM_BYTES}, err);
}

int rd_journal_recall(struct rd_journal *j, struct rd_broker *b, struct rd_error *err)
{
	MDB_cursor *cursor = NULL;
	MDB_txn *txn;
	MDB_val k, v;
	int code = 0;

	int rc = mdb_txn_begin(j->env, NULL, MDB_RDONLY, &txn);
	if (rc)
		return fail(j, err, rc, "reading the journal");
	rc = mdb_cursor_open(txn, j->table, &cursor);
	while (rc == 0 && code == 0 && (rc = mdb_cursor_get(cursor, &k, &v, MDB_NEXT)) == 0)
		code = recall_one(b, &k, &v, err);
	if (cursor)
		mdb_cursor_close(cursor);
	mdb_txn_abort(txn);
	if (code == 0 && rc != MDB_NOTFOUND)
		code = fail(j, err, rc, "reading the journal");
	return code < 0 ? code : rd_broker_recalled(b, err);
}

/* ---- writing; each returns what LMDB does */

static int put(struct rd_journal *j, MDB_txn *txn, const struct rd_change *c)
{
	uint64_t sum = sum_of(c->key, c->value.at, c->value.size_bytes);
	MDB_val k = {c->key.size_bytes, (void *)(uintptr_t)c->key.at}, v = {SUM_BYTES + c->value.size_bytes, NULL};

	int rc = mdb_put(txn, j->table, &k, &v, MDB_RESERVE);
	if (rc)
		return rc;
	memcpy(v.mv_data, &sum, SUM_BYTES);
	if (c->value.size_bytes > 0)
		memcpy((uint8_t *)v.mv_data + SUM_BYTES, c->value.at, c->value.size_bytes);
	return 0;
}

static bool is_behind(const MDB_val *k, struct rd_span last)
{
	size_t n = k->mv_size < last.size_bytes ? k->mv_size : last.size_bytes;
	int c = memcmp(k->mv_data, last.at, n);

	return c ? c > 0 : k->mv_size > last.size_bytes;
}

static int erase(struct rd_journal *j, MDB_txn *txn, const struct rd_change *c)
{
	MDB_cursor *cursor = NULL;

	int rc = mdb_cursor_open(txn, j->table, &cursor);
	while (rc == 0) {
		MDB_val k = {c->key.size_bytes, (void *)(uintptr_t)c->key.at}, v;
		rc = mdb_cursor_get(cursor, &k, &v, MDB_SET_RANGE);
		if (rc == MDB_NOTFOUND || (rc == 0 && is_behind(&k, c->last))) {
			rc = 0;
			break;
		}
		if (rc == 0)
			rc = mdb_cursor_del(cursor, 0);
	}
	if (cursor)
		mdb_cursor_close(cursor);
	return rc;
}

static int write_all(struct rd_journal *j, const struct rd_change *changes, size_t n)
{
	MDB_txn *txn;
	int rc = mdb_txn_begin(j->env, NULL, 0, &txn);

	if (rc)
		return rc;
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = changes[i].last.size_bytes ? erase(j, txn, &changes[i]) : put(j, txn, &changes[i]);
	if (rc) {
		mdb_txn_abort(txn);
		return rc;
	}
	return mdb_txn_commit(txn);
}

static int keep(struct rd_journal *j, const struct rd_change *changes, size_t n, struct rd_error *err)
{
	int rc;

	while ((rc = write_all(j, changes, n)) == MDB_MAP_FULL) {
		int dead, code;
		mdb_reader_check(j->env, &dead);
		if ((code = rd_map_grow(j->env, &j->map_bytes, WHOSE, err)) < 0)
			return code;
		rd_log(RD_LOG_INFO, "journal_grows", "bytes=%llu", (unsigned long long)j->map_bytes);
	}
	return rc ? fail(j, err, rc, "writing the journal") : 0;
}

int rd_journal_keep(void *journal, const struct rd_change *changes, size_t n, struct rd_error *err)
{
	struct rd_journal *j = journal;
	uint64_t from_ns = rd_now_ns();
	int rc = keep(j, changes, n, err);
	uint64_t took_ns = rd_now_ns() - from_ns;

	j->commits += rc == 0;
	j->full += rc < 0 && rd_journal_disk_full(err);
	j->commit_ns += rc == 0 ? took_ns : 0;
	j->slowest_ns = took_ns > j->slowest_ns ? took_ns : j->slowest_ns;
	return rc;
}

void rd_journal_metrics(const struct rd_journal *j, struct rd_out *out)
{
	rd_metric(out, "rundown_journal_commit_seconds", "summary", "Commits of the journal, and their time.");
	rd_metric_double(out, "rundown_journal_commit_seconds_sum", NULL, (double)j->commit_ns / 1e9);
	rd_metric_u64(out, "rundown_journal_commit_seconds_count", NULL, j->commits);
	rd_metric(out, "rundown_journal_slowest_commit_seconds", "gauge", "The slowest commit so far.");
	rd_metric_double(out, "rundown_journal_slowest_commit_seconds", NULL, (double)j->slowest_ns / 1e9);
	rd_metric_counter(out, "rundown_journal_disk_full_total", "Commits that found no room and were tried again.",
			  j->full);
	rd_metric_gauge(out, "rundown_journal_map_bytes", "Room of the journal's map.", j->map_bytes);
}
