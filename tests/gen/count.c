/* The samples of an act: their stacks by the records that belong to them, their owners, their frames. */
#include "base/radix.h"
#include "tests/gen/rules.h"

/* The first record of each part that belongs to the samples of one moment and thread. */
struct parts {
	uint32_t kernel, user; /* cue + 1 */
	bool used;             /* a sample is here */
};

struct counting {
	struct gen_truth *truth;
	struct gen_rules rules;
	const struct gen_options *o;
	const struct gen_act *act;
	const struct gen_cues *cues;
	struct rd_radix_item *order; /* cues of samples, in the order of their stamps */
	size_t order_n;
	RD_VEC(uint32_t) moments; /* by sample: its place in parts */
	RD_VEC(struct parts) parts;
	uint64_t records, used;
	bool check_real;
};

/* ---- stack records */

static const struct gen_cue *ordered_cue(const struct counting *c, size_t i)
{
	return &c->cues->at.at[c->order[i].index];
}

/* Samples of one thread at one time; of thread 0 on one CPU. */
static bool same_moment(const struct counting *c, const struct gen_cue *x, const struct gen_cue *y)
{
	uint32_t tid = c->act->threads.at[c->act->samples.at[x->index].thread].tid;

	return tid == c->act->threads.at[c->act->samples.at[y->index].thread].tid && (tid || x->cpu == y->cpu);
}

static void order_samples(struct counting *c)
{
	c->order = rd_realloc(NULL, (c->cues->at.n + 1) * sizeof *c->order);
	if (c->order == NULL || rd_vec_reserve(&c->moments, c->act->samples.n) != 0)
		gen_out_of_memory();
	for (uint32_t i = 0; i < c->cues->at.n; i++)
		if (c->cues->at.at[i].kind == GEN_SAMPLE)
			c->order[c->order_n++] = (struct rd_radix_item){c->cues->at.at[i].stamp, i};
	if (rd_radix_sort(c->order, c->order_n) != 0)
		gen_out_of_memory();
}

static void find_moments(struct counting *c)
{
	for (size_t i = 0; i < c->order_n; i++) {
		const struct gen_cue *cue = ordered_cue(c, i);
		uint32_t moment = GEN_NONE;
		for (size_t k = i; moment == GEN_NONE && k > 0 && c->order[k - 1].key == cue->stamp; k--)
			if (same_moment(c, cue, ordered_cue(c, k - 1)))
				moment = c->moments.at[ordered_cue(c, k - 1)->index];
		if (moment == GEN_NONE) {
			moment = (uint32_t)c->parts.n;
			GEN_ADD(&c->parts, (struct parts){0});
		}
		c->moments.at[cue->index] = moment;
	}
}

/* "Of two records of one kind the first by (own time, place)." Cues of one slot stand in the order of writing. */
static void add_record(struct counting *c, uint32_t cue)
{
	const struct gen_cue *at = &c->cues->at.at[cue];
	const struct gen_record *r = &c->act->records.at[at->index];

	c->records++;
	if (r->sample == GEN_NONE)
		return;
	struct parts *p = &c->parts.at[c->moments.at[r->sample]];
	uint32_t *part = r->user ? &p->user : &p->kernel;
	if (*part == 0 || at->stamp < c->cues->at.at[*part - 1].stamp)
		*part = cue + 1;
}

static const struct gen_record *record_at(const struct counting *c, uint32_t cue)
{
	return &c->act->records.at[c->cues->at.at[cue - 1].index];
}

static uint32_t stack_of(const struct counting *c, uint32_t cue)
{
	const struct gen_record *r = record_at(c, cue);

	if (r->key == GEN_NONE)
		return r->stack;
	return gen_rules_stack(&c->rules, c->act->keys.at[r->key].value, c->cues->at.at[cue - 1].stamp);
}

/* ---- samples */

struct work {
	const struct gen_sample *sample;
	const struct gen_thread *thread;
	const struct gen_cue *cue;
	uint32_t pid, life;
	uint32_t kernel, user; /* stacks */
	bool broken_parts;
	const struct gen_verdict *first;
	uint64_t frames, hash;
};

static void add_frame(struct counting *c, struct work *w, const struct gen_verdict *v)
{
	struct gen_truth *t = c->truth;
	struct gen_truth_row *row = rd_records_at(&t->rows, v->row);
	const struct gen_identity *m = &t->methods.at[v->method];

	if (w->frames++ == 0) {
		row->exclusive++;
		row->exclusive_weight += w->sample->weight;
	}
	if (row->last != t->samples) {
		row->last = t->samples;
		row->inclusive++;
		row->inclusive_weight += w->sample->weight;
	}
	t->unresolved_frames += m->unresolved;
	t->ambiguous_frames += v->ambiguous;
	w->hash = gen_hash_frame(w->hash, m->hash, v->tier);
}

static void check_real(struct counting *c, const struct work *w, uint32_t rank, const struct gen_verdict *v)
{
	uint32_t real = gen_rules_real(&c->rules, c->act, w->thread->process, rank, w->sample->slot);

	c->truth->misled += real != GEN_NONE && real != v->method;
}

