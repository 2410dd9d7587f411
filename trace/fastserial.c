/*
 * Objects: docs/formats/nettrace.md, "Objects".
 *
 *   5, 5, 1, version i32, oldest reader i32, name length i32, name, 6, payload, 6
 *
 * Trace has a payload of a fixed size. Every other payload is size u32, zeros
 * up to the next multiple of 4 in the file, bytes.
 */
#include "trace/fastserial.h"

#include <string.h>

#define NAME_BYTES_MAX       128
#define DEFAULT_FREQUENCY_HZ UINT64_C(1000000000)

static bool begins(uint8_t tag, enum rd_fastserial_tag least)
{
	return tag >= least && tag <= RD_FASTSERIAL_BEGIN_PRIVATE;
}

int rd_fastserial_object(struct rd_cursor *c, enum rd_fastserial_tag begin, struct rd_fastserial_object *out,
			 const char **what)
{
	uint8_t object_begin = rd_u8(c), type_begin = rd_u8(c), type_type = rd_u8(c);
	out->version = rd_i32(c);
	out->oldest_reader = rd_i32(c);
	int32_t name_bytes = rd_i32(c);
	if (c->failed) {
		*what = "the file ends inside a block's head";
		return RD_TRUNCATED;
	}
	if (!begins(object_begin, begin) || !begins(type_begin, begin) || type_type != RD_FASTSERIAL_NULL) {
		*what = "no block begins here";
		return RD_CORRUPT;
	}
	if (name_bytes < 0 || name_bytes > NAME_BYTES_MAX) {
		*what = "a block's name has an absurd length";
		return RD_CORRUPT;
	}
	const uint8_t *name = rd_take(c, (size_t)name_bytes);
	uint8_t end = rd_u8(c);
	if (c->failed) {
		*what = "the file ends inside a block's head";
		return RD_TRUNCATED;
	}
	if (end != RD_FASTSERIAL_END) {
		*what = "a block's head does not end";
		return RD_CORRUPT;
	}
	out->name = (struct rd_span){name, (size_t)name_bytes};
	return 0;
}

bool rd_fastserial_is(const struct rd_fastserial_object *o, const char *name)
{
	return o->name.size_bytes == strlen(name) && memcmp(o->name.at, name, o->name.size_bytes) == 0;
}

