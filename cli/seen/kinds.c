#include "cli/seen/kinds.h"

#include <string.h>

void rd_kinds_init(struct rd_kinds *k, const struct rd_format *format, const struct rd_trace_info *info)
{
	memset(k, 0, sizeof *k);
	k->format = format;
	k->info = info;
	rd_undo_init(&k->counts, sizeof(struct rd_kind_count), sizeof(uint32_t), offsetof(struct rd_kind_count, mark));
}

void rd_kinds_release(struct rd_kinds *k)
{
	for (size_t i = 0; i < k->rows.n; i++)
		rd_description_release(&k->rows.at[i].said);
	for (size_t i = 0; i < k->schemas.n; i++)
		rd_description_release(&k->schemas.at[i].said);
	rd_vec_release(&k->rows);
	rd_vec_release(&k->of_slot);
	rd_vec_release(&k->of_text);
	rd_vec_release(&k->schemas);
	rd_strings_release(&k->texts);
	rd_strings_release(&k->schema_keys);
	rd_undo_release(&k->counts);
	rd_arena_release(&k->arena);
}

static int own(struct rd_kinds *k, struct rd_span *text)
{
	text->at = rd_arena_copy(&k->arena, text->size_bytes ? text->at : (const uint8_t *)"", text->size_bytes);
	return text->at ? 0 : RD_NOMEM;
}

/* A fresh row; RD_NONE when out of memory. */
static uint32_t add_row(struct rd_kinds *k, const struct rd_event *ev, struct rd_span self)
{
	struct rd_bytes text = {0};
	struct rd_kind *row = rd_vec_add(&k->rows);

	if (row == NULL)
		return RD_NONE;
	*row = (struct rd_kind){.key = *ev->key, .self = self};
	int code = rd_event_key_text(ev->key, &text);
	row->key_text = (struct rd_span){text.at, text.n};
	if (code != 0 || own(k, &row->key_text) != 0 || own(k, &row->key.provider) != 0 ||
	    own(k, &row->key.name) != 0 || own(k, &row->self) != 0)
		code = RD_NOMEM;
	rd_bytes_release(&text);
	if (code == 0 && k->format->describe && ev->said.size_bytes)
		code = k->format->describe(k->info, ev, &row->said);
	if (code == 0 && ev->key->identity == RD_IDENTITY_EVENT && ev->key->id == RD_MANIFEST_ID) {
		row->manifest = rd_manifest_piece(ev);
		code = own(k, &row->manifest);
	}
	return code == 0 ? (uint32_t)(k->rows.n - 1) : RD_NONE;
}

static int grow_slots(struct rd_kinds *k, uint32_t slot)
{
	while (k->of_slot.n <= slot) {
		uint32_t *row = rd_vec_add(&k->of_slot);
		if (row == NULL)
			return RD_NOMEM;
		*row = 0;
	}
	return 0;
}

/* The row of an event that describes itself. */
static uint32_t self_row(struct rd_kinds *k, const struct rd_event *ev, struct rd_span self)
{
	struct rd_bytes key = {0};

	if (rd_bytes_append(&key, &ev->key->slot, sizeof ev->key->slot) != 0 ||
	    rd_bytes_append(&key, self.at, self.size_bytes) != 0) {
		rd_bytes_release(&key);
		return RD_NONE;
	}
	uint32_t id = rd_strings_id(&k->texts, key.at, key.n);
	rd_bytes_release(&key);
	if (id == RD_NONE || id < k->of_text.n)
		return id == RD_NONE ? RD_NONE : k->of_text.at[id];
	uint32_t *row = rd_vec_add(&k->of_text);
	if (row)
		*row = add_row(k, ev, self);
	return row ? *row : RD_NONE;
}

static uint32_t row_of(struct rd_kinds *k, const struct rd_event *ev)
{
	uint32_t slot = ev->key->slot;
	struct rd_span self = {NULL, 0};

	if (k->format->self_description)
		self = k->format->self_description(ev);
	if (self.size_bytes)
		return self_row(k, ev, self);
	if (slot >= k->of_slot.n && grow_slots(k, slot) != 0)
		return RD_NONE;
	if (k->of_slot.at[slot] == 0) {
		uint32_t row = add_row(k, ev, self);
		if (row == RD_NONE)
			return RD_NONE;
		k->of_slot.at[slot] = row + 1;
	}
	return k->of_slot.at[slot] - 1;
}

int rd_kinds_take(struct rd_kinds *k, const struct rd_event *ev)
{
	uint32_t row = row_of(k, ev);
	struct rd_kind_count *count = NULL;

	/* Rows are counted when they are made, so that both have the same numbers. */
	if (row != RD_NONE)
		count = row < k->counts.rows.n ? rd_undo_change_at(&k->counts, row) : rd_undo_change(&k->counts, &row);
	if (count == NULL)
		return RD_NOMEM;
	count->events++;
	count->bytes += ev->payload_bytes;
	return 0;
}

int rd_kinds_schema(struct rd_kinds *k, const struct rd_schema_record *schema)
{
	struct rd_kind_schema s = {.classic = schema->classic, .id = schema->id, .version = schema->version};
	uint8_t key[16 + 4 + 4 + 1];

	if (schema->info.size_bytes == 0)
		return 0;
	memcpy(s.guid, schema->guid, sizeof s.guid);
	memcpy(key, s.guid, 16);
	memcpy(key + 16, &s.id, 4);
	memcpy(key + 20, &s.version, 4);
	key[24] = s.classic;
	uint32_t id = rd_strings_id(&k->schema_keys, key, sizeof key);
	if (id == RD_NONE)
		return RD_NOMEM;
	if (id < k->schemas.n)
		return 0;
	struct rd_kind_schema *added = rd_vec_add(&k->schemas);
	if (added == NULL)
		return RD_NOMEM;
	*added = s;
	return rd_describe_schema(schema, &added->said);
}

