#include "merger/work_env.h"

#include <string.h>

void (*rd_work_moment)(const char *name);

static void moment(const char *name)
{
	if (rd_work_moment)
		rd_work_moment(name);
}

/* ---- the ledger */

int rd_work_ledger(struct rd_work *w, const struct rd_shard_id *id, struct rd_ledger_row *row, struct rd_error *err)
{
	struct rd_ledger_key key;
	struct rd_span value;
	MDB_txn *txn;
	int found = rd_work_begin_read(w, &txn, err);

	if (found < 0)
		return found;
	rd_ledger_key(&key, id);
	found = rd_work_get(w, txn, RD_WORK_LEDGER, &key, sizeof key, &value, err);
	if (found == 1) {
		int code = rd_ledger_row_open(row, &key, value, err);
		found = code < 0 ? code : 1;
	}
	rd_work_end_read(w, txn);
	return found;
}

int rd_work_ledger_task(struct rd_work *w, const char *job, uint64_t task, struct rd_error *err)
{
	struct rd_shard_id id = {.trace = 0};
	struct rd_ledger_key first, key;
	struct rd_ledger_row row;
	MDB_cursor *cursor = NULL;
	MDB_txn *txn;
	int found = rd_work_begin_read(w, &txn, err);

	if (found < 0)
		return found;
	memcpy(id.job, job, strnlen(job, RD_JOB_ID_MAX));
	rd_ledger_key(&first, &id);
	MDB_val k = {sizeof first, &first}, v;
	int rc = mdb_cursor_open(txn, w->dbi[RD_WORK_LEDGER], &cursor);
	if (rc == 0)
		rc = mdb_cursor_get(cursor, &k, &v, MDB_SET_RANGE);
	for (; found == 0 && rc == 0; rc = found == 0 ? mdb_cursor_get(cursor, &k, &v, MDB_NEXT) : 0) {
		if (k.mv_size != sizeof key || memcmp(k.mv_data, first.job, sizeof first.job) != 0)
			break;
		memcpy(&key, k.mv_data, sizeof key);
		found = rd_ledger_row_open(&row, &key, (struct rd_span){v.mv_data, v.mv_size}, err);
		if (found == 0)
			found = row.task == task;
	}
	if (found == 0 && rc && rc != MDB_NOTFOUND)
		found = rd_work_fail(w, err, rc, "reading the merger's store");
	if (cursor)
		mdb_cursor_close(cursor);
	rd_work_end_read(w, txn);
	return found;
}

int rd_work_each_shard(struct rd_work *w, const char *job, rd_work_shard_fn fn, void *ctx, struct rd_error *err)
{
	struct rd_shard_id id = {.trace = 0};
	struct rd_ledger_key first, key;
	struct rd_ledger_row row;
	MDB_cursor *cursor;
	int code = 0, rc = mdb_cursor_open(w->snapshot, w->dbi[RD_WORK_LEDGER], &cursor);

	if (rc)
		return rd_work_fail(w, err, rc, "reading the merger's store");
	memcpy(id.job, job, strnlen(job, RD_JOB_ID_MAX));
	rd_ledger_key(&first, &id);
	MDB_val k = {sizeof first, &first}, v;
	for (MDB_cursor_op op = MDB_SET_RANGE; code == 0 && (rc = mdb_cursor_get(cursor, &k, &v, op)) == 0;
	     op = MDB_NEXT) {
		if (k.mv_size != sizeof key || memcmp(k.mv_data, first.job, sizeof first.job) != 0)
			break;
		memcpy(&key, k.mv_data, sizeof key);
		rd_ledger_key_id(&key, &id);
		code = rd_ledger_row_open(&row, &key, (struct rd_span){v.mv_data, v.mv_size}, err);
		if (code == 0)
			code = fn(ctx, &id, err);
	}
	mdb_cursor_close(cursor);
	if (code == 0 && rc && rc != MDB_NOTFOUND)
		code = rd_work_fail(w, err, rc, "reading the merger's store");
	return code;
}

struct partial {
	const struct rd_shard_id *id;
	struct rd_ledger_row row;
	const struct rd_spool *spool;
};

