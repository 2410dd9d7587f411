/*
 * Metadata records and the keys made of them: docs/formats/nettrace.md, "Metadata".
 *
 *   metadata id i32, provider (UTF-16, NUL), event id i32, name (UTF-16, NUL),
 *   keyword u64, version i32, level i32, then the fields, which no decoder of version 4 asks
 */
#include "trace/nettrace/types.h"

#include <string.h>

#include "base/text.h"
#include "trace/trace.h"

bool rd_nettrace_metadata(const uint8_t *payload, size_t size_bytes, struct rd_nettrace_metadata *out)
{
	struct rd_cursor c = rd_cursor_of(payload, size_bytes);
	*out = (struct rd_nettrace_metadata){0};
	out->id = rd_u32(&c);
	out->provider = rd_utf16z(&c);
	out->event_id = rd_u32(&c);
	out->name = rd_utf16z(&c);
	rd_skip(&c, 8);
	out->version = rd_u32(&c);
	rd_skip(&c, 4);
	out->record = (struct rd_span){payload, size_bytes};
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

static int own(struct rd_nettrace_types *t, struct rd_span *text)
{
	text->at = rd_arena_copy(&t->arena, text->size_bytes > 0 ? text->at : (const uint8_t *)"", text->size_bytes);
	return text->at != NULL ? 0 : RD_NOMEM;
}

/* A lasting copy of a key that is not there yet. */
static struct rd_event_key *add_key(struct rd_nettrace_types *t, const struct rd_event_key *key)
{
	struct rd_event_key *copy = rd_arena_copy(&t->arena, key, sizeof *key);
	if (copy == NULL || own(t, &copy->provider) != 0 || own(t, &copy->name) != 0)
		return NULL;
	copy->slot = (uint32_t)t->keys.n;
	struct rd_event_key **place = rd_vec_add(&t->keys);
	if (place == NULL)
		return NULL;
	*place = copy;
	return copy;
}

/* The lasting key of this identity, made if need be; NULL when out of memory. */
static const struct rd_event_key *intern(struct rd_nettrace_types *t, struct rd_event_key *key)
{
	uint64_t hash = hash_key(key);
	uint32_t slot = rd_table_find(&t->table, hash, same_key, t, key);
	if (slot != RD_NONE)
		return t->keys.at[slot];
	key->type = key->identity == RD_IDENTITY_EVENT
			    ? rd_catalogue_event(key->guid, key->id, key->version)
			    : rd_catalogue_named(key->provider, key->name, key->id, key->version);
	const struct rd_event_key *added = add_key(t, key);
	if (added == NULL || rd_table_put(&t->table, hash, added->slot) != 0)
		return NULL;
	return added;
}

static int append_text(struct rd_bytes *out, struct rd_span text, bool utf8)
{
	return utf8 ? rd_bytes_append(out, text.at, text.size_bytes) : rd_utf16_append(out, text.at, text.size_bytes);
}

static const struct rd_event_key *key_of(struct rd_nettrace_types *t, const struct rd_nettrace_metadata *m)
{
	struct rd_event_key key = {.identity = RD_IDENTITY_NAMED, .id = m->event_id, .version = m->version};
	if (m->guid != NULL) {
		key.identity = RD_IDENTITY_EVENT;
		memcpy(key.guid, m->guid, sizeof key.guid);
	}
	t->scratch.n = 0;
	if (append_text(&t->scratch, m->provider, m->utf8) != 0)
		return NULL;
	key.provider.size_bytes = t->scratch.n;
	if (append_text(&t->scratch, m->name, m->utf8) != 0)
		return NULL;
	const uint8_t *text = t->scratch.n > 0 ? t->scratch.at : (const uint8_t *)"";
	key.provider.at = text;
	key.name = (struct rd_span){text + key.provider.size_bytes, t->scratch.n - key.provider.size_bytes};
	return intern(t, &key);
}

/* The fields of a list, read once for all types that have it; *out is NULL when there is no list. */
static int fields_of(struct rd_nettrace_types *t, struct rd_span list, const struct rd_fields **out)
{
	*out = NULL;
	if (list.size_bytes == 0)
		return 0;
	uint32_t id = rd_strings_id(&t->lists, list.at, list.size_bytes);
	if (id == RD_NONE)
		return RD_NOMEM;
	if (id == t->fields.n) {
		struct rd_span kept = rd_strings_at(&t->lists, id);
		struct rd_cursor c = rd_cursor_of(kept.at, kept.size_bytes);
		rd_field_vec read = {0};
		struct rd_fields *fields = rd_arena_take(&t->arena, sizeof *fields);
		struct rd_fields **place = rd_vec_add(&t->fields);
		int rc = fields != NULL && place != NULL ? rd_fields_parse(&c, &read) : RD_NOMEM;
		if (rc == 0) {
			fields->n = read.n;
			fields->at = rd_arena_copy(&t->arena, read.n > 0 ? (const void *)read.at : "",
						   read.n * sizeof *read.at);
			*place = fields;
		}
		rd_vec_release(&read);
		if (rc != 0 || fields->at == NULL)
			return RD_NOMEM;
	}
	*out = t->fields.at[id];
	return 0;
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
	rd_vec_release(&t->fields);
	rd_strings_release(&t->lists);
	rd_strings_release(&t->records);
	rd_table_release(&t->table);
	rd_arena_release(&t->arena);
	rd_bytes_release(&t->scratch);
}

void rd_nettrace_types_reset(struct rd_nettrace_types *t)
{
	t->by_id.n = 0;
}

static bool is_wanted(const struct rd_nettrace_types *t, const struct rd_event_key *key)
{
	uint32_t kind = key->type != NULL ? key->type->kind : RD_EVENT_OTHER;
	return (t->want & RD_WANT(kind)) != 0;
}

/* Writers that define their types anew after each reset say the same once more, which costs nothing. */
static int said_of(struct rd_nettrace_types *t, struct rd_span record, struct rd_span *out)
{
	*out = (struct rd_span){0};
	if (t->want != RD_WANT_ALL || record.size_bytes == 0)
		return 0;
	uint32_t id = rd_strings_id(&t->records, record.at, record.size_bytes);
	if (id == RD_NONE)
		return RD_NOMEM;
	*out = rd_strings_at(&t->records, id);
	return 0;
}

int rd_nettrace_types_define(struct rd_nettrace_types *t, const struct rd_nettrace_metadata *m)
{
	const struct rd_event_key *key = key_of(t, m);
	const struct rd_fields *fields;
	struct rd_span said;
	if (key == NULL || fields_of(t, m->fields, &fields) != 0 || said_of(t, m->record, &said) != 0)
		return RD_NOMEM;
	if (m->id >= t->by_id.n) {
		size_t more = m->id + 1 - t->by_id.n;
		if (rd_vec_reserve(&t->by_id, more) != 0)
			return RD_NOMEM;
		memset(t->by_id.at + t->by_id.n, 0, more * sizeof *t->by_id.at);
		t->by_id.n += more;
	}
	t->by_id.at[m->id] = (struct rd_nettrace_type){key, fields, said, is_wanted(t, key)};
	return 0;
}

int rd_nettrace_types_version(struct rd_nettrace_types *t, const struct rd_nettrace_type *type, uint32_t version,
			      struct rd_nettrace_type *out)
{
	struct rd_event_key key = *type->key;
	key.version = version;
	const struct rd_event_key *other = intern(t, &key);
	if (other == NULL)
		return RD_NOMEM;
	*out = (struct rd_nettrace_type){other, type->fields, type->said, is_wanted(t, other)};
	return 0;
}
