#include "merger/work_env.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "store/lmdb.h"

#define MAP_BYTES ((uint64_t)64 << 30)

static const char *const table_names[RD_WORK_TABLES] = {"ledger", "partials", "jobs"};

/* ---- errors and transactions */

int rd_work_fail(struct rd_work *w, struct rd_error *err, int rc, const char *what)
{
	w->map_full = rc == MDB_MAP_FULL;
	/* LMDB calls a short write an I/O error. */
	if (rc == EIO && rd_disk_full(w->folder))
		rc = ENOSPC;
	return rd_fail_lmdb(err, rc, what);
}

#define WHOSE "the merger's store"

static int grow(struct rd_work *w, struct rd_error *err)
{
	rd_work_check_readers(w);
	int code = rd_map_grow(w->env, &w->map_bytes, WHOSE, err);
	if (code == 0)
		rd_log(RD_LOG_INFO, "map_grows", "bytes=%llu", (unsigned long long)w->map_bytes);
	return code;
}

int rd_work_write(struct rd_work *w, rd_work_write_fn write, void *ctx, struct rd_error *err)
{
	for (;;) {
		MDB_txn *txn;
		w->map_full = false;
		int rc = mdb_txn_begin(w->env, NULL, 0, &txn);
		if (rc)
			return rd_work_fail(w, err, rc, "writing to the merger's store");
		int code = write(w, txn, ctx, err);
		if (code < 0) {
			mdb_txn_abort(txn);
		} else {
			rc = mdb_txn_commit(txn);
			code = rc ? rd_work_fail(w, err, rc, "writing to the merger's store") : 0;
		}
		if (!w->map_full)
			return code;
		if ((code = grow(w, err)) < 0)
			return code;
	}
}

int rd_work_begin_read(struct rd_work *w, MDB_txn **txn, struct rd_error *err)
{
	if (w->snapshot) {
		*txn = w->snapshot;
		return 0;
	}
	int rc = mdb_txn_begin(w->env, NULL, MDB_RDONLY, txn);
	return rc ? rd_work_fail(w, err, rc, "reading the merger's store") : 0;
}

void rd_work_end_read(struct rd_work *w, MDB_txn *txn)
{
	if (txn != w->snapshot)
		mdb_txn_abort(txn);
}

int rd_work_get(struct rd_work *w, MDB_txn *txn, enum rd_work_table table, const void *key, size_t key_bytes,
		struct rd_span *out, struct rd_error *err)
{
	MDB_val k = {key_bytes, (void *)(uintptr_t)key}, v;
	int rc = mdb_get(txn, w->dbi[table], &k, &v);

	if (rc == MDB_NOTFOUND)
		return 0;
	if (rc)
		return rd_work_fail(w, err, rc, "reading the merger's store");
	*out = (struct rd_span){v.mv_data, v.mv_size};
	return 1;
}

/* ---- open and close */

static int open_tables(struct rd_work *w, MDB_txn *txn, void *ctx, struct rd_error *err)
{
	unsigned flags = *(const unsigned *)ctx;

	for (int i = 0; i < RD_WORK_TABLES; i++) {
		int rc = mdb_dbi_open(txn, table_names[i], flags, &w->dbi[i]);
		if (rc == MDB_NOTFOUND)
			return rd_fail(err, RD_NOT_FOUND, "the merger's store is empty");
		if (rc)
			return rd_work_fail(w, err, rc, "opening the merger's store");
	}
	return 0;
}

static int open_env(struct rd_work *w, const char *folder, unsigned flags, struct rd_error *err)
{
	int rc = mdb_env_create(&w->env);

	if (rc == 0)
		rc = mdb_env_set_maxdbs(w->env, RD_WORK_TABLES);
	if (rc == 0 && w->map_bytes)
		rc = mdb_env_set_mapsize(w->env, (size_t)w->map_bytes);
	if (rc == 0)
		rc = mdb_env_open(w->env, folder, flags, 0600);
	if (rc == 0)
		return 0;
	if (w->env)
		mdb_env_close(w->env);
	w->env = NULL;
	rc = rd_work_fail(w, err, rc, "opening the merger's store");
	return rd_error_at(err, rc, folder, RD_NO_OFFSET);
}

