#include "base/text.h"

#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "base/error.h"

static uint8_t *put_utf8(uint8_t *to, uint32_t c)
{
	if (c < 0x80) {
		*to++ = (uint8_t)c;
	} else if (c < 0x800) {
		*to++ = (uint8_t)(0xc0 | c >> 6);
		*to++ = (uint8_t)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		*to++ = (uint8_t)(0xe0 | c >> 12);
		*to++ = (uint8_t)(0x80 | (c >> 6 & 0x3f));
		*to++ = (uint8_t)(0x80 | (c & 0x3f));
	} else {
		*to++ = (uint8_t)(0xf0 | c >> 18);
		*to++ = (uint8_t)(0x80 | (c >> 12 & 0x3f));
		*to++ = (uint8_t)(0x80 | (c >> 6 & 0x3f));
		*to++ = (uint8_t)(0x80 | (c & 0x3f));
	}
	return to;
}

/* Sixteen bytes at once, on any machine. */
typedef uint8_t bytes16 __attribute__((vector_size(16)));
typedef uint64_t words2 __attribute__((vector_size(16)));

/* Sixteen units as sixteen bytes; false, and nothing written, when not all of them are ASCII. */
static inline bool put_ascii16(uint8_t *to, const uint8_t *utf16)
{
	bytes16 a, b;

	memcpy(&a, utf16, sizeof a);
	memcpy(&b, utf16 + sizeof a, sizeof b);
	words2 units = (words2)a | (words2)b;
	if ((units[0] | units[1]) & 0xff80ff80ff80ff80u)
		return false;
	bytes16 text = __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
	memcpy(to, &text, sizeof text);
	return true;
}

int rd_utf16_append(struct rd_bytes *out, const uint8_t *utf16, size_t size_bytes)
{
	size_t units = size_bytes / 2;
	size_t most;

	/* Three bytes a unit at most: a pair of surrogates gives four. What is not used is given back below. */
	if (__builtin_mul_overflow(units, 3, &most)) {
		out->failed = 1;
		return RD_NOMEM;
	}
	uint8_t *to = rd_bytes_extend(out, most);
	if (to == NULL)
		return RD_NOMEM;
	size_t i = 0;
	/* Names are nearly always ASCII: sixteen units at once while they are, then four. */
	for (; units - i >= 16 && put_ascii16(to, utf16 + 2 * i); i += 16)
		to += 16;
	for (; units - i >= 4; i += 4) {
		uint64_t v = rd_le64(utf16 + 2 * i);
		if (v & 0xff80ff80ff80ff80u)
			break;
		*to++ = (uint8_t)v;
		*to++ = (uint8_t)(v >> 16);
		*to++ = (uint8_t)(v >> 32);
		*to++ = (uint8_t)(v >> 48);
	}
	for (; i < units; i++) {
		uint32_t c = rd_le16(utf16 + 2 * i);
		if (c >= 0xd800 && c < 0xdc00 && i + 1 < units) {
			uint32_t low = rd_le16(utf16 + 2 * i + 2);
			if (low >= 0xdc00 && low < 0xe000) {
				c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
				i++;
			}
		}
		to = put_utf8(to, c);
	}
	out->n = (size_t)(to - out->at);
	return RD_OK;
}

/* The bytes of the UTF-8 character at p, whatever it means; 0 for none. */
static size_t utf8_bytes(const uint8_t *p, const uint8_t *end)
{
	size_t n = *p < 0x80 ? 1 : *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 0;

	if (n == 0 || (size_t)(end - p) < n)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates, too large. */
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0) || (p[0] == 0xf0 && p[1] < 0x90) ||
	    (p[0] == 0xf4 && p[1] >= 0x90))
		return 0;
	return n;
}

/* Of a character of n bytes, two to four. */
static uint32_t code_point(const uint8_t *p, size_t n)
{
	uint32_t c = p[0] & (0x7fu >> n);

	for (size_t i = 1; i < n; i++)
		c = c << 6 | (p[i] & 0x3f);
	return c;
}

