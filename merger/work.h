/*
 * work - the merger's working store: ledger, partials and jobs in one LMDB environment.
 *
 * A shard's ledger row and all blocks of its partial are written in one
 * transaction; when rd_work_commit has returned 0 they are on disk. So a
 * merger that dies at any moment leaves a shard either merged or not, and a
 * COMMIT that is said again finds the row.
 *
 * One process owns the environment and writes (base/place.h). Others open it
 * to read, each once: a child that finishes a job. It keeps its snapshot while
 * the owner goes on. The owner holds no read transaction between calls, hence
 * the map can grow at any time.
 * Threads: one.
 */
#ifndef RD_MERGER_WORK_H
#define RD_MERGER_WORK_H

#include "merger/rows.h"
#include "merger/spool.h"
#include "profile/partial.h"

struct rd_work;

struct rd_work_options {
	uint64_t map_bytes; /* reserved address space, doubled when it is full; 0: the usual */
	bool thrown_away;   /* nobody reads it after this process: commits need not wait for the disk */
};

/* Open or make it, in the folder. Rows of ended jobs that are still there are listed for rd_work_sweep. */
int rd_work_open(const char *folder, const struct rd_work_options *o, struct rd_work **out, struct rd_error *err);
/* To read only, at this moment's state. RD_NOT_FOUND when there is none. */
int rd_work_open_reader(const char *folder, struct rd_work **out, struct rd_error *err);
void rd_work_close(struct rd_work *w);

/* 1 and the row, 0 not there, RD_CORRUPT, RD_IO. */
int rd_work_ledger(struct rd_work *w, const struct rd_shard_id *id, struct rd_ledger_row *row, struct rd_error *err);
/* The same by the number of the task that decoded the shard. */
int rd_work_ledger_task(struct rd_work *w, const char *job, uint64_t task, struct rd_error *err);

/* Every merged shard of a job in the order of its numbers, until fn returns not 0; that. Only of a reader. */
typedef int (*rd_work_shard_fn)(void *ctx, const struct rd_shard_id *id, struct rd_error *err);
int rd_work_each_shard(struct rd_work *w, const char *job, rd_work_shard_fn fn, void *ctx, struct rd_error *err);

/*
 * Put the row and the spool's blocks. 0: on disk. RD_EXISTS: the shard is in
 * the ledger, and nothing was changed. A full disk is RD_IO with ENOSPC in
 * sys_errno, after which the store is as before. After any other failure the
 * process must end: what is on disk is not known.
 */
int rd_work_commit(struct rd_work *w, const struct rd_shard_id *id, const struct rd_ledger_row *row,
		   const struct rd_spool *spool, struct rd_error *err);

/* A job's row: 1, 0 none, negative. */
int rd_work_job(struct rd_work *w, const char *job, struct rd_job_record *out, struct rd_error *err);
/* Put it, with a new serial. Failures as of a commit. FINISHED and DROPPED list the job for rd_work_sweep. */
int rd_work_job_put(struct rd_work *w, const char *job, struct rd_job_record *record, struct rd_error *err);

/* Delete some rows of ended jobs: 1 there are more, 0 nothing is left to do, or as of a commit. */
int rd_work_sweep(struct rd_work *w, struct rd_error *err);

/* Readers that died hold old pages; true to free them now and then. */
void rd_work_check_readers(struct rd_work *w);

/* ---- reading, for the finish: */

/* One block: 1 and the span, borrowed until close, 0 none. Only of a reader. */
int rd_work_block(struct rd_work *w, const struct rd_shard_id *id, uint32_t table, uint32_t seq, struct rd_span *out,
		  struct rd_error *err);
/*
 * Whether the blocks of a shard are those that its row speaks of: 0, or RD_CORRUPT. Each block proves itself when it
 * is unpacked. Adds their bytes to *bytes, by table, unless that is NULL. Only of a reader.
 */
struct rd_work_bytes {
	uint64_t of[RD_TABLE_END];
};
int rd_work_check(struct rd_work *w, const struct rd_shard_id *id, const struct rd_ledger_row *row,
		  struct rd_work_bytes *bytes, struct rd_error *err);

uint64_t rd_work_map_bytes(const struct rd_work *w);

/*
 * Tests set it: called at moments a crash could come, by name, "before-put",
 * "after-put" (of all, before the commit), "after-commit".
 */
extern void (*rd_work_moment)(const char *name);

#endif
