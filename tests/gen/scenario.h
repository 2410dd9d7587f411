/*
 * scenario - what happened in a made-up trace, and what of it was written down.
 *
 * An act is a part of a play: everything in it, in memory, drawn from a seed
 * (docs/generator.md). Times are slots. `told` and `lost` are bits of
 * enum gen_end: the event was written, or would have been but for a loss.
 */
#ifndef RD_TESTS_GEN_SCENARIO_H
#define RD_TESTS_GEN_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"

enum gen_format { GEN_ETL, GEN_NETTRACE4, GEN_NETTRACE5, GEN_NETTRACE6 };

struct gen_options {
	uint64_t seed;
	uint32_t format;        /* enum gen_format */
	uint32_t pointer_bytes; /* 4 or 8 */
	uint32_t compression;   /* ETL: 0, or as the file numbers it: 2 LZNT1, 3 XPRESS, 4 XPRESS Huffman */
	uint32_t clock;         /* ETL: 1 QPC, 2 system time, 3 cycles */
	uint32_t cpus;          /* nettrace: capture threads */
	uint32_t buffer_bytes;  /* of ETL buffers; about that much of nettrace blocks */
	bool sound;             /* enough is told, clocks agree, nothing is lost */
	bool still;             /* sound, one act, no address is used twice: for readers that know no time */
	uint32_t jitter;        /* slots by which clocks of CPUs differ, at most */
	uint32_t lost, untold;  /* of 1000 events */
	uint32_t keyframes;     /* of each process in an act: rundowns in its middle, as far apart from each other */
	bool unfinished;        /* the recorder died: no end mark */

	/* The cast, and in each act: */
	uint32_t lasting, shared;  /* processes that live throughout, and the methods that each has */
	uint32_t slots, lanes;     /* of time, of memory */
	uint32_t processes;        /* chains of them, one pid each */
	uint32_t threads, modules; /* of a process */
	uint32_t lives, images;    /* of all processes */
	uint32_t stacks, depth;    /* of a program */
	uint32_t samples, noise, noise_bytes;

	uint32_t acts;       /* 0: as many as size_bytes needs */
	uint64_t size_bytes; /* at least; 0: as many as acts says */

	/*
	 * Bits of things to leave out, by their number in the order of making: 1 it is gone, 2 it is not lost.
	 * For whoever looks for the smallest scenario that still fails.
	 */
	const uint8_t *drop;
	size_t drop_n;
};

/* A small one in which everything collides; a large one as recorders write them. Of the seed's format by default. */
void gen_options_small(struct gen_options *o, uint64_t seed);
void gen_options_large(struct gen_options *o, uint64_t seed);

#define GEN_NONE       UINT32_MAX
#define GEN_SLOT_TICKS 16u /* a CPU's number fits in */
#define GEN_LANE_BYTES 64u
#define GEN_CPUS_MAX   15u /* below the ticks of a slot, see gen_record_about */

enum gen_end { GEN_BEGIN = 1, GEN_END = 2 };

/* Of things that begin and end: [born, dies). */
struct gen_span {
	uint32_t born, dies;
	uint8_t told, lost;
	uint8_t born_cpu, dies_cpu;
	bool gone; /* as if it had never been */
	bool seal; /* at an act's edge: never left out */
};

struct gen_process {
	struct gen_span is;
	uint32_t pid, namespace_pid;
	uint32_t speaker; /* the thread that writes of it */
	bool managed;
};

struct gen_thread {
	struct gen_span is;
	uint32_t tid, process;
	uint32_t index; /* nettrace 6: its row's */
	bool unnamed;   /* nettrace 6: it has no row */
};

struct gen_module {
	struct gen_span is;
	uint64_t id;
	uint32_t process, clr, name;
};

struct gen_method {
	struct gen_span is;
	uint64_t id, rejit, module_id;
	uint64_t start;
	uint32_t size, flags;
	uint32_t process, clr, module, name; /* module may be GEN_NONE */
	bool plain;                          /* its events have no names */
};

struct gen_image {
	struct gen_span is;
	uint64_t base, size;
	uint32_t process, name;
};

struct gen_mapping {
	struct gen_span is; /* told at born; nothing says that it dies */
	uint64_t id, start, end;
	uint32_t process, name;
};

struct gen_symbol {
	struct gen_span is;
	uint64_t mapping_id, start, last;
	uint32_t process, name;
	bool compiled;
};

struct gen_stack {
	uint32_t first, n;
};

struct gen_sample {
	uint32_t slot;
	uint16_t cpu;
	uint8_t kind, lost;
	bool gone;
	uint32_t thread;
	uint32_t kernel, user; /* stacks, GEN_NONE none; nettrace: user is all of it */
	uint64_t pointer, weight;
};

