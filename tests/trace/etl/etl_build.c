#include "tests/trace/etl/etl_build.h"

#include <stdlib.h>
#include <string.h>

#include "tests/trace/etl/etl_pack.h"
#include "trace/etl/etl.h"

enum { HEAD = 0x48, MARKER = 0xc0 };

void etl_put(struct rd_bytes *b, uint64_t v, size_t size_bytes)
{
	if (rd_bytes_append(b, &v, size_bytes) != 0)
		abort();
}

void etl_put_pointer(struct rd_bytes *b, const struct etl_build *e, uint64_t v)
{
	etl_put(b, v, e->options.pointer_bytes);
}

void etl_put_utf16(struct rd_bytes *b, const char *ascii)
{
	do
		etl_put(b, (uint8_t)*ascii, 2);
	while (*ascii++);
}

void etl_put_text(struct rd_bytes *b, const char *text)
{
	if (rd_bytes_append(b, text, strlen(text) + 1) != 0)
		abort();
}

void etl_patch(struct rd_bytes *b, size_t at, uint64_t v, size_t size_bytes)
{
	memcpy(b->at + at, &v, size_bytes);
}

static void append(struct rd_bytes *b, const struct rd_bytes *more)
{
	if (more && more->n && rd_bytes_append(b, more->at, more->n) != 0)
		abort();
}

static void pad(struct rd_bytes *b, size_t to, uint8_t with)
{
	while (b->n < to || (to == 0 && b->n % 8))
		etl_put(b, with, 1);
}

static void open_buffer(struct etl_build *e, uint16_t cpu, uint64_t time, uint16_t type)
{
	struct rd_bytes *b = &e->plain;

	b->n = 0;
	e->open = true;
	e->flags = 0x20;
	etl_put(b, 0, 8);
	etl_put(b, 0, 8);
	etl_put(b, time, 8);
	etl_put(b, e->sequence++, 8);
	etl_put(b, 0, 8);
	etl_put(b, cpu, 2);
	etl_put(b, 1, 2);
	/* State: the compression in the first buffer, and 3 in all others whatever they are. */
	etl_put(b, type == 4 && e->options.compression ? e->options.compression : 3, 4);
	etl_put(b, 0, 4);
	etl_put(b, 0, 2);
	etl_put(b, type, 2);
	etl_put(b, UINT64_C(0xffffaa849dfd2038), 8);
	etl_put(b, UINT64_C(0xffffaa849dfb2038), 8);
}

static void close_buffer(struct etl_build *e)
{
	struct rd_bytes *b = &e->plain;
	size_t used = b->n, start = e->file.n;
	bool first = e->buffers == 0, packed = e->options.compression && !first;

	if (!e->open)
		return;
	etl_patch(b, 0x04, used, 4);
	etl_patch(b, 0x30, used, 4);
	etl_patch(b, 0x34, e->flags | (packed ? 0x40u : 0), 2);
	if (rd_bytes_append(&e->file, b->at, HEAD) != 0)
		abort();
	if (packed) {
		etl_pack(&e->file, e->options.compression, b->at + HEAD, used - HEAD);
	} else {
		if (rd_bytes_append(&e->file, b->at + HEAD, used - HEAD) != 0)
			abort();
		pad(&e->file, start + (first ? e->options.header_bytes : e->options.buffer_bytes), 0xff);
	}
	etl_patch(&e->file, start, e->file.n - start, 4);
	e->buffers++;
	e->open = false;
}

static uint64_t or_else(uint64_t v, uint64_t otherwise)
{
	return v ? v : otherwise;
}

static void header_event(struct etl_build *e)
{
	const struct etl_options *o = &e->options;
	struct rd_bytes p = {0};

	etl_put(&p, o->buffer_bytes, 4);
	etl_put(&p, 0x0501000a, 4); /* 10.0, log version 1.5 */
	etl_put(&p, 19045, 4);
	etl_put(&p, o->cpus, 4);
	etl_put(&p, o->unfinished ? 0 : o->end_filetime, 8);
	etl_put(&p, 156250, 4);
	etl_put(&p, 0, 4);
	etl_put(&p, o->mode, 4);
	etl_put(&p, 0, 4);
	etl_put(&p, 1, 4);
	etl_put(&p, o->pointer_bytes, 4);
	etl_put(&p, o->lost_events, 4);
	etl_put(&p, o->cpu_mhz, 4);
	etl_put_pointer(&p, e, 0);
	etl_put_pointer(&p, e, 0);
	for (int i = 0; i < 43; i++)
		etl_put(&p, 0, 4);
	pad(&p, 0, 0);
	etl_put(&p, 1, 8);
	etl_put(&p, o->frequency_hz, 8);
	etl_put(&p, o->start_filetime, 8);
	etl_put(&p, o->clock, 4);
	etl_put(&p, o->lost_buffers, 4);
	etl_put_utf16(&p, o->session);
	etl_put_utf16(&p, "C:\\test.etl");
	etl_system(e, 0, 0, 2, (struct etl_who){4, 8, o->start_ticks}, &p);
	rd_bytes_release(&p);
}

