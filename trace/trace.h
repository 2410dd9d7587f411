/*
 * trace - one interface for every format: index a file's blocks, decode a list of them.
 *
 * A format is a row of rd_formats(): nothing above trace/ asks which one it
 * is. A file is a sequence of blocks (ETL: buffers). The index walks them
 * without decoding; a decoder is then given blocks to replay as context
 * (never counted) and blocks to decode (each counted by exactly one shard).
 *
 * Every block has an ordinal: its number in the file's logical order, in
 * which facts of equal time are ordered. A record's place is
 * (ordinal << 32 | its byte offset inside the plain block).
 * Threads: one decoder per thread; a source may be shared.
 */
#ifndef RD_TRACE_TRACE_H
#define RD_TRACE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/memory.h"
#include "trace/event.h"
#include "trace/source.h"

enum rd_clock_kind {
	RD_CLOCK_QPC = 1,    /* ticks of frequency_hz since some start */
	RD_CLOCK_SYSTEM = 2, /* FILETIME: 100 ns since 1601 */
	RD_CLOCK_CYCLES = 3, /* processor cycles; frequency_hz says how many a second */
};

/* How ticks become time: utc_ns = start_utc_ns + (t - start_ticks) * 10^9 / frequency_hz. */
struct rd_clock {
	uint32_t kind;          /* enum rd_clock_kind */
	uint64_t frequency_hz;  /* never 0 once the index is done */
	uint64_t start_ticks;   /* the moment that start_utc_ns names */
	int64_t start_utc_ns;   /* since 1970; may be before it */
};

/* Nanoseconds since the clock's start (negative before it), saturating. */
int64_t rd_clock_ns(const struct rd_clock *c, uint64_t ticks);

/* NONE: an input that was left out of its job, because it cannot be used; `damage` says why. */
enum rd_format_id { RD_FORMAT_NONE = 0, RD_FORMAT_NETTRACE = 1, RD_FORMAT_ETL = 2, RD_FORMAT_NETPERF = 3 };

/* What a file says of itself; filled by the index, travels to workers and merger. */
struct rd_trace_info {
	uint32_t format;         /* enum rd_format_id */
	uint32_t version_major;  /* nettrace: 4, 6; ETL: the provider's (OS) major version */
	uint32_t version_minor;
	uint32_t pointer_bytes;  /* 4 or 8 */
	uint32_t cpus;           /* as the header says: display only, never an index */
	uint32_t pid;            /* nettrace: the process, if the file is of one; else 0 */
	uint32_t compression;    /* ETL: enum rd_etl_compression, 0 none */
	uint32_t log_file_mode;  /* ETL */
	uint64_t size_bytes;     /* of the plain file */
	int64_t mtime_ns;
	struct rd_clock clock;
	uint64_t end_ticks;      /* ETL: from the header's EndTime, 0 unknown */
	uint64_t sampling_ns;    /* the interval the header names, 0 unknown */
	uint64_t lost_events;    /* what the header says (ETL); sequence gaps are the decoder's */
	uint64_t lost_buffers;
	uint64_t digest;         /* XXH3-64 over the index rows: the plan's proof of identity */
	bool complete;           /* framing whole to the end */
	uint64_t cut_at;         /* file byte where the first cut or damaged block begins; RD_NO_OFFSET */
	char damage[256];        /* one line on the first damage; "" none */
	char recorder[256];      /* ETL: session name; display only */
};

static inline bool rd_trace_is_left_out(const struct rd_trace_info *info)
{
	return info->format == RD_FORMAT_NONE;
}

/* What a block gives to later blocks, and what it makes void. A bit set of both. */
enum rd_context {
	RD_CONTEXT_METADATA = 1,
	RD_CONTEXT_THREADS = 2,
	RD_CONTEXT_STACKS = 4, /* stacks and labels */
};

struct rd_block {
	uint64_t offset;   /* of its first byte, framing included */
	uint64_t size_bytes; /* in the file, framing included */
	uint64_t time;     /* to order and cut by, in whatever clock the format has here; 0 unknown */
	uint32_t ordinal;
	uint16_t cpu;
	uint8_t kind;      /* the format's own number, for display and the decoder */
	uint8_t provides;  /* enum rd_context bits */
	uint8_t resets;    /* enum rd_context bits: voided for all blocks after this one (and by it) */
};
typedef RD_VEC(struct rd_block) rd_block_vec;

struct rd_index {
	struct rd_trace_info info;
	rd_block_vec blocks;     /* in ordinal order */
	bool sort_by_time;       /* the plan may order by time (ETL); else only cut in ordinal order (nettrace) */
	bool whole;              /* one shard only (netperf) */
};
void rd_index_release(struct rd_index *ix);
/* XXH3-64 over the block rows, field by field: what info.digest is when the index is done. */
uint64_t rd_index_digest(const struct rd_index *ix);

/*
 * How a lost-event count composes over blocks cut anywhere (nettrace): one
 * entry a capture thread of a run of consecutive blocks. See profile/losses.h.
 */
enum rd_sequence_op { RD_SEQ_EVENT = 1, RD_SEQ_POINT = 2, RD_SEQ_REMOVE = 3, RD_SEQ_FORGET_ALL = 4 };

/*
 * What a decoder tells its caller. Any function may be NULL. A negative
 * return ends the decode and comes back from rd_decoder_*.
 */
