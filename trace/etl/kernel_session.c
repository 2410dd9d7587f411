/*
 * Who recorded, on what machine, and what merging says of events
 * (docs/formats/etl.md, "Header", "Sessions and machines", "Event metadata").
 *
 *   CPU        MHz u32, processors u32, memory u32 (MB), page size u32, granularity u32, computer's name 256 × u16
 *   BuildLab   the system's build (UTF-16, NUL)
 *   EventInfo  TRACE_EVENT_INFO: see trace/etl/describe.c
 */
#include <string.h>

#include "trace/catalogue.h"
#include "trace/etl/header.h"
#include "trace/etl/kernel.h"

int rd_kernel_session(const struct rd_event *ev, struct rd_record *out)
{
	rd_record_begin(out, ev);
	(void)rd_etl_session_read(ev->payload, ev->payload_bytes, ev->pointer_bytes, &out->session);
	return 0;
}

int rd_kernel_build(const struct rd_event *ev, struct rd_record *out)
{
	struct rd_cursor c = rd_cursor_of(ev->payload, ev->payload_bytes);

	rd_record_begin(out, ev);
	out->machine.build = (struct rd_name){rd_utf16z(&c), true};
	if (c.failed)
		out->machine.build = (struct rd_name){0};
	return 0;
}

/* A field of fixed size: up to its NUL, if it has one. */
static struct rd_span take_fixed(struct rd_cursor *c, size_t units)
{
	const uint8_t *at = rd_take(c, 2 * units);
	size_t n = 0;

	while (at != NULL && n < units && rd_le16(at + 2 * n) != 0)
		n++;
	return (struct rd_span){at, 2 * n};
}

int rd_kernel_cpu(const struct rd_event *ev, struct rd_record *out)
{
	struct rd_cursor c = rd_cursor_of(ev->payload, ev->payload_bytes);
	struct rd_machine_record *m = &out->machine;

	rd_record_begin(out, ev);
	m->cpu_mhz = rd_u32(&c);
	m->cpus = rd_u32(&c);
	m->memory_bytes = (uint64_t)rd_u32(&c) << 20;
	rd_skip(&c, 4 + 4);
	m->host = (struct rd_name){take_fixed(&c, 256), true};
	return 0;
}

/* GUID, classic events' GUID, id u16, version, channel, level, opcode 4 × u8, task u16, keywords u64, source u32. */
int rd_etl_event_info(const struct rd_event *ev, struct rd_record *out)
{
	struct rd_cursor c = rd_cursor_of(ev->payload, ev->payload_bytes);
	struct rd_schema_record *s = &out->schema;
	enum { SOURCE_CLASSIC = 1 };

	rd_record_begin(out, ev);
	s->info = (struct rd_span){ev->payload, ev->payload_bytes};
	const uint8_t *provider = rd_take(&c, 16), *event = rd_take(&c, 16);
	uint16_t id = rd_u16(&c);
	uint8_t version = rd_u8(&c);
	rd_skip(&c, 2);
	uint8_t opcode = rd_u8(&c);
	rd_seek(&c, 48);
	uint32_t source = rd_u32(&c);
	if (c.failed) {
		s->info = (struct rd_span){0};
		return 0;
	}
	s->classic = source == SOURCE_CLASSIC;
	memcpy(s->guid, s->classic ? event : provider, sizeof s->guid);
	s->id = s->classic ? opcode : id;
	s->version = version;
	return 0;
}
