#include "tests/trace/nettrace/nettrace6_build.h"

#include <stdlib.h>
#include <string.h>

static void put(struct rd_bytes *out, const void *bytes, size_t size_bytes)
{
	if (rd_bytes_append(out, bytes, size_bytes) != 0)
		abort();
}

void put_string6(struct rd_bytes *out, const char *text)
{
	put_varuint(out, strlen(text));
	put(out, text, strlen(text));
}

void put_text6(struct rd_bytes *out, const char *text)
{
	put_number(out, strlen(text), 2);
	put(out, text, strlen(text));
}

/* 2024-02-29 12:34:56.789, a Thursday. */
static void put_head(struct nettrace6_build *b)
{
	static const uint16_t time[8] = {2024, 2, 4, 29, 12, 34, 56, 789};
	size_t pairs = 0;
	put(&b->file, "Nettrace\0\0\0\0", 12);
	put_number(&b->file, b->options.major, 4);
	put_number(&b->file, b->options.minor, 4);
	nettrace6_block(b, RD_NETTRACE_TRACE);
	for (int i = 0; i < 8; i++)
		put_number(&b->payload, time[i], 2);
	put_number(&b->payload, b->options.start_ticks, 8);
	put_number(&b->payload, b->options.frequency_hz, 8);
	put_number(&b->payload, b->options.pointer_bytes, 4);
	while (pairs < 8 && b->options.pairs[pairs] != NULL)
		pairs++;
	put_number(&b->payload, pairs / 2, 4);
	for (size_t i = 0; i < pairs; i++)
		put_string6(&b->payload, b->options.pairs[i]);
}

#define DEFAULT(field, value) b->options.field = b->options.field ? b->options.field : (value)

void nettrace6_begin(struct nettrace6_build *b, const struct nettrace6_options *options)
{
	memset(b, 0, sizeof *b);
	b->kind = -1;
	if (options != NULL)
		b->options = *options;
	DEFAULT(pointer_bytes, 8);
	DEFAULT(major, 6);
	DEFAULT(frequency_hz, 1000000000);
	DEFAULT(start_ticks, 1000);
	put_head(b);
}

static void close_block(struct nettrace6_build *b)
{
	if (b->kind < 0)
		return;
	if (b->count_at != 0)
		memcpy(b->payload.at + b->count_at, &b->count, 4);
	put_number(&b->file, b->payload.n, 3);
	put_number(&b->file, (uint64_t)b->kind, 1);
	put(&b->file, b->payload.n > 0 ? b->payload.at : (const uint8_t *)"", b->payload.n);
	b->kind = -1;
}

void nettrace6_block(struct nettrace6_build *b, uint8_t kind)
{
	close_block(b);
	b->kind = kind;
	b->payload.n = 0;
	b->count_at = 0;
	b->count = 0;
	b->before = (struct nettrace6_event){0};
	if (kind == RD_NETTRACE_METADATA)
		put_number(&b->payload, 0, 2);
	if (kind != RD_NETTRACE_EVENT)
		return;
	put_number(&b->payload, 20, 2);
	put_number(&b->payload, b->options.plain_headers ? 0 : 1, 2);
	put_number(&b->payload, 0, 8);
	put_number(&b->payload, 0, 8);
}

void nettrace6_end(struct nettrace6_build *b)
{
	close_block(b);
	if (!b->options.unfinished)
		put_number(&b->file, 0, 4);
}

void nettrace6_release(struct nettrace6_build *b)
{
	rd_bytes_release(&b->file);
	rd_bytes_release(&b->payload);
}

static void put_sized(struct rd_bytes *out, struct rd_bytes *what)
{
	put_number(out, what->n, 2);
	put(out, what->at, what->n);
	rd_bytes_release(what);
}

static void put_fields(struct rd_bytes *out, const struct nettrace6_field *fields)
{
	size_t n = 0;
	while (fields != NULL && fields[n].name != NULL)
		n++;
	put_number(out, n, 2);
	for (size_t i = 0; i < n; i++) {
		struct rd_bytes one = {0};
		put_string6(&one, fields[i].name);
		put_number(&one, fields[i].type, 1);
		if (fields[i].type == FIELD_ARRAY || fields[i].type == FIELD_FIXED_ARRAY)
			put_number(&one, fields[i].element, 1);
		if (fields[i].type == FIELD_FIXED_ARRAY)
			put_number(&one, fields[i].count, 2);
		put_sized(out, &one);
	}
}

void nettrace6_metadata(struct nettrace6_build *b, uint32_t id, const char *provider, uint32_t event_id,
			const char *name, uint8_t version, const struct nettrace6_field *fields)
{
	struct rd_bytes row = {0}, options = {0};
	put_varuint(&row, id);
	put_string6(&row, provider);
	put_varuint(&row, event_id);
	put_string6(&row, name);
	put_fields(&row, fields);
	put(&options, "\1\x0b\3\1\2\3\4\5\6\7\x08\x08\4", 13);
	if (version != 0) {
		put_number(&options, 9, 1);
		put_number(&options, version, 1);
	}
	put_sized(&row, &options);
	put_sized(&b->payload, &row);
}

