#include "tests/trace/nettrace/nettrace_build.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"

static void put(struct rd_bytes *out, const void *bytes, size_t size_bytes)
{
	if (rd_bytes_append(out, bytes, size_bytes) != 0)
		abort();
}

void put_number(struct rd_bytes *out, uint64_t v, size_t size_bytes)
{
	for (size_t i = 0; i < size_bytes; i++)
		put(out, &(uint8_t){i < 8 ? (uint8_t)(v >> 8 * i) : 0}, 1);
}

void put_varuint(struct rd_bytes *out, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		put_number(out, (v & 0x7f) | 0x80, 1);
	put_number(out, v, 1);
}

void put_utf16(struct rd_bytes *out, const char *ascii)
{
	for (; *ascii; ascii++)
		put_number(out, (uint8_t)*ascii, 2);
	put_number(out, 0, 2);
}

static void put_object(struct rd_bytes *out, const char *name, int32_t version, int32_t oldest_reader)
{
	put(out, "\5\5\1", 3);
	put_number(out, (uint32_t)version, 4);
	put_number(out, (uint32_t)oldest_reader, 4);
	put_number(out, strlen(name), 4);
	put(out, name, strlen(name));
	put(out, "\6", 1);
}

/* 2024-02-29 12:34:56.789, a Thursday. */
static void put_head(struct nettrace_build *b)
{
	static const uint16_t time[8] = {2024, 2, 4, 29, 12, 34, 56, 789};
	put(&b->file, "Nettrace\x14\0\0\0!FastSerialization.1", 32);
	put_object(&b->file, "Trace", b->options.version, b->options.oldest_reader);
	for (int i = 0; i < 8; i++)
		put_number(&b->file, time[i], 2);
	put_number(&b->file, b->options.start_ticks, 8);
	put_number(&b->file, b->options.frequency_hz, 8);
	put_number(&b->file, b->options.pointer_bytes, 4);
	put_number(&b->file, b->options.pid, 4);
	put_number(&b->file, 2, 4);
	put_number(&b->file, 1000000, 4);
	put(&b->file, "\6", 1);
}

#define DEFAULT(field, value) b->options.field = b->options.field ? b->options.field : (value)

void nettrace_begin(struct nettrace_build *b, const struct nettrace_options *options)
{
	memset(b, 0, sizeof *b);
	if (options != NULL)
		b->options = *options;
	DEFAULT(pointer_bytes, 8);
	DEFAULT(pid, 4242);
	DEFAULT(frequency_hz, 1000000000);
	DEFAULT(start_ticks, 1000);
	DEFAULT(version, 4);
	DEFAULT(oldest_reader, 4);
	put_head(b);
}

static void close_block(struct nettrace_build *b)
{
	if (b->name == NULL)
		return;
	if (b->count_at != 0)
		memcpy(b->payload.at + b->count_at, &b->count, 4);
	put_object(&b->file, b->name, 2, 2);
	put_number(&b->file, b->payload.n, 4);
	put_number(&b->file, 0, -b->file.n & 3);
	put(&b->file, b->payload.at, b->payload.n);
	put(&b->file, "\6", 1);
	b->name = NULL;
}

static bool has_header(const char *name)
{
	return strcmp(name, "EventBlock") == 0 || strcmp(name, "MetadataBlock") == 0;
}

void nettrace_block(struct nettrace_build *b, const char *name)
{
	close_block(b);
	b->name = name;
	b->payload.n = 0;
	b->count_at = 0;
	b->count = 0;
	b->before = (struct nettrace_event){0};
	if (!has_header(name))
		return;
	put_number(&b->payload, 20, 2);
	put_number(&b->payload, b->options.plain_headers ? 0 : 1, 2);
	put_number(&b->payload, 0, 8);
	put_number(&b->payload, 0, 8);
}

void nettrace_end(struct nettrace_build *b)
{
	close_block(b);
	if (!b->options.unfinished)
		put(&b->file, "\1", 1);
}

void nettrace_release(struct nettrace_build *b)
{
	rd_bytes_release(&b->file);
	rd_bytes_release(&b->payload);
}

