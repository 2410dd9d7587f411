/*
 * The headers of records. All begin 8-byte aligned with a type at byte 2 and a
 * marker at byte 3; the type says where the size stands and how long the
 * header is. A record that is longer than what is left, or shorter than its
 * own header, is none.
 */
#include "trace/etl/records.h"

#include "base/error.h"

enum marker { MARKER_TYPED = 0xc0, MARKER_TYPED_BITS = 0xc0, MARKER_MESSAGE = 0x90, MARKER_MESSAGE_BITS = 0xd0 };

enum shape { NONE, SYSTEM, COMPACT, PERFINFO, CLASSIC, EVENT, ERROR };

static const struct {
	uint8_t shape; /* enum shape */
	uint8_t head_bytes;
	uint8_t pointer_bytes;
} types[32] = {
	[1] = {SYSTEM, 32, 4},    [2] = {SYSTEM, 32, 8},   [3] = {COMPACT, 24, 4}, [4] = {COMPACT, 24, 8},
	[10] = {CLASSIC, 48, 4},  [11] = {CLASSIC, 72, 4}, [13] = {ERROR, 8, 0},   [16] = {PERFINFO, 16, 4},
	[17] = {PERFINFO, 16, 8}, [18] = {EVENT, 80, 4},   [19] = {EVENT, 80, 8},  [20] = {CLASSIC, 48, 8},
	[21] = {CLASSIC, 72, 8},
};

enum { PERFINFO_PEBS = 0x8000, PERFINFO_COUNTERS = 0x0700, PERFINFO_COUNTERS_SHIFT = 8 };
enum { EVENT_EXTENDED = 1 };
enum { MESSAGE_SEQUENCE = 1, MESSAGE_GUID = 2, MESSAGE_COMPONENT = 4, MESSAGE_TIME = 8, MESSAGE_SYSTEM = 0x20 };
enum { ITEM_HEAD = 8, ITEM_MORE = 1, ITEM_STACK32 = 5, ITEM_STACK64 = 6, STACK_MATCH_ID = 8 };

void rd_etl_walk_init(struct rd_etl_walk *w, const uint8_t *plain, uint32_t used_bytes)
{
	*w = (struct rd_etl_walk){.plain = plain, .used_bytes = used_bytes, .at = 0x48};
}

static int stop(struct rd_etl_walk *w, const char *why)
{
	w->damage = why;
	return RD_CORRUPT;
}

/* Kernel records: group and opcode instead of a GUID. */
static void kernel(struct rd_etl_record *r, const uint8_t *p)
{
	r->identity = RD_IDENTITY_KERNEL;
	r->pointer_bytes = 0;
	r->version = p[0];
	r->id = p[6];
	r->group = p[7];
	r->guid = NULL;
}

static inline void who(struct rd_etl_record *r, const uint8_t *p)
{
	r->thread = rd_le32(p + 8);
	r->pid = rd_le32(p + 12);
	r->time = rd_le64(p + 16);
}

static void nobody(struct rd_etl_record *r)
{
	r->thread = 0;
	r->pid = RD_NO_PID;
	r->time = 0;
	r->guid = NULL;
	r->group = 0;
	r->version = 0;
}

/*
 * The chain of items between an event's header and its payload. When it leaves
 * the record nobody knows where the payload begins: the event is there, with
 * an empty one.
 */
static void extended(struct rd_etl_record *r, const uint8_t *p, uint32_t size)
{
	uint32_t at = 80;

	for (;;) {
		if (size - at < ITEM_HEAD || rd_le16(p + at) < ITEM_HEAD || rd_le16(p + at) > size - at) {
			r->payload_bytes = 0;
			r->extended = NULL;
			r->extended_bytes = 0;
			return;
		}
		uint32_t more = rd_le16(p + at + 4) & ITEM_MORE;
		at += rd_le16(p + at);
		if (!more)
			break;
	}
	r->extended = p + 80;
	r->extended_bytes = at - 80;
	r->payload = p + at;
	r->payload_bytes = size - at;
}

/* A trace message (WPP): what of its optional fields is there stands in its options. */
static int message(struct rd_etl_walk *w, struct rd_etl_record *r, const uint8_t *p, uint32_t left)
{
	uint32_t size = rd_le16(p), options = rd_le16(p + 6);

	if (size < 8 || size > left)
		return stop(w, "a message of an impossible size");
	struct rd_cursor c = rd_cursor_of(p + 8, size - 8);
	nobody(r);
	r->identity = RD_IDENTITY_WPP;
	r->pointer_bytes = 8;
	r->id = 0;
	if (options & MESSAGE_SEQUENCE)
		rd_skip(&c, 4);
	if (options & MESSAGE_GUID)
		rd_skip(&c, 16);
	else if (options & MESSAGE_COMPONENT)
		rd_skip(&c, 4);
	if (options & MESSAGE_TIME)
		r->time = rd_u64(&c);
	if (options & MESSAGE_SYSTEM) {
		r->thread = rd_u32(&c);
		uint32_t pid = rd_u32(&c);
		r->pid = c.failed ? RD_NO_PID : pid;
	}
	r->payload = c.at;
	r->payload_bytes = (uint32_t)rd_left(&c);
	w->at += (size + 7) & ~7u;
	return 1;
}

