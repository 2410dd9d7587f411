#include "profile/losses.h"

#include <stdlib.h>
#include <string.h>

struct rd_losses_op {
	uint64_t thread;
	uint32_t op, first, count;
};

/* What is known of a thread's number. */
enum knowledge {
	NEVER_SEEN, /* or forgotten: its events begin at 1 */
	KNOWN,      /* its last number */
	UNTOLD,     /* blocks are missing: whatever comes first says nothing of losses */
};

static bool below_half(uint32_t difference)
{
	return difference < UINT32_C(1) << 31;
}

/* What an operation loses, given what is known before it. */
static uint32_t loss(enum knowledge before, uint32_t last, uint32_t op, uint32_t number)
{
	uint32_t gap;

	switch (before) {
	case NEVER_SEEN:
		return op == RD_SEQ_EVENT && number > 0 ? number - 1 : number;
	case KNOWN:
		/* A number that falls back is not a loss, and 1 is a new beginning. */
		gap = op == RD_SEQ_EVENT ? number - last - 1 : number - last;
		if ((op == RD_SEQ_EVENT && number == 1) || !below_half(gap))
			return 0;
		return gap;
	default:
		return 0;
	}
}

static void add(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

/* ---- the rows of one shard */

void rd_losses_release(struct rd_losses *l)
{
	rd_vec_release(&l->pending);
	rd_vec_release(&l->epoch_of);
	rd_table_release(&l->threads);
	l->open = false;
}

static bool is_thread(const void *ctx, uint32_t index, const void *key)
{
	const struct rd_losses *l = ctx;
	const uint64_t *thread = key;

	return l->out->sequences.at[l->first_row + index].thread == *thread;
}

/* The row of a thread in the open run; RD_NONE when out of memory. */
static uint32_t row_of(struct rd_losses *l, uint64_t thread)
{
	/* Row 0 is the run's own. */
	if (l->recent != 0 && is_thread(l, l->recent, &thread))
		return l->recent;
	uint64_t hash = rd_hash_u64(thread);
	uint32_t index = rd_table_find(&l->threads, hash, is_thread, l, &thread);
	if (index == RD_NONE) {
		if (rd_vec_reserve(&l->out->sequences, 1) < 0 || rd_vec_reserve(&l->epoch_of, 1) < 0)
			return RD_NONE;
		index = (uint32_t)l->epoch_of.n;
		if (rd_table_put(&l->threads, hash, index) < 0)
			return RD_NONE;
		struct rd_sequence_row *run = &l->out->sequences.at[l->first_row];
		l->out->sequences.at[l->out->sequences.n++] =
			(struct rd_sequence_row){.run = run->run, .thread = thread};
		l->epoch_of.at[l->epoch_of.n++] = UINT32_MAX; /* not told yet */
	}
	return l->recent = index;
}

static void open_run(struct rd_losses *l, uint32_t ordinal)
{
	l->first_row = l->out->sequences.n;
	l->out->sequences.at[l->out->sequences.n++] =
		(struct rd_sequence_row){.run = ordinal, .thread = UINT64_MAX, .first_op = RD_SEQ_FORGET_ALL};
	l->epoch_of.n = 0;
	l->epoch_of.at[l->epoch_of.n++] = 0;
	l->epoch = 0;
	l->recent = 0;
	l->open = true;
}

void rd_losses_finish(struct rd_losses *l)
{
	if (!l->open)
		return;
	struct rd_sequence_row *run = &l->out->sequences.at[l->first_row];
	size_t n = l->epoch_of.n, kept = 1;
	run->forgot_all = l->epoch > 0;
	for (size_t i = 1; i < n; i++) {
		struct rd_sequence_row row = run[i];
		row.known &= l->epoch_of.at[i] == l->epoch;
		if (!row.known)
			row.last_number = 0;
		row.run_blocks = run->run_blocks;
		row.forgot_all = run->forgot_all;
		/* First seen after all was forgotten, and forgotten again: what it lost is all there is to say. */
		if (row.first_op == 0 && !row.known)
			add(&run->lost, row.lost);
		else
			run[kept++] = row;
	}
	l->out->sequences.n = l->first_row + kept;
	rd_table_release(&l->threads);
	l->open = false;
}

int rd_losses_begin(struct rd_losses *l, uint32_t ordinal)
{
	if (l->open) {
		const struct rd_sequence_row *run = &l->out->sequences.at[l->first_row];
		if (ordinal != run->run + run->run_blocks)
			rd_losses_finish(l);
	}
	l->pending.n = 0;
	if (!l->open) {
		if (rd_vec_reserve(&l->out->sequences, 1) < 0 ||
		    rd_grow((void **)&l->epoch_of.at, 0, &l->epoch_of.cap, 1, sizeof *l->epoch_of.at) < 0)
			return RD_NOMEM;
		open_run(l, ordinal);
	}
	l->out->sequences.at[l->first_row].run_blocks++;
	return 0;
}

int rd_losses_tell(struct rd_losses *l, uint64_t thread, enum rd_sequence_op op, uint32_t first, uint32_t count)
{
	if (l->pending.n > 0 && op == RD_SEQ_EVENT) {
		struct rd_losses_op *last = &l->pending.at[l->pending.n - 1];
		if (last->op == RD_SEQ_EVENT && last->thread == thread && last->first + last->count == first &&
		    last->count + (uint64_t)count < UINT32_MAX) {
			last->count += count;
			return 0;
		}
	}
	struct rd_losses_op *o = rd_vec_add(&l->pending);
	if (o == NULL)
		return RD_NOMEM;
	*o = (struct rd_losses_op){thread, op, first, count};
	return 0;
}

static int apply(struct rd_losses *l, const struct rd_losses_op *o)
{
	if (o->op == RD_SEQ_FORGET_ALL) {
		l->epoch++;
		return 0;
	}
	if (o->op == RD_SEQ_EVENT && o->count == 0)
		return 0;
	uint32_t index = row_of(l, o->thread);
	if (index == RD_NONE)
		return RD_NOMEM;
	struct rd_sequence_row *row = &l->out->sequences.at[l->first_row + index];
	if (l->epoch_of.at[index] == UINT32_MAX && l->epoch == 0) {
		/* What this loses is for those to say who know what came before the run. */
		row->first_op = o->op;
		row->first_number = o->first;
	} else {
		bool known = row->known && l->epoch_of.at[index] == l->epoch;
		add(&row->lost, loss(known ? KNOWN : NEVER_SEEN, row->last_number, o->op, o->first));
	}
	row->known = o->op != RD_SEQ_REMOVE;
	row->last_number = o->op == RD_SEQ_EVENT ? o->first + (o->count - 1) : o->first;
	l->epoch_of.at[index] = l->epoch;
	return 0;
}

int rd_losses_end(struct rd_losses *l, bool undo)
{
	int code = 0;

	for (size_t i = 0; i < l->pending.n && code == 0 && !undo; i++)
		code = apply(l, &l->pending.at[i]);
	l->pending.n = 0;
	return code;
}

/* ---- the rows of all shards */

struct thread_state {
	uint64_t thread;
	uint32_t last;
	uint32_t generation; /* older than the merge's: it is as every other thread */
	enum knowledge knows;
};

struct merge {
	RD_VEC(struct thread_state) threads;
	struct rd_table table;
	uint32_t generation;
	enum knowledge others; /* what is known of a thread that no row told of */
	uint64_t next;         /* ordinal that continues what was merged */
	uint64_t lost;
};

static bool is_state(const void *ctx, uint32_t index, const void *key)
{
	const struct merge *m = ctx;
	const uint64_t *thread = key;

	return m->threads.at[index].thread == *thread;
}

static struct thread_state *state_of(struct merge *m, uint64_t thread)
{
	uint64_t hash = rd_hash_u64(thread);
	uint32_t index = rd_table_find(&m->table, hash, is_state, m, &thread);

	if (index == RD_NONE) {
		struct thread_state *s = rd_vec_add(&m->threads);
		if (s == NULL)
			return NULL;
		index = (uint32_t)(m->threads.n - 1);
		*s = (struct thread_state){.thread = thread, .generation = m->generation, .knows = m->others};
		if (rd_table_put(&m->table, hash, index) < 0)
			return NULL;
	}
	struct thread_state *s = &m->threads.at[index];
	if (s->generation != m->generation) {
		s->generation = m->generation;
		s->knows = m->others;
	}
	return s;
}

static bool is_run(const struct rd_sequence_row *r)
{
	return r->first_op == RD_SEQ_FORGET_ALL;
}

static int row_order(const void *a, const void *b)
{
	const struct rd_sequence_row *x = a, *y = b;

	if (x->run != y->run)
		return x->run < y->run ? -1 : 1;
	if (is_run(x) != is_run(y))
		return is_run(x) ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static void all_become(struct merge *m, enum knowledge knows)
{
	m->generation++;
	m->others = knows;
}

/* One run: its own row and those of its n - 1 threads. */
static int merge_run(struct merge *m, const struct rd_sequence_row *rows, size_t n, struct rd_error *err)
{
	if (!is_run(rows) || rows->run < m->next)
		return rd_fail(err, RD_CORRUPT, "the sequence run at block %u %s", rows->run,
			       is_run(rows) ? "overlaps another" : "has no row of its own");
	for (size_t i = 1; i < n; i++)
		if (is_run(&rows[i]) || (i > 1 && rows[i].thread == rows[i - 1].thread))
			return rd_fail(err, RD_CORRUPT, "the sequence run at block %u has a thread twice", rows->run);
	if (rows->run > m->next)
		all_become(m, UNTOLD);
	m->next = (uint64_t)rows->run + rows->run_blocks;

	add(&m->lost, rows->lost);
	for (size_t i = 1; i < n; i++) {
		struct thread_state *s = state_of(m, rows[i].thread);
		if (s == NULL)
			return rd_fail_nomem(err);
		if (rows[i].first_op != 0)
			add(&m->lost, loss(s->knows, s->last, rows[i].first_op, rows[i].first_number));
		add(&m->lost, rows[i].lost);
	}
	if (rows->forgot_all)
		all_become(m, NEVER_SEEN);
	for (size_t i = 1; i < n; i++) {
		struct thread_state *s = state_of(m, rows[i].thread);
		if (s == NULL)
			return rd_fail_nomem(err);
		s->knows = rows[i].known ? KNOWN : NEVER_SEEN;
		s->last = rows[i].last_number;
	}
	return 0;
}

int rd_losses_merge(struct rd_sequence_row *rows, size_t n, uint64_t *lost, struct rd_error *err)
{
	struct merge m = {.others = NEVER_SEEN};
	int code = 0;

	if (n > 1)
		qsort(rows, n, sizeof *rows, row_order);
	for (size_t i = 0, end; i < n && code == 0; i = end) {
		for (end = i + 1; end < n && rows[end].run == rows[i].run;)
			end++;
		code = merge_run(&m, rows + i, end - i, err);
	}
	rd_vec_release(&m.threads);
	rd_table_release(&m.table);
	if (code == 0)
		*lost = m.lost;
	return code;
}
