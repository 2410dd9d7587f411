/*
 * fuzz_text - any bytes as UTF-16, as UTF-8 in JSON, as sizes, GUIDs, paths.
 * Holds: the JSON is printable UTF-8 on one line whatever the bytes; a GUID
 * that reads is written back the same; a base name is the end of its path.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/out.h"
#include "base/text.h"

int rd_fuzz_one(const uint8_t *bytes, size_t size_bytes);

static void holds(bool what)
{
	if (!what)
		abort();
}

/* Lone surrogates must have become escapes and anything else U+FFFD, so strict UTF-8 is left. */
static void is_utf8_line(const uint8_t *p, size_t n)
{
	const uint8_t *end = p + n;

	while (p < end) {
		unsigned more = *p < 0x80 ? 0 : *p < 0xe0 ? 1 : *p < 0xf0 ? 2 : 3;
		holds(*p >= 0x20 && *p != 0x7f && (*p < 0x80 || (*p >= 0xc2 && *p <= 0xf4)));
		holds((size_t)(end - p) > more);
		holds(!(more == 2 && p[0] == 0xed && p[1] >= 0xa0));
		for (unsigned i = 1; i <= more; i++)
			holds((p[i] & 0xc0) == 0x80);
		p += more + 1;
	}
}

static void as_json(struct rd_span text)
{
	struct rd_json j;
	struct rd_out o;

	rd_out_init(&o, -1);
	rd_json_init(&j, &o, false);
	rd_json_span(&j, NULL, text);
	holds(rd_out_flush(&o, NULL) == 0);
	holds(o.buffer.n >= 2 && o.buffer.at[0] == '"' && o.buffer.at[o.buffer.n - 1] == '"');
	is_utf8_line(o.buffer.at, o.buffer.n);
	rd_out_close(&o, NULL);
}

static void as_words(const char *text)
{
	uint8_t guid[16];
	char back[37];
	uint64_t bytes;

	rd_size_parse(text, &bytes);
	if (rd_guid_parse(text, guid) != 0)
		return;
	rd_guid_text(guid, back);
	for (unsigned i = 0; i < 36; i++)
		holds(back[i] == text[i] || back[i] == text[i] + ('a' - 'A'));
}

/* Whatever it was, what is left is a line of characters that a terminal shows. */
static void as_line(const char *text, size_t size_bytes)
{
	char line[100];

	snprintf(line, 1 + size_bytes % sizeof line, "%s", text);
	rd_clean_line(line, 1 + size_bytes % sizeof line);
	holds(strlen(line) <= size_bytes % sizeof line);
	is_utf8_line((const uint8_t *)line, strlen(line));
	const uint8_t *p = (const uint8_t *)line, *end = p + strlen(line);
	for (; p < end; p += rd_printable(p, end))
		holds(rd_printable(p, end) > 0);
}

int rd_fuzz_one(const uint8_t *bytes, size_t size_bytes)
{
	struct rd_span all = {bytes, size_bytes};
	struct rd_bytes wide = {0};
	char *text = malloc(size_bytes + 1);

	if (text == NULL)
		return 0;
	memcpy(text, bytes, size_bytes);
	text[size_bytes] = 0;
	as_words(text);
	as_line(text, size_bytes);
	as_json(all);
	holds(rd_utf16_append(&wide, bytes, size_bytes) == 0);
	as_json((struct rd_span){wide.at, wide.n});
	struct rd_span name = rd_base_name(all);
	holds(name.size_bytes == 0 || name.at + name.size_bytes == bytes + size_bytes);
	holds(rd_module_name(all).size_bytes <= name.size_bytes);
	rd_bytes_release(&wide);
	free(text);
	return 0;
}