static void plain_event(struct rd_bytes *out, const struct nettrace_event *ev)
{
	put_number(out, 76 + ev->payload_bytes, 4);
	put_number(out, ev->metadata_id | 0x80000000, 4);
	put_number(out, ev->sequence, 4);
	put_number(out, ev->thread, 8);
	put_number(out, ev->capture_thread, 8);
	put_number(out, 1, 4);
	put_number(out, ev->stack_id, 4);
	put_number(out, ev->time, 8);
	put(out, "0123456789abcdef0123456789abcdef", 32);
	put_number(out, ev->payload_bytes, 4);
	put(out, ev->payload, ev->payload_bytes);
	put_number(out, 0, -out->n & 3);
}

/* With one GUID in every event that has a stack, so that both ways are taken. */
static void compressed_event(struct rd_bytes *out, const struct nettrace_event *ev, const struct nettrace_event *before)
{
	uint32_t follows = before->sequence + (ev->metadata_id != 0);
	uint8_t flags = 64;
	flags |= ev->metadata_id != before->metadata_id ? 1 : 0;
	flags |= ev->capture_thread != before->capture_thread || ev->sequence != follows ? 2 : 0;
	flags |= ev->thread != before->thread ? 4 : 0;
	flags |= ev->stack_id != before->stack_id ? 8 : 0;
	flags |= ev->stack_id != 0 ? 16 : 0;
	flags |= ev->payload_bytes != before->payload_bytes ? 128 : 0;
	put_number(out, flags, 1);
	if (flags & 1)
		put_varuint(out, ev->metadata_id);
	if (flags & 2) {
		put_varuint(out, (uint32_t)(ev->sequence - before->sequence - 1));
		put_varuint(out, ev->capture_thread);
		put_varuint(out, 1);
	}
	if (flags & 4)
		put_varuint(out, ev->thread);
	if (flags & 8)
		put_varuint(out, ev->stack_id);
	put_varuint(out, ev->time - before->time);
	if (flags & 16)
		put(out, "0123456789abcdef", 16);
	if (flags & 128)
		put_varuint(out, ev->payload_bytes);
	put(out, ev->payload, ev->payload_bytes);
}

void nettrace_event(struct nettrace_build *b, const struct nettrace_event *ev)
{
	if (b->options.plain_headers)
		plain_event(&b->payload, ev);
	else
		compressed_event(&b->payload, ev, &b->before);
	b->before = *ev;
}

void nettrace_metadata(struct nettrace_build *b, uint32_t id, const char *provider, uint32_t event_id, const char *name,
		       uint32_t version)
{
	struct rd_bytes p = {0};
	put_number(&p, id, 4);
	put_utf16(&p, provider);
	put_number(&p, event_id, 4);
	put_utf16(&p, name);
	put_number(&p, 0x10, 8);
	put_number(&p, version, 4);
	put_number(&p, 4, 4);
	put_number(&p, 0, 4);
	nettrace_event(b, &(struct nettrace_event){.payload = p.at, .payload_bytes = (uint32_t)p.n});
	rd_bytes_release(&p);
}

void nettrace_stacks(struct nettrace_build *b, uint32_t first)
{
	nettrace_block(b, "StackBlock");
	put_number(&b->payload, first, 4);
	b->count_at = b->payload.n;
	put_number(&b->payload, 0, 4);
}

void nettrace_stack(struct nettrace_build *b, const uint64_t *frames, size_t n)
{
	put_number(&b->payload, n * b->options.pointer_bytes, 4);
	for (size_t i = 0; i < n; i++)
		put_number(&b->payload, frames[i], b->options.pointer_bytes);
	b->count++;
}

void nettrace_point(struct nettrace_build *b, uint64_t time)
{
	nettrace_block(b, "SPBlock");
	put_number(&b->payload, time, 8);
	b->count_at = b->payload.n;
	put_number(&b->payload, 0, 4);
}

void nettrace_point_thread(struct nettrace_build *b, uint64_t thread, uint32_t number)
{
	put_number(&b->payload, thread, 8);
	put_number(&b->payload, number, 4);
	b->count++;
}

void put_clr_method(struct rd_bytes *out, uint32_t version, const struct clr_method *m)
{
	put_number(out, m->id, 8);
	put_number(out, m->module, 8);
	put_number(out, m->start, 8);
	put_number(out, m->size_bytes, 4);
	put_number(out, m->token, 4);
	put_number(out, m->flags, 4);
	if (m->ns != NULL) {
		put_utf16(out, m->ns);
		put_utf16(out, m->name);
		put_utf16(out, m->signature);
	}
	if (version >= 1)
		put_number(out, m->clr, 2);
	if (version >= 2)
		put_number(out, m->rejit, 8);
}

