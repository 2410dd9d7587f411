/*
 * rows - the keys and values of the merger's working store, as they lie in LMDB.
 *
 * Numbers in keys are big-endian, so that LMDB's order of bytes is theirs;
 * a job's id is padded with zeros to its longest. Names never become keys
 * beyond that. Values of ours are little-endian structs that begin with their
 * checksum; blocks of partials carry one in their own head.
 *
 * A change of layout is a new RD_ROWS_VERSION: the store then refuses the old
 * one by number. Sizes are asserted, because they are stored.
 */
#ifndef RD_MERGER_ROWS_H
#define RD_MERGER_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cursor.h"
#include "base/error.h"
#include "net/validate.h"

#define RD_ROWS_VERSION 1
/* LMDB's own limit for a key. */
#define RD_ROWS_KEY_MAX 511

/* Table `ledger`: which partial of a shard is here. */
struct rd_ledger_key {
	uint8_t job[RD_JOB_ID_MAX];
	uint8_t trace[4];
	uint8_t shard[4];
};

struct rd_ledger_row {
	uint64_t sum; /* XXH3-64 of the key and of what follows */
	uint64_t task;
	uint64_t blocks;
	uint64_t bytes;
	uint64_t checksum; /* rd_spool_checksum over the blocks */
	uint64_t merge_ns; /* what it took to bring the partial here */
	uint32_t attempt;
	uint32_t version;
};

/* Table `partials`: a block as it came. */
struct rd_partial_key {
	struct rd_ledger_key shard;
	uint8_t table[4];
	uint8_t seq[4];
};

/* Table `jobs`: what remains of a job that is past merging; the output's and the working folder's path follow. */
struct rd_job_key {
	uint8_t job[RD_JOB_ID_MAX];
};

enum rd_job_row_state {
	RD_ROW_DELIVERING = 1, /* the result stands in the working folder and goes to its place */
	RD_ROW_FINISHED = 2,
	RD_ROW_DROPPED = 3,
};

struct rd_job_row {
	uint64_t sum;
	uint64_t serial;        /* which of the rows is newer */
	uint64_t device, inode; /* of the result's folder: a rename keeps them */
	uint64_t samples;
	uint64_t lost_events;
	uint32_t state; /* enum rd_job_row_state */
	uint32_t complete;
	uint32_t swept; /* its ledger and partials are gone */
	uint32_t version;
	uint16_t output_bytes, folder_bytes;
	uint32_t pad;
};

_Static_assert(sizeof(struct rd_ledger_key) == RD_JOB_ID_MAX + 8, "bytes only");
_Static_assert(sizeof(struct rd_partial_key) == RD_JOB_ID_MAX + 16, "bytes only");
_Static_assert(sizeof(struct rd_partial_key) <= RD_ROWS_KEY_MAX, "fits a key of LMDB");
_Static_assert(sizeof(struct rd_ledger_row) == 56, "stored as it is");
_Static_assert(sizeof(struct rd_job_row) == 72, "stored as it is");

/* A job's row in memory. */
struct rd_job_record {
	struct rd_job_row row;
	char output[RD_PATH_MAX + 1];
	char folder[RD_PATH_MAX + 1];
};

/* A shard as the messages name it. */
struct rd_shard_id {
	char job[RD_JOB_ID_MAX + 1];
	uint32_t trace, shard;
};

void rd_ledger_key(struct rd_ledger_key *key, const struct rd_shard_id *id);
void rd_partial_key(struct rd_partial_key *key, const struct rd_shard_id *id, uint32_t table, uint32_t seq);
uint32_t rd_partial_key_table(const struct rd_partial_key *key);
void rd_job_key(struct rd_job_key *key, const char *job);
/* A key's shard, back. */
void rd_ledger_key_id(const struct rd_ledger_key *key, struct rd_shard_id *id);

/* Version and checksum are put in. */
void rd_ledger_row_seal(struct rd_ledger_row *row, const struct rd_ledger_key *key);
/* RD_CORRUPT, RD_UNSUPPORTED. */
int rd_ledger_row_open(struct rd_ledger_row *row, const struct rd_ledger_key *key, struct rd_span value,
		       struct rd_error *err);

/* The value of a job's row in *buf, which must have room for RD_JOB_VALUE_MAX bytes; its size. */
#define RD_JOB_VALUE_MAX (sizeof(struct rd_job_row) + 2 * RD_PATH_MAX)
size_t rd_job_row_seal(const struct rd_job_record *record, const struct rd_job_key *key, uint8_t *buf);
int rd_job_row_open(struct rd_job_record *record, const struct rd_job_key *key, struct rd_span value,
		    struct rd_error *err);

#endif
