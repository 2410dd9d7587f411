/*
 * What metadata records say of their events: docs/formats/nettrace.md, "Metadata" and "Metadata of version 6".
 *
 * A list of version 4: count u32, then fields: type u32, name (UTF-16, NUL). A
 * structure (type 1) has a list of its own between type and name. In the list
 * of tag 2 a field is size u32, name, type, and an array (19) has its
 * element's type behind it.
 */
#include <stdio.h>
#include <string.h>

#include "trace/description.h"

enum {
	OBJECT = 1,
	UTF16_UNIT = 4,
	ARRAY = 19,
	FIXED_ARRAY = 22,
	UTF8_UNIT = 23,
	REL_LOC = 24,
	DATA_LOC = 25,
};

static const char *const words[] = {
	[3] = "bool32",        [4] = "char16",    [5] = "i8",    [6] = "u8",      [7] = "i16",     [8] = "u16",
	[9] = "i32",           [10] = "u32",      [11] = "i64",  [12] = "u64",    [13] = "f32",    [14] = "f64",
	[15] = "decimal",      [16] = "datetime", [17] = "guid", [18] = "string", [20] = "varint", [21] = "varuint",
	[23] = "counted utf8", [26] = "bool8",
};

static const char *word_of(uint32_t type, char buf[24])
{
	if (type < sizeof words / sizeof *words && words[type] != NULL)
		return words[type];
	snprintf(buf, 24, "type %u", type);
	return buf;
}

/* ---- version 4 */

enum { DEPTH = 8, ARRAYS = 4 };

struct list {
	uint32_t left;       /* fields still to come */
	size_t first;        /* the first field of it that is described */
	struct rd_span name; /* tag 2: of the structure */
};

/* The structure's name goes in front of its members' names. */
static int close_list(struct rd_description *d, const struct list *list, struct rd_span name)
{
	for (size_t i = list->first; i < d->fields.n; i++) {
		struct rd_described_field member = d->fields.at[i];
		struct rd_span outer;
		size_t n = d->fields.n;
		if (rd_description_utf16(d, &outer, name) != 0)
			return RD_NOMEM;
		/* Described once more behind all others, and moved to its place. */
		d->fields.n = i;
		int rc = rd_description_field(d, outer, member.name, false, "%.*s", (int)member.type.size_bytes,
					      (const char *)member.type.at);
		d->fields.n = n;
		if (rc != 0)
			return rc;
	}
	return 0;
}

static uint32_t read_type(struct rd_cursor *c, unsigned *arrays)
{
	uint32_t type = rd_u32(c);
	for (*arrays = 0; type == ARRAY && *arrays < ARRAYS; ++*arrays)
		type = rd_u32(c);
	return type;
}

/* One field, or the beginning of a structure, which is a list more. */
static int read_field(struct rd_cursor *c, bool tagged, struct list *lists, unsigned *depth, struct rd_description *d)
{
	struct rd_span name = {0};
	unsigned arrays;
	char buf[24];

	if (tagged) {
		rd_skip(c, 4);
		name = rd_utf16z(c);
	}
	uint32_t type = read_type(c, &arrays);
	if (type == OBJECT) {
		if (*depth + 1 == DEPTH) {
			c->failed = true;
			return 0;
		}
		lists[++*depth] = (struct list){rd_u32(c), d->fields.n, name};
		return 0;
	}
	if (!tagged)
		name = rd_utf16z(c);
	if (c->failed)
		return 0;
	return rd_description_field(d, (struct rd_span){0}, name, true, "%s%.*s", word_of(type, buf), (int)arrays * 2,
				    "[][][][]");
}

/* Every turn takes bytes, or leaves a list: a count from the file is only an end. */
static int read_fields(struct rd_cursor *c, bool tagged, struct rd_description *d)
{
	struct list lists[DEPTH];
	unsigned depth = 0;
	int rc = 0;

	d->fields.n = 0;
	lists[0] = (struct list){.left = rd_u32(c)};
	while (rc == 0 && !c->failed && (depth > 0 || lists[0].left > 0)) {
		struct list *list = &lists[depth];
		if (list->left > 0) {
			list->left--;
			rc = read_field(c, tagged, lists, &depth, d);
		} else {
			struct rd_span name = tagged ? list->name : rd_utf16z(c);
			depth--;
			if (!c->failed)
				rc = close_list(d, list, name);
		}
	}
	return rc;
}

/* Length u32, kind u8, value: 1 the opcode, 2 the fields once more. */
static int read_tags(struct rd_cursor *c, struct rd_description *d)
{
	int rc = 0;
	while (rc == 0 && rd_left(c) > 0) {
		uint32_t length = rd_u32(c);
		uint8_t kind = rd_u8(c);
		struct rd_cursor value = rd_sub(c, length);
		if (kind == 1 && length > 0) {
			d->has_opcode = true;
			d->opcode = rd_u8(&value);
		} else if (kind == 2) {
			rc = read_fields(&value, true, d);
		}
	}
	return rc;
}

