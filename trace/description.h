/*
 * description - what a file itself says of an event beyond its identity: names, keywords, level, fields.
 *
 * For `events` and `inspect`; no profile asks. A description owns its text,
 * all of it UTF-8. What the file does not say is empty or not `has_`. Types
 * are words: u8 to u64, i8 to i64, f32, f64, bool8, bool32, char16, pointer,
 * guid, filetime, systemtime, sid, string (UTF-16 with NUL), ansi (8-bit with
 * NUL), utf8, counted string, binary, varuint, varint; "[]" behind a type for
 * an array, "[4]" or "[Count]" where the length is known. A member of a
 * structure is named "Outer.Inner".
 */
#ifndef RD_TRACE_DESCRIPTION_H
#define RD_TRACE_DESCRIPTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "trace/event.h"
#include "trace/trace.h"

struct rd_described_field {
	struct rd_span name, type; /* the arena's */
};

struct rd_description {
	struct rd_span provider, name, task, opcode_name; /* the arena's; empty: not said */
	uint8_t guid[16];                                 /* of the provider; zeros: not said */
	bool has_keywords, has_level, has_opcode, has_fields;
	uint64_t keywords;
	uint32_t level, opcode;
	RD_VEC(struct rd_described_field) fields;
	struct rd_arena arena;
};

/* At most so many fields of one event are kept; the rest are not shown. */
#define RD_DESCRIBED_FIELDS_MOST 1024

void rd_description_release(struct rd_description *d);

/* Copies. 0 or RD_NOMEM. */
int rd_description_utf8(struct rd_description *d, struct rd_span *to, struct rd_span utf8);
int rd_description_utf16(struct rd_description *d, struct rd_span *to, struct rd_span utf16);
/* "a/b", or the one that is not empty. */
int rd_description_join(struct rd_description *d, struct rd_span *to, struct rd_span a, struct rd_span b);
/* Add a field; prefix ("Outer") may be empty. A type in printf's form. 0 or RD_NOMEM. */
int rd_description_field(struct rd_description *d, struct rd_span prefix, struct rd_span name, bool utf16,
			 const char *type, ...) __attribute__((format(printf, 5, 6)));

/*
 * What the metadata of an event says, by ev->said: for the rows of rd_format.
 * Bytes that make no sense end the description where they stand. 0 or RD_NOMEM.
 */
int rd_describe_nettrace(const struct rd_trace_info *info, const struct rd_event *ev, struct rd_description *out);
int rd_describe_netperf(const struct rd_trace_info *info, const struct rd_event *ev, struct rd_description *out);
int rd_describe_etl(const struct rd_trace_info *info, const struct rd_event *ev, struct rd_description *out);

/* ETL: the bytes that tell self-describing events of one key apart; empty when the key is enough. */
struct rd_span rd_etl_self_description(const struct rd_event *ev);

/* ETL: the first piece of a manifest that an EventSource wrote as an event of this id; empty: this is none. */
#define RD_MANIFEST_ID 65534
struct rd_span rd_manifest_piece(const struct rd_event *ev);
/* What that piece says of another event of its provider, if anything. 0 or RD_NOMEM. */
int rd_describe_manifest(struct rd_span xml, uint32_t id, uint32_t version, struct rd_description *out);

/* What an event of kind RD_EVENT_SCHEMA says of others. 0 or RD_NOMEM. */
int rd_describe_schema(const struct rd_schema_record *schema, struct rd_description *out);

/*
 * The fields that the project knows of a catalogued event, as its payload has
 * them: "MethodID u64, ModuleID u64, ...". NULL: not known.
 */
const char *rd_known_fields(const struct rd_event_type *type, uint32_t version);

/*
 * What published tables call the event where that is not what files hold: a
 * line such as "published as MethodDCStartVerbose_V1, id 141". NULL: nothing to say.
 */
const char *rd_published_as(const struct rd_event_type *type);

#endif
