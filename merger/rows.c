#include "merger/rows.h"

#include <string.h>

#include "base/table.h"

static void put_be32(uint8_t to[4], uint32_t v)
{
	for (int i = 0; i < 4; i++)
		to[i] = (uint8_t)(v >> (24 - 8 * i));
}

static uint32_t get_be32(const uint8_t from[4])
{
	return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

void rd_job_key(struct rd_job_key *key, const char *job)
{
	memset(key->job, 0, sizeof key->job);
	memcpy(key->job, job, strnlen(job, sizeof key->job));
}

void rd_ledger_key(struct rd_ledger_key *key, const struct rd_shard_id *id)
{
	memset(key->job, 0, sizeof key->job);
	memcpy(key->job, id->job, strnlen(id->job, sizeof key->job));
	put_be32(key->trace, id->trace);
	put_be32(key->shard, id->shard);
}

void rd_partial_key(struct rd_partial_key *key, const struct rd_shard_id *id, uint32_t table, uint32_t seq)
{
	rd_ledger_key(&key->shard, id);
	put_be32(key->table, table);
	put_be32(key->seq, seq);
}

uint32_t rd_partial_key_table(const struct rd_partial_key *key)
{
	return get_be32(key->table);
}

void rd_ledger_key_id(const struct rd_ledger_key *key, struct rd_shard_id *id)
{
	memcpy(id->job, key->job, sizeof key->job);
	id->job[sizeof key->job] = 0;
	id->trace = get_be32(key->trace);
	id->shard = get_be32(key->shard);
}

/* The checksum of a value that begins with its checksum, bound to its key. */
static uint64_t sum_of(const void *key, size_t key_bytes, const void *value, size_t value_bytes)
{
	return rd_hash_u64(rd_hash(key, key_bytes) ^
			   rd_hash((const uint8_t *)value + sizeof(uint64_t), value_bytes - sizeof(uint64_t)));
}

static int check_version(uint32_t version, const char *what, struct rd_error *err)
{
	if (version == RD_ROWS_VERSION)
		return 0;
	return rd_fail(err, RD_UNSUPPORTED, "a row of the merger's %s has version %u; this build reads %u", what,
		       version, RD_ROWS_VERSION);
}

void rd_ledger_row_seal(struct rd_ledger_row *row, const struct rd_ledger_key *key)
{
	row->version = RD_ROWS_VERSION;
	row->sum = sum_of(key, sizeof *key, row, sizeof *row);
}

int rd_ledger_row_open(struct rd_ledger_row *row, const struct rd_ledger_key *key, struct rd_span value,
		       struct rd_error *err)
{
	if (value.size_bytes != sizeof *row)
		return rd_fail(err, RD_CORRUPT, "a row of the merger's ledger has %zu bytes", value.size_bytes);
	memcpy(row, value.at, sizeof *row);
	if (row->sum != sum_of(key, sizeof *key, row, sizeof *row))
		return rd_fail(err, RD_CORRUPT, "a row of the merger's ledger does not match its checksum");
	return check_version(row->version, "ledger", err);
}

size_t rd_job_row_seal(const struct rd_job_record *record, const struct rd_job_key *key, uint8_t *buf)
{
	struct rd_job_row row = record->row;
	size_t output_n = strlen(record->output), folder_n = strlen(record->folder);
	size_t n = sizeof row + output_n + folder_n;

	row.version = RD_ROWS_VERSION;
	row.output_bytes = (uint16_t)output_n;
	row.folder_bytes = (uint16_t)folder_n;
	row.pad = 0;
	memcpy(buf, &row, sizeof row);
	memcpy(buf + sizeof row, record->output, output_n);
	memcpy(buf + sizeof row + output_n, record->folder, folder_n);
	row.sum = sum_of(key, sizeof *key, buf, n);
	memcpy(buf, &row.sum, sizeof row.sum);
	return n;
}

int rd_job_row_open(struct rd_job_record *record, const struct rd_job_key *key, struct rd_span value,
		    struct rd_error *err)
{
	struct rd_job_row *row = &record->row;

	if (value.size_bytes < sizeof *row)
		return rd_fail(err, RD_CORRUPT, "a row of the merger's jobs has %zu bytes", value.size_bytes);
	memcpy(row, value.at, sizeof *row);
	size_t output_n = row->output_bytes, folder_n = row->folder_bytes;
	if (row->sum != sum_of(key, sizeof *key, value.at, value.size_bytes) ||
	    value.size_bytes != sizeof *row + output_n + folder_n || output_n > RD_PATH_MAX || folder_n > RD_PATH_MAX)
		return rd_fail(err, RD_CORRUPT, "a row of the merger's jobs does not match its checksum");
	memcpy(record->output, value.at + sizeof *row, output_n);
	record->output[output_n] = 0;
	memcpy(record->folder, value.at + sizeof *row + output_n, folder_n);
	record->folder[folder_n] = 0;
	return check_version(row->version, "jobs", err);
}
