/*
 * A list: count u16, then fields: size u16 (of what follows it), name, type, more of later versions.
 * A type: code u8; an array has its element's type behind it, one of a fixed length the u16 count too.
 */
#include "trace/fields.h"

#include "base/error.h"

/* As a file numbers them. */
enum type {
	BOOLEAN32 = 3,
	UTF16_UNIT = 4,
	SBYTE = 5,
	BYTE = 6,
	INT16 = 7,
	UINT16 = 8,
	INT32 = 9,
	UINT32 = 10,
	INT64 = 11,
	UINT64 = 12,
	SINGLE = 13,
	DOUBLE = 14,
	DATE_TIME = 16,
	GUID = 17,
	UTF16_STRING = 18,
	ARRAY = 19,
	VARINT = 20,
	VARUINT = 21,
	FIXED_ARRAY = 22,
	UTF8_UNIT = 23,
	REL_LOC = 24,
	DATA_LOC = 25,
	BOOLEAN8 = 26,
	TYPES,
};

/* UTF8_UNIT says one byte; every writer means a text by it. */
static const struct {
	uint8_t shape, size_bytes;
} shapes[TYPES] = {
	[BOOLEAN32] = {RD_FIELD_NUMBER, 4}, [UTF16_UNIT] = {RD_FIELD_NUMBER, 2}, [SBYTE] = {RD_FIELD_NUMBER, 1},
	[BYTE] = {RD_FIELD_NUMBER, 1},      [INT16] = {RD_FIELD_NUMBER, 2},      [UINT16] = {RD_FIELD_NUMBER, 2},
	[INT32] = {RD_FIELD_NUMBER, 4},     [UINT32] = {RD_FIELD_NUMBER, 4},     [INT64] = {RD_FIELD_NUMBER, 8},
	[UINT64] = {RD_FIELD_NUMBER, 8},    [SINGLE] = {RD_FIELD_BYTES, 4},      [DOUBLE] = {RD_FIELD_BYTES, 8},
	[DATE_TIME] = {RD_FIELD_BYTES, 16}, [GUID] = {RD_FIELD_BYTES, 16},       [UTF16_STRING] = {RD_FIELD_TEXT16Z, 0},
	[VARINT] = {RD_FIELD_VARINT, 0},    [VARUINT] = {RD_FIELD_VARUINT, 0},   [UTF8_UNIT] = {RD_FIELD_TEXT, 1},
	[REL_LOC] = {RD_FIELD_BYTES, 4},    [DATA_LOC] = {RD_FIELD_BYTES, 4},    [BOOLEAN8] = {RD_FIELD_NUMBER, 1},
};

static struct rd_field shape_of(uint8_t type)
{
	if (type >= TYPES)
		return (struct rd_field){.shape = RD_FIELD_OPAQUE};
	return (struct rd_field){.shape = shapes[type].shape, .size_bytes = shapes[type].size_bytes};
}

/* An array whose elements have one size each. */
static struct rd_field array_of(uint8_t element, bool fixed, uint16_t count)
{
	uint32_t size_bytes = element < TYPES ? shapes[element].size_bytes : 0;
	if (size_bytes == 0)
		return (struct rd_field){.shape = RD_FIELD_OPAQUE};
	if (fixed)
		return (struct rd_field){.shape = RD_FIELD_BYTES, .size_bytes = size_bytes * count};
	if (element == UTF8_UNIT)
		return shape_of(UTF8_UNIT);
	return (struct rd_field){.shape = element == UTF16_UNIT ? RD_FIELD_TEXT16 : RD_FIELD_ARRAY,
				 .size_bytes = size_bytes};
}

static struct rd_field read_type(struct rd_cursor *c)
{
	uint8_t type = rd_u8(c);
	if (type != ARRAY && type != FIXED_ARRAY)
		return shape_of(type);
	uint8_t element = rd_u8(c);
	return array_of(element, type == FIXED_ARRAY, type == FIXED_ARRAY ? rd_u16(c) : 0);
}

int rd_fields_parse(struct rd_cursor *c, rd_field_vec *out)
{
	uint16_t count = rd_u16(c);
	for (uint16_t i = 0; i < count && !c->failed; i++) {
		struct rd_cursor one = rd_sub(c, rd_u16(c));
		struct rd_span name = {.size_bytes = rd_varu32(&one)};
		name.at = rd_take(&one, name.size_bytes);
		struct rd_field field = read_type(&one);
		field.name = name;
		if (one.failed) {
			c->failed = true;
			return 0;
		}
		if (out == NULL)
			continue;
		struct rd_field *added = rd_vec_add(out);
		if (added == NULL)
			return RD_NOMEM;
		*added = field;
	}
	return 0;
}

