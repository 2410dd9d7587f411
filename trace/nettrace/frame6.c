/*
 * "Nettrace", u32 0, major u32, minor u32, then blocks: size u24 (of the payload), kind u8, payload.
 */
#include "trace/nettrace/frame6.h"

#include <string.h>

#include "base/cursor.h"
#include "trace/fastserial.h"
#include "trace/nettrace/frame.h"

#define POINTER_BYTES_MAX 8

bool rd_nettrace6_is(const uint8_t *head, size_t size_bytes)
{
	return size_bytes >= 12 && memcmp(head, "Nettrace\0\0\0", 12) == 0;
}

int rd_nettrace6_version(const uint8_t *head, size_t size_bytes, struct rd_trace_info *info, struct rd_error *err)
{
	struct rd_cursor c = rd_cursor_of(head, size_bytes);
	rd_skip(&c, 12);
	uint32_t major = rd_u32(&c), minor = rd_u32(&c);
	if (c.failed)
		return rd_fail(err, RD_TRUNCATED, "the file ends inside its head");
	if (major != 6)
		return rd_fail(err, RD_UNSUPPORTED, "nettrace %u.%u: this build reads nettrace 4, 5 and 6", major,
			       minor);
	info->version_major = major;
	info->version_minor = minor;
	return 0;
}

static struct rd_span take_string(struct rd_cursor *c)
{
	uint32_t size_bytes = rd_varu32(c);
	const uint8_t *at = rd_take(c, size_bytes);
	return (struct rd_span){at, at != NULL ? size_bytes : 0};
}

/* A number in decimal digits; 0 when it is none or does not fit. */
static uint64_t number_of(struct rd_span text)
{
	uint64_t n = 0;
	for (size_t i = 0; i < text.size_bytes; i++) {
		uint8_t digit = (uint8_t)(text.at[i] - '0');
		if (digit > 9 || __builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, digit, &n))
			return 0;
	}
	return n;
}

static bool is(struct rd_span text, const char *name)
{
	return text.size_bytes == strlen(name) && memcmp(text.at, name, text.size_bytes) == 0;
}

static void take_pair(struct rd_cursor *c, struct rd_trace_info *info)
{
	struct rd_span key = take_string(c), value = take_string(c);
	if (c->failed)
		return;
	uint64_t number = number_of(value);
	if (is(key, "HardwareThreadCount") && number <= UINT32_MAX)
		info->cpus = (uint32_t)number;
	else if (is(key, "ProcessId") && number <= UINT32_MAX)
		info->pid = (uint32_t)number;
	else if (is(key, "ExpectedCPUSamplingRate"))
		info->sampling_ns = number;
}

int rd_nettrace6_trace(const uint8_t *payload, size_t size_bytes, struct rd_trace_info *info, struct rd_error *err)
{
	struct rd_cursor c = rd_cursor_of(payload, size_bytes);
	rd_fastserial_clock(&c, info);
	info->pointer_bytes = rd_u32(&c);
	uint32_t pairs = rd_u32(&c);
	for (uint32_t i = 0; i < pairs && !c.failed; i++)
		take_pair(&c, info);
	if (c.failed)
		return rd_fail(err, RD_CORRUPT, "the file's first block ends too early");
	if (info->pointer_bytes != 4 && info->pointer_bytes != POINTER_BYTES_MAX)
		return rd_fail(err, RD_CORRUPT, "the file's head says pointers of %u bytes", info->pointer_bytes);
	return 0;
}

int rd_nettrace6_facts(const struct rd_source *s, struct rd_facts *out, struct rd_error *err)
{
	uint8_t head[RD_INDEXER_WINDOW_BYTES];
	struct rd_trace_info ignored = {0};
	int64_t have = rd_source_some(s, head, sizeof head, 0, err);
	if (have < RD_NETTRACE6_MAGIC_BYTES + RD_NETTRACE6_BLOCK_BYTES)
		return have < 0 ? (int)have : 0;
	struct rd_frame f = rd_nettrace6_frame(head + RD_NETTRACE6_MAGIC_BYTES);
	struct rd_cursor c = rd_cursor_of(head, (size_t)have);
	rd_skip(&c, RD_NETTRACE6_MAGIC_BYTES + f.payload_at);
	struct rd_cursor block = rd_sub(&c, f.payload_bytes < rd_left(&c) ? f.payload_bytes : rd_left(&c));
	rd_fastserial_clock(&block, &ignored);
	rd_skip(&block, 4);
	for (uint32_t pairs = rd_u32(&block); pairs > 0; pairs--) {
		struct rd_span key = take_string(&block), value = take_string(&block);
		if (block.failed)
			break;
		if (rd_facts_add(out, key, value) != 0)
			return rd_fail_nomem(err);
	}
	return 0;
}

