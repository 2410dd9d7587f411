#include "cli/events_show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "report/people.h"

/* A kind that is shown, with all that is told of it. */
struct row {
	const struct rd_kind *kind;
	struct rd_kind_words words;
	char label_text[48];
	uint32_t at;
};

struct rows {
	RD_VEC(struct row) at;
	int sort;
};

static struct rd_span label_of(const struct row *r)
{
	char buf[48];
	struct rd_span label = rd_provider_label(r->kind, &r->words, buf);
	return label.at == (const uint8_t *)buf
		       ? rd_text_span(r->label_text)
		       : label;
}

/* Whether the text is somewhere in the name, whatever the case of ASCII letters. */
static bool has_part(struct rd_span name, const char *text)
{
	size_t n = strlen(text);

	for (size_t i = 0; i + n <= name.size_bytes; i++)
		if (strncasecmp((const char *)name.at + i, text, n) == 0)
			return true;
	return false;
}

static bool is_shown(const struct rd_events_view *v, const struct row *r)
{
	char guid[37];

	if (r->kind->events == 0 || (v->by_id && r->kind->key.id != v->id))
		return false;
	if (v->provider == NULL || has_part(label_of(r), v->provider))
		return true;
	if (!r->words.has_guid)
		return false;
	rd_guid_text(r->words.guid, guid);
	return strcasecmp(guid, v->provider) == 0;
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_spans(struct rd_span a, struct rd_span b)
{
	size_t n = a.size_bytes < b.size_bytes ? a.size_bytes : b.size_bytes;
	int c = n ? memcmp(a.at, b.at, n) : 0;
	return c ? c : compare_u64(a.size_bytes, b.size_bytes);
}

static int compare_rows(const void *x, const void *y, void *ctx)
{
	const struct row *a = x, *b = y;
	int sort = *(const int *)ctx, c = 0;

	if (sort == RD_EVENTS_BY_COUNT)
		c = compare_u64(b->kind->events, a->kind->events);
	else if (sort == RD_EVENTS_BY_BYTES)
		c = compare_u64(b->kind->bytes, a->kind->bytes);
	if (c == 0)
		c = compare_spans(label_of(a), label_of(b));
	if (c == 0)
		c = compare_u64(a->kind->key.group, b->kind->key.group);
	if (c == 0)
		c = compare_u64(a->kind->key.id, b->kind->key.id);
	if (c == 0)
		c = compare_u64(a->kind->key.version, b->kind->key.version);
	return c ? c : compare_u64(a->at, b->at);
}

static int take_rows(const struct rd_shown *s, const struct rd_events_view *v, struct rows *rows, struct rd_error *err)
{
	const struct rd_kinds *all = &s->in->seen;

	for (size_t i = 0; i < all->rows.n; i++) {
		struct row row = {.kind = &all->rows.at[i], .at = (uint32_t)i};
		rd_kind_tell(all, row.kind, &row.words);
		(void)rd_provider_label(row.kind, &row.words, row.label_text);
		if (!is_shown(v, &row))
			continue;
		struct row *added = rd_vec_add(&rows->at);
		if (added == NULL)
			return rd_fail_nomem(err);
		*added = row;
	}
	rows->sort = v->sort;
	if (rows->at.n)
		qsort_r(rows->at.at, rows->at.n, sizeof *rows->at.at, compare_rows, &rows->sort);
	return 0;
}

/* As many as fit into the text of an error. */
#define NAMED_MOST 4
#define NAME_BYTES 48

/* Rows stand by provider and id: what is next to its equal is named once. */
static void put_there(const struct rows *rows, bool ids, char *to, size_t size)
{
	size_t used = 0, named = 0, all = 0;

	*to = 0;
	for (size_t i = 0; i < rows->at.n; i++) {
		const struct row *r = &rows->at.at[i], *last = i ? r - 1 : NULL;
		struct rd_span label = label_of(r);
		if (last && (ids ? last->kind->key.id == r->kind->key.id
				 : compare_spans(label_of(last), label) == 0))
			continue;
		all++;
		if (named == NAMED_MOST || used + NAME_BYTES + 20 > size)
			continue;
		const char *before = named++ ? ", " : "";
		int n = ids ? snprintf(to + used, size - used, "%s%u", before, r->kind->key.id)
			    : snprintf(to + used, size - used, "%s%.*s", before,
				       (int)(label.size_bytes < NAME_BYTES ? label.size_bytes : NAME_BYTES),
				       (const char *)label.at);
		used += n > 0 ? (size_t)n : 0;
	}
	if (all > named)
		snprintf(to + used, size - used, " and %zu more", all - named);
}

int rd_events_match(const struct rd_shown *s, const struct rd_events_view *v, char *there, size_t size,
		    struct rd_error *err)
{
	struct rd_events_view wider = {.provider = v->by_id ? v->provider : NULL, .sort = RD_EVENTS_BY_ID};
	struct rows rows = {0}, others = {0};
	int code = take_rows(s, v, &rows, err);
	size_t n = rows.at.n;

	if (code == 0 && n == 0)
		code = take_rows(s, &wider, &others, err);
	/* Where the provider is none, ids of nobody say nothing. */
	bool ids = others.at.n > 0 && v->by_id && v->provider;
	if (code == 0 && n == 0 && others.at.n == 0 && wider.provider) {
		wider.provider = NULL;
		code = take_rows(s, &wider, &others, err);
	}
	if (code == 0 && n == 0)
		put_there(&others, ids, there, size);
	rd_vec_release(&rows.at);
	rd_vec_release(&others.at);
	return code < 0 ? code : n < INT32_MAX ? (int)n : INT32_MAX;
}

/* What its record is: which of the identities it has. */
static const char *form_of(const struct rd_kind *kind)
{
	switch ((enum rd_identity)kind->key.identity) {
	case RD_IDENTITY_EVENT:
		return kind->self.size_bytes ? "self-describing" : "event";
	case RD_IDENTITY_CLASSIC:
		return "classic";
	case RD_IDENTITY_KERNEL:
		return "kernel";
	case RD_IDENTITY_HEADER:
		return "header";
	case RD_IDENTITY_NAMED:
		return "named";
	case RD_IDENTITY_WPP:
		return "wpp";
	case RD_IDENTITY_BAD:
		break;
	}
	return "bad";
}

/* Whether the number in front of the version is an opcode. */
static bool by_opcode(const struct rd_kind *kind)
{
	return kind->key.identity == RD_IDENTITY_CLASSIC || kind->key.identity == RD_IDENTITY_KERNEL;
}

/* The file's own name, where it is another than the one that is shown. */
static bool differs(const struct row *r)
{
	return r->kind->key.type && compare_spans(r->words.file_name, r->words.name) != 0;
}

/* What says keywords, level and opcode: the events themselves, else a merged manifest. */
static const struct rd_description *said_by(const struct rd_kind *kind)
{
	const struct rd_description *said = &kind->said;
	return said->has_level || kind->merged == NULL ? said : kind->merged;
}

/* ---- text */

#define INDENT "                "

static void put_names(const struct row *r, struct rd_out *o)
{
	const struct rd_event_key *key = &r->kind->key;
	char number[RD_NUMBER_TEXT];

	rd_out_printf(o, "%14s  ", rd_count_text(r->kind->events, number));
	if (key->identity == RD_IDENTITY_KERNEL)
		rd_out_printf(o, "group %02x ", key->group);
	rd_out_printf(o, "%s %u version %u  ", by_opcode(r->kind) ? "opcode" : "id", key->id, key->version);
	rd_out_name(o, r->words.name, 120);
	if (r->words.name.size_bytes == 0)
		rd_out_text(o, "without a name");
	rd_out_printf(o, "  (%s", rd_size_text(r->kind->bytes, number, sizeof number));
	const struct rd_description *said = said_by(r->kind);
	if (said->has_level)
		rd_out_printf(o, ", level %u", said->level);
	if (said->has_keywords)
		rd_out_printf(o, ", keywords 0x%llx", (unsigned long long)said->keywords);
	if (said->has_opcode && !by_opcode(r->kind))
		rd_out_printf(o, ", opcode %u", said->opcode);
	rd_out_text(o, ")\n");
}

static void put_fields(const struct row *r, struct rd_out *o)
{
	const struct rd_description *said = r->words.fields;

	if (said == NULL && r->words.known_fields == NULL) {
		rd_out_text(o, INDENT "fields: not known\n");
		return;
	}
	rd_out_text(o, INDENT "fields: ");
	if (said == NULL)
		rd_out_text(o, *r->words.known_fields ? r->words.known_fields : "none");
	for (size_t i = 0; said && i < said->fields.n; i++) {
		if (i)
			rd_out_text(o, ", ");
		rd_out_name(o, said->fields.at[i].name, 80);
		rd_out_text(o, " ");
		rd_out_name(o, said->fields.at[i].type, 0);
	}
	if (said && said->fields.n == 0)
		rd_out_text(o, "none");
	rd_out_text(o, "\n");
}

static void put_row(const struct row *r, struct rd_out *o)
{
	put_names(r, o);
	put_fields(r, o);
	if (differs(r) && r->words.file_name.size_bytes) {
		rd_out_text(o, INDENT "the file calls it ");
		rd_out_name(o, r->words.file_name, 120);
		rd_out_text(o, "\n");
	} else if (differs(r) && r->kind->key.identity == RD_IDENTITY_NAMED) {
		rd_out_text(o, INDENT "the file has no name for it\n");
	}
	if (r->words.published)
		rd_out_printf(o, INDENT "%s\n", r->words.published);
}

static void put_heading(const struct row *r, struct rd_out *o)
{
	char guid[37];

	rd_out_name(o, label_of(r), 120);
	if (r->words.has_guid && r->words.provider.size_bytes) {
		rd_guid_text(r->words.guid, guid);
		rd_out_printf(o, " {%s}", guid);
	}
	rd_out_printf(o, ", %s\n", form_of(r->kind));
}

int rd_events_text(const struct rd_shown *s, const struct rd_events_view *v, struct rd_out *o, struct rd_error *err)
{
	struct rows rows = {0};
	char number[RD_NUMBER_TEXT];
	uint64_t events = 0;
	int code = take_rows(s, v, &rows, err);

	for (size_t i = 0; i < rows.at.n; i++)
		events += rows.at.at[i].kind->events;
	rd_out_name(o, rd_text_span(s->path), 0);
	if (*s->member) {
		rd_out_text(o, ", ");
		rd_out_name(o, rd_text_span(s->member), 0);
	}
	rd_out_printf(o, ": %s events", rd_count_text(events, number));
	rd_out_printf(o, " of %s kinds\n", rd_count_text(rows.at.n, number));
	for (size_t i = 0; i < rows.at.n; i++) {
		const struct row *r = &rows.at.at[i], *last = i ? r - 1 : NULL;
		if (last == NULL || compare_spans(label_of(last), label_of(r)) != 0 ||
		    strcmp(form_of(last->kind), form_of(r->kind)) != 0) {
			rd_out_text(o, "\n");
			put_heading(r, o);
		}
		put_row(r, o);
	}
	rd_vec_release(&rows.at);
	return code;
}

/* ---- JSON */

/* "Name type, Name type, ..." as the table of known fields has them. */
static void json_known(struct rd_json *j, const char *known)
{
	while (*known) {
		size_t n = strcspn(known, ","), name = strcspn(known, " ,");
		rd_json_object(j, NULL);
		rd_json_span(j, "name", (struct rd_span){(const uint8_t *)known, name < n ? name : n});
		if (name < n)
			rd_json_span(j, "type", (struct rd_span){(const uint8_t *)known + name + 1, n - name - 1});
		else
			rd_json_null(j, "type");
		rd_json_object_end(j);
		known += n;
		known += strspn(known, ", ");
	}
}

static void json_fields(struct rd_json *j, const struct row *r)
{
	const struct rd_description *said = r->words.fields;

	if (said == NULL && r->words.known_fields == NULL) {
		rd_json_null(j, "fields");
		rd_json_null(j, "fields_from");
		return;
	}
	rd_json_array(j, "fields");
	if (said == NULL)
		json_known(j, r->words.known_fields);
	for (size_t i = 0; said && i < said->fields.n; i++) {
		rd_json_object(j, NULL);
		rd_json_span(j, "name", said->fields.at[i].name);
		rd_json_span(j, "type", said->fields.at[i].type);
		rd_json_object_end(j);
	}
	rd_json_array_end(j);
	rd_json_text(j, "fields_from", said ? "file" : "rundown");
}

static void json_said(struct rd_json *j, const struct row *r)
{
	const struct rd_description *said = said_by(r->kind);

	if (said->has_level)
		rd_json_u64(j, "level", said->level);
	else
		rd_json_null(j, "level");
	if (said->has_keywords)
		rd_json_hex(j, "keywords", said->keywords);
	else
		rd_json_null(j, "keywords");
	if (by_opcode(r->kind) || said->has_opcode)
		rd_json_u64(j, "opcode", by_opcode(r->kind) ? r->kind->key.id : said->opcode);
	else
		rd_json_null(j, "opcode");
}

static void json_row(struct rd_json *j, const struct row *r)
{
	rd_json_object(j, NULL);
	rd_json_kind_names(j, r->kind, &r->words);
	if (r->words.file_name.size_bytes)
		rd_json_span(j, "file_name", r->words.file_name);
	else
		rd_json_null(j, "file_name");
	rd_json_text(j, "form", form_of(r->kind));
	if (r->kind->key.identity == RD_IDENTITY_KERNEL)
		rd_json_u64(j, "group", r->kind->key.group);
	rd_json_u64(j, "id", r->kind->key.id);
	rd_json_u64(j, "version", r->kind->key.version);
	json_said(j, r);
	rd_json_u64(j, "events", r->kind->events);
	rd_json_u64(j, "bytes", r->kind->bytes);
	json_fields(j, r);
	if (r->words.published)
		rd_json_text(j, "published", r->words.published);
	else
		rd_json_null(j, "published");
	rd_json_object_end(j);
}

int rd_events_json(const struct rd_shown *s, const struct rd_events_view *v, struct rd_json *j, struct rd_error *err)
{
	struct rows rows = {0};
	int code = take_rows(s, v, &rows, err);

	rd_json_text(j, "path", s->path);
	if (*s->member)
		rd_json_text(j, "member", s->member);
	rd_json_text(j, "format", s->in->format->name);
	rd_json_bool(j, "complete", s->in->complete);
	rd_json_array(j, "kinds");
	for (size_t i = 0; i < rows.at.n; i++)
		json_row(j, &rows.at.at[i]);
	rd_json_array_end(j);
	rd_vec_release(&rows.at);
	return code;
}