/* What the header of a record of size bytes at p says; the sizes are checked. */
static void typed(struct rd_etl_record *r, const uint8_t *p, uint32_t size, enum shape shape)
{
	switch (shape) {
	case SYSTEM:
	case COMPACT:
		kernel(r, p);
		who(r, p);
		break;
	case PERFINFO:
		kernel(r, p);
		r->thread = 0;
		r->pid = RD_NO_PID;
		r->time = rd_le64(p + 8);
		break;
	case CLASSIC:
		r->identity = RD_IDENTITY_CLASSIC;
		r->id = p[4];
		r->version = rd_le16(p + 6);
		r->group = 0;
		r->guid = p + 24;
		who(r, p);
		break;
	case EVENT:
		r->identity = RD_IDENTITY_EVENT;
		r->id = rd_le16(p + 40);
		r->version = p[42];
		r->group = 0;
		r->guid = p + 24;
		who(r, p);
		if (rd_le16(p + 4) & EVENT_EXTENDED)
			extended(r, p, size);
		break;
	case ERROR:
	case NONE:
		nobody(r);
		r->identity = RD_IDENTITY_HEADER;
		r->id = p[2];
		break;
	}
}

int rd_etl_walk_next(struct rd_etl_walk *w, struct rd_etl_record *r)
{
	if (w->at >= w->used_bytes)
		return 0;
	const uint8_t *p = w->plain + w->at;
	uint32_t left = w->used_bytes - w->at;

	if (left < 8)
		return stop(w, "fewer bytes than a record has");
	r->at = w->at;
	r->extended = NULL;
	r->extended_bytes = 0;
	if ((p[3] & MARKER_MESSAGE_BITS) == MARKER_MESSAGE)
		return message(w, r, p, left);
	if ((p[3] & MARKER_TYPED_BITS) != MARKER_TYPED || p[2] >= 32 || types[p[2]].shape == NONE)
		return stop(w, "no record");

	enum shape shape = types[p[2]].shape;
	uint32_t head = types[p[2]].head_bytes, size = shape <= PERFINFO ? rd_le16(p + 4) : rd_le16(p);
	if (shape == PERFINFO) {
		uint32_t version = rd_le16(p);
		head += (version & PERFINFO_COUNTERS) >> PERFINFO_COUNTERS_SHIFT << 3;
		head += version & PERFINFO_PEBS ? 8 : 0;
	}
	if (size < head || size > left)
		return stop(w, "a record of an impossible size");
	r->payload = p + head;
	r->payload_bytes = size - head;
	r->pointer_bytes = types[p[2]].pointer_bytes;
	typed(r, p, size, shape);
	w->at += (size + 7) & ~7u;
	return 1;
}

struct rd_span rd_etl_extended_item(struct rd_span items, uint16_t type)
{
	struct rd_cursor c = rd_cursor_of(items.at, items.size_bytes);

	while (rd_left(&c) >= ITEM_HEAD) {
		uint32_t size = rd_u16(&c), this_type = rd_u16(&c);
		rd_skip(&c, 2);
		uint32_t data = rd_u16(&c);
		struct rd_cursor item = rd_sub(&c, size - ITEM_HEAD);
		if (this_type == type && data <= rd_left(&item))
			return (struct rd_span){item.at, data};
	}
	return (struct rd_span){NULL, 0};
}

struct rd_span rd_etl_extended_stack(const struct rd_etl_record *r, uint8_t *pointer_bytes)
{
	struct rd_span none = {NULL, 0};

	if (r->extended == NULL)
		return none;
	struct rd_cursor c = rd_cursor_of(r->extended, r->extended_bytes);
	while (rd_left(&c) >= ITEM_HEAD) {
		uint32_t size = rd_u16(&c), type = rd_u16(&c), flags = rd_u16(&c), data = rd_u16(&c);
		struct rd_cursor item = rd_sub(&c, size - ITEM_HEAD);
		(void)flags;
		if (type != ITEM_STACK32 && type != ITEM_STACK64)
			continue;
		uint32_t pointer = type == ITEM_STACK32 ? 4 : 8;
		if (data < STACK_MATCH_ID || data > rd_left(&item))
			return none;
		uint32_t n = (data - STACK_MATCH_ID) / pointer * pointer;
		*pointer_bytes = (uint8_t)pointer;
		return (struct rd_span){item.at + STACK_MATCH_ID, n};
	}
	return none;
}