/* From the event's id on: id u32, name, keywords u64, version u32, level u32, fields, tags. */
static int describe_record(struct rd_cursor *c, struct rd_description *d)
{
	rd_skip(c, 4);
	struct rd_span name = rd_utf16z(c);
	uint64_t keywords = rd_u64(c);
	rd_skip(c, 4);
	uint32_t level = rd_u32(c);
	if (c->failed)
		return 0;
	d->has_keywords = d->has_level = true;
	d->keywords = keywords;
	d->level = level;
	int rc = rd_description_utf16(d, &d->name, name);
	if (rc == 0 && rd_left(c) > 0)
		rc = read_fields(c, false, d);
	if (rc == 0 && !c->failed)
		rc = read_tags(c, d);
	d->has_fields = d->fields.n > 0;
	return rc;
}

static int describe_4(struct rd_span said, struct rd_description *out)
{
	struct rd_cursor c = rd_cursor_of(said.at, said.size_bytes);
	rd_skip(&c, 4);
	(void)rd_utf16z(&c);
	return describe_record(&c, out);
}

/* Versions 1 and 2: the provider, id and version, and a length in front of what is said. */
int rd_describe_netperf(const struct rd_trace_info *info, const struct rd_event *ev, struct rd_description *out)
{
	struct rd_cursor c = rd_cursor_of(ev->said.at, ev->said.size_bytes);
	if (info->version_major >= 3)
		return describe_4(ev->said, out);
	if (info->version_major == 1)
		rd_skip(&c, 16);
	else
		(void)rd_utf16z(&c);
	rd_skip(&c, 4 + 4);
	struct rd_cursor described = rd_sub(&c, rd_u32(&c));
	return describe_record(&described, out);
}

/* ---- version 6 */

static struct rd_span take_string(struct rd_cursor *c)
{
	uint32_t size_bytes = rd_varu32(c);
	const uint8_t *at = rd_take(c, size_bytes);
	return (struct rd_span){at, at != NULL ? size_bytes : 0};
}

/* The type's word; what a structure holds is not gone into. */
static void type_word(struct rd_cursor *c, char *to, size_t size)
{
	uint8_t type = rd_u8(c);
	char buf[24];

	if (type == OBJECT) {
		snprintf(to, size, "struct");
		return;
	}
	if (type != ARRAY && type != FIXED_ARRAY && type != REL_LOC && type != DATA_LOC) {
		snprintf(to, size, "%s", word_of(type, buf));
		return;
	}
	uint8_t element = rd_u8(c);
	if (type == ARRAY && element == UTF8_UNIT)
		snprintf(to, size, "counted utf8");
	else if (type == ARRAY && element == UTF16_UNIT)
		snprintf(to, size, "counted string");
	else if (type == FIXED_ARRAY)
		snprintf(to, size, "%s[%u]", element == OBJECT ? "struct" : word_of(element, buf), rd_u16(c));
	else
		snprintf(to, size, "%s%s[]", type == ARRAY ? "" : "elsewhere ",
			 element == OBJECT ? "struct" : word_of(element, buf));
}

static int read_fields_6(struct rd_cursor *c, struct rd_description *d)
{
	uint16_t count = rd_u16(c);
	int rc = 0;

	for (uint16_t i = 0; rc == 0 && i < count && !c->failed; i++) {
		struct rd_cursor one = rd_sub(c, rd_u16(c));
		struct rd_span name = take_string(&one);
		char word[64];
		type_word(&one, word, sizeof word);
		if (!one.failed)
			rc = rd_description_field(d, (struct rd_span){0}, name, false, "%s", word);
	}
	d->has_fields = d->fields.n > 0;
	return rc;
}

static void read_options(struct rd_cursor *c, struct rd_description *d)
{
	const uint8_t *guid;

	while (rd_left(c) > 0) {
		switch (rd_u8(c)) {
		case 1:
			d->opcode = rd_u8(c);
			d->has_opcode = !c->failed;
			break;
		case 3:
			d->keywords = rd_u64(c);
			d->has_keywords = !c->failed;
			break;
		case 6:
			(void)take_string(c);
			(void)take_string(c);
			break;
		case 4:
		case 5:
			(void)take_string(c);
			break;
		case 7:
			guid = rd_take(c, sizeof d->guid);
			if (guid != NULL)
				memcpy(d->guid, guid, sizeof d->guid);
			break;
		case 8:
			d->level = rd_u8(c);
			d->has_level = !c->failed;
			break;
		case 9:
			rd_skip(c, 1);
			break;
		default:
			return;
		}
	}
}

static int describe_6(struct rd_span said, struct rd_description *out)
{
	struct rd_cursor c = rd_cursor_of(said.at, said.size_bytes);
	(void)rd_varu32(&c);
	(void)take_string(&c);
	(void)rd_varu32(&c);
	struct rd_span name = take_string(&c);
	if (c.failed)
		return 0;
	int rc = rd_description_utf8(out, &out->name, name);
	if (rc == 0)
		rc = read_fields_6(&c, out);
	struct rd_cursor options = rd_left(&c) > 0 ? rd_sub(&c, rd_u16(&c)) : c;
	read_options(&options, out);
	return rc;
}

int rd_describe_nettrace(const struct rd_trace_info *info, const struct rd_event *ev, struct rd_description *out)
{
	return info->version_major >= 6 ? describe_6(ev->said, out) : describe_4(ev->said, out);
}
