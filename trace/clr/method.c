/*
 * Method load, unload and rundown events: docs/formats/clr.md, "Methods".
 *
 *   MethodID u64, ModuleID u64, start u64, size u32, token u32, flags u32,
 *   verbose: namespace, name, signature (UTF-16, NUL), v1: ClrInstanceID u16, v2: ReJITID u64
 */
#include "base/error.h"
#include "trace/catalogue.h"
#include "trace/clr/decoders.h"

static struct rd_name read_name(struct rd_cursor *c)
{
	return (struct rd_name){.text = rd_utf16z(c), .utf16 = true};
}

static int read_method(const struct rd_event *ev, bool named, struct rd_record *out)
{
	struct rd_cursor c = rd_cursor_of(ev->payload, ev->payload_bytes);
	struct rd_method_record *m = &out->method;
	rd_record_begin(out, ev);
	m->method_id = rd_u64(&c);
	m->module_id = rd_u64(&c);
	m->start = rd_u64(&c);
	m->size_bytes = rd_u32(&c);
	m->token = rd_u32(&c);
	m->flags = rd_u32(&c);
	m->named = named;
	if (named) {
		m->ns = read_name(&c);
		m->name = read_name(&c);
		m->signature = read_name(&c);
	}
	if (ev->version >= 1)
		m->clr = rd_u16(&c);
	if (ev->version >= 2)
		m->rejit_id = rd_u64(&c);
	return c.failed ? RD_CORRUPT : 0;
}

int rd_clr_method(const struct rd_event *ev, struct rd_record *out)
{
	return read_method(ev, false, out);
}

int rd_clr_method_verbose(const struct rd_event *ev, struct rd_record *out)
{
	return read_method(ev, true, out);
}
