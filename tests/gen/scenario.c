#include "tests/gen/scenario.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/random.h"

void gen_out_of_memory(void)
{
	fprintf(stderr, "gen: out of memory\n");
	abort();
}

void gen_options_small(struct gen_options *o, uint64_t seed)
{
	random_begin(seed ^ 0x5ca1ab1e);
	uint32_t kind = pick(8);
	*o = (struct gen_options){
		.seed = seed,
		.format = kind < 4 ? GEN_ETL : GEN_NETTRACE4 + kind % 3,
		.pointer_bytes = pick(4) ? 8 : 4,
		.clock = 1 + pick(3),
		.cpus = 1 + pick(4),
		.buffer_bytes = 2048 + pick(8) * 512,
		.sound = pick(4) == 0,
		.unfinished = pick(8) == 0,
		.lasting = 1 + pick(2),
		.shared = 1 + pick(6),
		.slots = 600 + pick(1500),
		.lanes = 2 + pick(6),
		.processes = pick(3),
		.threads = 1 + pick(3),
		.modules = 1 + pick(4),
		.lives = pick(40),
		.images = pick(6),
		.stacks = 1 + pick(8),
		.depth = 1 + pick(8),
		.samples = pick(120),
		.noise = pick(20),
		.noise_bytes = pick(400),
		.acts = 1 + pick(3),
	};
	if (o->format == GEN_ETL && pick(2))
		o->compression = 2 + pick(3);
	if (!o->sound) {
		o->jitter = pick(3) ? 0 : pick(12);
		o->lost = pick(3) ? pick(60) : 0;
		o->untold = pick(3) * 150;
	}
}

void gen_options_large(struct gen_options *o, uint64_t seed)
{
	*o = (struct gen_options){
		.seed = seed,
		.pointer_bytes = 8,
		.clock = 1,
		.cpus = 8,
		.buffer_bytes = 64 << 10,
		.lasting = 2,
		.shared = 800,
		.slots = 1 << 18,
		.lanes = 250,
		.processes = 3,
		.threads = 12,
		.modules = 20,
		.lives = 5000,
		.images = 20,
		.stacks = 400,
		.depth = 24,
		.samples = 18000,
		.noise = 36000,
		.noise_bytes = 400,
		.jitter = 2,
		.lost = 1,
		.untold = 10,
		.size_bytes = 64 << 20,
	};
}

struct gen_memory gen_memory(const struct gen_options *o)
{
	if (o->pointer_bytes == 4)
		return (struct gen_memory){0x10000000, 0x20000000, 0x60000000, 0x80400000};
	return (struct gen_memory){0x7ff8a0000000, 0x7ff900000000, 0x7ffa00000000, 0xfffff80000400000};
}

uint32_t gen_take_slot(struct gen_act *a, uint32_t want, uint32_t limit)
{
	for (uint32_t slot = want ? want : 1; slot < limit && slot < a->taken.n; slot++) {
		if (a->taken.at[slot])
			continue;
		a->taken.at[slot] = 1;
		return slot;
	}
	return 0;
}

static void drop_one(const struct gen_options *o, size_t *at, bool *gone, uint8_t *lost)
{
	uint8_t bits = *at < o->drop_n ? o->drop[*at] : 0;

	++*at;
	if (bits & 1)
		*gone = true;
	if (bits & 2)
		*lost = 0;
}

static void drop_span(const struct gen_options *o, size_t *at, struct gen_span *is)
{
	bool gone = is->gone;

	drop_one(o, at, &gone, &is->lost);
	is->gone = gone && !is->seal;
}

#define DROP_SPANS(vec)                                                                                                \
	for (size_t i = 0; i < (vec).n; i++)                                                                           \
	drop_span(o, at, &(vec).at[i].is)
#define DROP_ROWS(vec)                                                                                                 \
	for (size_t i = 0; i < (vec).n; i++)                                                                           \
	drop_one(o, at, &(vec).at[i].gone, &(vec).at[i].lost)

static bool *gone_of(struct gen_act *a, const struct gen_line *line)
{
	switch ((enum gen_kind)line->kind) {
	case GEN_PROCESS:
		return &a->processes.at[line->index].is.gone;
	case GEN_THREAD:
		return &a->threads.at[line->index].is.gone;
	case GEN_MODULE:
		return &a->modules.at[line->index].is.gone;
	case GEN_METHOD:
		return &a->methods.at[line->index].is.gone;
	case GEN_IMAGE:
		return &a->images.at[line->index].is.gone;
	default:
		return &a->processes.at[line->process].is.gone;
	}
}

#define FOLLOW_PROCESS(vec)                                                                                            \
	for (size_t i = 0; i < (vec).n; i++)                                                                           \
	(vec).at[i].is.gone |= a->processes.at[(vec).at[i].process].is.gone

/* What belongs to something that is gone is gone too. */
static void follow(struct gen_act *a)
{
	FOLLOW_PROCESS(a->threads);
	FOLLOW_PROCESS(a->modules);
	FOLLOW_PROCESS(a->methods);
	FOLLOW_PROCESS(a->images);
	FOLLOW_PROCESS(a->mappings);
	FOLLOW_PROCESS(a->symbols);
	for (size_t i = 0; i < a->samples.n; i++)
		a->samples.at[i].gone |= a->threads.at[a->samples.at[i].thread].is.gone;
	for (size_t i = 0; i < a->records.n; i++) {
		struct gen_record *r = &a->records.at[i];
		if (r->sample != GEN_NONE)
			r->gone |= a->samples.at[r->sample].gone;
	}
	for (size_t i = 0; i < a->lines.n; i++)
		a->lines.at[i].gone |= *gone_of(a, &a->lines.at[i]);
}

void gen_drop(struct gen_act *a, const struct gen_options *o, size_t *at)
{
	DROP_SPANS(a->processes);
	DROP_SPANS(a->threads);
	DROP_SPANS(a->modules);
	DROP_SPANS(a->methods);
	DROP_SPANS(a->images);
	DROP_SPANS(a->mappings);
	DROP_SPANS(a->symbols);
	DROP_SPANS(a->keys);
	DROP_ROWS(a->samples);
	DROP_ROWS(a->records);
	DROP_ROWS(a->lines);
	DROP_ROWS(a->noise);
	follow(a);
}

void gen_act_release(struct gen_act *a)
{
	rd_vec_release(&a->processes);
	rd_vec_release(&a->threads);
	rd_vec_release(&a->modules);
	rd_vec_release(&a->methods);
	rd_vec_release(&a->images);
	rd_vec_release(&a->mappings);
	rd_vec_release(&a->symbols);
	rd_vec_release(&a->frames);
	rd_vec_release(&a->stacks);
	rd_vec_release(&a->samples);
	rd_vec_release(&a->records);
	rd_vec_release(&a->keys);
	rd_vec_release(&a->lines);
	rd_vec_release(&a->noise);
	rd_vec_release(&a->taken);
}

void gen_cast_release(struct gen_cast *c)
{
	gen_act_release(&c->first);
	gen_act_release(&c->last);
}
