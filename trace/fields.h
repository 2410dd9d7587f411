/*
 * fields - payloads that their file describes: a list of names and types, one behind the other.
 *
 * Knows the types of nettrace 6 (docs/formats/nettrace.md, "Field lists").
 * A list is read once; then a payload is read by the names that a decoder
 * wants, wherever they stand in the list.
 */
#ifndef RD_TRACE_FIELDS_H
#define RD_TRACE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "trace/event.h"

/* How a value lies in the payload. */
enum rd_field_shape {
	RD_FIELD_OPAQUE, /* a type that is not stepped over: what stands behind it is out of reach */
	RD_FIELD_BYTES,  /* size_bytes of no interest */
	RD_FIELD_NUMBER, /* size_bytes, little-endian */
	RD_FIELD_VARUINT,
	RD_FIELD_VARINT,
	RD_FIELD_ARRAY,   /* u16 count, then as many times size_bytes */
	RD_FIELD_TEXT,    /* u16 count, then as many bytes of UTF-8 */
	RD_FIELD_TEXT16,  /* u16 count, then as many UTF-16 units */
	RD_FIELD_TEXT16Z, /* UTF-16 with NUL */
};

struct rd_field {
	struct rd_span name; /* UTF-8 */
	uint8_t shape;       /* enum rd_field_shape */
	uint32_t size_bytes;
};

struct rd_fields {
	const struct rd_field *at;
	size_t n;
};

typedef RD_VEC(struct rd_field) rd_field_vec;

/*
 * Step over a field list of nettrace 6; the cursor says whether it was whole.
 * out may be NULL; else the fields are added to it, with names that borrow from
 * the cursor's bytes. 0 or RD_NOMEM.
 */
int rd_fields_parse(struct rd_cursor *c, rd_field_vec *out);

/* A field that a decoder wants, and where its value goes: a uint64_t, or a struct rd_name. */
struct rd_field_wanted {
	struct rd_span name;
	bool text;
	bool needed; /* the payload is malformed without it */
	size_t at;   /* offset in what rd_fields_read fills */
};

/* TYPE is what is filled, FIELD its member, NAME a literal. */
#define RD_FIELD_WANTED(TYPE, FIELD, NAME, TEXT, NEEDED)                                                               \
	{                                                                                                              \
		.name = {(const uint8_t *)(NAME), sizeof(NAME) - 1}, .text = (TEXT), .needed = (NEEDED),               \
		.at = offsetof(TYPE, FIELD)                                                                            \
	}

/*
 * The wanted fields (at most 63) of an event's payload; those that its list does
 * not have stay as they are in *out. Of two fields of one name the first counts.
 * RD_CORRUPT when the payload ends before the last of them, or when one that is
 * needed is not in the list, has another type, or stands behind an opaque one.
 */
int rd_fields_read(const struct rd_event *ev, const struct rd_field_wanted *wanted, size_t n, void *out);

#endif
