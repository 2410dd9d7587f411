/*
 * kinds - the kinds of events in a trace, how many of each, and what the file says of them.
 *
 * A kind is an identity (rd_event_key) and, for events that describe
 * themselves, their description. Rows of forgotten blocks count nothing.
 */
#ifndef RD_CLI_SEEN_KINDS_H
#define RD_CLI_SEEN_KINDS_H

#include "cli/seen/undo.h"
#include "trace/description.h"
#include "trace/trace.h"

/* The part of a kind that a block may change. */
struct rd_kind_count {
	uint32_t kind;
	rd_undo_mark mark;
	uint64_t events;
	uint64_t bytes; /* of payloads */
};

struct rd_kind {
	struct rd_event_key key;       /* its texts are ours; slot is the decoder's */
	struct rd_span key_text;       /* as inspect prints it */
	struct rd_span self;           /* what tells it from others of its key; empty: nothing */
	struct rd_description said;    /* by the file */
	struct rd_span manifest;       /* the first piece of its provider, which this event is; empty else */
	struct rd_description *merged; /* by a merged manifest of the file; NULL none */
	uint64_t events, bytes;        /* when all is done */
};

/* A merged manifest's event. */
struct rd_kind_schema {
	bool classic;
	uint8_t guid[16];
	uint32_t id, version;
	struct rd_description said;
};

struct rd_kinds {
	const struct rd_format *format;
	const struct rd_trace_info *info;
	RD_VEC(struct rd_kind) rows;
	RD_VEC(uint32_t) of_slot; /* row + 1 of a key without self descriptions; 0 not seen */
	struct rd_strings texts;  /* slot and self description -> row of those that have one */
	RD_VEC(uint32_t) of_text;
	struct rd_undo counts; /* struct rd_kind_count, by row */
	struct rd_strings schema_keys;
	RD_VEC(struct rd_kind_schema) schemas;
	struct rd_arena arena;
};

/* Both pointers are the caller's and outlive it. */
void rd_kinds_init(struct rd_kinds *k, const struct rd_format *format, const struct rd_trace_info *info);
void rd_kinds_release(struct rd_kinds *k);

/* Count an event. 0 or RD_NOMEM. */
int rd_kinds_take(struct rd_kinds *k, const struct rd_event *ev);
/* Keep what the file says of others. 0 or RD_NOMEM. */
int rd_kinds_schema(struct rd_kinds *k, const struct rd_schema_record *schema);
/* All blocks are through: fill in the counts, and what manifests say. 0 or RD_NOMEM. */
int rd_kinds_finish(struct rd_kinds *k);

/*
 * What is told of a kind. The name is the catalogue's, else the file's; the
 * provider's likewise. Spans may be empty; what is not known of numbers is not `has_`.
 */
struct rd_kind_words {
	struct rd_span provider, name;
	struct rd_span file_name; /* as the file's own metadata has it */
	bool has_guid;
	uint8_t guid[16];
	const struct rd_description *fields; /* by the file; NULL: it does not say */
	const char *known_fields;            /* by the project, where the file does not say; NULL none */
	const char *published;               /* rd_published_as; NULL nothing */
};
void rd_kind_tell(const struct rd_kinds *k, const struct rd_kind *kind, struct rd_kind_words *out);

#endif
