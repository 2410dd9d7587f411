/*
 * Metadata records and the keys made of them: docs/formats/nettrace.md, "Metadata".
 *
 *   metadata id i32, provider (UTF-16, NUL), event id i32, name (UTF-16, NUL),
 *   keyword u64, version i32, level i32, then the fields, which no decoder here asks
 */
#include "trace/nettrace/types.h"

#include <string.h>

#include "base/text.h"

bool rd_nettrace_metadata(const uint8_t *payload, size_t size_bytes, struct rd_nettrace_metadata *out)
{
	struct rd_cursor c = rd_cursor_of(payload, size_bytes);
	out->id = rd_u32(&c);
	out->guid = NULL;
	out->provider = rd_utf16z(&c);
	out->event_id = rd_u32(&c);
	out->name = rd_utf16z(&c);
	rd_skip(&c, 8);
	out->version = rd_u32(&c);
	rd_skip(&c, 4);
	return !c.failed && out->id != 0 && out->id < RD_NETTRACE_METADATA_IDS;
}

static bool same_span(struct rd_span a, struct rd_span b)
{
	return a.size_bytes == b.size_bytes && (a.size_bytes == 0 || memcmp(a.at, b.at, a.size_bytes) == 0);
}

static bool same_key(const void *ctx, uint32_t slot, const void *key)
{
	const struct rd_nettrace_types *t = ctx;
	const struct rd_event_key *a = t->keys.at[slot], *b = key;
	return a->identity == b->identity && a->id == b->id && a->version == b->version &&
	       memcmp(a->guid, b->guid, sizeof a->guid) == 0 && same_span(a->provider, b->provider) &&
	       same_span(a->name, b->name);
}

static uint64_t hash_key(const struct rd_event_key *key)
{
	uint64_t parts[5] = {
		rd_hash(key->provider.at, key->provider.size_bytes),
		rd_hash(key->name.at, key->name.size_bytes),
		rd_hash(key->guid, sizeof key->guid),
		key->id,
		key->version,
	};
	return rd_hash(parts, sizeof parts);
}

/* A lasting copy of a key that is not there yet. */
static struct rd_event_key *add_key(struct rd_nettrace_types *t, const struct rd_event_key *key)
{
	struct rd_event_key *copy = rd_arena_copy(&t->arena, key, sizeof *key);
	if (copy == NULL)
		return NULL;
	copy->slot = (uint32_t)t->keys.n;
	struct rd_event_key **place = rd_vec_add(&t->keys);
	if (place == NULL)
		return NULL;
	*place = copy;
	return copy;
}

static int own_text(struct rd_nettrace_types *t, struct rd_span utf16, struct rd_span *out)
{
	t->scratch.n = 0;
	if (rd_utf16_append(&t->scratch, utf16.at, utf16.size_bytes) != 0)
		return RD_NOMEM;
	out->size_bytes = t->scratch.n;
	out->at = rd_arena_copy(&t->arena, t->scratch.n > 0 ? t->scratch.at : (const uint8_t *)"", t->scratch.n);
	return out->at != NULL ? 0 : RD_NOMEM;
}

/* The key of this identity, made if need be; NULL when out of memory. */
static const struct rd_event_key *intern(struct rd_nettrace_types *t, const struct rd_nettrace_metadata *m)
{
	struct rd_event_key key = {.identity = RD_IDENTITY_NAMED, .id = m->event_id, .version = m->version};
	if (m->guid != NULL) {
		key.identity = RD_IDENTITY_EVENT;
		memcpy(key.guid, m->guid, sizeof key.guid);
	}
	if (own_text(t, m->provider, &key.provider) != 0 || own_text(t, m->name, &key.name) != 0)
		return NULL;
	uint64_t hash = hash_key(&key);
	uint32_t slot = rd_table_find(&t->table, hash, same_key, t, &key);
	if (slot != RD_NONE)
		return t->keys.at[slot];
	key.type = m->guid != NULL ? rd_catalogue_event(key.guid, key.id, key.version)
				   : rd_catalogue_named(key.provider, key.name, key.id, key.version);
	const struct rd_event_key *added = add_key(t, &key);
	if (added == NULL || rd_table_put(&t->table, hash, added->slot) != 0)
		return NULL;
	return added;
}

int rd_nettrace_types_init(struct rd_nettrace_types *t, uint64_t want)
{
	memset(t, 0, sizeof *t);
	t->want = want;
	return add_key(t, &(struct rd_event_key){.identity = RD_IDENTITY_BAD}) != NULL ? 0 : RD_NOMEM;
}

void rd_nettrace_types_release(struct rd_nettrace_types *t)
{
	rd_vec_release(&t->by_id);
	rd_vec_release(&t->keys);
	rd_table_release(&t->table);
	rd_arena_release(&t->arena);
	rd_bytes_release(&t->scratch);
}

int rd_nettrace_types_define(struct rd_nettrace_types *t, const struct rd_nettrace_metadata *m)
{
	const struct rd_event_key *key = intern(t, m);
	if (key == NULL)
		return RD_NOMEM;
	if (m->id >= t->by_id.n) {
		size_t more = m->id + 1 - t->by_id.n;
		if (rd_vec_reserve(&t->by_id, more) != 0)
			return RD_NOMEM;
		memset(t->by_id.at + t->by_id.n, 0, more * sizeof *t->by_id.at);
		t->by_id.n += more;
	}
	uint32_t kind = key->type != NULL ? key->type->kind : RD_EVENT_OTHER;
	t->by_id.at[m->id] = (struct rd_nettrace_type){.key = key, .wanted = (t->want & RD_WANT(kind)) != 0};
	return 0;
}
