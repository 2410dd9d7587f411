#include "merger/work_env.h"

#include <string.h>

/* Rows that one transaction of a sweep deletes: a block each, at most. */
#define SWEEP_ROWS 256
/* Rows of ended jobs that are kept, so that a word said again is answered the same. */
#define JOBS_KEPT  4096

int rd_work_list_for_sweep(struct rd_work *w, const char *job, struct rd_error *err)
{
	struct rd_work_name *n = rd_vec_add(&w->to_sweep);

	if (n == NULL)
		return rd_fail_nomem(err);
	memcpy(n->job, job, strlen(job) + 1);
	return 0;
}

int rd_work_read_jobs(struct rd_work *w, struct rd_error *err)
{
	struct rd_job_record record;
	MDB_cursor *cursor = NULL;
	MDB_val k, v;
	MDB_txn *txn;
	int code = rd_work_begin_read(w, &txn, err);

	if (code < 0)
		return code;
	int rc = mdb_cursor_open(txn, w->dbi[RD_WORK_JOBS], &cursor);
	for (; rc == 0 && code == 0 && (rc = mdb_cursor_get(cursor, &k, &v, MDB_NEXT)) == 0;) {
		struct rd_job_key key;
		struct rd_shard_id id;
		if (k.mv_size != sizeof key) {
			code = rd_fail(err, RD_CORRUPT, "a key of the merger's jobs has %zu bytes", k.mv_size);
			break;
		}
		memcpy(&key, k.mv_data, sizeof key);
		memcpy(id.job, key.job, sizeof key.job);
		id.job[sizeof key.job] = 0;
		code = rd_job_row_open(&record, &key, (struct rd_span){v.mv_data, v.mv_size}, err);
		if (code == 0 && record.row.serial > w->serial)
			w->serial = record.row.serial;
		if (code == 0 && record.row.state != RD_ROW_DELIVERING && !record.row.swept)
			code = rd_work_list_for_sweep(w, id.job, err);
	}
	if (code == 0 && rc != MDB_NOTFOUND)
		code = rd_work_fail(w, err, rc, "reading the merger's store");
	if (cursor)
		mdb_cursor_close(cursor);
	rd_work_end_read(w, txn);
	return code;
}

int rd_work_job(struct rd_work *w, const char *job, struct rd_job_record *out, struct rd_error *err)
{
	struct rd_job_key key;
	struct rd_span value;
	MDB_txn *txn;
	int found = rd_work_begin_read(w, &txn, err);

	if (found < 0)
		return found;
	rd_job_key(&key, job);
	found = rd_work_get(w, txn, RD_WORK_JOBS, &key, sizeof key, &value, err);
	if (found == 1) {
		int code = rd_job_row_open(out, &key, value, err);
		found = code < 0 ? code : 1;
	}
	rd_work_end_read(w, txn);
	return found;
}

struct job_put {
	struct rd_job_key key;
	uint8_t value[RD_JOB_VALUE_MAX];
	size_t value_bytes;
};

static int put_job(struct rd_work *w, MDB_txn *txn, void *ctx, struct rd_error *err)
{
	struct job_put *p = ctx;
	MDB_val k = {sizeof p->key, &p->key}, v = {p->value_bytes, p->value};
	int rc = mdb_put(txn, w->dbi[RD_WORK_JOBS], &k, &v, 0);

	return rc ? rd_work_fail(w, err, rc, "putting a row into the merger's jobs") : 0;
}

int rd_work_job_put(struct rd_work *w, const char *job, struct rd_job_record *record, struct rd_error *err)
{
	struct job_put p;

	record->row.serial = w->serial + 1;
	rd_job_key(&p.key, job);
	p.value_bytes = rd_job_row_seal(record, &p.key, p.value);
	int code = rd_work_write(w, put_job, &p, err);
	if (code < 0)
		return code;
	w->serial++;
	if (record->row.state != RD_ROW_DELIVERING && !record->row.swept)
		code = rd_work_list_for_sweep(w, job, err);
	return code;
}

/* ---- sweeping */