struct rd_sink {
	void *ctx;
	/*
	 * Kinds that are wanted: bit i for enum rd_event_kind i. RD_WANT_ALL: also the uncatalogued (inspect). Events of
	 * identity BAD come whatever is wanted: they are malformed, and that is counted.
	 */
	uint64_t want;
	/* One event; all of it is borrowed until the return. */
	int (*event)(void *ctx, const struct rd_event *ev);
	/*
	 * nettrace: sequence operations of a capture thread, file order within each thread. EVENT: `count` events
	 * numbered first, first + 1, … (mod 2^32) without a gap; one thread's neighbouring runs may continue each
	 * other. POINT, REMOVE: `first` is the number, count 1. FORGET_ALL: thread, first and count are 0; it stands in
	 * file order to all threads.
	 */
	int (*sequence)(void *ctx, uint64_t thread, enum rd_sequence_op op, uint32_t first, uint32_t count);
	/*
	 * A counted block begins (file order of the shard) and ends. On `undo` everything
	 * since block_begin must be forgotten: the block did not decode and is dropped whole.
	 */
	int (*block_begin)(void *ctx, const struct rd_block *b);
	int (*block_end)(void *ctx, const struct rd_block *b, bool undo);
	/*
	 * Damage inside a counted block: what and where. Called after that block's block_end, so that no undo covers
	 * it. ETL: what precedes in the buffer counts.
	 */
	int (*damage)(void *ctx, const struct rd_block *b, uint64_t file_offset, const char *what);
	/*
	 * Where the ticks from start_ticks to the latest event of all counted blocks are kept, be it wanted or not; NULL
	 * nowhere. A dropped block's is not taken back here: on `undo` its owner does that.
	 */
	uint64_t *latest;
	uint64_t start_ticks;
};

/* For decoders: the time of an event. Ticks are modulo 2^64 around the start, and what is before it is not the latest. */
static inline void rd_sink_time(const struct rd_sink *s, uint64_t time)
{
	uint64_t since = time - s->start_ticks;

	if (s->latest && (int64_t)since > 0 && since > *s->latest)
		*s->latest = since;
}

#define RD_WANT_ALL UINT64_MAX

struct rd_decoder;     /* each format has its own */
struct rd_description; /* trace/description.h */

/* Keys and values as a file has them, UTF-8. */
struct rd_fact {
	struct rd_span key, value;
};
struct rd_facts {
	RD_VEC(struct rd_fact) at;
	struct rd_arena arena;
};
void rd_facts_release(struct rd_facts *f);
/* 0 or RD_NOMEM. */
int rd_facts_add(struct rd_facts *f, struct rd_span key, struct rd_span value);

struct rd_format {
	enum rd_format_id id;
	const char *name;       /* "nettrace", "etl", "netperf": as reports say it */
	/* Whether these first bytes (up to 512) are this format, of any version. */
	bool (*probe)(const uint8_t *head, size_t size_bytes);
	/*
	 * Walk the whole file. 0 also for a cut or damaged file (info.complete false). Fails only when
	 * nothing is usable: RD_UNSUPPORTED (names the version), RD_CORRUPT, RD_TRUNCATED (too short for a header).
	 */
	int (*index)(const struct rd_source *s, struct rd_index *out, void (*progress)(void *ctx, uint64_t bytes),
	             void *ctx, struct rd_error *err);
	int (*decoder_new)(const struct rd_source *s, const struct rd_trace_info *info, const struct rd_sink *sink,
	                   struct rd_decoder **out, struct rd_error *err);
	/* Replay one block as context; no sink call is made. */
	int (*decoder_context)(struct rd_decoder *d, const struct rd_block *b, struct rd_error *err);
	/*
	 * Decode a run of blocks (file order, as planned) and report to the sink. Reads in large batches.
	 * A block that does not decode is reported and passed over; fails only for I/O, memory, limits, the sink.
	 */
	int (*decoder_blocks)(struct rd_decoder *d, const struct rd_block *blocks, size_t n, struct rd_error *err);
	void (*decoder_free)(struct rd_decoder *d);
	/*
	 * For people, not for profiles. What the file says of this event, by ev->said (trace/description.h); bytes that
	 * make no sense say nothing. 0 or RD_NOMEM; release *out in any case.
	 */
	int (*describe)(const struct rd_trace_info *info, const struct rd_event *ev, struct rd_description *out);
	/* The bytes that tell self-describing events of one key apart; empty when the key is enough. NULL: it always is. */
	struct rd_span (*self_description)(const struct rd_event *ev);
	/* What the head of the file says in pairs of words. NULL: the format has none. */
	int (*facts)(const struct rd_source *s, const struct rd_index *ix, struct rd_facts *out, struct rd_error *err);
};

/* NULL-ended. */
const struct rd_format *const *rd_formats(void);
const struct rd_format *rd_format_by_id(uint32_t id);

/* The format that these first bytes (up to 512) are of, NULL none. */
const struct rd_format *rd_format_of(const uint8_t *head, size_t size_bytes);

/* The format of a plain file by its first bytes; RD_UNSUPPORTED "not a trace" / "an empty file" with a hint. */
int rd_trace_probe(const struct rd_source *s, const struct rd_format **out, struct rd_error *err);

#endif
