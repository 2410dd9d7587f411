/*
 * out - buffered output to a descriptor or to memory, and JSON on top of it.
 *
 * Errors are sticky: write all, then ask rd_out_close once. Nothing here
 * reads; JSON is written in a stream, commas by the writer.
 */
#ifndef RD_BASE_OUT_H
#define RD_BASE_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"

struct rd_out {
	int fd; /* -1: all stays in `buffer` */
	struct rd_bytes buffer;
	bool has_styles; /* it is for a terminal that shows them */
	int sys_errno; /* of the first failed write */
	uint64_t written_bytes;
};

void rd_out_init(struct rd_out *o, int fd);
void rd_out_bytes(struct rd_out *o, const void *p, size_t size_bytes);
void rd_out_text(struct rd_out *o, const char *text);
/* How a terminal shows what follows, until RD_STYLE_PLAIN; nothing where there are no styles. */
enum rd_style { RD_STYLE_PLAIN, RD_STYLE_HEAD, RD_STYLE_GOOD, RD_STYLE_BAD, RD_STYLE_SOFT };
void rd_out_style(struct rd_out *o, enum rd_style style);
void rd_out_printf(struct rd_out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/*
 * The words of a text, where the cursor stands at `column`, on lines of so many columns (0: one line), the further ones
 * indented. Returns the column where it ends.
 */
size_t rd_out_words(struct rd_out *o, const char *text, size_t column, size_t indent, size_t columns);
int rd_out_flush(struct rd_out *o, struct rd_error *err);
/* Flush, free, and say whether all of it was written. The descriptor stays open. */
int rd_out_close(struct rd_out *o, struct rd_error *err);

struct rd_json {
	struct rd_out *out;
	unsigned depth;
	bool first[32]; /* by depth: no comma is due */
	bool pretty;    /* a newline and indent per item of the two outer levels */
	bool html;      /* for the inside of a <script>: no '<', '>' or '&' in strings as such */
};

void rd_json_init(struct rd_json *j, struct rd_out *o, bool pretty);
void rd_json_object(struct rd_json *j, const char *key); /* key NULL inside arrays and at the top */
void rd_json_object_end(struct rd_json *j);
void rd_json_array(struct rd_json *j, const char *key);
void rd_json_array_end(struct rd_json *j);
void rd_json_u64(struct rd_json *j, const char *key, uint64_t v);
void rd_json_i64(struct rd_json *j, const char *key, int64_t v);
void rd_json_double(struct rd_json *j, const char *key, double v);
void rd_json_bool(struct rd_json *j, const char *key, bool v);
void rd_json_null(struct rd_json *j, const char *key);
/* A byte of a file; null for RD_NO_OFFSET. */
void rd_json_offset(struct rd_json *j, const char *key, uint64_t offset);
void rd_json_text(struct rd_json *j, const char *key, const char *text);
/* UTF-8 (WTF-8) bytes; anything that is not becomes U+FFFD. */
void rd_json_span(struct rd_json *j, const char *key, struct rd_span text);
/* A key that is data, not a literal. */
void rd_json_u64_at(struct rd_json *j, struct rd_span key, uint64_t v);

#endif
