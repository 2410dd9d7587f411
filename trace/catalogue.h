/*
 * catalogue - the tables behind rd_catalogue_*: one table a provider, GUID or kernel group, one row an event.
 *
 * Inside trace/ only. A table is constant data next to the decoders it names
 * (trace/clr/, trace/etl/catalogue_kernel.c); trace/catalogue.c searches
 * them. Look-ups happen once per metadata entry or interned key, never per
 * event.
 */
#ifndef RD_TRACE_CATALOGUE_H
#define RD_TRACE_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "trace/event.h"

/*
 * Rows are sorted by (id, version_from), both ascending. An event of version
 * v is described by the row of its id with the greatest version_from that is
 * not above v; a lower v is in no row.
 */
struct rd_event_table {
	uint32_t identity;    /* enum rd_identity: EVENT (found by GUID and by provider name), CLASSIC, KERNEL, NAMED */
	const char *provider; /* as EventPipe names it; for groups, a display name */
	uint8_t guid[16];     /* EVENT, CLASSIC: as it stands in a file */
	uint32_t group;       /* KERNEL */
	bool by_name;         /* the event's name decides and its id means nothing (Universal.*) */
	const struct rd_event_type *rows;
	size_t n;
};

/* The 16 bytes of {aaaaaaaa-bbbb-cccc-dddd-dddddddddddd} as they stand in a file: RD_GUID(a, b, c, d0, …, d7). */
#define RD_GUID(a, b, c, ...)                                                                                          \
	{                                                                                                              \
		(a) & 0xff, (a) >> 8 & 0xff, (a) >> 16 & 0xff, (a) >> 24 & 0xff, (b)&0xff, (b) >> 8 & 0xff, (c)&0xff,  \
			(c) >> 8 & 0xff, __VA_ARGS__                                                                   \
	}

/*
 * A row inside `static const struct rd_event_type X_rows[] = { … }`. OPCODE is
 * the part behind RD_OP_, KIND the part behind RD_EVENT_.
 */
#define RD_ROW(PROVIDER, ID, VERSION_FROM, NAME, KIND, OPCODE, DECODE)                                                 \
	{                                                                                                              \
		.provider = (PROVIDER), .name = (NAME), .id = (ID), .version_from = (VERSION_FROM),                    \
		.kind = RD_EVENT_##KIND, .op = RD_OP_##OPCODE, .decode = (DECODE)                                      \
	}
#define RD_ROW_COUNT(rows) (sizeof(rows) / sizeof *(rows))

/* What every decoder does first: an empty record of the kind and op that the event's row names. */
static inline void rd_record_begin(struct rd_record *out, const struct rd_event *ev)
{
	memset(out, 0, sizeof *out);
	out->kind = ev->key->type->kind;
	out->op = ev->key->type->op;
}

/* trace/clr/ */
extern const struct rd_event_table rd_table_clr_runtime;
extern const struct rd_event_table rd_table_clr_rundown;
extern const struct rd_event_table rd_table_clr_private;
extern const struct rd_event_table rd_table_sample_profiler;
extern const struct rd_event_table rd_table_eventpipe;

/* trace/universal/ */
extern const struct rd_event_table rd_table_universal_system;
extern const struct rd_event_table rd_table_universal_events;

/* trace/etl/catalogue_kernel.c: kernel groups and classic GUIDs, NULL-ended. */
extern const struct rd_event_table *const rd_tables_kernel[];

#endif