/* Reserve less where there is no more. */
static int open_largest(struct rd_work *w, const char *folder, const struct rd_work_options *o, struct rd_error *err)
{
	unsigned flags = o->thrown_away ? MDB_NOSYNC : 0;
	int code;

	w->map_bytes = rd_map_first(o->map_bytes ? o->map_bytes : MAP_BYTES);
	while ((code = open_env(w, folder, flags, err)) == RD_NOMEM && w->map_bytes > RD_MAP_BYTES_MIN)
		w->map_bytes /= 2;
	if (code == RD_NOMEM)
		return rd_error_at(err, rd_fail_map(err, WHOSE, RD_MAP_BYTES_MIN), folder, RD_NO_OFFSET);
	if (code == 0) {
		MDB_envinfo info;
		/* A file that was larger before keeps its size. */
		mdb_env_info(w->env, &info);
		w->map_bytes = info.me_mapsize;
	}
	return code;
}

static int work_new(const char *folder, struct rd_work **out, struct rd_error *err)
{
	struct rd_work *w = rd_realloc(NULL, sizeof *w);

	if (w == NULL)
		return rd_fail_nomem(err);
	*w = (struct rd_work){.folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
	if (w->folder < 0) {
		int code = errno == ENOENT ? rd_fail(err, RD_NOT_FOUND, "there is no such store")
					   : rd_fail_errno(err, "opening the merger's store");
		rd_free(w);
		return rd_error_at(err, code, folder, RD_NO_OFFSET);
	}
	*out = w;
	return 0;
}

int rd_work_open(const char *folder, const struct rd_work_options *o, struct rd_work **out, struct rd_error *err)
{
	unsigned create = MDB_CREATE;
	struct rd_work *w;

	if (mkdir(folder, 0700) != 0 && errno != EEXIST)
		return rd_error_at(err, rd_fail_errno(err, "making the merger's store"), folder, RD_NO_OFFSET);
	int code = work_new(folder, &w, err);
	if (code < 0)
		return code;
	if ((code = open_largest(w, folder, o, err)) == 0) {
		rd_work_check_readers(w);
		code = rd_work_write(w, open_tables, &create, err);
	}
	if (code == 0)
		code = rd_work_read_jobs(w, err);
	if (code < 0) {
		rd_work_close(w);
		return rd_error_at(err, code, folder, RD_NO_OFFSET);
	}
	*out = w;
	return 0;
}

/* How often the owner's file may outgrow the map between its opening and the snapshot. */
#define TURNS 10

/*
 * A reader maps what is there and no more: it needs its address space for what it does, and the owner's map may be as
 * large as a limit allows.
 */
static int open_snapshot(struct rd_work *w, const char *folder, struct rd_error *err)
{
	int code = 0, rc = MDB_MAP_RESIZED;

	for (int turn = 0; rc == MDB_MAP_RESIZED && turn < TURNS; turn++) {
		if (w->env)
			mdb_env_close(w->env);
		/* LMDB makes more of it, as much as the file has. */
		w->map_bytes = 1;
		if ((code = open_env(w, folder, MDB_RDONLY, err)) < 0)
			return code;
		rc = mdb_txn_begin(w->env, NULL, MDB_RDONLY, &w->snapshot);
	}
	return rc ? rd_work_fail(w, err, rc, "reading the merger's store") : 0;
}

int rd_work_open_reader(const char *folder, struct rd_work **out, struct rd_error *err)
{
	unsigned none = 0;
	struct rd_work *w;
	int code = work_new(folder, &w, err);

	if (code < 0)
		return code;
	code = open_snapshot(w, folder, err);
	if (code == 0)
		code = open_tables(w, w->snapshot, &none, err);
	if (code < 0) {
		rd_work_close(w);
		return code;
	}
	*out = w;
	return 0;
}

void rd_work_close(struct rd_work *w)
{
	if (w == NULL)
		return;
	if (w->snapshot)
		mdb_txn_abort(w->snapshot);
	if (w->env)
		mdb_env_close(w->env);
	rd_vec_release(&w->to_sweep);
	close(w->folder);
	rd_free(w);
}

uint64_t rd_work_map_bytes(const struct rd_work *w)
{
	return w->map_bytes;
}

void rd_work_check_readers(struct rd_work *w)
{
	int dead = 0;

	if (mdb_reader_check(w->env, &dead) == 0 && dead)
		rd_log(RD_LOG_INFO, "dead_readers", "readers=%d", dead);
}
