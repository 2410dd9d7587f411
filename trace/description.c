#include "trace/description.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

void rd_description_release(struct rd_description *d)
{
	rd_vec_release(&d->fields);
	rd_arena_release(&d->arena);
}

int rd_description_utf8(struct rd_description *d, struct rd_span *to, struct rd_span utf8)
{
	const uint8_t *copy =
		rd_arena_copy(&d->arena, utf8.size_bytes ? utf8.at : (const uint8_t *)"", utf8.size_bytes);
	if (copy == NULL)
		return RD_NOMEM;
	*to = (struct rd_span){copy, utf8.size_bytes};
	return 0;
}

int rd_description_utf16(struct rd_description *d, struct rd_span *to, struct rd_span utf16)
{
	struct rd_bytes text = {0};
	int rc = rd_utf16_append(&text, utf16.at, utf16.size_bytes);
	if (rc == 0)
		rc = rd_description_utf8(d, to, (struct rd_span){text.at, text.n});
	rd_bytes_release(&text);
	return rc;
}

int rd_description_join(struct rd_description *d, struct rd_span *to, struct rd_span a, struct rd_span b)
{
	struct rd_bytes text = {0};
	int rc = rd_bytes_append(&text, a.at, a.size_bytes);

	if (rc == 0 && a.size_bytes && b.size_bytes)
		rc = rd_bytes_append(&text, "/", 1);
	if (rc == 0)
		rc = rd_bytes_append(&text, b.at, b.size_bytes);
	if (rc == 0)
		rc = rd_description_utf8(d, to, (struct rd_span){text.at, text.n});
	rd_bytes_release(&text);
	return rc;
}

/* "Outer.Inner", or the name alone. */
static int join_name(struct rd_description *d, struct rd_span prefix, struct rd_span name, bool utf16,
		     struct rd_span *to)
{
	struct rd_bytes text = {0};
	int rc = 0;

	if (prefix.size_bytes) {
		rc = rd_bytes_append(&text, prefix.at, prefix.size_bytes);
		if (rc == 0)
			rc = rd_bytes_append(&text, ".", 1);
	}
	if (rc == 0)
		rc = utf16 ? rd_utf16_append(&text, name.at, name.size_bytes)
			   : rd_bytes_append(&text, name.at, name.size_bytes);
	if (rc == 0)
		rc = rd_description_utf8(d, to, (struct rd_span){text.at, text.n});
	rd_bytes_release(&text);
	return rc;
}

int rd_description_field(struct rd_description *d, struct rd_span prefix, struct rd_span name, bool utf16,
			 const char *type, ...)
{
	struct rd_described_field field;
	char word[160];
	va_list args;

	if (d->fields.n >= RD_DESCRIBED_FIELDS_MOST)
		return 0;
	va_start(args, type);
	vsnprintf(word, sizeof word, type, args);
	va_end(args);
	if (join_name(d, prefix, name, utf16, &field.name) != 0 ||
	    rd_description_utf8(d, &field.type, rd_text_span(word)) != 0)
		return RD_NOMEM;
	struct rd_described_field *added = rd_vec_add(&d->fields);
	if (added == NULL)
		return RD_NOMEM;
	*added = field;
	return 0;
}
