/*
 * What an ETL file says of its events (docs/formats/etl.md, "Descriptions"): the record's header, the items of
 * self-describing events, and what merging added of manifests.
 *
 *   item 11  an event that describes itself: size u16, tags, name (UTF-8, NUL), fields: name, type u8, and by its
 *            bits 0x80 format u8 (and by its bit 0x80 tags), 0x20 count u16, 0x60 size u16 and bytes
 *   item 12  its provider: size u16, name (UTF-8, NUL), traits
 *   65534    an EventSource's manifest in pieces: 0x01, version 2 × u8, 0x5b, pieces u16, number u16, UTF-8
 */
#include <stdio.h>
#include <string.h>

#include "trace/description.h"
#include "trace/etl/records.h"
#include "trace/etl/type_word.h"

enum { ITEM_SCHEMA = 11, ITEM_TRAITS = 12 };

/* ---- events that describe themselves */

/* 7 bits a byte, the high bit says that more follow. */
static void skip_tags(struct rd_cursor *c)
{
	while (rd_u8(c) & 0x80)
		;
}

/* Structures are closed by counting, so nothing is nested here but their names. */
struct open_struct {
	struct rd_span name; /* joined with those around it */
	unsigned left;
};

enum { DEPTH = 8 };

struct self_field {
	struct rd_span name;
	unsigned type, members; /* members: of a structure */
	char array[16];
};

static bool read_self_field(struct rd_cursor *c, struct self_field *f)
{
	f->name = rd_strz(c);
	uint8_t type = rd_u8(c), format = 0;
	f->type = type & 0x1f;
	f->array[0] = 0;
	if (type & 0x80) {
		format = rd_u8(c);
		if (format & 0x80)
			skip_tags(c);
	}
	f->members = format & 0x7f;
	if ((type & 0x60) == 0x20)
		snprintf(f->array, sizeof f->array, "[%u]", rd_u16(c));
	else if ((type & 0x60) == 0x40)
		snprintf(f->array, sizeof f->array, "[]");
	else if ((type & 0x60) == 0x60)
		rd_skip(c, rd_u16(c));
	return !c->failed;
}

static int describe_self(struct rd_span item, struct rd_description *d)
{
	struct rd_cursor c = rd_cursor_of(item.at, item.size_bytes);
	struct open_struct open[DEPTH] = {0};
	struct self_field f;
	unsigned depth = 0;

	rd_skip(&c, 2);
	skip_tags(&c);
	int rc = rd_description_utf8(d, &d->name, rd_strz(&c));
	while (rc == 0 && rd_left(&c) > 0 && read_self_field(&c, &f)) {
		rc = rd_description_field(d, open[depth].name, f.name, false, "%s%s", rd_etl_type_word(f.type),
					  f.array);
		while (depth > 0 && open[depth].left > 0 && --open[depth].left == 0)
			depth--;
		if (rc == 0 && f.type == RD_ETL_SELF_STRUCT && f.members > 0 && depth + 1 < DEPTH && d->fields.n > 0)
			open[++depth] = (struct open_struct){d->fields.at[d->fields.n - 1].name, f.members};
	}
	d->has_fields = true;
	return rc;
}

struct rd_span rd_etl_self_description(const struct rd_event *ev)
{
	enum { HEAD = 80 };

	if (ev->key->identity != RD_IDENTITY_EVENT || ev->said.size_bytes <= HEAD)
		return (struct rd_span){NULL, 0};
	return rd_etl_extended_item((struct rd_span){ev->said.at + HEAD, ev->said.size_bytes - HEAD}, ITEM_SCHEMA);
}

static int describe_traits(struct rd_span item, struct rd_description *d)
{
	struct rd_cursor c = rd_cursor_of(item.at, item.size_bytes);
	rd_skip(&c, 2);
	struct rd_span name = rd_strz(&c);
	return c.failed ? 0 : rd_description_utf8(d, &d->provider, name);
}

/* ---- manifests of EventSource */

/* The provider's name stands near the beginning: <provider name="...". */
static int describe_manifest(const struct rd_event *ev, struct rd_description *d)
{
	static const char before[] = "<provider name=\"";
	struct rd_span piece = rd_manifest_piece(ev);

	if (piece.size_bytes == 0)
		return 0;
	const uint8_t *end = piece.at + piece.size_bytes;
	const uint8_t *at = memmem(piece.at, piece.size_bytes, before, sizeof before - 1);
	if (at == NULL)
		return 0;
	at += sizeof before - 1;
	const uint8_t *quote = memchr(at, '"', (size_t)(end - at));
	return quote == NULL ? 0 : rd_description_utf8(d, &d->provider, (struct rd_span){at, (size_t)(quote - at)});
}

int rd_describe_etl(const struct rd_trace_info *info, const struct rd_event *ev, struct rd_description *d)
{
	enum { EVENT_HEAD = 80, CLASSIC_HEAD = 48 };
	const uint8_t *p = ev->said.at;
	int rc = 0;

	(void)info;
	if (ev->key->identity == RD_IDENTITY_CLASSIC && ev->said.size_bytes >= CLASSIC_HEAD) {
		d->has_level = d->has_opcode = true;
		d->opcode = p[4];
		d->level = p[5];
	}
	if (ev->key->identity != RD_IDENTITY_EVENT || ev->said.size_bytes < EVENT_HEAD)
		return 0;
	d->has_level = d->has_opcode = d->has_keywords = true;
	d->level = p[44];
	d->opcode = p[45];
	d->keywords = rd_le64(p + 48);
	struct rd_span items = {p + EVENT_HEAD, ev->said.size_bytes - EVENT_HEAD};
	struct rd_span self = rd_etl_extended_item(items, ITEM_SCHEMA);
	struct rd_span traits = rd_etl_extended_item(items, ITEM_TRAITS);
	if (self.size_bytes)
		rc = describe_self(self, d);
	if (rc == 0 && traits.size_bytes)
		rc = describe_traits(traits, d);
	if (rc == 0 && ev->key->id == RD_MANIFEST_ID)
		rc = describe_manifest(ev, d);
	return rc;
}
