#include "tests/gen/cues.h"

#include "base/radix.h"

struct list {
	struct gen_cues *cues;
	const struct gen_act *act;
};

static void add(struct list *l, uint8_t kind, uint8_t op, uint32_t index, uint32_t slot, uint16_t cpu, bool lost)
{
	struct gen_cue cue = {.slot = slot, .index = index, .cpu = cpu, .kind = kind, .op = op, .lost = lost};

	cue.stamp = gen_stamp(l->act, slot, cpu);
	GEN_ADD(&l->cues->at, cue);
}

static void add_span(struct list *l, uint8_t kind, uint32_t index, const struct gen_span *is)
{
	if (is->gone)
		return;
	if (is->told & GEN_BEGIN)
		add(l, kind, GEN_LOAD, index, is->born, is->born_cpu, is->lost & GEN_BEGIN);
	if (is->told & GEN_END)
		add(l, kind, GEN_UNLOAD, index, is->dies, is->dies_cpu, is->lost & GEN_END);
}

#define ADD_SPANS(l, KIND, vec)                                                                                        \
	for (uint32_t i_ = 0; i_ < (vec).n; i_++)                                                                      \
	add_span((l), (KIND), i_, &(vec).at[i_].is)

static void add_lines(struct list *l)
{
	for (uint32_t i = 0; i < l->act->lines.n; i++) {
		const struct gen_line *line = &l->act->lines.at[i];
		if (!line->gone)
			add(l, line->kind, line->op, line->kind == GEN_MARKER ? i : line->index, line->slot, line->cpu,
			    line->lost);
	}
}

#define ADD_ROWS(l, KIND, vec)                                                                                         \
	for (uint32_t i_ = 0; i_ < (vec).n; i_++)                                                                      \
		if (!(vec).at[i_].gone)                                                                                \
	add((l), (KIND), 0, i_, (vec).at[i_].slot, (vec).at[i_].cpu, (vec).at[i_].lost)

void gen_cues_of(struct gen_cues *c, const struct gen_act *a)
{
	struct list l = {c, a};

	c->at.n = 0;
	ADD_SPANS(&l, GEN_PROCESS, a->processes);
	ADD_SPANS(&l, GEN_THREAD, a->threads);
	ADD_SPANS(&l, GEN_MODULE, a->modules);
	ADD_SPANS(&l, GEN_METHOD, a->methods);
	ADD_SPANS(&l, GEN_IMAGE, a->images);
	ADD_SPANS(&l, GEN_MAPPING, a->mappings);
	ADD_SPANS(&l, GEN_SYMBOL, a->symbols);
	ADD_SPANS(&l, GEN_KEY, a->keys);
	add_lines(&l);
	ADD_ROWS(&l, GEN_SAMPLE, a->samples);
	ADD_ROWS(&l, GEN_RECORD, a->records);
	ADD_ROWS(&l, GEN_NOISE, a->noise);

	/* Stable: what was added first stands first in its slot. */
	struct rd_radix_item *order = rd_realloc(NULL, (c->at.n + 1) * sizeof *order);
	struct gen_cue *sorted = rd_realloc(NULL, (c->at.n + 1) * sizeof *sorted);
	if (order == NULL || sorted == NULL)
		gen_out_of_memory();
	for (uint32_t i = 0; i < c->at.n; i++)
		order[i] = (struct rd_radix_item){c->at.at[i].slot, i};
	if (rd_radix_sort(order, c->at.n) != 0)
		gen_out_of_memory();
	for (size_t i = 0; i < c->at.n; i++)
		sorted[i] = c->at.at[order[i].index];
	rd_free(order);
	rd_free(c->at.at);
	c->at.at = sorted;
	c->at.cap = c->at.n + 1;
}

void gen_cues_release(struct gen_cues *c)
{
	rd_vec_release(&c->at);
}
