#include "tests/trace/netperf/netperf_build.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "tests/trace/nettrace/nettrace_build.h"

#define SAMPLER "Microsoft-DotNETCore-SampleProfiler"
#define RUNTIME "Microsoft-Windows-DotNETRuntime"

static void put(struct rd_bytes *out, const void *bytes, size_t size_bytes)
{
	if (rd_bytes_append(out, bytes, size_bytes) != 0)
		abort();
}

static bool has_blocks(const struct netperf_build *b)
{
	return b->options.version >= 3;
}

static void put_object(struct netperf_build *b, const char *name, int32_t version, int32_t oldest_reader)
{
	uint8_t begin[3] = {b->options.begin, b->options.begin, 1};
	put(&b->file, begin, 3);
	put_number(&b->file, (uint32_t)version, 4);
	put_number(&b->file, (uint32_t)oldest_reader, 4);
	put_number(&b->file, strlen(name), 4);
	put(&b->file, name, strlen(name));
	put(&b->file, "\6", 1);
}

#define DEFAULT(field, value) b->options.field = b->options.field ? b->options.field : (value)

void netperf_begin(struct netperf_build *b, const struct netperf_options *options)
{
	/* 2018-02-28 01:02:03.004, a Wednesday. */
	static const uint16_t time[8] = {2018, 2, 3, 28, 1, 2, 3, 4};
	memset(b, 0, sizeof *b);
	if (options != NULL)
		b->options = *options;
	DEFAULT(pointer_bytes, 8);
	DEFAULT(frequency_hz, 1000000000);
	DEFAULT(version, 3);
	DEFAULT(begin, 4);
	put(&b->file, "\x14\0\0\0!FastSerialization.1", 24);
	put_object(b, has_blocks(b) ? "Trace" : "Microsoft.DotNet.Runtime.EventPipeFile", b->options.version,
		   b->options.oldest_reader);
	if (!has_blocks(b))
		put_number(&b->file, 0, 4);
	for (int i = 0; i < 8; i++)
		put_number(&b->file, time[i], 2);
	put_number(&b->file, 1000, 8);
	put_number(&b->file, b->options.frequency_hz, 8);
	if (!has_blocks(b))
		return;
	put_number(&b->file, b->options.pointer_bytes, 4);
	put_number(&b->file, 4242, 4);
	put_number(&b->file, 2, 4);
	put_number(&b->file, 1000000, 4);
	put(&b->file, "\6", 1);
}

static void close_block(struct netperf_build *b)
{
	if (!b->open)
		return;
	put_object(b, "EventBlock", 1, 0);
	put_number(&b->file, b->payload.n, 4);
	put_number(&b->file, 0, -b->file.n & 3);
	if (b->payload.n > 0)
		put(&b->file, b->payload.at, b->payload.n);
	put(&b->file, "\6", 1);
	b->open = false;
	b->payload.n = 0;
}

void netperf_block(struct netperf_build *b)
{
	close_block(b);
	b->open = has_blocks(b);
}

void netperf_end(struct netperf_build *b)
{
	close_block(b);
	if (b->options.unfinished)
		return;
	if (has_blocks(b)) {
		put(&b->file, "\1", 1);
		return;
	}
	size_t tag = b->file.n, table = tag + 1;
	put(&b->file, "\6", 1);
	put_number(&b->file, 1, 4);
	put_number(&b->file, tag, 4);
	put_number(&b->file, table, 4);
	put_number(&b->file, table + 8, 4);
}

void netperf_release(struct netperf_build *b)
{
	rd_bytes_release(&b->file);
	rd_bytes_release(&b->payload);
	rd_bytes_release(&b->event);
}

static uint32_t written_id(const struct netperf_build *b, uint32_t id)
{
	return !has_blocks(b) && id < NETPERF_IDS && b->places[id] != 0 ? b->places[id] : id;
}

void netperf_event(struct netperf_build *b, const struct netperf_event *ev)
{
	struct rd_bytes *out = &b->event;
	uint32_t stack_bytes = ev->frames_n * b->options.pointer_bytes;
	uint32_t size = 60 + ev->payload_bytes + stack_bytes;
	uint32_t pad = has_blocks(b) ? -size & 3 : 0;
	out->n = 0;
	put_number(out, size + pad - 4, 4);
	put_number(out, written_id(b, ev->metadata_id), 4);
	put_number(out, ev->thread, 4);
	put_number(out, ev->time, 8);
	put(out, "0123456789abcdef0123456789abcdef", 32);
	put_number(out, ev->payload_bytes, 4);
	put(out, ev->payload, ev->payload_bytes);
	put_number(out, stack_bytes, 4);
	for (uint32_t i = 0; i < ev->frames_n; i++)
		put_number(out, ev->frames[i], b->options.pointer_bytes);
	put_number(out, 0, pad);
	put(has_blocks(b) ? &b->payload : &b->file, out->at, out->n);
}