void etl_begin(struct etl_build *e, const struct etl_options *options)
{
	struct etl_options *o = &e->options;

	memset(e, 0, sizeof *e);
	if (options)
		*o = *options;
	o->pointer_bytes = (uint32_t)or_else(o->pointer_bytes, 8);
	o->buffer_bytes = (uint32_t)or_else(o->buffer_bytes, 4096);
	o->header_bytes = (uint32_t)or_else(o->header_bytes, o->buffer_bytes);
	o->clock = (uint32_t)or_else(o->clock, 1);
	o->frequency_hz = or_else(o->frequency_hz, 10000000);
	o->cpu_mhz = (uint32_t)or_else(o->cpu_mhz, 1000);
	o->start_ticks = or_else(o->start_ticks, 1000000);
	o->start_filetime = or_else(o->start_filetime, UINT64_C(133485408000000000));
	o->end_filetime = or_else(o->end_filetime, o->start_filetime + 100000000);
	o->cpus = (uint32_t)or_else(o->cpus, 4);
	o->session = o->session ? o->session : "test";
	if (o->compression)
		o->mode |= RD_ETL_MODE_COMPRESSED;
	open_buffer(e, 0, 0, 4);
	header_event(e);
}

void etl_buffer(struct etl_build *e, uint16_t cpu, uint64_t time)
{
	close_buffer(e);
	open_buffer(e, cpu, time, 0);
}

void etl_end(struct etl_build *e)
{
	close_buffer(e);
	if (!e->options.unfinished)
		etl_patch(&e->file, HEAD + 32 + 36, e->buffers, 4);
}

void etl_release(struct etl_build *e)
{
	rd_bytes_release(&e->file);
	rd_bytes_release(&e->plain);
}

static size_t size_of(const struct rd_bytes *b)
{
	return b ? b->n : 0;
}

/* The type of a record: 32-bit files use the lower number. */
static uint8_t type_of(const struct etl_build *e, uint8_t narrow, uint8_t wide)
{
	return e->options.pointer_bytes == 4 ? narrow : wide;
}

void etl_raw(struct etl_build *e, const void *bytes, size_t size_bytes)
{
	if (rd_bytes_append(&e->plain, bytes, size_bytes) != 0)
		abort();
	pad(&e->plain, 0, 0xcd);
}

/* Version, type, marker, size, opcode, group: how kernel records begin. */
static void kernel_head(struct etl_build *e, uint8_t type, uint8_t group, uint8_t opcode, uint16_t version, size_t size)
{
	etl_put(&e->plain, version, 2);
	etl_put(&e->plain, type, 1);
	etl_put(&e->plain, MARKER, 1);
	etl_put(&e->plain, size, 2);
	etl_put(&e->plain, opcode, 1);
	etl_put(&e->plain, group, 1);
}

static void put_who(struct etl_build *e, struct etl_who who)
{
	etl_put(&e->plain, who.tid, 4);
	etl_put(&e->plain, who.pid, 4);
	etl_put(&e->plain, who.time, 8);
}

static void finish(struct etl_build *e, const struct rd_bytes *payload)
{
	append(&e->plain, payload);
	pad(&e->plain, 0, 0xcd);
}

void etl_system(struct etl_build *e, uint8_t group, uint8_t opcode, uint16_t version, struct etl_who who,
		const struct rd_bytes *payload)
{
	kernel_head(e, type_of(e, 1, 2), group, opcode, version, 32 + size_of(payload));
	put_who(e, who);
	etl_put(&e->plain, 0, 8);
	finish(e, payload);
}

void etl_compact(struct etl_build *e, uint8_t group, uint8_t opcode, uint16_t version, struct etl_who who,
		 const struct rd_bytes *payload)
{
	kernel_head(e, type_of(e, 3, 4), group, opcode, version, 24 + size_of(payload));
	put_who(e, who);
	finish(e, payload);
}