struct sweep {
	const char *job;
	uint64_t oldest_kept;
	size_t rows; /* deleted */
	bool done;
};

/* Delete rows of the job, up to the limit; both tables' keys begin with the job. */
static int delete_rows(struct rd_work *w, MDB_txn *txn, enum rd_work_table table, struct sweep *s, struct rd_error *err)
{
	struct rd_job_key job;
	MDB_cursor *cursor;
	int rc = mdb_cursor_open(txn, w->dbi[table], &cursor);

	if (rc)
		return rd_work_fail(w, err, rc, "sweeping the merger's store");
	rd_job_key(&job, s->job);
	while (s->rows < SWEEP_ROWS) {
		MDB_val k = {sizeof job, &job}, v;
		rc = mdb_cursor_get(cursor, &k, &v, MDB_SET_RANGE);
		if (rc == MDB_NOTFOUND ||
		    (rc == 0 && (k.mv_size < sizeof job || memcmp(k.mv_data, &job, sizeof job) != 0))) {
			rc = 0;
			break;
		}
		if (rc == 0)
			rc = mdb_cursor_del(cursor, 0);
		if (rc)
			break;
		s->rows++;
	}
	mdb_cursor_close(cursor);
	return rc ? rd_work_fail(w, err, rc, "sweeping the merger's store") : 0;
}

/* Note in the job's row that it is swept, and forget rows that are too old to be asked for. */
static int close_job(struct rd_work *w, MDB_txn *txn, struct sweep *s, struct rd_error *err)
{
	struct rd_job_record record;
	struct job_put p;
	struct rd_span value;

	rd_job_key(&p.key, s->job);
	int code = rd_work_get(w, txn, RD_WORK_JOBS, &p.key, sizeof p.key, &value, err);
	if (code == 1)
		code = rd_job_row_open(&record, &p.key, value, err);
	else if (code == 0)
		return 0;
	if (code < 0)
		return code;
	record.row.swept = 1;
	p.value_bytes = rd_job_row_seal(&record, &p.key, p.value);
	if ((code = put_job(w, txn, &p, err)) < 0)
		return code;

	MDB_cursor *cursor;
	MDB_val k, v;
	int rc = mdb_cursor_open(txn, w->dbi[RD_WORK_JOBS], &cursor);
	if (rc)
		return rd_work_fail(w, err, rc, "sweeping the merger's jobs");
	for (MDB_cursor_op op = MDB_FIRST; (rc = mdb_cursor_get(cursor, &k, &v, op)) == 0; op = MDB_NEXT) {
		struct rd_job_row row;
		if (v.mv_size < sizeof row)
			continue;
		memcpy(&row, v.mv_data, sizeof row);
		if (row.swept && row.serial < s->oldest_kept && (rc = mdb_cursor_del(cursor, 0)) != 0)
			break;
	}
	mdb_cursor_close(cursor);
	return rc && rc != MDB_NOTFOUND ? rd_work_fail(w, err, rc, "sweeping the merger's jobs") : 0;
}

static int sweep_some(struct rd_work *w, MDB_txn *txn, void *ctx, struct rd_error *err)
{
	struct sweep *s = ctx;

	s->rows = 0;
	int code = delete_rows(w, txn, RD_WORK_PARTIALS, s, err);
	if (code == 0)
		code = delete_rows(w, txn, RD_WORK_LEDGER, s, err);
	s->done = s->rows < SWEEP_ROWS;
	if (code == 0 && s->done)
		code = close_job(w, txn, s, err);
	return code;
}

int rd_work_sweep(struct rd_work *w, struct rd_error *err)
{
	if (w->to_sweep.n == 0)
		return 0;
	struct sweep s = {
		.job = w->to_sweep.at[0].job,
		.oldest_kept = w->serial > JOBS_KEPT ? w->serial - JOBS_KEPT : 0,
	};
	int code = rd_work_write(w, sweep_some, &s, err);
	if (code < 0)
		return code;
	if (s.done)
		w->to_sweep.at[0] = w->to_sweep.at[--w->to_sweep.n];
	return w->to_sweep.n > 0;
}
