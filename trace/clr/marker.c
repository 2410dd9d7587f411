/*
 * Where a rundown begins and ends, and what the runtime says of itself:
 * docs/formats/clr.md, "Markers" and "RuntimeInformation".
 */
#include "base/error.h"
#include "trace/catalogue.h"
#include "trace/clr/decoders.h"

/* Version 0 has no payload at all; version 1 has ClrInstanceID u16. */
static int read_marker(const struct rd_event *ev, enum rd_marker marker, struct rd_record *out)
{
	struct rd_cursor c = rd_cursor_of(ev->payload, ev->payload_bytes);
	rd_record_begin(out, ev);
	out->marker.marker = marker;
	if (ev->version >= 1)
		out->marker.clr = rd_u16(&c);
	return c.failed ? RD_CORRUPT : 0;
}

int rd_clr_start_init(const struct rd_event *ev, struct rd_record *out)
{
	return read_marker(ev, RD_MARKER_START_INIT, out);
}

int rd_clr_start_complete(const struct rd_event *ev, struct rd_record *out)
{
	return read_marker(ev, RD_MARKER_START_COMPLETE, out);
}

int rd_clr_end_init(const struct rd_event *ev, struct rd_record *out)
{
	return read_marker(ev, RD_MARKER_END_INIT, out);
}

int rd_clr_end_complete(const struct rd_event *ev, struct rd_record *out)
{
	return read_marker(ev, RD_MARKER_END_COMPLETE, out);
}

/*
 * ClrInstanceID u16, SKU u16, four u16 of the class library's version, four of
 * the virtual machine's, startup flags u32, mode u8, command line, GUID, path.
 */
int rd_clr_runtime_information(const struct rd_event *ev, struct rd_record *out)
{
	struct rd_cursor c = rd_cursor_of(ev->payload, ev->payload_bytes);
	struct rd_runtime_record *r = &out->runtime;
	rd_record_begin(out, ev);
	r->clr = rd_u16(&c);
	rd_skip(&c, 2 + 4 * 2);
	for (int i = 0; i < 4; i++)
		r->version[i] = rd_u16(&c);
	rd_skip(&c, 4 + 1);
	r->command_line = (struct rd_name){.text = rd_utf16z(&c), .utf16 = true};
	rd_skip(&c, 16);
	(void)rd_utf16z(&c);
	return c.failed ? RD_CORRUPT : 0;
}
