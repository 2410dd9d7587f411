/*
 * Label list blocks: docs/formats/nettrace.md, "Labels".
 *
 *   first id u32, count u32, then count lists; a list is labels of kind u8 and value, of which
 *   the last one has the high bit in its kind
 */
#include "trace/nettrace/labels.h"

#include "base/error.h"

enum label {
	ACTIVITY = 1,
	RELATED_ACTIVITY = 2,
	TRACE = 3,
	SPAN = 4,
	KEY_STRING = 5,
	KEY_NUMBER = 6,
	OPCODE = 7,
	KEYWORDS = 8,
	LEVEL = 9,
	VERSION = 10,
	LAST = 0x80,
};

struct list {
	uint32_t id;      /* the key */
	uint32_t version; /* + 1; 0: none, or a list without one took its place */
};

void rd_nettrace_labels_init(struct rd_nettrace_labels *l)
{
	rd_records_init(&l->lists, sizeof(struct list), sizeof(uint32_t));
}

void rd_nettrace_labels_release(struct rd_nettrace_labels *l)
{
	rd_records_release(&l->lists);
}

void rd_nettrace_labels_reset(struct rd_nettrace_labels *l)
{
	if (l->lists.n == 0)
		return;
	rd_nettrace_labels_release(l);
	rd_nettrace_labels_init(l);
}

/* The value of a label; the cursor fails for a kind whose value nobody knows how to step over. */
static void skip_label(struct rd_cursor *c, uint8_t kind)
{
	switch ((enum label)kind) {
	case ACTIVITY:
	case RELATED_ACTIVITY:
	case TRACE:
		rd_skip(c, 16);
		break;
	case SPAN:
	case KEYWORDS:
		rd_skip(c, 8);
		break;
	case KEY_STRING:
		rd_skip(c, rd_varu32(c));
		rd_skip(c, rd_varu32(c));
		break;
	case KEY_NUMBER:
		rd_skip(c, rd_varu32(c));
		(void)rd_varu64(c);
		break;
	case OPCODE:
	case LEVEL:
	case VERSION:
		rd_skip(c, 1);
		break;
	default:
		c->failed = true;
	}
}

/* A whole list; its version + 1, or 0. */
static uint32_t take_list(struct rd_cursor *c)
{
	uint32_t version = 0;
	uint8_t kind;
	do {
		kind = rd_u8(c);
		if ((kind & ~LAST) == VERSION)
			version = rd_u8(c) + UINT32_C(1);
		else
			skip_label(c, kind & (uint8_t)~LAST);
	} while ((kind & LAST) == 0 && !c->failed);
	return version;
}

bool rd_nettrace_labels_valid(const uint8_t *payload, size_t size_bytes)
{
	struct rd_cursor c = rd_cursor_of(payload, size_bytes);
	rd_skip(&c, 4);
	uint32_t count = rd_u32(&c);
	for (uint32_t i = 0; i < count && !c.failed; i++)
		(void)take_list(&c);
	return !c.failed;
}

int rd_nettrace_labels_add(struct rd_nettrace_labels *l, const uint8_t *payload, size_t size_bytes)
{
	struct rd_cursor c = rd_cursor_of(payload, size_bytes);
	uint32_t first = rd_u32(&c), count = rd_u32(&c);
	for (uint32_t i = 0; i < count && !c.failed; i++) {
		struct list list = {.id = first + i, .version = take_list(&c)};
		if (list.version == 0 && rd_records_find(&l->lists, &list.id) == RD_NONE)
			continue;
		uint32_t id = rd_records_id(&l->lists, &list.id, NULL);
		if (id == RD_NONE)
			return RD_NOMEM;
		*(struct list *)rd_records_at(&l->lists, id) = list;
	}
	return 0;
}

bool rd_nettrace_labels_version(const struct rd_nettrace_labels *l, uint32_t id, uint32_t *version)
{
	if (l->lists.n == 0)
		return false;
	uint32_t at = rd_records_find(&l->lists, &id);
	if (at == RD_NONE || ((const struct list *)rd_records_at(&l->lists, at))->version == 0)
		return false;
	*version = ((const struct list *)rd_records_at(&l->lists, at))->version - 1;
	return true;
}
