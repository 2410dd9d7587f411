/*
 * The cache is direct-mapped by a mix of the identity's three words, and holds
 * the unwanted as well, as NULL: in a kernel trace those are most. What it does
 * not hold is looked for in the table, and then in the catalogue.
 */
#include "trace/etl/keys.h"

#include <string.h>

int rd_etl_keys_init(struct rd_etl_keys *k, uint64_t want, struct rd_error *err)
{
	memset(k, 0, sizeof *k);
	k->want = want;
	k->bad.identity = RD_IDENTITY_BAD;
	struct rd_event_key **first = rd_vec_add(&k->at);
	if (first == NULL)
		return rd_fail_nomem(err);
	*first = &k->bad;
	return 0;
}

void rd_etl_keys_release(struct rd_etl_keys *k)
{
	rd_table_release(&k->table);
	rd_vec_release(&k->at);
	rd_arena_release(&k->arena);
}

static inline void id_of(const struct rd_etl_record *r, struct rd_etl_key_id *id)
{
	if (r->guid) {
		id->guid[0] = rd_le64(r->guid);
		id->guid[1] = rd_le64(r->guid + 8);
	} else {
		id->guid[0] = id->guid[1] = 0;
	}
	/* 8, 8, 16 and 16 bits are what the headers have. */
	id->rest = (uint64_t)r->identity << 40 | (uint64_t)r->group << 32 | (uint64_t)r->id << 16 | r->version;
}

static inline bool same(const struct rd_etl_key_id *a, const struct rd_etl_key_id *b)
{
	return ((a->rest ^ b->rest) | (a->guid[0] ^ b->guid[0]) | (a->guid[1] ^ b->guid[1])) == 0;
}

static bool equal(const void *ctx, uint32_t index, const void *key)
{
	const struct rd_etl_keys *k = ctx;
	const struct rd_event_key *have = k->at.at[index];
	const struct rd_etl_record *r = key;

	if (have->identity != r->identity || have->id != r->id || have->version != r->version ||
	    have->group != r->group)
		return false;
	return r->guid == NULL || memcmp(have->guid, r->guid, sizeof have->guid) == 0;
}

static const struct rd_event_type *catalogued(const struct rd_etl_record *r)
{
	switch ((enum rd_identity)r->identity) {
	case RD_IDENTITY_EVENT:
		return rd_catalogue_event(r->guid, r->id, r->version);
	case RD_IDENTITY_CLASSIC:
		return rd_catalogue_classic(r->guid, r->id, r->version);
	case RD_IDENTITY_KERNEL:
		return rd_catalogue_kernel(r->group, r->id, r->version);
	default:
		return NULL;
	}
}

static int intern(struct rd_etl_keys *k, const struct rd_etl_record *r, const struct rd_event_type *type, uint64_t hash,
		  const struct rd_event_key **key, struct rd_error *err)
{
	if (k->at.n >= RD_ETL_KEYS_MOST)
		return rd_fail(err, RD_LIMIT, "more than %d kinds of event", RD_ETL_KEYS_MOST);
	struct rd_event_key *made = rd_arena_take(&k->arena, sizeof *made);
	if (made == NULL || rd_vec_reserve(&k->at, 1) != 0 || rd_table_put(&k->table, hash, (uint32_t)k->at.n) != 0)
		return rd_fail_nomem(err);
	*made = (struct rd_event_key){
		.identity = r->identity,
		.id = r->id,
		.version = r->version,
		.group = r->group,
		.type = type,
		.slot = (uint32_t)k->at.n,
	};
	if (r->guid)
		memcpy(made->guid, r->guid, sizeof made->guid);
	k->at.at[k->at.n++] = made;
	*key = made;
	return 0;
}

/* Not in the cache: is it wanted, and if so, known already? */
static int look_up(struct rd_etl_keys *k, const struct rd_etl_record *r, const struct rd_etl_key_id *id,
		   const struct rd_event_key **key, struct rd_error *err)
{
	uint64_t hash = rd_hash(id, sizeof *id);
	uint32_t known = rd_table_find(&k->table, hash, equal, k, r);

	if (known != RD_NONE) {
		*key = k->at.at[known];
		return 0;
	}
	const struct rd_event_type *type = catalogued(r);
	if (!(k->want & RD_WANT(type ? type->kind : RD_EVENT_OTHER))) {
		*key = NULL;
		return 0;
	}
	return intern(k, r, type, hash, key, err);
}

int rd_etl_key(struct rd_etl_keys *k, const struct rd_etl_record *r, const struct rd_event_key **key,
	       struct rd_error *err)
{
	struct rd_etl_key_id id;

	id_of(r, &id);
	uint64_t mix = (id.guid[0] ^ id.guid[1] ^ id.rest * 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u;
	struct rd_etl_key_slot *slot = &k->cache[mix >> 55];
	if (same(&slot->id, &id)) {
		*key = slot->key;
		return 0;
	}
	int rc = look_up(k, r, &id, key, err);
	if (rc == 0)
		*slot = (struct rd_etl_key_slot){id, *key};
	return rc;
}
