/*
 * Module and DomainModule events: docs/formats/clr.md, "Modules".
 *
 *   ModuleID u64, AssemblyID u64, [DomainModule: AppDomainID u64,] flags u32, reserved u32,
 *   IL path, native path (UTF-16, NUL), v1: ClrInstanceID u16,
 *   Module v2: GUID, age u32, PDB path of the managed PDB, the same of the native one
 */
#include <string.h>

#include "base/error.h"
#include "trace/catalogue.h"
#include "trace/clr/decoders.h"

static struct rd_name read_path(struct rd_cursor *c)
{
	return (struct rd_name){.text = rd_utf16z(c), .utf16 = true};
}

static void read_head(struct rd_cursor *c, const struct rd_event *ev, bool in_domain, struct rd_module_record *m)
{
	m->module_id = rd_u64(c);
	rd_skip(c, 8);
	if (in_domain)
		rd_skip(c, 8);
	m->flags = rd_u32(c);
	rd_skip(c, 4);
	m->il_path = read_path(c);
	m->native_path = read_path(c);
	if (ev->version >= 1)
		m->clr = rd_u16(c);
}

/* The native PDB's three fields close the layout: they must be there, and nobody asks for them. */
static void read_pdbs(struct rd_cursor *c, struct rd_module_record *m)
{
	const uint8_t *guid = rd_take(c, 16);
	if (guid != NULL)
		memcpy(m->pdb_guid, guid, 16);
	m->pdb_age = rd_u32(c);
	m->pdb_path = read_path(c);
	rd_skip(c, 16 + 4);
	(void)rd_utf16z(c);
}

int rd_clr_module(const struct rd_event *ev, struct rd_record *out)
{
	struct rd_cursor c = rd_cursor_of(ev->payload, ev->payload_bytes);
	rd_record_begin(out, ev);
	read_head(&c, ev, false, &out->module);
	if (ev->version >= 2)
		read_pdbs(&c, &out->module);
	return c.failed ? RD_CORRUPT : 0;
}

int rd_clr_domain_module(const struct rd_event *ev, struct rd_record *out)
{
	struct rd_cursor c = rd_cursor_of(ev->payload, ev->payload_bytes);
	rd_record_begin(out, ev);
	read_head(&c, ev, true, &out->module);
	return c.failed ? RD_CORRUPT : 0;
}