static void plain_event(struct rd_bytes *out, const struct nettrace6_event *ev)
{
	put_number(out, 48 + ev->payload_bytes, 4);
	put_number(out, ev->metadata_id | 0x80000000, 4);
	put_number(out, ev->sequence, 4);
	put_number(out, ev->thread, 8);
	put_number(out, ev->capture_thread, 8);
	put_number(out, 1, 4);
	put_number(out, ev->stack_id, 4);
	put_number(out, ev->time, 8);
	put_number(out, ev->label_list, 4);
	put_number(out, ev->payload_bytes, 4);
	put(out, ev->payload, ev->payload_bytes);
}

static void compressed_event(struct rd_bytes *out, const struct nettrace6_event *ev,
			     const struct nettrace6_event *before)
{
	/* The first event of a block says its processor. */
	bool follows = before->sequence != 0 && ev->sequence == before->sequence + 1;
	uint8_t flags = 64;
	flags |= ev->metadata_id != before->metadata_id ? 1 : 0;
	flags |= ev->capture_thread != before->capture_thread || !follows ? 2 : 0;
	flags |= ev->thread != before->thread ? 4 : 0;
	flags |= ev->stack_id != before->stack_id ? 8 : 0;
	flags |= ev->label_list != before->label_list ? 16 : 0;
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
		put_varuint(out, ev->label_list);
	if (flags & 128)
		put_varuint(out, ev->payload_bytes);
	put(out, ev->payload, ev->payload_bytes);
}

void nettrace6_event(struct nettrace6_build *b, const struct nettrace6_event *ev)
{
	if (b->options.plain_headers)
		plain_event(&b->payload, ev);
	else
		compressed_event(&b->payload, ev, &b->before);
	b->before = *ev;
}

static void counted_block(struct nettrace6_build *b, uint8_t kind, uint64_t head, size_t head_bytes)
{
	nettrace6_block(b, kind);
	put_number(&b->payload, head, head_bytes);
	b->count_at = b->payload.n;
	put_number(&b->payload, 0, 4);
}

void nettrace6_stacks(struct nettrace6_build *b, uint32_t first)
{
	counted_block(b, RD_NETTRACE_STACK, first, 4);
}

void nettrace6_stack(struct nettrace6_build *b, const uint64_t *frames, size_t n)
{
	put_number(&b->payload, n * b->options.pointer_bytes, 4);
	for (size_t i = 0; i < n; i++)
		put_number(&b->payload, frames[i], b->options.pointer_bytes);
	b->count++;
}

void nettrace6_point(struct nettrace6_build *b, uint64_t time, uint32_t flags)
{
	nettrace6_block(b, RD_NETTRACE_SEQUENCE_POINT);
	put_number(&b->payload, time, 8);
	put_number(&b->payload, flags, 4);
	b->count_at = b->payload.n;
	put_number(&b->payload, 0, 4);
}

void nettrace6_point_thread(struct nettrace6_build *b, uint64_t index, uint32_t number)
{
	put_varuint(&b->payload, index);
	put_varuint(&b->payload, number);
	b->count++;
}

void nettrace6_labels(struct nettrace6_build *b, uint32_t first)
{
	counted_block(b, RD_NETTRACE_LABEL_LIST, first, 4);
}

void nettrace6_label_version(struct nettrace6_build *b, uint8_t version)
{
	put_number(&b->payload, 5, 1);
	put_string6(&b->payload, "key");
	put_string6(&b->payload, "value");
	put_number(&b->payload, 10 | 0x80, 1);
	put_number(&b->payload, version, 1);
	b->count++;
}

void nettrace6_thread(struct nettrace6_build *b, uint64_t index, uint64_t pid, uint64_t thread)
{
	struct rd_bytes row = {0};
	put_varuint(&row, index);
	put_number(&row, 1, 1);
	put_string6(&row, "a name");
	put_number(&row, 2, 1);
	put_varuint(&row, pid);
	put_number(&row, 3, 1);
	put_varuint(&row, thread);
	put_sized(&b->payload, &row);
}

void nettrace6_removed(struct nettrace6_build *b, uint64_t index, uint32_t number)
{
	put_varuint(&b->payload, index);
	put_varuint(&b->payload, number);
}

#define SYSTEM "Universal.System"
#define EVENTS "Universal.Events"