/* Days from 1970-01-01 to a date of the Gregorian calendar, by counting from a first of March. */
static int64_t days_from_civil(int64_t year, unsigned month, unsigned day)
{
	year -= month <= 2;
	int64_t era = (year >= 0 ? year : year - 399) / 400;
	int64_t year_of_era = year - era * 400;
	int64_t day_of_year = (153 * (int64_t)(month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
	int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
	return era * 146097 + day_of_era - 719468;
}

/* A SYSTEMTIME as nanoseconds since 1970; 0 for a date that is none, or that does not fit. */
static int64_t read_system_time(struct rd_cursor *c)
{
	unsigned year = rd_u16(c), month = rd_u16(c);
	rd_skip(c, 2);
	unsigned day = rd_u16(c), hour = rd_u16(c), minute = rd_u16(c), second = rd_u16(c), ms = rd_u16(c);
	bool valid = year >= 1700 && year <= 2261 && month >= 1 && month <= 12 && day >= 1 && day <= 31 && hour < 24 &&
		     minute < 60 && second < 61 && ms < 1000;
	if (!valid)
		return 0;
	int64_t seconds = days_from_civil(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
	return (seconds * 1000 + ms) * 1000000;
}

void rd_fastserial_clock(struct rd_cursor *c, struct rd_trace_info *info)
{
	info->clock.kind = RD_CLOCK_QPC;
	info->clock.start_utc_ns = read_system_time(c);
	info->clock.start_ticks = rd_u64(c);
	info->clock.frequency_hz = rd_u64(c);
	/* The samples are good without it, so their times keep their order and lose their unit. */
	if (info->clock.frequency_hz == 0)
		info->clock.frequency_hz = DEFAULT_FREQUENCY_HZ;
}

int rd_fastserial_trace(struct rd_cursor *c, struct rd_trace_info *info, struct rd_error *err)
{
	rd_fastserial_clock(c, info);
	info->pointer_bytes = rd_u32(c);
	info->pid = rd_u32(c);
	info->cpus = rd_u32(c);
	info->sampling_ns = rd_u32(c);
	uint8_t end = rd_u8(c);
	if (c->failed)
		return rd_fail(err, RD_TRUNCATED, "the file ends inside its head");
	if (end != RD_FASTSERIAL_END)
		return rd_fail(err, RD_CORRUPT, "the file's head does not end");
	if (info->pointer_bytes != 4 && info->pointer_bytes != 8)
		return rd_fail(err, RD_CORRUPT, "the file's head says pointers of %u bytes", info->pointer_bytes);
	return 0;
}

int rd_fastserial_payload(struct rd_cursor *c, uint64_t file_offset, uint32_t *payload_bytes, const char **what)
{
	*payload_bytes = rd_u32(c);
	rd_skip(c, (size_t)(-(file_offset + rd_tell(c)) & 3));
	if (c->failed) {
		*what = "the file ends inside a block's head";
		return RD_TRUNCATED;
	}
	if (*payload_bytes > INT32_MAX) {
		*what = "a block's size is negative";
		return RD_CORRUPT;
	}
	return 0;
}

/* Whether the file's end mark stands here, and no object. */
static bool ends_file(const uint8_t *bytes, size_t size_bytes)
{
	return size_bytes > 0 && bytes[0] == RD_FASTSERIAL_NULL;
}

/* An end of the file that is none; 0, as steps return it. */
static int cut(struct rd_indexer *x, uint64_t offset, const char *what)
{
	rd_indexer_cut(x, offset, what);
	return 0;
}

/* Each look begins at the closing tag of the block before, so that the tag is checked and the next head read at once.
 */
int rd_fastserial_step(struct rd_indexer *x, struct rd_error *err)
{
	const struct rd_fastserial_blocks *blocks = x->ctx;
	const uint8_t *at;
	const char *what = "";
	struct rd_frame f;
	uint64_t size = x->source->size_bytes, begin = x->offset;
	if (begin >= size)
		return cut(x, size, "the file ends without its end mark");
	int64_t have = rd_indexer_look(x, begin, RD_FASTSERIAL_HEAD_BYTES, &at, err);
	if (have < 0)
		return (int)have;
	if (ends_file(at, (size_t)have)) {
		x->index.info.complete = true;
		return 0;
	}
	if (blocks->frame(at, (size_t)have, begin, &f, &what) != 0)
		return cut(x, begin, what);
	if (f.size_bytes > size - begin)
		return cut(x, begin, "the file ends inside a block");
	struct rd_block b = {.offset = begin, .size_bytes = f.size_bytes, .kind = f.kind};
	size_t payload_have = (size_t)have - f.payload_at;
	blocks->describe(&b, at + f.payload_at, payload_have < f.payload_bytes ? payload_have : f.payload_bytes);
	have = rd_indexer_look(x, begin + f.size_bytes - 1, 1 + RD_FASTSERIAL_HEAD_BYTES, &at, err);
	if (have < 0)
		return (int)have;
	if (have == 0 || *at != RD_FASTSERIAL_END)
		return cut(x, begin, "a block does not end where its size says");
	/* It may be of 2 GiB, and whoever decodes a block has all of it in memory. */
	bool passed_over = f.kind != 0 && f.kind == blocks->passed_over;
	int rc = passed_over ? 0 : rd_indexer_add(x, b, err);
	x->offset = begin + f.size_bytes;
	return rc != 0 ? rc : 1;
}

int rd_fastserial_reframe(const struct rd_fastserial_blocks *blocks, const struct rd_block *b, const uint8_t *bytes,
			  struct rd_frame *out)
{
	const char *what = "";
	size_t size = (size_t)b->size_bytes;
	if (size == 0 || ends_file(bytes, size) || blocks->frame(bytes, size, b->offset, out, &what) != 0)
		return RD_CHANGED;
	bool same = out->size_bytes == b->size_bytes && out->kind == b->kind;
	return same && bytes[size - 1] == RD_FASTSERIAL_END ? 0 : RD_CHANGED;
}