/* Controls of 8-bit terminals, ends of lines, and the marks of direction. */
static int obeyed(uint32_t c)
{
	return c < 0xa0 || c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

size_t rd_printable(const uint8_t *p, const uint8_t *end)
{
	size_t n = utf8_bytes(p, end);

	if (n == 1)
		return *p >= 0x20 && *p != 0x7f;
	return (n == 2 || n == 3) && obeyed(code_point(p, n)) ? 0 : n;
}

static locale_t unicode;

/* Widths are those of the C library's table for UTF-8, whatever the user's locale is. */
static void open_unicode(void)
{
	unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

size_t rd_char_columns(const uint8_t *p, size_t size_bytes)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (size_bytes < 2)
		return 1;
	pthread_once(&once, open_unicode);
	if (unicode == (locale_t)0)
		return 1;
	locale_t before = uselocale(unicode);
	int columns = wcwidth((wchar_t)code_point(p, size_bytes));
	uselocale(before);
	return columns >= 0 ? (size_t)columns : 1;
}

size_t rd_escape(const uint8_t *p, const uint8_t *end, char out[RD_ESCAPE_TEXT])
{
	size_t n = utf8_bytes(p, end);

	if (n > 1) {
		snprintf(out, RD_ESCAPE_TEXT, "\\u%04x", (unsigned)code_point(p, n) & 0xffff);
		return n;
	}
	if (*p == '\n' || *p == '\r' || *p == '\t')
		snprintf(out, RD_ESCAPE_TEXT, "\\%c", *p == '\n' ? 'n' : *p == '\r' ? 'r' : 't');
	else
		snprintf(out, RD_ESCAPE_TEXT, "\\x%02x", *p);
	return 1;
}

int rd_utf8_append(struct rd_bytes *out, struct rd_span text)
{
	const uint8_t *p = text.at, *end = text.size_bytes ? p + text.size_bytes : p, *good = p;
	char escape[RD_ESCAPE_TEXT];

	while (p < end) {
		size_t n = *p ? utf8_bytes(p, end) : 0;
		p += n;
		if (n)
			continue;
		if (p > good)
			rd_bytes_append(out, good, (size_t)(p - good));
		snprintf(escape, sizeof escape, "\\x%02x", *p);
		rd_bytes_append(out, escape, strlen(escape));
		good = ++p;
	}
	if (p > good)
		rd_bytes_append(out, good, (size_t)(p - good));
	return out->failed ? RD_NOMEM : 0;
}

/* Whether the text ends within a character: something cut it. */
static size_t whole_bytes(const char *text, size_t n)
{
	size_t at = n;

	while (at > 0 && n - at < 3 && ((uint8_t)text[at - 1] & 0xc0) == 0x80)
		at--;
	if (at == 0)
		return n;
	uint8_t lead = (uint8_t)text[at - 1];
	size_t wanted = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 1;
	return n - at + 1 < wanted ? at - 1 : n;
}

void rd_clean_line(char *buf, size_t size)
{
	size_t n = strlen(buf);
	/* Only what is full can have been cut. */
	if (n + 1 == size)
		n = whole_bytes(buf, n);
	buf[n] = 0;
	for (size_t at = 0; at < n;) {
		const uint8_t *p = (const uint8_t *)buf + at;
		size_t took = rd_printable(p, p + (n - at));
		char escape[RD_ESCAPE_TEXT];

		if (took) {
			at += took;
			continue;
		}
		took = rd_escape(p, p + (n - at), escape);
		size_t more = strlen(escape), rest = n - at - took;
		if (at + more >= size) {
			buf[at] = 0;
			return;
		}
		if (at + more + rest >= size)
			rest = whole_bytes(buf + at + took, size - 1 - at - more);
		memmove(buf + at + more, buf + at + took, rest);
		memcpy(buf + at, escape, more);
		at += more;
		n = at + rest;
		buf[n] = 0;
	}
}

/* The order in which the 16 stored bytes are written: three little-endian numbers, then bytes as they are. */
static const uint8_t guid_order[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};

static int dash_before(unsigned i)
{
	return i == 4 || i == 6 || i == 8 || i == 10;
}

void rd_guid_text(const uint8_t guid[16], char out[37])
{
	static const char digits[] = "0123456789abcdef";

	for (unsigned i = 0; i < 16; i++) {
		uint8_t b = guid[guid_order[i]];
		if (dash_before(i))
			*out++ = '-';
		*out++ = digits[b >> 4];
		*out++ = digits[b & 15];
	}
	*out = 0;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int rd_guid_parse(const char *text, uint8_t out[16])
{
	uint8_t guid[16];

	for (unsigned i = 0; i < 16; i++) {
		if (dash_before(i) && *text++ != '-')
			return RD_USAGE;
		int high = hex_value(text[0]);
		int low = high < 0 ? -1 : hex_value(text[1]);
		if (low < 0)
			return RD_USAGE;
		guid[guid_order[i]] = (uint8_t)(high << 4 | low);
		text += 2;
	}
	if (*text)
		return RD_USAGE;
	memcpy(out, guid, sizeof guid);
	return RD_OK;
}

struct rd_span rd_base_name(struct rd_span path)
{
	size_t from = path.size_bytes;

	while (from > 0 && path.at[from - 1] != '/' && path.at[from - 1] != '\\')
		from--;
	/* No arithmetic on the NULL of an empty span. */
	return from == 0 ? path : (struct rd_span){path.at + from, path.size_bytes - from};
}

struct rd_span rd_module_name(struct rd_span path)
{
	struct rd_span name = rd_base_name(path);

	for (size_t n = name.size_bytes; n > 0; n--)
		if (name.at[n - 1] == '.')
			return (struct rd_span){name.at, n - 1};
	return name;
}

const char *rd_size_text(uint64_t bytes, char *buf, unsigned size)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
	unsigned unit = 0;
	uint64_t scale = 1;

	/* Up a unit as soon as the number would round to 1000. */
	while (unit + 1 < sizeof units / sizeof *units && bytes / scale >= 1000) {
		scale *= 1000;
		unit++;
	}
	if (unit && unit + 1 < sizeof units / sizeof *units && bytes / scale == 999 && bytes % scale >= scale / 2) {
		scale *= 1000;
		unit++;
	}
	/* One decimal below ten, rounded half up, in integers: no locale, no surprise. */
	uint64_t whole = bytes / scale;
	uint64_t tenths = unit ? (bytes % scale / (scale / 1000) * 10 + 500) / 1000 : 0;
	if (unit && whole < 10 && !(whole == 9 && tenths == 10)) {
		whole += tenths / 10;
		snprintf(buf, size, "%u.%u %s", (unsigned)whole, (unsigned)(tenths % 10), units[unit]);
	} else {
		if (unit && bytes % scale >= scale / 2)
			whole++;
		snprintf(buf, size, "%u %s", (unsigned)whole, units[unit]);
	}
	return buf;
}

/* The factor that a unit's letters stand for; 0 for none that we know. */
static uint64_t unit_factor(const char *unit)
{
	static const char letters[] = "kmgtpe";
	uint64_t decimal = 1, binary = 1;

	if (*unit == 0 || strcmp(unit, "B") == 0 || strcmp(unit, "b") == 0)
		return 1;
	char letter = *unit >= 'A' && *unit <= 'Z' ? (char)(*unit + ('a' - 'A')) : *unit;
	const char *found = strchr(letters, letter);
	if (found == NULL)
		return 0;
	for (const char *p = letters; p <= found; p++) {
		decimal *= 1000;
		binary *= 1024;
	}
	const char *rest = unit + 1;
	if (*rest == 0 || strcmp(rest, "B") == 0 || strcmp(rest, "b") == 0)
		return decimal;
	return strcmp(rest, "iB") == 0 || strcmp(rest, "ib") == 0 || strcmp(rest, "i") == 0 ? binary : 0;
}

int rd_size_parse(const char *text, uint64_t *bytes)
{
	uint64_t whole = 0, value;
	/* The fraction as digits over a power of ten; further digits than these cannot matter. */
	uint64_t fraction = 0, tens = 1;
	const char *p = text;

	if (*p < '0' || *p > '9')
		return RD_USAGE;
	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(whole, 10, &whole) ||
		    __builtin_add_overflow(whole, (uint64_t)(*p - '0'), &whole))
			return RD_USAGE;
	if (*p == '.' && p[1] >= '0' && p[1] <= '9') {
		for (p++; *p >= '0' && *p <= '9'; p++) {
			if (tens < 1000000000u) {
				fraction = fraction * 10 + (uint64_t)(*p - '0');
				tens *= 10;
			}
		}
	}
	while (*p == ' ')
		p++;
	uint64_t factor = unit_factor(p);
	if (factor == 0 || __builtin_mul_overflow(whole, factor, &value))
		return RD_USAGE;
	uint64_t part = factor / tens * fraction + factor % tens * fraction / tens;
	if (__builtin_add_overflow(value, part, &value))
		return RD_USAGE;
	*bytes = value;
	return RD_OK;
}
