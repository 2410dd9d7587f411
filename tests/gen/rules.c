/* Processes, threads, stack keys. */
#include "tests/gen/rules.h"

#include <stdlib.h>

void gen_timeline_add(struct gen_timeline *t, uint64_t key, uint64_t stamp, uint8_t op, uint32_t value)
{
	GEN_ADD(&t->at, (struct gen_fact){.key = key, .order = gen_order(stamp, op), .value = value, .op = op});
}

static int compare_facts(const void *a, const void *b)
{
	const struct gen_fact *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

void gen_timeline_sort(struct gen_timeline *t)
{
	if (t->at.n > 1)
		qsort(t->at.at, t->at.n, sizeof *t->at.at, compare_facts);
}

void gen_timeline_near(const struct gen_timeline *t, uint64_t key, uint64_t stamp, const struct gen_fact **before,
		       const struct gen_fact **after)
{
	size_t low = 0, high = t->at.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct gen_fact *f = &t->at.at[middle];
		if (f->key < key || (f->key == key && f->order <= stamp * 2 + 1))
			low = middle + 1;
		else
			high = middle;
	}
	*before = low > 0 && t->at.at[low - 1].key == key ? &t->at.at[low - 1] : NULL;
	*after = low < t->at.n && t->at.at[low].key == key ? &t->at.at[low] : NULL;
}

static void add_facts(struct gen_rules *r, const struct gen_told *told)
{
	const struct gen_act *a = told->act;

	for (size_t i = 0; i < told->cues->at.n; i++) {
		const struct gen_cue *c = &told->cues->at.at[i];
		if (c->lost)
			continue;
		if (c->kind == GEN_PROCESS) {
			gen_timeline_add(&r->processes, a->processes.at[c->index].pid, c->stamp, c->op, 0);
		} else if (c->kind == GEN_THREAD) {
			const struct gen_thread *t = &a->threads.at[c->index];
			gen_timeline_add(&r->threads, t->tid, c->stamp, c->op, a->processes.at[t->process].pid);
		} else if (c->kind == GEN_KEY) {
			const struct gen_key *k = &a->keys.at[c->index];
			gen_timeline_add(&r->keys, k->value, c->stamp, GEN_LOAD, k->stack);
		}
	}
}

/* "A life begins at its start, or at its first record when none is open, and ends at its end." */
static void make_lives(struct gen_rules *r)
{
	bool open = false;

	for (size_t i = 0; i < r->processes.at.n; i++) {
		const struct gen_fact *f = &r->processes.at.at[i];
		open = open && i > 0 && f[-1].key == f->key;
		if (!open || f->op == GEN_LOAD) {
			struct gen_life l = {.pid = (uint32_t)f->key, .begin = f->order / 2};
			l.started = f->op == GEN_LOAD;
			l.row = gen_truth_life(r->truth, l.pid, l.started, l.begin);
			GEN_ADD(&r->lives, l);
		}
		open = f->op != GEN_UNLOAD;
	}
}

uint32_t gen_rules_life(struct gen_rules *r, uint32_t pid, uint64_t stamp)
{
	uint32_t found = GEN_NONE;

	for (uint32_t i = 0; i < r->lives.n; i++) {
		const struct gen_life *l = &r->lives.at[i];
		if (l->pid == pid && (found == GEN_NONE || l->begin <= stamp))
			found = i;
	}
	if (found != GEN_NONE)
		return found;
	GEN_ADD(&r->lives, (struct gen_life){.pid = pid, .row = gen_truth_life(r->truth, pid, false, 0)});
	return (uint32_t)r->lives.n - 1;
}

uint32_t gen_rules_owner(const struct gen_rules *r, uint32_t tid, uint64_t stamp)
{
	const struct gen_fact *before, *after;

	if (tid == 0)
		return 0;
	gen_timeline_near(&r->threads, tid, stamp, &before, &after);
	return before ? before->value : after ? after->value : GEN_NO_OWNER;
}

uint32_t gen_rules_stack(const struct gen_rules *r, uint64_t key, uint64_t stamp)
{
	const struct gen_fact *before, *after;

	/* "The first definition at or after": one at the very time counts. */
	gen_timeline_near(&r->keys, key, stamp - 1, &before, &after);
	return after ? after->value : GEN_NONE;
}

void gen_rules_init(struct gen_rules *r, const struct gen_options *o, struct gen_truth *truth,
		    const struct gen_told told[3])
{
	*r = (struct gen_rules){.o = o, .truth = truth};
	for (int i = 0; i < 3; i++)
		add_facts(r, &told[i]);
	gen_timeline_sort(&r->processes);
	gen_timeline_sort(&r->threads);
	gen_timeline_sort(&r->keys);
	make_lives(r);
	gen_rules_code(r, told);
}

static void release_code(struct gen_code *c)
{
	rd_vec_release(&c->facts);
	rd_vec_release(&c->first);
	rd_vec_release(&c->list);
}

void gen_rules_release(struct gen_rules *r)
{
	rd_vec_release(&r->processes.at);
	rd_vec_release(&r->threads.at);
	rd_vec_release(&r->modules.at);
	rd_vec_release(&r->names.at);
	rd_vec_release(&r->keys.at);
	rd_records_release(&r->module_keys);
	rd_records_release(&r->name_keys);
	rd_vec_release(&r->lives);
	rd_vec_release(&r->addresses);
	rd_vec_release(&r->ranks);
	release_code(&r->methods);
	release_code(&r->images);
	release_code(&r->mappings);
	rd_vec_release(&r->symbols);
	rd_vec_release(&r->verdicts);
}
