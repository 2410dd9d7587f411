/*
 * inspection - what is in one plain trace: its index, every event counted by its key, and who is in it.
 *
 * All blocks are decoded once, in order; memory grows with kinds, processes,
 * threads and runtimes, not with events. What a block said before it turned
 * out not to decode is forgotten with it, as in a profile.
 */
#ifndef RD_CLI_INSPECTION_H
#define RD_CLI_INSPECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/table.h"
#include "cli/seen/kinds.h"
#include "cli/seen/processes.h"
#include "cli/seen/rate.h"
#include "cli/seen/rundowns.h"
#include "cli/seen/sessions.h"
#include "profile/losses.h"
#include "trace/trace.h"

struct rd_inspection_damage {
	uint64_t offset;
	char what[256];
};

/* Only so many are kept; all are counted. */
#define RD_INSPECTION_DAMAGE_KEPT 16

struct rd_inspection {
	const struct rd_format *format;
	struct rd_index index;
	struct rd_strings keys;                     /* texts of keys, in the order of their coming */
	RD_VEC(uint64_t) counts;                    /* by key */
	RD_VEC(uint32_t) order;                     /* keys with events, by the bytes of their text */
	RD_VEC(const struct rd_event_type *) types; /* by key: the catalogue's row, NULL none */
	RD_VEC(struct rd_inspection_damage) damage;
	uint64_t damage_n;
	uint64_t events;
	uint64_t malformed; /* events whose payload is not what their identity promises */
	uint64_t kinds[RD_SAMPLE_KINDS];
	uint64_t samples;
	uint64_t by_kind[RD_EVENT_KINDS]; /* events the catalogue knows, by what a profile does with them */
	uint64_t last_ticks;              /* of all events; the clock's start when there are none */
	uint64_t lost_events, lost_buffers;
	uint64_t bytes; /* of payloads */
	struct rd_facts facts;
	struct rd_kinds seen;
	struct rd_processes processes;
	struct rd_rundowns rundowns;
	struct rd_sessions sessions;
	struct rd_rate rate;
	bool complete;
	uint64_t cut_at; /* RD_NO_OFFSET none */
};

/* archive_damage: of an unpacked file, what rd_unpacked says; else "". Fails when nothing is usable. Release in any
 * case. */
int rd_inspection_make(struct rd_inspection *in, const struct rd_source *s, const char *archive_damage,
		       struct rd_error *err);
void rd_inspection_release(struct rd_inspection *in);

#endif