static int put_blocks(struct rd_work *w, MDB_txn *txn, const struct partial *p, struct rd_error *err)
{
	uint64_t offset = 0;

	for (size_t i = 0; i < p->spool->blocks.n; i++) {
		const struct rd_spooled *b = &p->spool->blocks.at[i];
		struct rd_partial_key key;
		rd_partial_key(&key, p->id, b->table, b->seq);
		MDB_val k = {sizeof key, &key}, v = {b->size_bytes, NULL};
		int rc = mdb_put(txn, w->dbi[RD_WORK_PARTIALS], &k, &v, MDB_RESERVE);
		if (rc)
			return rd_work_fail(w, err, rc, "putting a block into the merger's store");
		int code = rd_spool_read(p->spool, i, offset, v.mv_data, err);
		if (code < 0)
			return code;
		offset += b->size_bytes;
	}
	return 0;
}

static int put_partial(struct rd_work *w, MDB_txn *txn, void *ctx, struct rd_error *err)
{
	struct partial *p = ctx;
	struct rd_ledger_key key;

	moment("before-put");
	rd_ledger_key(&key, p->id);
	rd_ledger_row_seal(&p->row, &key);
	MDB_val k = {sizeof key, &key}, v = {sizeof p->row, &p->row};
	int rc = mdb_put(txn, w->dbi[RD_WORK_LEDGER], &k, &v, MDB_NOOVERWRITE);
	if (rc == MDB_KEYEXIST)
		return rd_fail(err, RD_EXISTS, "the shard is merged already");
	if (rc)
		return rd_work_fail(w, err, rc, "putting a row into the merger's ledger");
	int code = put_blocks(w, txn, p, err);
	moment("after-put");
	return code;
}

int rd_work_commit(struct rd_work *w, const struct rd_shard_id *id, const struct rd_ledger_row *row,
		   const struct rd_spool *spool, struct rd_error *err)
{
	struct partial p = {id, *row, spool};
	int code = rd_work_write(w, put_partial, &p, err);

	if (code == 0)
		moment("after-commit");
	return code;
}

/* ---- reading for the finish */

int rd_work_block(struct rd_work *w, const struct rd_shard_id *id, uint32_t table, uint32_t seq, struct rd_span *out,
		  struct rd_error *err)
{
	struct rd_partial_key key;

	rd_partial_key(&key, id, table, seq);
	return rd_work_get(w, w->snapshot, RD_WORK_PARTIALS, &key, sizeof key, out, err);
}

int rd_work_check(struct rd_work *w, const struct rd_shard_id *id, const struct rd_ledger_row *row,
		  struct rd_work_bytes *by_table, struct rd_error *err)
{
	struct rd_partial_key first, key;
	uint64_t blocks = 0, bytes = 0, checksum = 0;
	MDB_cursor *cursor;
	int rc = mdb_cursor_open(w->snapshot, w->dbi[RD_WORK_PARTIALS], &cursor);

	if (rc)
		return rd_work_fail(w, err, rc, "reading the merger's store");
	rd_partial_key(&first, id, 0, 0);
	MDB_val k = {sizeof first, &first}, v;
	for (MDB_cursor_op op = MDB_SET_RANGE; (rc = mdb_cursor_get(cursor, &k, &v, op)) == 0; op = MDB_NEXT) {
		if (k.mv_size != sizeof first || memcmp(k.mv_data, &first.shard, sizeof first.shard) != 0)
			break;
		blocks++;
		bytes += v.mv_size;
		memcpy(&key, k.mv_data, sizeof key);
		uint32_t table = rd_partial_key_table(&key);
		if (by_table && table < RD_TABLE_END)
			by_table->of[table] += v.mv_size;
		checksum = rd_spool_checksum(checksum, (struct rd_span){v.mv_data, v.mv_size});
	}
	mdb_cursor_close(cursor);
	if (rc && rc != MDB_NOTFOUND)
		return rd_work_fail(w, err, rc, "reading the merger's store");
	if (blocks != row->blocks || bytes != row->bytes || checksum != row->checksum)
		return rd_fail(err, RD_CORRUPT, "the blocks of shard %u of trace %u are not those of its ledger row",
			       id->shard, id->trace);
	return 0;
}
