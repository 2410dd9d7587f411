/*
 * types - what a metadata id of a nettrace file stands for.
 *
 * One look-up per event, so it is an array by id. Definitions live for the
 * whole file (version 4) or until a reset (6); a second one of an id takes its
 * place. Equal identities are one key, whatever their ids, and stay so over
 * resets.
 */
#ifndef RD_TRACE_NETTRACE_TYPES_H
#define RD_TRACE_NETTRACE_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/table.h"
#include "trace/event.h"
#include "trace/fields.h"

/* Ids count up from 1, one a type of event. A greater one is taken for garbage: its block does not decode. */
#define RD_NETTRACE_METADATA_IDS (UINT32_C(1) << 20)

/* One definition, as it stands in a metadata block. */
struct rd_nettrace_metadata {
	uint32_t id;
	const uint8_t *guid;     /* of the provider, where that is all that is said of it (netperf 1); else NULL */
	struct rd_span provider; /* UTF-16, or UTF-8 if the flag says so; the name too */
	uint32_t event_id;
	struct rd_span name; /* often empty */
	uint32_t version;
	bool utf8;
	struct rd_span fields; /* the field list as rd_fields_parse takes it; empty: none */
	struct rd_span record; /* all of it, for rd_event.said */
};

struct rd_nettrace_type {
	const struct rd_event_key *key; /* NULL: not defined */
	const struct rd_fields *fields; /* NULL: nothing is said of them */
	struct rd_span said;            /* the record; empty unless all kinds are wanted */
	bool wanted;
};

struct rd_nettrace_types {
	uint64_t want; /* rd_sink.want */
	RD_VEC(struct rd_nettrace_type) by_id;
	RD_VEC(struct rd_event_key *) keys; /* by slot; the first one is BAD */
	struct rd_table table;              /* identity -> slot */
	struct rd_strings lists;            /* distinct field lists, as bytes */
	struct rd_strings records;          /* distinct records, if all kinds are wanted */
	RD_VEC(struct rd_fields *) fields;  /* by list */
	struct rd_arena arena;
	struct rd_bytes scratch;
};

/* RD_NOMEM, after which only release is allowed. */
int rd_nettrace_types_init(struct rd_nettrace_types *t, uint64_t want);
void rd_nettrace_types_release(struct rd_nettrace_types *t);

/* All ids are void from here on. */
void rd_nettrace_types_reset(struct rd_nettrace_types *t);

/* Read the payload of a metadata record; false when it is none. */
bool rd_nettrace_metadata(const uint8_t *payload, size_t size_bytes, struct rd_nettrace_metadata *out);
/* 0 or RD_NOMEM; of the record nothing is borrowed. */
int rd_nettrace_types_define(struct rd_nettrace_types *t, const struct rd_nettrace_metadata *m);
/* The type as it is in another version of its event: into *out. 0 or RD_NOMEM. */
int rd_nettrace_types_version(struct rd_nettrace_types *t, const struct rd_nettrace_type *type, uint32_t version,
			      struct rd_nettrace_type *out);

/* NULL when nothing has defined this id. */
static inline const struct rd_nettrace_type *rd_nettrace_types_find(const struct rd_nettrace_types *t, uint32_t id)
{
	return id < t->by_id.n && t->by_id.at[id].key != NULL ? &t->by_id.at[id] : NULL;
}

/* The key of events whose metadata id nothing has defined. */
static inline const struct rd_event_key *rd_nettrace_types_bad(const struct rd_nettrace_types *t)
{
	return t->keys.at[0];
}

#endif