struct rd_frame rd_nettrace6_frame(const uint8_t *bytes)
{
	uint32_t word = rd_le32(bytes);
	return (struct rd_frame){
		.size_bytes = RD_NETTRACE6_BLOCK_BYTES + (uint64_t)(word & 0xffffff),
		.payload_at = RD_NETTRACE6_BLOCK_BYTES,
		.payload_bytes = word & 0xffffff,
		.kind = (uint8_t)(word >> 24),
	};
}

#define POINT_FORGETS_THREADS  1
#define POINT_FORGETS_METADATA 2

/* Time u64, then flags u32. */
uint8_t rd_nettrace6_point_resets(const uint8_t *payload, size_t size_bytes)
{
	struct rd_cursor c = rd_cursor_of(payload, size_bytes);
	rd_skip(&c, 8);
	uint32_t flags = rd_u32(&c);
	unsigned resets = RD_CONTEXT_STACKS;
	resets |= (flags & POINT_FORGETS_THREADS) != 0 ? RD_CONTEXT_THREADS : 0;
	resets |= (flags & POINT_FORGETS_METADATA) != 0 ? RD_CONTEXT_METADATA : 0;
	return (uint8_t)resets;
}

/* The most that the index reads of a payload: the head and the earliest time of an event block. */
#define LOOKED_AT_BYTES 12

static void describe(struct rd_block *b, const uint8_t *payload, size_t have)
{
	struct rd_cursor c = rd_cursor_of(payload, have);
	switch (b->kind) {
	case RD_NETTRACE_EVENT:
		rd_skip(&c, 4);
		b->time = rd_u64(&c);
		break;
	case RD_NETTRACE_SEQUENCE_POINT:
		b->time = rd_u64(&c);
		b->resets = rd_nettrace6_point_resets(payload, have);
		break;
	case RD_NETTRACE_METADATA:
		b->provides = RD_CONTEXT_METADATA;
		break;
	case RD_NETTRACE_THREAD:
	case RD_NETTRACE_REMOVE_THREAD:
		b->provides = RD_CONTEXT_THREADS;
		break;
	case RD_NETTRACE_STACK:
	case RD_NETTRACE_LABEL_LIST:
		b->provides = RD_CONTEXT_STACKS;
		break;
	default:
		break;
	}
}

/* An end of the file that is none; 0, as steps return it. */
static int cut(struct rd_indexer *x, const char *what)
{
	rd_indexer_cut(x, x->offset, what);
	return 0;
}

int rd_nettrace6_step(struct rd_indexer *x, struct rd_error *err)
{
	const uint8_t *at;
	uint64_t left = x->source->size_bytes - x->offset;
	if (left == 0)
		return cut(x, "the file ends without its end mark");
	int64_t have = rd_indexer_look(x, x->offset, RD_NETTRACE6_BLOCK_BYTES + LOOKED_AT_BYTES, &at, err);
	if (have < 0)
		return (int)have;
	if (have < RD_NETTRACE6_BLOCK_BYTES)
		return cut(x, "the file ends inside a block's head");
	struct rd_frame f = rd_nettrace6_frame(at);
	if (f.kind == RD_NETTRACE_END) {
		/* Writers fill in a block's head last: that of a block they never finished looks like the end. */
		if (f.size_bytes < left)
			return cut(x, "more bytes stand behind the end mark");
		x->index.info.complete = true;
		return 0;
	}
	if (f.kind == RD_NETTRACE_TRACE)
		return cut(x, "a second head");
	if (f.size_bytes > left)
		return cut(x, "the file ends inside a block");
	struct rd_block b = {.offset = x->offset, .size_bytes = f.size_bytes, .kind = f.kind};
	size_t payload_have = (size_t)have - f.payload_at;
	describe(&b, at + f.payload_at, payload_have < f.payload_bytes ? payload_have : f.payload_bytes);
	/* Later versions may have more kinds: they are stepped over, and nobody need read them. */
	int rc = f.kind <= RD_NETTRACE_LABEL_LIST ? rd_indexer_add(x, b, err) : 0;
	x->offset += f.size_bytes;
	return rc != 0 ? rc : 1;
}

int rd_nettrace6_reframe(const struct rd_block *b, const uint8_t *bytes, struct rd_frame *out)
{
	if (b->size_bytes < RD_NETTRACE6_BLOCK_BYTES)
		return RD_CHANGED;
	*out = rd_nettrace6_frame(bytes);
	return out->size_bytes == b->size_bytes && out->kind == b->kind ? 0 : RD_CHANGED;
}
