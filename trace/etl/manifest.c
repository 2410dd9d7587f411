/*
 * The manifest that an EventSource writes as its event 65534: XML with one element an event, which names a template
 * of its fields (docs/formats/etl.md, "Descriptions"). It is not read as XML but looked through for the few elements
 * and attributes that describe an event; what is written in another way says nothing.
 */
#include <stdio.h>
#include <string.h>

#include "trace/description.h"

struct rd_span rd_manifest_piece(const struct rd_event *ev)
{
	enum { PIECE_HEAD = 8, MAGIC = 0x5b };

	if (ev->payload_bytes < PIECE_HEAD || ev->payload[3] != MAGIC || rd_le16(ev->payload + 6) != 0)
		return (struct rd_span){NULL, 0};
	return (struct rd_span){ev->payload + PIECE_HEAD, ev->payload_bytes - PIECE_HEAD};
}

static bool is(struct rd_span text, const char *word)
{
	return text.size_bytes == strlen(word) && memcmp(text.at, word, text.size_bytes) == 0;
}

/* The first place of the words, and what is behind them; false when they are not there. */
static bool find(struct rd_span in, const char *words, struct rd_span *behind)
{
	size_t n = strlen(words);
	const uint8_t *at = in.size_bytes ? memmem(in.at, in.size_bytes, words, n) : NULL;

	if (at == NULL)
		return false;
	at += n;
	*behind = (struct rd_span){at, in.size_bytes - (size_t)(at - in.at)};
	return true;
}

static struct rd_span up_to(struct rd_span text, char end)
{
	const uint8_t *at = text.size_bytes ? memchr(text.at, end, text.size_bytes) : NULL;
	return (struct rd_span){text.at, at ? (size_t)(at - text.at) : 0};
}

/* The next element that begins with `open` ("<event "): its attributes; *xml moves behind them. */
static bool next_element(struct rd_span *xml, const char *open, struct rd_span *attributes)
{
	struct rd_span behind;

	if (!find(*xml, open, &behind))
		return false;
	*attributes = up_to(behind, '>');
	*xml = (struct rd_span){behind.at + attributes->size_bytes, behind.size_bytes - attributes->size_bytes};
	return true;
}

/* The value of an attribute, given as `value="`; empty when it is not there. */
static struct rd_span attribute(struct rd_span attributes, const char *name)
{
	struct rd_span behind;

	/* The first one has no blank of its own in front: that is in the element's beginning. */
	while (find(attributes, name, &behind)) {
		const uint8_t *at = behind.at - strlen(name);
		if (at == attributes.at || at[-1] == ' ')
			return up_to(behind, '"');
		attributes = behind;
	}
	return (struct rd_span){NULL, 0};
}

static bool is_number(struct rd_span text, uint32_t number)
{
	char digits[12];
	snprintf(digits, sizeof digits, "%u", number);
	return is(text, digits);
}

static const char *type_word(struct rd_span type)
{
	static const struct {
		const char *published, *word;
	} words[] = {
		{"win:UnicodeString", "string"},
		{"win:AnsiString", "ansi"},
		{"win:Int8", "i8"},
		{"win:UInt8", "u8"},
		{"win:Int16", "i16"},
		{"win:UInt16", "u16"},
		{"win:Int32", "i32"},
		{"win:UInt32", "u32"},
		{"win:Int64", "i64"},
		{"win:UInt64", "u64"},
		{"win:Float", "f32"},
		{"win:Double", "f64"},
		{"win:Boolean", "bool32"},
		{"win:Binary", "binary"},
		{"win:GUID", "guid"},
		{"win:Pointer", "pointer"},
		{"win:FILETIME", "filetime"},
		{"win:SYSTEMTIME", "systemtime"},
		{"win:SID", "sid"},
		{"win:HexInt32", "hex32"},
		{"win:HexInt64", "hex64"},
	};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (is(type, words[i].published))
			return words[i].word;
	return "other";
}

static int describe_template(struct rd_span xml, struct rd_span id, struct rd_description *d)
{
	struct rd_span attributes, element;

	while (next_element(&xml, "<template ", &attributes)) {
		struct rd_span tid = attribute(attributes, "tid=\"");
		if (tid.size_bytes != id.size_bytes || memcmp(tid.at, id.at, id.size_bytes) != 0)
			continue;
		struct rd_span behind, body = xml;
		if (find(xml, "</template>", &behind))
			body.size_bytes = (size_t)(behind.at - xml.at);
		while (next_element(&body, "<data ", &element)) {
			bool array = attribute(element, "count=\"").size_bytes > 0;
			if (rd_description_field(d, (struct rd_span){NULL, 0}, attribute(element, "name=\""), false,
						 "%s%s", type_word(attribute(element, "inType=\"")),
						 array ? "[]" : "") != 0)
				return RD_NOMEM;
		}
		d->has_fields = true;
		return 0;
	}
	return 0;
}

/* Older EventSources write no symbol: task and opcode make the name, as in merged manifests. */
static int name_event(struct rd_span attributes, struct rd_description *d)
{
	static const char own[] = "win:";
	struct rd_span symbol = attribute(attributes, "symbol=\""), opcode = attribute(attributes, "opcode=\"");
	size_t n = sizeof own - 1;

	if (symbol.size_bytes)
		return rd_description_utf8(d, &d->name, symbol);
	if (opcode.size_bytes > n && memcmp(opcode.at, own, n) == 0)
		opcode = (struct rd_span){opcode.at + n, opcode.size_bytes - n};
	return rd_description_join(d, &d->name, attribute(attributes, "task=\""), opcode);
}

int rd_describe_manifest(struct rd_span xml, uint32_t id, uint32_t version, struct rd_description *d)
{
	struct rd_span rest = xml, attributes;

	while (next_element(&rest, "<event ", &attributes)) {
		struct rd_span of = attribute(attributes, "version=\"");
		if (!is_number(attribute(attributes, "value=\""), id) ||
		    !(of.size_bytes ? is_number(of, version) : version == 0))
			continue;
		struct rd_span template = attribute(attributes, "template=\"");
		if (name_event(attributes, d) != 0)
			return RD_NOMEM;
		d->has_fields = template.size_bytes == 0;
		return template.size_bytes ? describe_template(xml, template, d) : 0;
	}
	return 0;
}
