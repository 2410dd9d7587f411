/*
 * JSON on top of rd_out. Every value goes through `item`, which owes the
 * comma, the newline and the key, so that the writers of values write values.
 */
#include "base/out.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define DEPTH_MOST   (sizeof((struct rd_json *)0)->first / sizeof(bool))
#define PRETTY_DEPTH 2

void rd_json_init(struct rd_json *j, struct rd_out *o, bool pretty)
{
	*j = (struct rd_json){.out = o, .pretty = pretty, .first = {true}};
}

static void newline(struct rd_json *j, unsigned depth)
{
	static const char blanks[] = "\n    ";
	rd_out_bytes(j->out, blanks, 1 + 2 * depth);
}

/*
 * The bytes of one UTF-8 character at p, generalised to surrogates (WTF-8);
 * 0 when there is none. What overlong or too large numbers would say is none.
 */
static unsigned character_bytes(const uint8_t *p, const uint8_t *end, uint32_t *c)
{
	unsigned n = *p < 0x80 ? 1 : *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 0;
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};

	if (n == 0 || (size_t)(end - p) < n)
		return 0;
	*c = n == 1 ? *p : *p & (0x7fu >> n);
	for (unsigned i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		*c = *c << 6 | (p[i] & 0x3f);
	}
	return *c < least[n] || *c > 0x10ffff ? 0 : n;
}

static void escape(struct rd_out *o, uint32_t c)
{
	static const char digits[] = "0123456789abcdef";
	static const char short_ones[0x20] = {['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
	char text[6] = {'\\', 'u'};

	if (c == '"' || c == '\\' || (c < 0x20 && short_ones[c])) {
		text[1] = c < 0x20 ? short_ones[c] : (char)c;
		rd_out_bytes(o, text, 2);
		return;
	}
	for (unsigned i = 0; i < 4; i++)
		text[2 + i] = digits[c >> (12 - 4 * i) & 15];
	rd_out_bytes(o, text, sizeof text);
}

/* An ASCII character that stands for itself; names are made of little else. */
static inline bool is_plain(uint8_t c, bool html)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\' && !(html && (c == '<' || c == '>' || c == '&'));
}

static void quoted(struct rd_json *j, struct rd_span text)
{
	struct rd_out *o = j->out;
	const uint8_t *p = text.at, *end = text.size_bytes ? p + text.size_bytes : p;
	const uint8_t *plain = p; /* from here on nothing needs a change yet */
	uint32_t c = 0;

	rd_out_bytes(o, "\"", 1);
	while (p < end) {
		if (is_plain(*p, j->html)) {
			p++;
			continue;
		}
		unsigned n = character_bytes(p, end, &c);
		if (n > 1 && (c < 0xd800 || c > 0xdfff)) {
			p += n;
			continue;
		}
		rd_out_bytes(o, plain, (size_t)(p - plain));
		if (n)
			escape(o, c);
		else
			rd_out_bytes(o, "\xef\xbf\xbd", 3);
		p += n ? n : 1;
		plain = p;
	}
	rd_out_bytes(o, plain, (size_t)(p - plain));
	rd_out_bytes(o, "\"", 1);
}

static void item_span(struct rd_json *j, const struct rd_span *key)
{
	bool first = j->first[j->depth];

	if (!first)
		rd_out_bytes(j->out, ",", 1);
	j->first[j->depth] = false;
	if (j->depth && j->pretty && j->depth <= PRETTY_DEPTH)
		newline(j, j->depth);
	else if (!first)
		rd_out_bytes(j->out, " ", 1);
	if (key) {
		quoted(j, *key);
		rd_out_bytes(j->out, ": ", 2);
	}
}

static void item(struct rd_json *j, const char *key)
{
	struct rd_span name = rd_text_span(key ? key : "");

	item_span(j, key ? &name : NULL);
}

static void begin(struct rd_json *j, const char *key, const char *bracket)
{
	item(j, key);
	rd_out_text(j->out, bracket);
	/* Deeper is a mistake of the caller; the output becomes an error instead of memory. */
	if (j->depth + 1 >= DEPTH_MOST) {
		j->out->buffer.failed = 1;
		return;
	}
	j->depth++;
	j->first[j->depth] = true;
}

static void finish(struct rd_json *j, const char *bracket)
{
	if (j->depth == 0) {
		j->out->buffer.failed = 1;
		return;
	}
	bool empty = j->first[j->depth];
	j->depth--;
	if (!empty && j->pretty && j->depth < PRETTY_DEPTH)
		newline(j, j->depth);
	rd_out_text(j->out, bracket);
	if (j->depth == 0)
		rd_out_bytes(j->out, "\n", 1);
}

void rd_json_object(struct rd_json *j, const char *key)
{
	begin(j, key, "{");
}

void rd_json_object_end(struct rd_json *j)
{
	finish(j, "}");
}

void rd_json_array(struct rd_json *j, const char *key)
{
	begin(j, key, "[");
}

void rd_json_array_end(struct rd_json *j)
{
	finish(j, "]");
}

static void put_u64(struct rd_out *o, uint64_t v)
{
	char digits[20];
	size_t at = sizeof digits;

	do {
		digits[--at] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	rd_out_bytes(o, digits + at, sizeof digits - at);
}

void rd_json_u64(struct rd_json *j, const char *key, uint64_t v)
{
	item(j, key);
	put_u64(j->out, v);
}

void rd_json_u64_at(struct rd_json *j, struct rd_span key, uint64_t v)
{
	item_span(j, &key);
	put_u64(j->out, v);
}

void rd_json_i64(struct rd_json *j, const char *key, int64_t v)
{
	item(j, key);
	if (v < 0)
		rd_out_bytes(j->out, "-", 1);
	put_u64(j->out, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

void rd_json_double(struct rd_json *j, const char *key, double v)
{
	char text[40];

	if (!isfinite(v)) {
		rd_json_null(j, key);
		return;
	}
	item(j, key);
	/* The fewest digits that read back as the same number. */
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	/* Whatever the locale's decimal point, of one byte or several, JSON's is a stop. */
	size_t whole = strspn(text, "0123456789+-e");
	size_t point = strcspn(text + whole, "0123456789+-e");
	rd_out_bytes(j->out, text, whole);
	rd_out_bytes(j->out, ".", point != 0);
	rd_out_text(j->out, text + whole + point);
}

void rd_json_bool(struct rd_json *j, const char *key, bool v)
{
	item(j, key);
	rd_out_text(j->out, v ? "true" : "false");
}

void rd_json_null(struct rd_json *j, const char *key)
{
	item(j, key);
	rd_out_text(j->out, "null");
}

void rd_json_offset(struct rd_json *j, const char *key, uint64_t offset)
{
	if (offset == RD_NO_OFFSET)
		rd_json_null(j, key);
	else
		rd_json_u64(j, key, offset);
}

void rd_json_text(struct rd_json *j, const char *key, const char *text)
{
	item(j, key);
	quoted(j, rd_text_span(text));
}

void rd_json_span(struct rd_json *j, const char *key, struct rd_span text)
{
	item(j, key);
	quoted(j, text);
}