/* ETL: a stack record. */
struct gen_record {
	uint32_t slot; /* its own */
	uint16_t cpu;
	uint8_t user, lost;
	bool gone;
	uint32_t sample; /* whose; GEN_NONE: of another event */
	uint32_t stack;
	uint32_t key; /* GEN_NONE: plain */
	uint32_t pid, tid;
};

/* A key is a stack's from `born` until its definition at `dies`; the definition is its end. */
struct gen_key {
	struct gen_span is;
	uint64_t value;
	uint32_t stack;
};

enum gen_kind {
	GEN_PROCESS,
	GEN_THREAD,
	GEN_MODULE,
	GEN_METHOD,
	GEN_IMAGE,
	GEN_MAPPING,
	GEN_SYMBOL,
	GEN_KEY,
	GEN_SAMPLE,
	GEN_RECORD,
	GEN_NOISE,
	GEN_MARKER,
};

/* As the events have it. */
enum gen_op { GEN_LOAD = 1, GEN_UNLOAD = 2, GEN_DCSTART = 3, GEN_DCEND = 4 };
enum gen_marker { GEN_START_INIT = 1, GEN_START_COMPLETE = 2, GEN_END_INIT = 3, GEN_END_COMPLETE = 4 };

/* A line of a rundown, or its marker. */
struct gen_line {
	uint32_t slot;
	uint16_t cpu;
	uint8_t kind, op; /* enum gen_kind; enum gen_op, of markers enum gen_marker */
	uint8_t lost;
	bool gone;
	uint32_t index;        /* of the thing */
	uint32_t process, clr; /* of a marker */
};

struct gen_noise {
	uint32_t slot;
	uint16_t cpu;
	uint8_t lost;
	bool gone;
	uint32_t bytes;
};

struct gen_act {
	uint32_t number; /* 0: what stands before the first act */
	uint64_t base;   /* ticks of slot 0 */
	uint32_t skew[GEN_CPUS_MAX];
	bool jitters;
	RD_VEC(struct gen_process) processes; /* the lasting ones first */
	RD_VEC(struct gen_thread) threads;
	RD_VEC(struct gen_module) modules;
	RD_VEC(struct gen_method) methods;
	RD_VEC(struct gen_image) images;
	RD_VEC(struct gen_mapping) mappings;
	RD_VEC(struct gen_symbol) symbols;
	RD_VEC(uint64_t) frames;
	RD_VEC(struct gen_stack) stacks;
	RD_VEC(struct gen_sample) samples;
	RD_VEC(struct gen_record) records;
	RD_VEC(struct gen_key) keys;
	RD_VEC(struct gen_line) lines;
	RD_VEC(struct gen_noise) noise;
	RD_VEC(uint8_t) taken; /* slots of facts */
};

/* What lasts: the same things, told at the beginning and at the end. */
struct gen_cast {
	struct gen_act first, last;
	uint32_t processes, threads; /* of them, in every act */
};

void gen_act_release(struct gen_act *a);
void gen_cast_release(struct gen_cast *c);

/* Both use tests/random.h; the caller seeds it. */
void gen_make_cast(struct gen_cast *c, const struct gen_options *o);
void gen_make_act(struct gen_act *a, uint32_t number, const struct gen_cast *c, const struct gen_options *o);
/* Leave out what the options say; *at counts the things of all acts. */
void gen_drop(struct gen_act *a, const struct gen_options *o, size_t *at);

static inline uint64_t gen_stamp(const struct gen_act *a, uint32_t slot, uint32_t cpu)
{
	return a->base + (uint64_t)(slot + a->skew[cpu]) * GEN_SLOT_TICKS + (a->jitters ? cpu : 0);
}

/* The time of the sample that a stack record is of; of no sample for one of another event. */
static inline uint64_t gen_record_about(const struct gen_act *a, const struct gen_record *r)
{
	if (r->sample == GEN_NONE)
		return gen_stamp(a, r->slot, r->cpu) | (GEN_SLOT_TICKS - 1);
	return gen_stamp(a, a->samples.at[r->sample].slot, a->samples.at[r->sample].cpu);
}

/* Where things lie in memory. */
struct gen_memory {
	uint64_t local, shared, images, kernel;
};
struct gen_memory gen_memory(const struct gen_options *o);

/* ---- for those who make acts */
void gen_out_of_memory(void) __attribute__((noreturn));
#define GEN_ADD(vec, ...)                                                                                              \
	do {                                                                                                           \
		if (rd_vec_reserve((vec), 1) != 0)                                                                     \
			gen_out_of_memory();                                                                           \
		(vec)->at[(vec)->n++] = __VA_ARGS__;                                                                   \
	} while (0)
/* The first free slot of [want, limit), taken; 0 none. */
uint32_t gen_take_slot(struct gen_act *a, uint32_t want, uint32_t limit);
/* Stacks, samples, records and keys of an act whose code stands. */
void gen_make_samples(struct gen_act *a, const struct gen_options *o);

#endif
