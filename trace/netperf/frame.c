/*
 * The head of a file, blocks, the table at the end: docs/formats/netperf.md, "Objects" and "Versions 1 and 2".
 *
 *   "!FastSerialization.1", then objects: 4, 4, 1, version i32, oldest reader i32, name, 6, payload, 6
 */
#include "trace/netperf/frame.h"

#include <string.h>

#include "base/file.h"

#define NEWEST_VERSION 3
#define NEWEST_BLOCK   1

static bool is_trace(const struct rd_fastserial_object *o)
{
	return rd_fastserial_is(o, "Trace") || rd_fastserial_is(o, "Microsoft.DotNet.Runtime.EventPipeFile");
}

bool rd_netperf_probe(const uint8_t *head, size_t size_bytes)
{
	struct rd_cursor c = rd_cursor_of(head, size_bytes);
	struct rd_fastserial_object o;
	const char *what;
	const uint8_t *magic = rd_take(&c, RD_FASTSERIAL_MAGIC_BYTES);
	if (magic == NULL || memcmp(magic, RD_FASTSERIAL_MAGIC, RD_FASTSERIAL_MAGIC_BYTES) != 0)
		return false;
	int rc = rd_fastserial_object(&c, RD_FASTSERIAL_BEGIN, &o, &what);
	return rc == RD_TRUNCATED || (rc == 0 && is_trace(&o));
}

/* Where the events end, then where and when this began. What else a profile wants to know, these versions do not say.
 */
static int read_old_head(struct rd_cursor *c, struct rd_trace_info *info, uint32_t *reference, struct rd_error *err)
{
	*reference = rd_u32(c);
	rd_fastserial_clock(c, info);
	info->pointer_bytes = 8;
	return c->failed ? rd_fail(err, RD_TRUNCATED, "the file ends inside its head") : 0;
}

int rd_netperf_head(const uint8_t *bytes, size_t size_bytes, struct rd_trace_info *info, uint64_t *first,
		    uint32_t *reference, struct rd_error *err)
{
	struct rd_cursor c = rd_cursor_of(bytes, size_bytes);
	const char *what = "";
	struct rd_fastserial_object o;
	const uint8_t *magic = rd_take(&c, RD_FASTSERIAL_MAGIC_BYTES);
	if (magic == NULL)
		return rd_fail(err, RD_TRUNCATED, "the file ends inside its head");
	if (memcmp(magic, RD_FASTSERIAL_MAGIC, RD_FASTSERIAL_MAGIC_BYTES) != 0)
		return rd_fail(err, RD_CORRUPT, "not a netperf file");
	int rc = rd_fastserial_object(&c, RD_FASTSERIAL_BEGIN, &o, &what);
	if (rc != 0)
		return rd_fail(err, rc, "the file's head: %s", what);
	if (!is_trace(&o))
		return rd_fail(err, RD_UNSUPPORTED, "objects that are no trace of .NET");
	if (o.version < 1 || o.version > NEWEST_VERSION || o.oldest_reader > NEWEST_VERSION)
		return rd_fail(err, RD_UNSUPPORTED, "netperf %d: this build reads netperf 1 to %d", (int)o.version,
			       NEWEST_VERSION);
	info->version_major = (uint32_t)o.version;
	*reference = 0;
	if (rd_netperf_has_blocks(info->version_major))
		rc = rd_fastserial_trace(&c, info, err);
	else
		rc = read_old_head(&c, info, reference, err);
	*first = rd_tell(&c);
	return rc;
}

static int read_frame(const uint8_t *bytes, size_t size_bytes, uint64_t file_offset, struct rd_frame *out,
		      const char **what)
{
	struct rd_cursor c = rd_cursor_of(bytes, size_bytes);
	struct rd_fastserial_object o;
	uint32_t payload_bytes;
	int rc = rd_fastserial_object(&c, RD_FASTSERIAL_BEGIN, &o, what);
	if (rc != 0)
		return rc;
	/* Unlike nettrace's, a block of another name need not have a size in front of it. */
	if (!rd_fastserial_is(&o, "EventBlock")) {
		*what = "a block of an unknown kind";
		return RD_UNSUPPORTED;
	}
	if (o.oldest_reader > NEWEST_BLOCK) {
		*what = "a block of a newer version";
		return RD_UNSUPPORTED;
	}
	rc = rd_fastserial_payload(&c, file_offset, &payload_bytes, what);
	if (rc != 0)
		return rc;
	*out = (struct rd_frame){
		.size_bytes = rd_tell(&c) + (uint64_t)payload_bytes + 1,
		.payload_at = (uint32_t)rd_tell(&c),
		.payload_bytes = payload_bytes,
		.kind = RD_NETPERF_BLOCK,
	};
	return 0;
}

/* The time of the first event. */
static void describe(struct rd_block *b, const uint8_t *payload, size_t have)
{
	struct rd_cursor c = rd_cursor_of(payload, have);
	rd_skip(&c, 12);
	b->time = rd_u64(&c);
	b->provides = RD_CONTEXT_METADATA;
}

const struct rd_fastserial_blocks rd_netperf_blocks = {.frame = read_frame, .describe = describe};

/* Places have 32 bits in the file; of the many that end so, the one at or before `top`. */
static uint64_t place_before(uint64_t top, uint32_t low)
{
	return top - (uint32_t)((uint32_t)top - low);
}

/*
 * The end of a closed file: 6, then count u32 and so many places u32, then the
 * place of that count u32, then the place of the number before, which is 8 from
 * the file's end. The reference is an index into the places.
 */
int rd_netperf_events_end(const struct rd_source *s, uint64_t first, uint32_t reference, uint64_t *end,
			  struct rd_error *err)
{
	uint8_t bytes[8];
	*end = RD_NO_OFFSET;
	if (s->size_bytes < first + sizeof bytes)
		return 0;
	uint64_t last = s->size_bytes - sizeof bytes;
	int rc = rd_source_read(s, bytes, sizeof bytes, last, err);
	if (rc != 0 || rd_le32(bytes + 4) != (uint32_t)last)
		return rc;
	uint64_t table = place_before(last, rd_le32(bytes)), at = table + 4 + UINT64_C(4) * reference;
	if (table < first || table > last || at + 4 > last)
		return 0;
	rc = rd_source_read(s, bytes, 4, at, err);
	if (rc != 0)
		return rc;
	uint64_t tag = place_before(table, rd_le32(bytes));
	if (tag < first || tag >= table || tag > last)
		return 0;
	rc = rd_source_read(s, bytes, 1, tag, err);
	if (rc == 0 && bytes[0] == RD_FASTSERIAL_END)
		*end = tag;
	return rc;
}
