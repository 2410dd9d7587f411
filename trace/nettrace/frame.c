/*
 * The head of a file and of a block: docs/formats/nettrace.md, "Objects".
 *
 *   "Nettrace", u32 20, "!FastSerialization.1", then objects:
 *   5, 5, 1, version i32, oldest reader i32, name length i32, name, 6, payload, 6
 *
 * The first object is "Trace", whose payload has a fixed size. Every other
 * payload is size u32, zeros up to the next multiple of 4 in the file, bytes.
 */
#include "trace/nettrace/frame.h"

#include <string.h>

#include "base/cursor.h"

enum { TAG_NULL = 1, TAG_BEGIN = 5, TAG_END = 6 };

#define OLDEST_TRACE         4 /* version of the Trace object, which is the file's */
#define NEWEST_TRACE         5
#define NEWEST_BLOCK         2 /* of all other objects */
#define NAME_BYTES_MAX       128
#define DEFAULT_FREQUENCY_HZ UINT64_C(1000000000)

static const char magic[] = "Nettrace";
static const char serialization[] = "!FastSerialization.1";

struct object {
	int32_t version;
	int32_t oldest_reader;
	struct rd_span name;
};

/* The tags, versions and name in front of a payload. */
static int read_object(struct rd_cursor *c, struct object *o, const char **what)
{
	uint8_t begin = rd_u8(c), type_begin = rd_u8(c), type_type = rd_u8(c);
	o->version = rd_i32(c);
	o->oldest_reader = rd_i32(c);
	int32_t name_bytes = rd_i32(c);
	if (c->failed) {
		*what = "the file ends inside a block's head";
		return RD_TRUNCATED;
	}
	if (begin != TAG_BEGIN || type_begin != TAG_BEGIN || type_type != TAG_NULL) {
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
	if (end != TAG_END) {
		*what = "a block's head does not end";
		return RD_CORRUPT;
	}
	o->name = (struct rd_span){name, (size_t)name_bytes};
	return 0;
}

static bool is_named(const struct object *o, const char *name)
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

static int read_trace(struct rd_cursor *c, struct rd_trace_info *info, struct rd_error *err)
{
	info->clock.kind = RD_CLOCK_QPC;
	info->clock.start_utc_ns = read_system_time(c);
	info->clock.start_ticks = rd_u64(c);
	info->clock.frequency_hz = rd_u64(c);
	info->pointer_bytes = rd_u32(c);
	info->pid = rd_u32(c);
	info->cpus = rd_u32(c);
	info->sampling_ns = rd_u32(c);
	uint8_t end = rd_u8(c);
	if (c->failed)
		return rd_fail(err, RD_TRUNCATED, "the file ends inside its head");
	if (end != TAG_END)
		return rd_fail(err, RD_CORRUPT, "the file's head does not end");
	if (info->pointer_bytes != 4 && info->pointer_bytes != 8)
		return rd_fail(err, RD_CORRUPT, "the file's head says pointers of %u bytes", info->pointer_bytes);
	/* The samples are good without it, so their times keep their order and lose their unit. */
	if (info->clock.frequency_hz == 0)
		info->clock.frequency_hz = DEFAULT_FREQUENCY_HZ;
	return 0;
}

int rd_nettrace_head(const uint8_t *bytes, size_t size_bytes, struct rd_trace_info *info, uint64_t *first_block,
		     struct rd_error *err)
{
	struct rd_cursor c = rd_cursor_of(bytes, size_bytes);
	const char *what = "";
	struct object o;
	const uint8_t *name = rd_take(&c, sizeof magic - 1);
	uint32_t length = rd_u32(&c);
	if (c.failed)
		return rd_fail(err, RD_TRUNCATED, "the file ends inside its head");
	if (memcmp(name, magic, sizeof magic - 1) != 0)
		return rd_fail(err, RD_CORRUPT, "not a nettrace file");
	if (length == 0) {
		uint32_t major = rd_u32(&c), minor = rd_u32(&c);
		if (c.failed)
			return rd_fail(err, RD_TRUNCATED, "the file ends inside its head");
		return rd_fail(err, RD_UNSUPPORTED, "nettrace %u.%u: this build reads nettrace 4 and 5", major, minor);
	}
	const uint8_t *text = length == sizeof serialization - 1 ? rd_take(&c, length) : NULL;
	if (c.failed)
		return rd_fail(err, RD_TRUNCATED, "the file ends inside its head");
	if (text == NULL || memcmp(text, serialization, length) != 0)
		return rd_fail(err, RD_CORRUPT, "no version stands behind the file's first word");
	int rc = read_object(&c, &o, &what);
	if (rc != 0)
		return rd_fail(err, rc, "the file's head: %s", what);
	if (!is_named(&o, "Trace"))
		return rd_fail(err, RD_CORRUPT, "the first block is not the head");
	if (o.version < OLDEST_TRACE || o.version > NEWEST_TRACE || o.oldest_reader > NEWEST_TRACE)
		return rd_fail(err, RD_UNSUPPORTED, "nettrace %d: this build reads nettrace 4 and 5", (int)o.version);
	info->version_major = (uint32_t)o.version;
	info->version_minor = 0;
	rc = read_trace(&c, info, err);
	*first_block = rd_tell(&c);
	return rc;
}

static uint8_t kind_of(const struct object *o)
{
	static const struct {
		const char *name;
		uint8_t kind;
	} kinds[] = {
		{"EventBlock", RD_NETTRACE_EVENT},
		{"StackBlock", RD_NETTRACE_STACK},
		{"SPBlock", RD_NETTRACE_SEQUENCE_POINT},
		{"MetadataBlock", RD_NETTRACE_METADATA},
		{"Trace", RD_NETTRACE_TRACE},
	};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (is_named(o, kinds[i].name))
			return kinds[i].kind;
	return RD_NETTRACE_UNKNOWN;
}

int rd_nettrace_frame(const uint8_t *bytes, size_t size_bytes, uint64_t file_offset, struct rd_nettrace_frame *out,
		      const char **what)
{
	struct rd_cursor c = rd_cursor_of(bytes, size_bytes);
	struct object o;
	if (size_bytes > 0 && bytes[0] == TAG_NULL) {
		*out = (struct rd_nettrace_frame){.size_bytes = 1, .kind = RD_NETTRACE_END};
		return 0;
	}
	int rc = read_object(&c, &o, what);
	if (rc != 0)
		return rc;
	uint32_t payload_bytes = rd_u32(&c);
	rd_skip(&c, (size_t)(-(file_offset + rd_tell(&c)) & 3));
	if (c.failed) {
		*what = "the file ends inside a block's head";
		return RD_TRUNCATED;
	}
	uint8_t kind = kind_of(&o);
	if (kind == RD_NETTRACE_TRACE || payload_bytes > INT32_MAX) {
		*what = kind == RD_NETTRACE_TRACE ? "a second head" : "a block's size is negative";
		return RD_CORRUPT;
	}
	if (kind != RD_NETTRACE_UNKNOWN && o.oldest_reader > NEWEST_BLOCK) {
		*what = "a block of a newer version";
		return RD_UNSUPPORTED;
	}
	*out = (struct rd_nettrace_frame){
		.size_bytes = rd_tell(&c) + (uint64_t)payload_bytes + 1,
		.payload_at = (uint32_t)rd_tell(&c),
		.payload_bytes = payload_bytes,
		.kind = kind,
	};
	return 0;
}