void universal_metadata(struct nettrace6_build *b)
{
	static const struct nettrace6_field value[] = {{"Value", FIELD_VARUINT, 0, 0}, {NULL, 0, 0, 0}};
	static const struct nettrace6_field process[] = {
		{"NamespaceId", FIELD_VARUINT, 0, 0},
		{"Name", FIELD_UTF8, 0, 0},
		{"NamespaceName", FIELD_UTF8, 0, 0},
		{NULL, 0, 0, 0},
	};
	static const struct nettrace6_field mapping[] = {
		{"Id", FIELD_VARUINT, 0, 0},
		{"StartAddress", FIELD_VARUINT, 0, 0},
		{"EndAddress", FIELD_VARUINT, 0, 0},
		{"FileOffset", FIELD_VARUINT, 0, 0},
		{"FileName", FIELD_UTF8, 0, 0},
		{"MetadataId", FIELD_VARUINT, 0, 0},
		{NULL, 0, 0, 0},
	};
	static const struct nettrace6_field symbol[] = {
		{"Id", FIELD_VARUINT, 0, 0},
		{"MappingId", FIELD_VARUINT, 0, 0},
		{"StartAddress", FIELD_VARUINT, 0, 0},
		{"EndAddress", FIELD_VARUINT, 0, 0},
		{"Name", FIELD_UTF8, 0, 0},
		{NULL, 0, 0, 0},
	};
	nettrace6_metadata(b, U_CPU, EVENTS, 1, "cpu", 0, value);
	nettrace6_metadata(b, U_CSWITCH, EVENTS, 2, "cswitch", 0, value);
	nettrace6_metadata(b, U_EXISTING, SYSTEM, 0, "ExistingProcess", 0, process);
	nettrace6_metadata(b, U_CREATE, SYSTEM, 1, "ProcessCreate", 0, process);
	nettrace6_metadata(b, U_EXIT, SYSTEM, 2, "ProcessExit", 0, NULL);
	nettrace6_metadata(b, U_MAPPING, SYSTEM, 3, "ProcessMapping", 0, mapping);
	nettrace6_metadata(b, U_SYMBOL, SYSTEM, 4, "ProcessSymbol", 0, symbol);
}

static void put_event(struct nettrace6_build *b, struct nettrace6_event at, uint32_t id, struct rd_bytes *payload)
{
	at.metadata_id = id;
	at.sequence = b->before.sequence + 1;
	at.payload = payload->n > 0 ? payload->at : (const uint8_t *)"";
	at.payload_bytes = (uint32_t)payload->n;
	nettrace6_event(b, &at);
	rd_bytes_release(payload);
}

void universal_value(struct nettrace6_build *b, struct nettrace6_event at, uint32_t id, uint64_t value)
{
	struct rd_bytes p = {0};
	put_varuint(&p, value);
	put_event(b, at, id, &p);
}

void universal_process(struct nettrace6_build *b, struct nettrace6_event at, uint32_t id, uint64_t namespace_pid,
		       const char *name)
{
	struct rd_bytes p = {0};
	if (id != U_EXIT) {
		put_varuint(&p, namespace_pid);
		put_text6(&p, name);
		put_text6(&p, "Unknown");
	}
	put_event(b, at, id, &p);
}

void universal_mapping(struct nettrace6_build *b, struct nettrace6_event at, uint64_t mapping, uint64_t start,
		       uint64_t end, const char *path)
{
	struct rd_bytes p = {0};
	put_varuint(&p, mapping);
	put_varuint(&p, start);
	put_varuint(&p, end);
	put_varuint(&p, 0);
	put_text6(&p, path);
	put_varuint(&p, 0);
	put_event(b, at, U_MAPPING, &p);
}

void universal_symbol(struct nettrace6_build *b, struct nettrace6_event at, uint64_t mapping, uint64_t start,
		      uint64_t last, const char *name)
{
	struct rd_bytes p = {0};
	put_varuint(&p, 77);
	put_varuint(&p, mapping);
	put_varuint(&p, start);
	put_varuint(&p, last);
	put_text6(&p, name);
	put_event(b, at, U_SYMBOL, &p);
}

#define RUNTIME "Microsoft-Windows-DotNETRuntime"

enum { METHOD_ID = 20, UNKNOWN_ID = 21 };

/* The metadata says version 0, the labels 2. */
static void method(struct nettrace6_build *b, uint32_t labels, uint64_t time)
{
	struct rd_bytes p = {0};
	struct clr_method m = {.id = 0x77, .module = 0x55, .start = 0x9000, .size_bytes = 0x100, .clr = 9, .rejit = 3};
	m.ns = "Shop.Program";
	m.name = "Fib";
	m.signature = "int32  (int32)";
	put_clr_method(&p, 2, &m);
	put_event(b, (struct nettrace6_event){.thread = 1, .time = time, .label_list = labels}, METHOD_ID, &p);
}

