/*
 * partial - what one shard knows: facts, stacks, samples, stack records, runs; as columns.
 *
 * A partial is a set of tables. In memory a table is an array of rows; packed
 * it is a list of blocks (proto/partial.proto), each of at most
 * RD_PARTIAL_BLOCK_BYTES, each decodable alone, so that a reader streams one
 * table of one shard in bounded memory. Nothing is settled or folded in a
 * shard (docs/design.md, section 4): the union of the blocks of all shards is
 * the merge.
 *
 * Strings and stacks are numbered per partial, in the order of their rows over
 * all blocks of their table; other tables refer to these numbers.
 * Times are ticks of the trace's clock. Pids are bare.
 */
#ifndef RD_PROFILE_PARTIAL_H
#define RD_PROFILE_PARTIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/table.h"

#define RD_PARTIAL_BLOCK_BYTES (1u << 20)
/* The longest name that a partial holds, in bytes of UTF-8. An event with a longer one is malformed. */
#define RD_NAME_BYTES_MAX (512u << 10)

/* Order of the tables on the wire: what others refer to comes first. Numbers are stored: never reuse one. */
enum rd_partial_table {
	RD_TABLE_SUMMARY = 1,
	RD_TABLE_STRINGS = 2,
	RD_TABLE_STACKS = 3,
	RD_TABLE_METHODS = 4,
	RD_TABLE_MODULES = 5,
	RD_TABLE_IMAGES = 6,
	RD_TABLE_THREADS = 7,
	RD_TABLE_PROCESSES = 8,
	RD_TABLE_STACK_KEYS = 9,
	RD_TABLE_MARKERS = 10,
	RD_TABLE_INTERVALS = 11,
	RD_TABLE_RUNTIMES = 12,
	RD_TABLE_SAMPLES = 13,
	RD_TABLE_STACK_RECORDS = 14,
	RD_TABLE_SEQUENCES = 15,
	RD_TABLE_DAMAGE = 16,
	RD_TABLE_PRELIMINARY = 17,
	RD_TABLE_MAPPINGS = 18,
	RD_TABLE_SYMBOLS = 19,
	RD_TABLE_END = 32,
};

/* Every fact: when, and where it stands (ordinal << 32 | offset in the block). */
struct rd_fact_method {
	uint64_t time, place;
	uint64_t method_id, rejit_id, module_id;
	uint64_t start;
	uint32_t size_bytes, token, flags;
	uint32_t pid, clr;
	uint32_t op;                   /* enum rd_op */
	uint32_t ns, name, signature;  /* string + 1; all 0: a plain event, which names nothing */
};

struct rd_fact_module {
	uint64_t time, place;
	uint64_t module_id;
	uint32_t pid, clr, op, flags;
	uint32_t il_path, native_path; /* string + 1 */
	uint32_t pdb_path, pdb_guid;   /* string + 1; the GUID's 16 bytes */
	uint32_t pdb_age;
};

struct rd_fact_image {
	uint64_t time, place;
	uint64_t base, size_bytes;
	uint32_t pid, op, time_stamp, checksum;
	uint32_t path; /* string + 1 */
};

struct rd_fact_thread {
	uint64_t time, place;
	uint64_t thread;
	uint32_t pid, op;
};

struct rd_fact_process {
	uint64_t time, place;
	uint32_t pid, parent_pid, op;
	uint32_t name, command_line; /* string + 1 */
	uint32_t namespace_pid;      /* 0 unknown */
};

struct rd_fact_stack_key {
	uint64_t time, place;
	uint64_t key;
	uint32_t stack; /* stack + 1 */
};

struct rd_fact_marker {
	uint64_t time, place;
	uint32_t pid, clr, marker; /* enum rd_marker */
};

struct rd_fact_interval {
	uint64_t time, place;
	uint64_t interval_100ns;
	uint32_t source, op;
};

struct rd_fact_runtime {
	uint64_t time, place;
	uint32_t pid, clr;
	uint32_t version_text, command_line; /* string + 1 */
};

/* nettrace 6: a mapping is there from its time on, until a newer one takes the address. */
struct rd_fact_mapping {
	uint64_t time, place;
	uint64_t id;
	uint64_t start, end; /* [start, end) */
	uint32_t pid;
	uint32_t path; /* string + 1 */
};

struct rd_fact_symbol {
	uint64_t time, place;
	uint64_t mapping;     /* its id */
	uint64_t start, last; /* [start, last] */
	uint32_t pid;
	uint32_t name; /* string + 1 */
};

/* In a shard sorted by (time, thread, cpu, pointer, stack, kind, weight, pid). */
struct rd_sample {
	uint64_t time, thread;
	uint64_t pointer;
	uint64_t weight;
	uint32_t cpu, kind; /* enum rd_sample_kind */
	uint32_t stack;     /* stack + 1; 0: none came with it */
	uint32_t pid;       /* nettrace: the process; RD_NO_PID where the record names none (ETL) */
};

/* ETL StackWalk. In a shard sorted by (sample_time, thread, cpu, time, place). */
struct rd_stack_row {
	uint64_t sample_time, thread;
	uint64_t time, place;
	uint64_t key;
	uint32_t cpu, pid;
	uint32_t part;  /* enum rd_stack_part */
	uint32_t stack; /* plain: stack + 1 */
};

/*
 * What a run of consecutive blocks did to one capture thread's sequence
 * (docs/losses.md). Each run also has a row of its own, of thread UINT64_MAX
 * and first_op RD_SEQ_FORGET_ALL: the blocks it covers, forgot_all, and what
 * threads lost of which there is nothing else to say.
 */