struct value {
	uint64_t number;
	struct rd_name text; /* at NULL: this is no text */
};

static struct rd_name take_text(struct rd_cursor *c, size_t size_bytes, bool utf16)
{
	const uint8_t *at = rd_take(c, size_bytes);
	return (struct rd_name){.text = {at, at != NULL ? size_bytes : 0}, .utf16 = utf16};
}

static uint64_t take_number(struct rd_cursor *c, size_t size_bytes)
{
	const uint8_t *at = rd_take(c, size_bytes);
	uint64_t number = 0;
	for (size_t i = size_bytes; at != NULL && i > 0; i--)
		number = number << 8 | at[i - 1];
	return number;
}

static struct value take_value(struct rd_cursor *c, const struct rd_field *f)
{
	uint64_t number;
	switch ((enum rd_field_shape)f->shape) {
	case RD_FIELD_NUMBER:
		return (struct value){.number = take_number(c, f->size_bytes)};
	case RD_FIELD_VARUINT:
		return (struct value){.number = rd_varu64(c)};
	case RD_FIELD_VARINT:
		number = rd_varu64(c);
		return (struct value){.number = number >> 1 ^ -(number & 1)};
	case RD_FIELD_TEXT:
		return (struct value){.text = take_text(c, rd_u16(c), false)};
	case RD_FIELD_TEXT16:
		return (struct value){.text = take_text(c, (size_t)rd_u16(c) * 2, true)};
	case RD_FIELD_TEXT16Z:
		return (struct value){.text = {.text = rd_utf16z(c), .utf16 = true}};
	case RD_FIELD_ARRAY:
		rd_skip(c, (size_t)rd_u16(c) * f->size_bytes);
		break;
	case RD_FIELD_BYTES:
		rd_skip(c, f->size_bytes);
		break;
	case RD_FIELD_OPAQUE:
		break;
	}
	return (struct value){0};
}

static bool is_number(const struct rd_field *f)
{
	return f->shape == RD_FIELD_NUMBER || f->shape == RD_FIELD_VARUINT || f->shape == RD_FIELD_VARINT;
}

static bool is_text(const struct rd_field *f)
{
	return f->shape == RD_FIELD_TEXT || f->shape == RD_FIELD_TEXT16 || f->shape == RD_FIELD_TEXT16Z;
}

/* Which of the wanted this field is; n none. */
static size_t find(const struct rd_field *f, const struct rd_field_wanted *wanted, size_t n)
{
	size_t i = 0;
	while (i < n && !(wanted[i].name.size_bytes == f->name.size_bytes &&
			  memcmp(wanted[i].name.at, f->name.at, f->name.size_bytes) == 0 &&
			  (wanted[i].text ? is_text(f) : is_number(f))))
		i++;
	return i;
}

int rd_fields_read(const struct rd_event *ev, const struct rd_field_wanted *wanted, size_t n, void *out)
{
	struct rd_cursor c = rd_cursor_of(ev->payload, ev->payload_bytes);
	uint64_t missing = (UINT64_C(1) << n) - 1; /* of the wanted */
	bool reached = true;
	for (size_t i = 0; ev->fields != NULL && i < ev->fields->n && missing != 0; i++) {
		const struct rd_field *f = &ev->fields->at[i];
		size_t which = find(f, wanted, n);
		reached = reached && f->shape != RD_FIELD_OPAQUE;
		struct value v = reached ? take_value(&c, f) : (struct value){0};
		if (which == n || (missing >> which & 1) == 0)
			continue;
		if (c.failed)
			return RD_CORRUPT;
		if (!reached)
			break;
		missing &= ~(UINT64_C(1) << which);
		if (wanted[which].text)
			memcpy((uint8_t *)out + wanted[which].at, &v.text, sizeof v.text);
		else
			memcpy((uint8_t *)out + wanted[which].at, &v.number, sizeof v.number);
	}
	for (size_t i = 0; i < n; i++)
		if (wanted[i].needed && (missing >> i & 1) != 0)
			return RD_CORRUPT;
	return 0;
}
