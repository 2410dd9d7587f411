/*
 * The head of a file and of a block: docs/formats/nettrace.md, "Objects".
 *
 *   "Nettrace", u32 20, "!FastSerialization.1", then objects, the first of them "Trace"
 */
#include "trace/nettrace/frame.h"

#include <string.h>

#include "base/cursor.h"

#define OLDEST_TRACE 4 /* version of the Trace object, which is the file's */
#define NEWEST_TRACE 5
#define NEWEST_BLOCK 2 /* of all other objects */

static const char magic[] = "Nettrace";

int rd_nettrace_head(const uint8_t *bytes, size_t size_bytes, struct rd_trace_info *info, uint64_t *first_block,
		     struct rd_error *err)
{
	struct rd_cursor c = rd_cursor_of(bytes, size_bytes);
	const char *what = "";
	struct rd_fastserial_object o;
	const uint8_t *name = rd_take(&c, sizeof magic - 1);
	uint32_t length = rd_u32(&c);
	if (c.failed)
		return rd_fail(err, RD_TRUNCATED, "the file ends inside its head");
	if (memcmp(name, magic, sizeof magic - 1) != 0)
		return rd_fail(err, RD_CORRUPT, "not a nettrace file");
	rd_seek(&c, sizeof magic - 1);
	const uint8_t *text = length == RD_FASTSERIAL_MAGIC_BYTES - 4 ? rd_take(&c, RD_FASTSERIAL_MAGIC_BYTES) : NULL;
	if (c.failed)
		return rd_fail(err, RD_TRUNCATED, "the file ends inside its head");
	if (text == NULL || memcmp(text, RD_FASTSERIAL_MAGIC, RD_FASTSERIAL_MAGIC_BYTES) != 0)
		return rd_fail(err, RD_CORRUPT, "no version stands behind the file's first word");
	int rc = rd_fastserial_object(&c, RD_FASTSERIAL_BEGIN_PRIVATE, &o, &what);
	if (rc != 0)
		return rd_fail(err, rc, "the file's head: %s", what);
	if (!rd_fastserial_is(&o, "Trace"))
		return rd_fail(err, RD_CORRUPT, "the first block is not the head");
	if (o.version < OLDEST_TRACE || o.version > NEWEST_TRACE || o.oldest_reader > NEWEST_TRACE)
		return rd_fail(err, RD_UNSUPPORTED, "nettrace %d: this build reads nettrace 4, 5 and 6",
			       (int)o.version);
	info->version_major = (uint32_t)o.version;
	info->version_minor = 0;
	rc = rd_fastserial_trace(&c, info, err);
	*first_block = rd_tell(&c);
	return rc;
}

static uint8_t kind_of(const struct rd_fastserial_object *o)
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
		if (rd_fastserial_is(o, kinds[i].name))
			return kinds[i].kind;
	return RD_NETTRACE_UNKNOWN;
}

int rd_nettrace_frame(const uint8_t *bytes, size_t size_bytes, uint64_t file_offset, struct rd_frame *out,
		      const char **what)
{
	struct rd_cursor c = rd_cursor_of(bytes, size_bytes);
	struct rd_fastserial_object o;
	uint32_t payload_bytes;
	int rc = rd_fastserial_object(&c, RD_FASTSERIAL_BEGIN_PRIVATE, &o, what);
	if (rc == 0)
		rc = rd_fastserial_payload(&c, file_offset, &payload_bytes, what);
	if (rc != 0)
		return rc;
	uint8_t kind = kind_of(&o);
	if (kind == RD_NETTRACE_TRACE) {
		*what = "a second head";
		return RD_CORRUPT;
	}
	if (kind != RD_NETTRACE_UNKNOWN && o.oldest_reader > NEWEST_BLOCK) {
		*what = "a block of a newer version";
		return RD_UNSUPPORTED;
	}
	*out = (struct rd_frame){
		.size_bytes = rd_tell(&c) + (uint64_t)payload_bytes + 1,
		.payload_at = (uint32_t)rd_tell(&c),
		.payload_bytes = payload_bytes,
		.kind = kind,
	};
	return 0;
}

/* The time that a block's head names: the earliest of an event block, that of a sequence point. */
static uint64_t block_time(uint8_t kind, const uint8_t *payload, size_t have)
{
	struct rd_cursor c = rd_cursor_of(payload, have);
	if (kind == RD_NETTRACE_EVENT)
		rd_skip(&c, 4);
	else if (kind != RD_NETTRACE_SEQUENCE_POINT)
		return 0;
	return rd_u64(&c);
}

static void describe(struct rd_block *b, const uint8_t *payload, size_t have)
{
	b->time = block_time(b->kind, payload, have);
	if (b->kind == RD_NETTRACE_METADATA)
		b->provides = RD_CONTEXT_METADATA;
	if (b->kind == RD_NETTRACE_STACK)
		b->provides = RD_CONTEXT_STACKS;
	if (b->kind == RD_NETTRACE_SEQUENCE_POINT)
		b->resets = RD_CONTEXT_STACKS;
}

const struct rd_fastserial_blocks rd_nettrace_blocks = {
	.frame = rd_nettrace_frame,
	.describe = describe,
	.passed_over = RD_NETTRACE_UNKNOWN,
};