static struct rd_description *merged_of(struct rd_kinds *k, const struct rd_event_key *key)
{
	bool classic = key->identity == RD_IDENTITY_CLASSIC;

	if (!classic && key->identity != RD_IDENTITY_EVENT)
		return NULL;
	for (size_t i = 0; i < k->schemas.n; i++) {
		struct rd_kind_schema *s = &k->schemas.at[i];
		if (s->classic == classic && s->id == key->id && s->version == key->version &&
		    memcmp(s->guid, key->guid, sizeof s->guid) == 0)
			return &s->said;
	}
	return NULL;
}

/* By the manifest of its EventSource, if that stands in the file. */
static int describe_by_source(struct rd_kinds *k, struct rd_kind *row)
{
	for (size_t i = 0; i < k->rows.n; i++) {
		const struct rd_kind *source = &k->rows.at[i];
		if (source->manifest.size_bytes && memcmp(source->key.guid, row->key.guid, 16) == 0)
			return rd_describe_manifest(source->manifest, row->key.id, row->key.version, &row->said);
	}
	return 0;
}

int rd_kinds_finish(struct rd_kinds *k)
{
	int code = 0;

	for (size_t i = 0; i < k->counts.rows.n; i++) {
		const struct rd_kind_count *count = rd_records_at(&k->counts.rows, (uint32_t)i);
		struct rd_kind *row = &k->rows.at[count->kind];
		row->events = count->events;
		row->bytes = count->bytes;
	}
	for (size_t i = 0; i < k->rows.n && code == 0; i++) {
		struct rd_kind *row = &k->rows.at[i];
		if (row->self.size_bytes)
			continue;
		row->merged = merged_of(k, &row->key);
		if (row->merged == NULL && row->key.type == NULL && row->key.identity == RD_IDENTITY_EVENT)
			code = describe_by_source(k, row);
	}
	return code;
}

static struct rd_span span_of(const char *text)
{
	return (struct rd_span){(const uint8_t *)text, text ? strlen(text) : 0};
}

/* The provider's name, as any event of the same GUID may say it: a manifest's piece, a trait, a merged manifest. */
static struct rd_span named_elsewhere(const struct rd_kinds *k, const struct rd_event_key *key)
{
	if (key->identity != RD_IDENTITY_EVENT)
		return (struct rd_span){NULL, 0};
	for (size_t i = 0; i < k->rows.n; i++) {
		const struct rd_kind *row = &k->rows.at[i];
		if (row->said.provider.size_bytes && memcmp(row->key.guid, key->guid, 16) == 0)
			return row->said.provider;
	}
	for (size_t i = 0; i < k->schemas.n; i++)
		if (k->schemas.at[i].said.provider.size_bytes && memcmp(k->schemas.at[i].guid, key->guid, 16) == 0)
			return k->schemas.at[i].said.provider;
	return (struct rd_span){NULL, 0};
}

static bool is_zero(const uint8_t guid[16])
{
	static const uint8_t zeros[16];
	return memcmp(guid, zeros, sizeof zeros) == 0;
}

static void tell_provider(const struct rd_kinds *k, const struct rd_kind *kind, struct rd_kind_words *out)
{
	const struct rd_event_key *key = &kind->key;
	const struct rd_description *merged = kind->merged;

	out->provider = key->provider;
	if (out->provider.size_bytes == 0)
		out->provider = span_of(rd_catalogue_provider(key));
	if (out->provider.size_bytes == 0)
		out->provider = kind->said.provider;
	if (out->provider.size_bytes == 0 && merged)
		out->provider = merged->provider;
	if (out->provider.size_bytes == 0)
		out->provider = named_elsewhere(k, key);
	out->has_guid = true;
	if (!is_zero(key->guid))
		memcpy(out->guid, key->guid, sizeof out->guid);
	else if (!is_zero(kind->said.guid))
		memcpy(out->guid, kind->said.guid, sizeof out->guid);
	else
		out->has_guid = rd_catalogue_guid(out->provider, out->guid);
}

void rd_kind_tell(const struct rd_kinds *k, const struct rd_kind *kind, struct rd_kind_words *out)
{
	const struct rd_event_type *type = kind->key.type;
	const struct rd_description *merged = kind->merged;

	*out = (struct rd_kind_words){0};
	tell_provider(k, kind, out);
	out->file_name = kind->said.name.size_bytes ? kind->said.name : kind->key.name;
	/* Manifests have no names of events: the task and the opcode make one. */
	if (out->file_name.size_bytes == 0 && merged)
		out->file_name = merged->name;
	out->name = type ? span_of(type->name) : out->file_name;
	if (kind->said.has_fields)
		out->fields = &kind->said;
	else if (merged && merged->has_fields)
		out->fields = merged;
	if (out->fields == NULL && type)
		out->known_fields = rd_known_fields(type, kind->key.version);
	/* Payloads of nothing have no fields, whoever says so. */
	if (out->fields == NULL && out->known_fields == NULL && kind->events > 0 && kind->bytes == 0)
		out->known_fields = "";
	if (type)
		out->published = rd_published_as(type);
}
