#include "base/records.h"

#include <string.h>

void rd_records_init(struct rd_records *r, size_t record_bytes, size_t key_bytes)
{
	*r = (struct rd_records){.record_bytes = record_bytes, .key_bytes = key_bytes};
}

static bool equal(const void *ctx, uint32_t index, const void *key)
{
	const struct rd_records *r = ctx;
	return memcmp(rd_records_at(r, index), key, r->key_bytes) == 0;
}

uint32_t rd_records_find(const struct rd_records *r, const void *key)
{
	return rd_table_find(&r->table, rd_hash(key, r->key_bytes), equal, r, key);
}

uint32_t rd_records_id(struct rd_records *r, const void *key, bool *fresh)
{
	uint64_t hash = rd_hash(key, r->key_bytes);
	uint32_t id = rd_table_find(&r->table, hash, equal, r, key);

	if (fresh)
		*fresh = id == RD_NONE;
	if (id != RD_NONE)
		return id;
	if (r->n >= RD_NONE || rd_grow((void **)&r->at, r->n, &r->cap, 1, r->record_bytes) < 0 ||
	    rd_table_put(&r->table, hash, (uint32_t)r->n) < 0)
		return RD_NONE;
	uint8_t *record = r->at + r->n * r->record_bytes;
	memcpy(record, key, r->key_bytes);
	memset(record + r->key_bytes, 0, r->record_bytes - r->key_bytes);
	return (uint32_t)r->n++;
}

void rd_records_forget(struct rd_records *r)
{
	rd_table_clear(&r->table);
}

void rd_records_release(struct rd_records *r)
{
	rd_free(r->at);
	rd_table_release(&r->table);
	*r = (struct rd_records){.record_bytes = r->record_bytes, .key_bytes = r->key_bytes};
}