void etl_perfinfo(struct etl_build *e, uint8_t group, uint8_t opcode, uint16_t version, uint64_t time,
		  const struct rd_bytes *payload)
{
	unsigned words = (version >> 8 & 7u) + (version >> 15);

	kernel_head(e, type_of(e, 16, 17), group, opcode, version, 16 + 8 * words + size_of(payload));
	etl_put(&e->plain, time, 8);
	for (unsigned i = 0; i < words; i++)
		etl_put(&e->plain, UINT64_C(0x5a5a5a5a5a5a5a5a), 8);
	finish(e, payload);
}

static void classic_head(struct etl_build *e, uint8_t type, const uint8_t guid[16], uint8_t opcode, uint16_t version,
			 struct etl_who who, size_t size)
{
	etl_put(&e->plain, size, 2);
	etl_put(&e->plain, type, 1);
	etl_put(&e->plain, MARKER, 1);
	etl_put(&e->plain, opcode, 1);
	etl_put(&e->plain, 4, 1);
	etl_put(&e->plain, version, 2);
	put_who(e, who);
	append(&e->plain, &(struct rd_bytes){.at = (uint8_t *)(uintptr_t)guid, .n = 16});
	etl_put(&e->plain, 0, 8);
}

void etl_classic(struct etl_build *e, const uint8_t guid[16], uint8_t opcode, uint16_t version, struct etl_who who,
		 const struct rd_bytes *payload)
{
	classic_head(e, type_of(e, 10, 20), guid, opcode, version, who, 48 + size_of(payload));
	finish(e, payload);
}

void etl_instance(struct etl_build *e, const uint8_t guid[16], uint8_t opcode, uint16_t version, struct etl_who who,
		  const struct rd_bytes *payload)
{
	classic_head(e, type_of(e, 11, 21), guid, opcode, version, who, 72 + size_of(payload));
	etl_put(&e->plain, 1, 4);
	etl_put(&e->plain, 2, 4);
	append(&e->plain, &(struct rd_bytes){.at = (uint8_t *)(uintptr_t)guid, .n = 16});
	finish(e, payload);
}

void etl_event(struct etl_build *e, const uint8_t guid[16], uint16_t id, uint8_t version, struct etl_who who,
	       const struct rd_bytes *extended, const struct rd_bytes *payload)
{
	struct rd_bytes *b = &e->plain;

	etl_put(b, 80 + size_of(extended) + size_of(payload), 2);
	etl_put(b, type_of(e, 18, 19), 1);
	etl_put(b, MARKER, 1);
	etl_put(b, extended ? 1 : 0, 2);
	etl_put(b, 0, 2);
	put_who(e, who);
	append(b, &(struct rd_bytes){.at = (uint8_t *)(uintptr_t)guid, .n = 16});
	etl_put(b, id, 2);
	etl_put(b, version, 1);
	etl_put(b, 0, 1); /* channel */
	etl_put(b, 4, 1); /* level */
	etl_put(b, 0, 1); /* opcode */
	etl_put(b, 0, 2); /* task */
	etl_put(b, 0x30, 8);
	etl_put(b, 0, 8); /* processor time */
	etl_put(b, 0, 8); /* activity */
	etl_put(b, 0, 8);
	append(b, extended);
	finish(e, payload);
}

void etl_message(struct etl_build *e, const uint8_t guid[16], uint16_t number, struct etl_who who,
		 const struct rd_bytes *payload)
{
	struct rd_bytes *b = &e->plain;

	etl_put(b, 8 + 4 + 16 + 8 + 8 + size_of(payload), 2);
	etl_put(b, 0, 1);
	etl_put(b, 0x90, 1);
	etl_put(b, number, 2);
	etl_put(b, 1 | 2 | 8 | 0x20, 2);
	etl_put(b, 1, 4);
	append(b, &(struct rd_bytes){.at = (uint8_t *)(uintptr_t)guid, .n = 16});
	etl_put(b, who.time, 8);
	etl_put(b, who.tid, 4);
	etl_put(b, who.pid, 4);
	finish(e, payload);
}

void etl_put_item(struct rd_bytes *b, uint16_t type, bool more, const struct rd_bytes *data)
{
	size_t size = size_of(data), padded = (8 + size + 7) & ~(size_t)7;

	etl_put(b, padded, 2);
	etl_put(b, type, 2);
	etl_put(b, more, 2);
	etl_put(b, size, 2);
	append(b, data);
	for (size_t i = 8 + size; i < padded; i++)
		etl_put(b, 0, 1);
}
