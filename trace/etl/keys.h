/*
 * keys - the identities of an ETL file's events, each interned once.
 *
 * Look-ups are per event: a small direct-mapped cache in front of a hash
 * table, no allocation and no catalogue search once an identity is known.
 * Identities that nobody wants are answered with NULL and never stored, so a
 * file full of distinct unwanted ones costs no memory.
 */
#ifndef RD_TRACE_ETL_KEYS_H
#define RD_TRACE_ETL_KEYS_H

#include "base/table.h"
#include "trace/etl/records.h"

enum {
	RD_ETL_KEY_CACHE = 512,
	/* More distinct identities than any machine's manifests have events: a hostile file. */
	RD_ETL_KEYS_MOST = 1 << 20,
};

/* An identity in three words; of equal ones all three are equal. */
struct rd_etl_key_id {
	uint64_t guid[2]; /* zero where there is none */
	uint64_t rest;    /* identity, group, id, version */
};

struct rd_etl_key_slot {
	struct rd_etl_key_id id;
	const struct rd_event_key *key; /* NULL: not wanted */
};

struct rd_etl_keys {
	uint64_t want; /* as in rd_sink */
	struct rd_etl_key_slot cache[RD_ETL_KEY_CACHE];
	struct rd_table table;
	RD_VEC(struct rd_event_key *) at; /* by slot */
	struct rd_arena arena;
	struct rd_event_key bad; /* the one of identity BAD; its slot is 0 */
};

int rd_etl_keys_init(struct rd_etl_keys *k, uint64_t want, struct rd_error *err);
void rd_etl_keys_release(struct rd_etl_keys *k);

/* *key the record's identity, NULL when its kind is not wanted. RD_NOMEM, or RD_LIMIT. */
int rd_etl_key(struct rd_etl_keys *k, const struct rd_etl_record *r, const struct rd_event_key **key,
	       struct rd_error *err);

#endif