struct rd_sequence_row {
	uint32_t run;          /* ordinal of the run's first block */
	uint32_t run_blocks;
	uint64_t thread;
	uint32_t first_op;     /* enum rd_sequence_op; 0: no operation before the run forgot all */
	uint32_t first_number;
	uint32_t last_number;
	uint32_t known;        /* 1: the thread's last number stands at the run's end; 0: forgotten */
	uint32_t forgot_all;   /* the run forgot all threads at some place */
	uint64_t lost;         /* inside the run, given what the run itself knows */
};

struct rd_damage_row {
	uint64_t offset; /* byte in the plain file */
	uint32_t what;   /* string + 1 */
};

/* The shard's belief: counts by resolved method. The finish replaces it. */
struct rd_preliminary_row {
	uint32_t pid, clr;
	uint32_t module, ns, name, signature; /* string + 1 */
	uint64_t exclusive, inclusive;
};

enum rd_providers_seen {
	RD_SEEN_RUNTIME = 1,  /* Microsoft-Windows-DotNETRuntime */
	RD_SEEN_RUNDOWN = 2,
	RD_SEEN_SAMPLES = 4,
	RD_SEEN_STACKS = 8,   /* any stack, or StackWalk */
	RD_SEEN_IMAGES = 16,
	RD_SEEN_THREADS = 32,
	RD_SEEN_RUNTIME_METHODS = 64,
	RD_SEEN_RUNDOWN_METHODS = 128,
};

/* One row a partial. Sums, minima, maxima and unions only: shards add up. */
struct rd_partial_summary {
	uint64_t blocks, block_bytes; /* decoded and counted */
	uint64_t events;              /* delivered to the collector */
	uint64_t malformed_events;
	uint64_t samples, stack_records;
	uint64_t first_sample, last_sample;             /* ticks; first > last when none */
	uint64_t first_stack_record, last_stack_record; /* by sample_time */
	uint64_t other[4];            /* enum rd_other_count */
	uint64_t providers_seen;
	uint64_t latest;              /* ticks from the clock's start to the last event of any kind; 0 none */
	uint64_t pointerless_samples;  /* of samples; when it is all of them nobody reads them for their pointers */
};

struct rd_partial {
	struct rd_partial_summary summary;
	struct rd_strings strings; /* interned by the collector; unpacked ones have numbers only (rd_strings_at) */
	/* Distinct raw stacks: frames innermost first, in one pool. */
	RD_VEC(uint64_t) stack_frames;
	RD_VEC(uint64_t) stack_ends; /* stack i is stack_frames[end(i-1) .. end(i)) */
	RD_VEC(struct rd_fact_method) methods;
	RD_VEC(struct rd_fact_module) modules;
	RD_VEC(struct rd_fact_image) images;
	RD_VEC(struct rd_fact_thread) threads;
	RD_VEC(struct rd_fact_process) processes;
	RD_VEC(struct rd_fact_stack_key) stack_keys;
	RD_VEC(struct rd_fact_marker) markers;
	RD_VEC(struct rd_fact_interval) intervals;
	RD_VEC(struct rd_fact_runtime) runtimes;
	RD_VEC(struct rd_fact_mapping) mappings;
	RD_VEC(struct rd_fact_symbol) symbols;
	RD_VEC(struct rd_sample) samples;
	RD_VEC(struct rd_stack_row) stack_records;
	RD_VEC(struct rd_sequence_row) sequences;
	RD_VEC(struct rd_damage_row) damage;
	RD_VEC(struct rd_preliminary_row) preliminary;
};
void rd_partial_release(struct rd_partial *p);

/* The orders in which a shard's samples and stack records stand: of two struct rd_sample, two struct rd_stack_row. */
int rd_sample_order(const void *a, const void *b);
int rd_stack_row_order(const void *a, const void *b);

/*
 * Pack a partial, block by block, in the order of the tables; sequence numbers
 * count from 0 in each table. A block is opaque to all who carry it: a head
 * (codec, table, plain size, XXH3-64 of the payload) and the payload. The block is
 * borrowed during the call.
 */
typedef int (*rd_partial_block_fn)(void *ctx, enum rd_partial_table table, uint32_t seq, struct rd_span block,
                                   struct rd_error *err);
int rd_partial_pack(const struct rd_partial *p, rd_partial_block_fn emit, void *ctx, struct rd_error *err);

/* Check a block's head and checksum without unpacking; fills *table. For carriers and stores. */
int rd_partial_block_check(struct rd_span block, enum rd_partial_table *table, struct rd_error *err);

/*
 * Append the rows of one block to its table in *p (which may hold only that table); on a failure *p is as before.
 * All values are checked: counts of columns agree, enums are in range, sizes within limits;
 * string and stack numbers are checked by their users, who know how many there are.
 * Strings keep their numbers and are not interned: neither rd_strings_find nor rd_strings_id know them.
 */
int rd_partial_unpack(struct rd_partial *p, struct rd_span block, struct rd_error *err);

/*
 * Where packed partials rest: an array in memory, LMDB. One source is all
 * shards of one trace.
 */
struct rd_partial_source {
	void *ctx;
	size_t shards;
	/* Block `seq` of a table of a shard: 1 and *block (borrowed while the source lives), 0 none, or an error. */
	int (*block)(void *ctx, size_t shard, enum rd_partial_table table, uint32_t seq, struct rd_span *block,
	             struct rd_error *err);
};

#endif
