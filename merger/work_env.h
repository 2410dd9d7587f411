/*
 * work_env - the working store's environment and transactions, inside: what ledger and jobs are built on.
 */
#ifndef RD_MERGER_WORK_ENV_H
#define RD_MERGER_WORK_ENV_H

#include <lmdb.h>

#include "base/memory.h"
#include "merger/work.h"

enum rd_work_table { RD_WORK_LEDGER, RD_WORK_PARTIALS, RD_WORK_JOBS, RD_WORK_TABLES };

struct rd_work_name {
	char job[RD_JOB_ID_MAX + 1];
};

struct rd_work {
	MDB_env *env;
	MDB_dbi dbi[RD_WORK_TABLES];
	MDB_txn *snapshot; /* of a reader */
	uint64_t map_bytes;
	bool map_full;   /* why the last transaction failed */
	uint64_t serial; /* of the newest job's row */
	RD_VEC(struct rd_work_name) to_sweep;
	int folder;
};

/* The code for what LMDB returned. */
int rd_work_fail(struct rd_work *w, struct rd_error *err, int rc, const char *what);

/* Run `write` in a transaction of its own, again with a larger map when it did not fit. */
typedef int (*rd_work_write_fn)(struct rd_work *w, MDB_txn *txn, void *ctx, struct rd_error *err);
int rd_work_write(struct rd_work *w, rd_work_write_fn write, void *ctx, struct rd_error *err);

/* A transaction to read in: the reader's snapshot, or a new one; ended by rd_work_end_read. */
int rd_work_begin_read(struct rd_work *w, MDB_txn **txn, struct rd_error *err);
void rd_work_end_read(struct rd_work *w, MDB_txn *txn);

/* 1 and the value, borrowed while the transaction lasts; 0 none. */
int rd_work_get(struct rd_work *w, MDB_txn *txn, enum rd_work_table table, const void *key, size_t key_bytes,
		struct rd_span *out, struct rd_error *err);

/* ---- work_jobs.c */

int rd_work_list_for_sweep(struct rd_work *w, const char *job, struct rd_error *err);
/* Find the newest serial, and what an earlier merger left to sweep. */
int rd_work_read_jobs(struct rd_work *w, struct rd_error *err);

#endif