void put_clr_module(struct rd_bytes *out, uint32_t version, uint64_t id, uint64_t app_domain, const char *il_path,
		    uint16_t clr)
{
	put_number(out, id, 8);
	put_number(out, id + 1, 8);
	if (app_domain != 0)
		put_number(out, app_domain, 8);
	put_number(out, 8, 4);
	put_number(out, 0, 4);
	put_utf16(out, il_path);
	put_utf16(out, "");
	if (version >= 1)
		put_number(out, clr, 2);
	if (version < 2 || app_domain != 0)
		return;
	put(out, "managed-pdb-guid", 16);
	put_number(out, 7, 4);
	put_utf16(out, "x.pdb");
	put(out, "native--pdb-guid", 16);
	put_number(out, 8, 4);
	put_utf16(out, "");
}

#define SAMPLER "Microsoft-DotNETCore-SampleProfiler"
#define RUNTIME "Microsoft-Windows-DotNETRuntime"

enum { SAMPLE_ID = 1, METHOD_ID = 2, OTHER_ID = 300, UNKNOWN_ID = 301 };

static void metadata_blocks(struct nettrace_build *b)
{
	nettrace_block(b, "MetadataBlock");
	nettrace_metadata(b, SAMPLE_ID, SAMPLER, 0, "", 0);
	nettrace_metadata(b, METHOD_ID, RUNTIME, 143, "", 1);
	nettrace_block(b, "MetadataBlock");
	nettrace_metadata(b, OTHER_ID, "MySource", 7, "Hello", 3);
}

static void sample(struct nettrace_build *b, uint64_t thread, uint32_t sequence, uint64_t time, uint32_t stack,
		   uint32_t kind)
{
	uint8_t payload[4] = {(uint8_t)kind};
	nettrace_event(b, &(struct nettrace_event){SAMPLE_ID, sequence, thread, thread, stack, time, payload, 4});
}

static void method(struct nettrace_build *b, uint64_t thread, uint32_t sequence, uint64_t time)
{
	struct rd_bytes p = {0};
	put_clr_method(&p, 1,
		       &(struct clr_method){.id = 0x77,
					    .module = 0x55,
					    .start = 0x4000,
					    .size_bytes = 0x100,
					    .ns = "Shop.Program",
					    .name = "Fib",
					    .signature = "int32  (int32)",
					    .clr = 9});
	nettrace_event(b, &(struct nettrace_event){METHOD_ID, sequence, thread, thread, 0, time, p.at, (uint32_t)p.n});
	rd_bytes_release(&p);
}

void nettrace_sample_file(struct nettrace_build *b, const struct nettrace_options *options)
{
	static const uint64_t deep[] = {0x4010, 0x5000, 0x6000}, other[] = {0x4080};
	nettrace_begin(b, options);
	metadata_blocks(b);
	nettrace_stacks(b, 1);
	nettrace_stack(b, deep, 3);
	nettrace_stack(b, other, 1);
	nettrace_block(b, "EventBlock");
	method(b, 10, 1, 2000);
	sample(b, 10, 2, 2500, 1, 2);
	sample(b, 11, 1, 2400, 2, 1);
	sample(b, 10, 3, 3000, 2, 2);
	nettrace_event(b, &(struct nettrace_event){OTHER_ID, 4, 10, 12, 0, 3100, "payload", 7});
	nettrace_block(b, "NewKindOfBlock");
	put(&b->payload, "skipped", 7);
	nettrace_stacks(b, 3);
	nettrace_stack(b, other, 0);
	nettrace_block(b, "EventBlock");
	sample(b, 11, 2, 3200, 3, 1);
	sample(b, 11, 4, 3300, 99, 1);
	nettrace_event(b, &(struct nettrace_event){UNKNOWN_ID, 5, 11, 11, 0, 3400, "?", 1});
	nettrace_point(b, 4000);
	nettrace_point_thread(b, 10, 6);
	nettrace_point_thread(b, 11, 5);
	nettrace_stacks(b, 1);
	nettrace_stack(b, other, 1);
	nettrace_block(b, "EventBlock");
	sample(b, 10, 7, 4100, 1, 2);
	sample(b, 11, 6, 4200, 2, 1);
	nettrace_end(b);
}
