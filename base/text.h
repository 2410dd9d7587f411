/*
 * text - names as they cross formats: UTF-16 to UTF-8, what a terminal may see, GUIDs, base names, numbers for people.
 *
 * A lone surrogate becomes its three WTF-8 bytes, so that names which differ
 * in the file differ here too; the JSON writer gives it back as \udXXX.
 */
#ifndef RD_BASE_TEXT_H
#define RD_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"
#include "base/memory.h"

/* Append little-endian UTF-16 code units (size_bytes rounded down to pairs) as UTF-8. 0 or RD_NOMEM. */
int rd_utf16_append(struct rd_bytes *out, const uint8_t *utf16, size_t size_bytes);

/*
 * The bytes of the UTF-8 character at p that a terminal shows and does not obey; 0 when there is none: a control, a
 * mark that turns the direction of text around, or no UTF-8. p < end.
 */
size_t rd_printable(const uint8_t *p, const uint8_t *end);
/* The columns that the character of UTF-8 there takes on a terminal: 2 of wide ones, 0 of marks upon the one before. */
size_t rd_char_columns(const uint8_t *p, size_t size_bytes);
/*
 * Append the bytes as text for other programs: what is UTF-8 as it is, "\xff" for each byte that is none, and for a
 * NUL. 0 or RD_NOMEM.
 */
int rd_utf8_append(struct rd_bytes *out, struct rd_span text);
#define RD_ESCAPE_TEXT 8
/*
 * What stands for such bytes, "\n", "\x1b", "\u202e", "\xff" for a byte that is no UTF-8: filled with a NUL. Returns
 * the bytes at p that it stands for, at least 1. A backslash is itself: it is in every path of Windows.
 */
size_t rd_escape(const uint8_t *p, const uint8_t *end, char out[RD_ESCAPE_TEXT]);
/* Make one printable line of what stands in buf: escaped, and cut at its end where that takes more than size. */
void rd_clean_line(char *buf, size_t size);

/* 36 characters and a NUL, lower case, of the 16 bytes of a GUID as Windows stores it. */
void rd_guid_text(const uint8_t guid[16], char out[37]);
/* The same way back; 0, or RD_USAGE when it is no GUID. */
int rd_guid_parse(const char *text, uint8_t out[16]);

/* The part behind the last / or \. */
struct rd_span rd_base_name(struct rd_span path);
/* The same without its last extension: the module name of an IL file. */
struct rd_span rd_module_name(struct rd_span path);

/* "158 MB", "1.2 GB": decimal units, at most three digits. */
const char *rd_size_text(uint64_t bytes, char *buf, unsigned size);
/* "64M", "1GiB", "1500": decimal units, iB for binary ones. 0 or RD_USAGE. */
int rd_size_parse(const char *text, uint64_t *bytes);

#endif