static void put_guid(struct rd_bytes *out, const char *provider)
{
	uint8_t guid[16];
	memset(guid, '?', sizeof guid);
	if (strcmp(provider, SAMPLER) == 0)
		rd_guid_parse("3c530d44-97ae-513a-1e6d-783e8f8e03a9", guid);
	if (strcmp(provider, RUNTIME) == 0)
		rd_guid_parse("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4", guid);
	put(out, guid, sizeof guid);
}

/* Event id, name, keyword, version, level, no fields: what all versions have. */
static void put_description(struct rd_bytes *out, uint32_t event_id, const char *name, uint32_t version)
{
	put_number(out, event_id, 4);
	put_utf16(out, name);
	put_number(out, 0x10, 8);
	put_number(out, version, 4);
	put_number(out, 4, 4);
	put_number(out, 0, 4);
}

void netperf_metadata(struct netperf_build *b, uint32_t id, const char *provider, uint32_t event_id, const char *name,
		      uint32_t version)
{
	struct rd_bytes p = {0}, described = {0};
	put_description(&described, event_id, name, version);
	if (has_blocks(b)) {
		put_number(&p, id, 4);
		put_utf16(&p, provider);
		put(&p, described.at, described.n);
	} else {
		b->places[id] = (uint32_t)b->file.n;
		if (b->options.version == 1)
			put_guid(&p, provider);
		else
			put_utf16(&p, provider);
		put_number(&p, event_id, 4);
		put_number(&p, version, 4);
		/* The runtime's own events are not described. */
		put_number(&p, *name ? described.n : 0, 4);
		if (*name)
			put(&p, described.at, described.n);
	}
	netperf_event(b, &(struct netperf_event){.thread = 10, .payload = p.at, .payload_bytes = (uint32_t)p.n});
	rd_bytes_release(&p);
	rd_bytes_release(&described);
}

enum { SAMPLE_ID = 1, METHOD_ID = 2, OTHER_ID = 3, UNKNOWN_ID = 301 };

static void sample(struct netperf_build *b, uint32_t thread, uint64_t time, uint32_t kind, const uint64_t *frames,
		   uint32_t frames_n)
{
	uint8_t payload[4] = {(uint8_t)kind};
	netperf_event(b, &(struct netperf_event){SAMPLE_ID, thread, time, payload, 4, frames, frames_n});
}

static void method(struct netperf_build *b, uint64_t time)
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
	netperf_event(b, &(struct netperf_event){METHOD_ID, 10, time, p.at, (uint32_t)p.n, NULL, 0});
	rd_bytes_release(&p);
}

void netperf_sample_file(struct netperf_build *b, const struct netperf_options *options)
{
	static const uint64_t deep[] = {0x4010, 0x5000, 0x6000}, other[] = {0x4080};
	netperf_begin(b, options);
	netperf_block(b);
	netperf_metadata(b, SAMPLE_ID, SAMPLER, 0, "", 0);
	netperf_metadata(b, METHOD_ID, RUNTIME, 143, "", 1);
	method(b, 2000);
	sample(b, 10, 2500, 2, deep, 3);
	sample(b, 11, 2400, 1, other, 1);
	netperf_block(b);
	netperf_metadata(b, OTHER_ID, "MySource", 7, "Hello", 3);
	netperf_event(b, &(struct netperf_event){OTHER_ID, 12, 3100, "payload", 7, deep, 3});
	sample(b, 11, 3200, 1, NULL, 0);
	netperf_event(b, &(struct netperf_event){UNKNOWN_ID, 11, 3400, "?", 1, NULL, 0});
	sample(b, 10, 3500, 2, other, 1);
	netperf_block(b);
	sample(b, 10, 4100, 2, other, 1);
	netperf_event(b, &(struct netperf_event){OTHER_ID, 12, 4200, "no", 2, NULL, 0});
	netperf_end(b);
}