static void add_stack(struct counting *c, struct work *w, uint32_t stack)
{
	if (stack == GEN_NONE)
		return;
	const struct gen_stack *s = &c->act->stacks.at[stack];
	for (uint32_t i = s->first; i < s->first + s->n; i++) {
		const struct gen_verdict *v =
			gen_rules_verdict(&c->rules, w->life, c->rules.ranks.at[i], w->cue->stamp);
		add_frame(c, w, v);
		if (c->check_real)
			check_real(c, w, c->rules.ranks.at[i], v);
	}
}

/* "If the first frame and the pointer resolve to different rows, the pointer is put in front." */
static void add_pointer(struct counting *c, struct work *w)
{
	uint32_t stack = w->kernel != GEN_NONE ? w->kernel : w->user;

	if (w->sample->pointer == 0)
		return;
	uint32_t pointer = c->rules.ranks.at[c->act->frames.n + w->cue->index];
	const struct gen_verdict head = *gen_rules_verdict(&c->rules, w->life, pointer, w->cue->stamp);
	if (stack != GEN_NONE) {
		uint32_t rank = c->rules.ranks.at[c->act->stacks.at[stack].first];
		if (gen_rules_verdict(&c->rules, w->life, rank, w->cue->stamp)->method == head.method)
			return;
	}
	add_frame(c, w, &head);
}

static void find_parts(struct counting *c, struct work *w, uint32_t *first)
{
	struct parts *p = &c->parts.at[c->moments.at[w->cue->index]];

	if (!p->used)
		c->used += (p->kernel != 0) + (p->user != 0);
	p->used = true;
	w->kernel = p->kernel ? stack_of(c, p->kernel) : GEN_NONE;
	w->user = p->user ? stack_of(c, p->user) : GEN_NONE;
	w->broken_parts = p->kernel && !p->user;
	*first = p->kernel ? p->kernel : p->user;
	if (p->kernel && p->user && c->cues->at.at[p->user - 1].stamp < c->cues->at.at[p->kernel - 1].stamp)
		*first = p->user;
}

static void find_owner(struct counting *c, struct work *w, uint32_t first)
{
	w->pid = c->act->processes.at[w->thread->process].pid;
	if (c->o->format == GEN_ETL) {
		w->pid = gen_rules_owner(&c->rules, w->thread->tid, w->cue->stamp);
		if (w->pid == GEN_NO_OWNER && first)
			w->pid = record_at(c, first)->pid;
	} else if (w->thread->unnamed) {
		w->pid = GEN_NO_OWNER;
	}
	w->life = gen_rules_life(&c->rules, w->pid, w->cue->stamp);
}

/* A sample without frames has a row of its own. */
static void add_no_stack(struct counting *c, struct work *w)
{
	uint32_t row[2] = {c->rules.lives.at[w->life].row};

	row[1] = gen_truth_method(c->truth, 0, "", "", "[no stack]", "", false);
	uint32_t id = rd_records_id(&c->truth->rows, row, NULL);
	if (id == RD_NONE)
		gen_out_of_memory();
	struct gen_truth_row *at = rd_records_at(&c->truth->rows, id);
	at->exclusive++;
	at->inclusive++;
	at->exclusive_weight += w->sample->weight;
	at->inclusive_weight += w->sample->weight;
}

static void add_sample(struct counting *c, const struct gen_cue *cue)
{
	struct gen_truth *t = c->truth;
	struct work w = {.cue = cue, .sample = &c->act->samples.at[cue->index]};
	uint32_t first = 0;

	w.thread = &c->act->threads.at[w.sample->thread];
	w.kernel = w.sample->kernel;
	w.user = w.sample->user;
	if (c->o->format == GEN_ETL)
		find_parts(c, &w, &first);
	find_owner(c, &w, first);
	t->samples++;
	t->weight += w.sample->weight;
	t->kinds[w.sample->kind]++;
	((struct gen_life_row *)rd_records_at(&t->lives, c->rules.lives.at[w.life].row))->samples++;
	add_pointer(c, &w);
	add_stack(c, &w, w.kernel);
	add_stack(c, &w, w.user);
	if (w.frames == 0)
		add_no_stack(c, &w);
	t->frames += w.frames;
	t->samples_without_stack += w.kernel == GEN_NONE && w.user == GEN_NONE;
	t->unowned_samples += w.pid == GEN_NO_OWNER;
	t->broken_stacks += w.broken_parts && w.pid != 0 && w.pid != 4 && w.pid != GEN_NO_OWNER;
	t->stacks += gen_hash_sample(w.hash, w.pid, w.thread->unnamed ? UINT64_MAX : w.thread->tid, w.sample->kind);
}

void gen_truth_add(struct gen_truth *t, const struct gen_options *o, const struct gen_told told[3], bool check)
{
	struct counting c = {.truth = t, .o = o, .act = told[1].act, .cues = told[1].cues, .check_real = check};

	order_samples(&c);
	find_moments(&c);
	gen_rules_init(&c.rules, o, t, told);
	for (uint32_t i = 0; i < c.cues->at.n; i++)
		if (c.cues->at.at[i].kind == GEN_RECORD && !c.cues->at.at[i].lost)
			add_record(&c, i);
	/* In the order of their stamps: verdicts hold until the next fact. */
	for (size_t i = 0; i < c.order_n; i++)
		if (!ordered_cue(&c, i)->lost)
			add_sample(&c, ordered_cue(&c, i));
	t->stacks_unused += c.records - c.used;
	gen_rules_release(&c.rules);
	rd_free(c.order);
	rd_vec_release(&c.moments);
	rd_vec_release(&c.parts);
}