static void first_part(struct nettrace6_build *b)
{
	static const uint64_t deep[] = {0x4010, 0x5000, 0x9010}, other[] = {0x4080};
	const struct nettrace6_event one = {.thread = 1, .time = 1000}, two = {.thread = 2, .time = 1000};
	nettrace6_point(b, 1000, 1);
	nettrace6_stacks(b, 1);
	nettrace6_stack(b, deep, 3);
	nettrace6_stack(b, other, 1);
	nettrace6_block(b, RD_NETTRACE_THREAD);
	nettrace6_thread(b, 0, 0, 0);
	nettrace6_thread(b, 1, 500, 501);
	nettrace6_thread(b, 2, 600, 601);
	nettrace6_labels(b, 1);
	nettrace6_label_version(b, 2);
	nettrace6_block(b, RD_NETTRACE_EVENT);
	universal_process(b, one, U_EXISTING, 1, "shop");
	universal_process(b, two, U_CREATE, 1, "shop");
	universal_mapping(b, one, 5, 0x4000, 0x6000, "/lib/libone.so");
	universal_symbol(b, one, 5, 0x4000, 0x40ff, "fast_path");
	universal_mapping(b, two, 6, 0x4000, 0x6000, "/memfd:doublemapper (deleted)");
	universal_symbol(b, two, 6, 0x4000, 0x40ff, "int32 [shop] Shop.Program::Fib(int32)[OptimizedTier1]");
	method(b, 1, 1500);
	universal_value(b, (struct nettrace6_event){.thread = 1, .stack_id = 1, .time = 2000}, U_CPU, 1);
	universal_value(b, (struct nettrace6_event){.thread = 2, .stack_id = 2, .time = 1900}, U_CPU, 3);
	universal_value(b, (struct nettrace6_event){.thread = 2, .stack_id = 2, .time = 2100}, U_CSWITCH, 9000);
	universal_value(b, (struct nettrace6_event){.thread = 7, .stack_id = 9, .time = 2200}, U_CPU, 1);
	universal_value(b, (struct nettrace6_event){.thread = 1, .time = 2300}, UNKNOWN_ID, 1);
	nettrace6_block(b, 9);
	put_number(&b->payload, 12345, 8);
}

/* Indices used anew, behind a removal and behind a point that forgets threads; metadata ids behind one that forgets
 * those. */
static void second_part(struct nettrace6_build *b)
{
	static const uint64_t other[] = {0x4080};
	nettrace6_block(b, RD_NETTRACE_REMOVE_THREAD);
	nettrace6_removed(b, 2, 3);
	nettrace6_removed(b, 0, 14);
	nettrace6_block(b, RD_NETTRACE_EVENT);
	universal_value(b, (struct nettrace6_event){.thread = 2, .stack_id = 2, .time = 2400}, U_CPU, 1);
	nettrace6_block(b, RD_NETTRACE_THREAD);
	nettrace6_thread(b, 2, 500, 502);
	nettrace6_block(b, RD_NETTRACE_EVENT);
	universal_value(b, (struct nettrace6_event){.thread = 2, .stack_id = 2, .time = 2500}, U_CPU, 1);
	nettrace6_point(b, 3000, 0);
	nettrace6_point_thread(b, 0, 4);
	nettrace6_block(b, RD_NETTRACE_EVENT);
	universal_value(b, (struct nettrace6_event){.thread = 2, .stack_id = 2, .time = 3100}, U_CPU, 1);
	method(b, 1, 3200);
	nettrace6_point(b, 4000, 2);
	nettrace6_block(b, RD_NETTRACE_METADATA);
	nettrace6_metadata(b, U_CSWITCH, EVENTS, 1, "cpu", 0, NULL);
	nettrace6_stacks(b, 2);
	nettrace6_stack(b, other, 1);
	nettrace6_block(b, RD_NETTRACE_EVENT);
	universal_value(b, (struct nettrace6_event){.thread = 1, .stack_id = 2, .time = 4100}, U_CSWITCH, 1);
	universal_value(b, (struct nettrace6_event){.thread = 1, .stack_id = 2, .time = 4200}, U_CPU, 1);
	nettrace6_point(b, 5000, 3);
	nettrace6_point_thread(b, 0, 8);
	nettrace6_block(b, RD_NETTRACE_METADATA);
	universal_metadata(b);
	nettrace6_block(b, RD_NETTRACE_EVENT);
	universal_process(b, (struct nettrace6_event){.thread = 1, .time = 5100}, U_EXIT, 0, "");
	nettrace6_end(b);
}

void nettrace6_sample_file(struct nettrace6_build *b, const struct nettrace6_options *options)
{
	nettrace6_begin(b, options);
	nettrace6_block(b, RD_NETTRACE_METADATA);
	universal_metadata(b);
	nettrace6_metadata(b, METHOD_ID, RUNTIME, 143, "MethodLoadVerbose", 0, NULL);
	first_part(b);
	second_part(b);
}
