/*
 * TRACE_EVENT_INFO, which merging adds for each kind of event that a manifest of the machine knew
 * (docs/formats/etl.md, "Event metadata"). Places count from its beginning; 0 is none; names are UTF-16 with NUL.
 *
 *   level u8 @36, opcode u8 @37, keywords u64 @40, provider's name u32 @52, task's @68, opcode's @72, event's @92,
 *   properties u32 @100, top ones u32 @104, then from @112 24 bytes a property: flags u32, name u32,
 *   type u16 (a structure: first member), u16 (its number of members), u32, count u16, length u16, u32
 */
#include <stdio.h>
#include <string.h>

#include "trace/description.h"
#include "trace/etl/type_word.h"

enum {
	HEAD = 112,
	PROPERTY = 24,
	FLAG_STRUCT = 1,
	FLAG_LENGTH_ELSEWHERE = 2,
	FLAG_COUNT_ELSEWHERE = 4,
};

static struct rd_span name_at(struct rd_span info, uint32_t at)
{
	struct rd_cursor c = rd_cursor_of(info.at, info.size_bytes);
	rd_seek(&c, at);
	struct rd_span name = rd_utf16z(&c);
	/* Names of tasks and opcodes end in a blank. */
	while (!c.failed && name.size_bytes >= 2 && rd_le16(name.at + name.size_bytes - 2) == ' ')
		name.size_bytes -= 2;
	return at == 0 || c.failed ? (struct rd_span){NULL, 0} : name;
}

const char *rd_etl_type_word(unsigned type)
{
	static const char *const low[] = {
		"null",
		"string",
		"ansi",
		"i8",
		"u8",
		"i16",
		"u16",
		"i32",
		"u32",
		"i64",
		"u64",
		"f32",
		"f64",
		"bool32",
		"binary",
		"guid",
		"pointer",
		"filetime",
		"systemtime",
		"sid",
		"hex32",
		"hex64",
		"counted string",
		"counted ansi",
		"struct",
		"counted binary",
	};
	static const char *const high[] = {
		"counted string",
		"counted ansi",
		"counted string",
		"counted ansi",
		"string to the end",
		"ansi to the end",
		"char16",
		"char8",
		"pointer",
		"binary",
		"sid",
	};

	if (type < sizeof low / sizeof *low)
		return low[type];
	return type >= 300 && type - 300 < sizeof high / sizeof *high ? high[type - 300] : "other";
}

struct property {
	uint32_t flags;
	struct rd_span name;
	uint16_t type, members, count, length;
};

static bool read_property(struct rd_span info, uint32_t i, struct property *p)
{
	uint64_t at = HEAD + (uint64_t)i * PROPERTY;

	if (at + PROPERTY > info.size_bytes)
		return false;
	const uint8_t *b = info.at + at;
	*p = (struct property){
		.flags = rd_le32(b),
		.name = name_at(info, rd_le32(b + 4)),
		.type = rd_le16(b + 8),
		.members = rd_le16(b + 10),
		.count = rd_le16(b + 16),
		.length = rd_le16(b + 18),
	};
	return true;
}

static int add(struct rd_description *d, const struct property *p, struct rd_span outer)
{
	const char *word = p->flags & FLAG_STRUCT ? "struct" : rd_etl_type_word(p->type);
	char array[16] = "";

	if (p->flags & FLAG_COUNT_ELSEWHERE)
		snprintf(array, sizeof array, "[]");
	else if (p->count > 1)
		snprintf(array, sizeof array, "[%u]", p->count);
	else if (strcmp(word, "binary") == 0 && !(p->flags & FLAG_LENGTH_ELSEWHERE) && p->length)
		snprintf(array, sizeof array, "[%u]", p->length);
	return rd_description_field(d, outer, p->name, true, "%s%s", word, array);
}

/* Members stand behind the top ones; a structure inside a structure is not gone into. */
static int add_properties(struct rd_span info, uint32_t tops, struct rd_description *d)
{
	struct property p, member;

	for (uint32_t i = 0; i < tops && read_property(info, i, &p); i++) {
		if (add(d, &p, (struct rd_span){NULL, 0}) != 0)
			return RD_NOMEM;
		if (!(p.flags & FLAG_STRUCT) || d->fields.n == 0)
			continue;
		struct rd_span outer = d->fields.at[d->fields.n - 1].name;
		for (uint32_t k = 0; k < p.members && read_property(info, p.type + k, &member); k++)
			if (add(d, &member, outer) != 0)
				return RD_NOMEM;
	}
	return 0;
}

int rd_describe_schema(const struct rd_schema_record *schema, struct rd_description *d)
{
	struct rd_span info = schema->info;

	if (info.size_bytes < HEAD)
		return 0;
	const uint8_t *b = info.at;
	memcpy(d->guid, b, sizeof d->guid);
	d->has_level = d->has_opcode = d->has_keywords = d->has_fields = true;
	d->level = b[36];
	d->opcode = b[37];
	d->keywords = rd_le64(b + 40);
	if (rd_description_utf16(d, &d->provider, name_at(info, rd_le32(b + 52))) != 0 ||
	    rd_description_utf16(d, &d->task, name_at(info, rd_le32(b + 68))) != 0 ||
	    rd_description_utf16(d, &d->opcode_name, name_at(info, rd_le32(b + 72))) != 0)
		return RD_NOMEM;
	if (rd_description_join(d, &d->name, d->task, d->opcode_name) != 0)
		return RD_NOMEM;
	return add_properties(info, rd_le32(b + 104), d);
}
