/*
 * event - what a decoder hands out, and the catalogue that says what it is.
 *
 * The identity of an event is (provider, id, version), never the id alone
 * (docs/formats/clr.md). The catalogue is one table; a row gives the event's
 * kind and the function that decodes its payload. A new event is a new row.
 */
#ifndef RD_TRACE_EVENT_H
#define RD_TRACE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "trace/record.h"

struct rd_fields; /* trace/fields.h */

/* What a profile does with an event. At most 63, for rd_sink.want. */
enum rd_event_kind {
	RD_EVENT_OTHER = 0, /* in no row, or a row that only names it */
	RD_EVENT_SAMPLE,
	RD_EVENT_STACK,      /* ETL StackWalk record */
	RD_EVENT_STACK_KEY,  /* the definition of a stack key */
	RD_EVENT_METHOD,
	RD_EVENT_MODULE,
	RD_EVENT_IMAGE,
	RD_EVENT_THREAD,
	RD_EVENT_PROCESS,
	RD_EVENT_MARKER,     /* rundown start, init, complete */
	RD_EVENT_INTERVAL,   /* sampling interval */
	RD_EVENT_RUNTIME,    /* RuntimeInformation, ProcessInfo: name, command line */
	RD_EVENT_MAPPING,    /* nettrace 6 */
	RD_EVENT_SYMBOL,     /* nettrace 6 */
	RD_EVENT_OTHER_COUNT, /* pmc, cswitch: counted apart */
	RD_EVENT_SESSION,    /* who recorded, and how: for inspect */
	RD_EVENT_MACHINE,    /* on what: for inspect */
	RD_EVENT_SCHEMA,     /* what other events are: for inspect */
	RD_EVENT_KINDS
};
#define RD_WANT(kind) (UINT64_C(1) << (kind))

struct rd_event;

/*
 * Decode the payload into *out (kind as the row says). 0, or RD_CORRUPT when
 * the payload does not hold what the row promises: counted as malformed, the
 * walk goes on. Spans in *out borrow from the event.
 */
typedef int (*rd_event_decode_fn)(const struct rd_event *ev, struct rd_record *out);

struct rd_event_type {
	const char *provider;   /* display name */
	const char *name;       /* "MethodLoadVerbose" */
	uint32_t id;            /* event id; classic: opcode */
	uint16_t version_from;  /* first version with this layout; later ones only add at the end */
	uint8_t kind;           /* enum rd_event_kind */
	uint8_t op;             /* enum rd_op, what the row says of lives */
	rd_event_decode_fn decode; /* NULL: named only */
};

/* Which of the identities of design.md section 2 an event has. */
enum rd_identity {
	RD_IDENTITY_EVENT = 1,  /* GUID/id/version: ETL event header */
	RD_IDENTITY_CLASSIC,    /* classic:GUID/opcode/version */
	RD_IDENTITY_KERNEL,     /* kernel/GROUPHEX/opcode/version */
	RD_IDENTITY_HEADER,     /* hdrTYPE: an ETL header type that carries no identity */
	RD_IDENTITY_NAMED,      /* Provider-Name/id/version, or /EventName/ for Universal.* */
	RD_IDENTITY_WPP,        /* "wpp message" */
	RD_IDENTITY_BAD,        /* "bad" */
};

/* An identity seen in a file; interned by the decoder, lives as long as it. */
struct rd_event_key {
	uint32_t identity;        /* enum rd_identity */
	uint32_t id;              /* event id, opcode, or header type */
	uint32_t version;         /* kernel: low byte, perfinfo after & 0x78ff */
	uint32_t group;           /* RD_IDENTITY_KERNEL */
	uint8_t guid[16];         /* EVENT, CLASSIC */
	struct rd_span provider;  /* NAMED: UTF-8 */
	struct rd_span name;      /* NAMED: UTF-8 event name, may be empty */
	const struct rd_event_type *type; /* the catalogue's row, NULL none */
	uint32_t slot;            /* dense number of this key in its decoder, for counting */
};

/* The text that inspect prints for a key ("e13c0d23-…/143/1"), without NUL handling by the caller. */
int rd_event_key_text(const struct rd_event_key *key, struct rd_bytes *out);

struct rd_event {
	const struct rd_event_key *key;
	uint64_t time;           /* ticks of the trace's clock */
	uint64_t place;          /* ordinal << 32 | offset in the plain block */
	uint64_t thread;         /* OS thread id; 0 in records without one */
	uint32_t pid;            /* header's; RD_NO_PID when the header has none */
	uint32_t cpu;
	uint32_t version;        /* of the event, for its decoder */
	uint8_t pointer_bytes;
	const uint8_t *payload;
	size_t payload_bytes;
	const struct rd_fields *fields; /* what the file says of the payload (nettrace 6); NULL nothing */
	/* The stack that came with it (nettrace): little-endian frames, innermost first; NULL none. */
	const uint8_t *stack;
	size_t stack_bytes;      /* a multiple of stack_pointer_bytes */
	uint8_t stack_pointer_bytes;
	/*
	 * The bytes by which the file describes the event, for rd_format.describe: nettrace's and netperf's metadata
	 * record, ETL's header with all that stands before the payload. Empty where the file says nothing, and where
	 * not all kinds are wanted (RD_WANT_ALL).
	 */
	struct rd_span said;
};
#define RD_NO_PID UINT32_MAX
#define RD_NO_THREAD UINT64_MAX /* nettrace 6: nothing says which; thread 0 is a CPU's idle one */

/* Look-ups; NULL when in no row. */
const struct rd_event_type *rd_catalogue_event(const uint8_t guid[16], uint32_t id, uint32_t version);
const struct rd_event_type *rd_catalogue_named(struct rd_span provider, struct rd_span name, uint32_t id, uint32_t version);
const struct rd_event_type *rd_catalogue_kernel(uint32_t group, uint32_t opcode, uint32_t version);
const struct rd_event_type *rd_catalogue_classic(const uint8_t guid[16], uint32_t opcode, uint32_t version);

/* What the provider of a key is called; NULL: in no table, and the key names it itself, if at all. */
const char *rd_catalogue_provider(const struct rd_event_key *key);
/* The GUID of a provider that has a table; false when it has none. */
bool rd_catalogue_guid(struct rd_span provider, uint8_t guid[16]);

/* The catalogue, table after table, for `rundown events` and tests: NULL past the end. */
const struct rd_event_type *rd_catalogue_row(size_t i);

#endif
