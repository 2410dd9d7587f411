/*
 * The belief of one shard, or of those that are there: the engine of the
 * finish with rows by process and stack only, folded by method. Samples of one
 * shard that brought equal stacks along are one to it, and the fold goes over the tree of
 * calls once, not along every stack.
 */
#include <string.h>

#include "profile/belief.h"
#include "profile/count.h"

/* A call while samples are summed over the tree of calls; numbers as in struct rd_result_call. */
struct summed {
	uint64_t samples;     /* of stacks that go through it */
	uint32_t first, next; /* the first call that it makes; the next one that its caller makes */
};

struct folded {
	uint64_t exclusive, inclusive;
	uint32_t open; /* calls of the method that lead to the one in hand */
};

struct folding {
	const struct rd_content *content;
	bool merged; /* a sample stands for as many as it weighs */
	struct rd_partial *partial;
	struct rd_progress *progress;
	struct summed *calls;   /* by number; 0: the calls that nobody made */
	struct folded *methods; /* by the content's id */
};

static struct folded *method_at(struct folding *f, uint32_t call)
{
	uint32_t frame = rd_content_call_at(f->content, call)->frame;
	return &f->methods[rd_content_frame_at(f->content, frame)->method];
}

/* Samples where they ended, then in all calls that led there. A caller has the lower number. */
static void sum_calls(struct folding *f)
{
	for (uint32_t i = 0; i < f->content->rows.n; i++) {
		const struct rd_result_row *row = rd_records_at(&f->content->rows, i);
		uint64_t samples = f->merged ? row->weight : row->count;
		f->calls[row->stack].samples += samples;
		if (row->stack)
			method_at(f, row->stack)->exclusive += samples;
	}
	for (uint32_t i = (uint32_t)f->content->calls.n; i > 0; i--) {
		struct summed *caller = &f->calls[rd_content_call_at(f->content, i)->caller];
		caller->samples += f->calls[i].samples;
		f->calls[i].next = caller->first;
		caller->first = i;
	}
}

static void enter(struct folding *f, uint32_t call)
{
	struct folded *m = method_at(f, call);

	/* A method that is there already has counted these samples. */
	if (m->open++ == 0)
		m->inclusive += f->calls[call].samples;
}

/* Once along the tree: each call is entered, then what it calls, then left. */
static int walk_calls(struct folding *f, struct rd_error *err)
{
	uint32_t call = f->calls[0].first;
	int rc = 0;

	while (call && rc == 0) {
		enter(f, call);
		uint32_t next = f->calls[call].first;
		while (call && next == 0) {
			method_at(f, call)->open--;
			next = f->calls[call].next;
			call = rd_content_call_at(f->content, call)->caller;
		}
		call = next;
		rc = rd_progress_step(f->progress, 1, err);
	}
	return rc;
}

/* A string of the content as a number of the partial. */
static int put_string(struct folding *f, uint32_t string, uint32_t *number)
{
	struct rd_span text = rd_strings_at(&f->content->strings, string);
	uint32_t id = rd_strings_id(&f->partial->strings, text.at, text.size_bytes);

	*number = id + 1;
	return id == RD_NONE ? RD_NOMEM : 0;
}

static int put_row(struct folding *f, uint32_t id)
{
	const struct rd_method_key *method = rd_records_at(&f->content->methods, id);
	const struct folded *m = &f->methods[id];
	struct rd_preliminary_row row = {
		.pid = f->content->lives.at[method->life].pid,
		.clr = method->clr,
		.exclusive = m->exclusive,
		.inclusive = m->inclusive,
	};

	if (put_string(f, method->module, &row.module) < 0 || put_string(f, method->ns, &row.ns) < 0 ||
	    put_string(f, method->name, &row.name) < 0 || put_string(f, method->signature, &row.signature) < 0)
		return RD_NOMEM;
	if (rd_vec_reserve(&f->partial->preliminary, 1) < 0)
		return RD_NOMEM;
	f->partial->preliminary.at[f->partial->preliminary.n++] = row;
	return 0;
}

static int fold(const struct rd_content *content, struct rd_partial *p, bool merged, struct rd_progress *progress,
		struct rd_error *err)
{
	struct folding f = {.content = content, .merged = merged, .partial = p, .progress = progress};
	size_t calls = 0, methods = 0;
	int rc = 0;

	if (rd_grow((void **)&f.calls, 0, &calls, content->calls.n + 1, sizeof *f.calls) < 0 ||
	    rd_grow((void **)&f.methods, 0, &methods, content->methods.n + 1, sizeof *f.methods) < 0) {
		rc = rd_fail_nomem(err);
	} else {
		memset(f.calls, 0, (content->calls.n + 1) * sizeof *f.calls);
		memset(f.methods, 0, (content->methods.n + 1) * sizeof *f.methods);
		sum_calls(&f);
		rc = walk_calls(&f, err);
	}
	for (uint32_t i = 0; rc == 0 && i < content->methods.n; i++)
		if (f.methods[i].inclusive > 0)
			rc = put_row(&f, i) < 0 ? rd_fail_nomem(err) : 0;
	rd_free(f.calls);
	rd_free(f.methods);
	return rc;
}

/* The traces are one group. */
static int count(struct rd_content *content, struct rd_group *group, bool once, struct rd_progress *progress,
		 struct rd_error *err)
{
	struct rd_moments moments;
	struct rd_filter filter;
	struct rd_trust trust = {0};
	struct rd_count counting = {
		.content = content,
		.moments = &moments,
		.filter = &filter,
		.by_stack_only = true,
		.once = once,
		.progress = progress,
		.trust = &trust,
	};

	rd_moments_init(&moments);
	rd_filter_init(&filter, NULL, &moments);
	int rc = rd_group_load_summaries(group, err);
	if (rc == 0)
		rc = rd_group_gather(group, err);
	if (rc == 0)
		rc = rd_count_group(&counting, group, err);
	rd_filter_release(&filter);
	return rc;
}

/* Whether two samples tell a belief the same. Of a sample without a process the thread says whose it is. */
static bool is_like(const struct rd_sample *a, const struct rd_sample *b)
{
	return a->pid == b->pid && (a->pid != RD_NO_PID || a->thread == b->thread) && a->stack == b->stack &&
	       a->pointer == b->pointer;
}

/* One of the few, standing for so many. */
static void add_few(struct rd_partial *few, const struct rd_sample *s, uint64_t weight)
{
	struct rd_sample *copy = &few->samples.at[few->samples.n++];

	*copy = *s;
	copy->weight = weight;
	few->summary.pointerless_samples += s->pointer == 0;
	few->summary.samples++;
}

/*
 * The samples of which something is believed. Where stacks come in records of their own the moment says which;
 * else each goes to the latest one with its stack, if it is like that; `last` is of these, by stack.
 */
static void take_samples(const struct rd_partial *p, struct rd_partial *few, uint32_t *last)
{
	for (size_t i = 0; i < p->samples.n; i++) {
		const struct rd_sample *s = &p->samples.at[i];
		uint64_t weight = rd_belief_weight(i, p->samples.n);
		uint32_t *at = &last[s->stack <= p->stack_ends.n ? s->stack : 0];
		if (weight == 0)
			continue;
		if (p->stack_records.n == 0 && *at != RD_NONE && is_like(&few->samples.at[*at], s)) {
			few->samples.at[*at].weight += weight;
			continue;
		}
		*at = (uint32_t)few->samples.n;
		add_few(few, s, weight);
	}
}

/* The partial with few samples, each weighing those it stands for; all but the samples is borrowed. */
static int make_few(const struct rd_partial *p, struct rd_partial *few, struct rd_error *err)
{
	size_t stacks = p->stack_ends.n + 1, cap = 0;
	uint32_t *last = NULL;

	*few = *p;
	few->samples.at = NULL;
	few->samples.n = few->samples.cap = 0;
	few->summary.samples = few->summary.pointerless_samples = 0;
	if (rd_vec_reserve(&few->samples, rd_belief_samples(p->samples.n)) < 0 ||
	    rd_grow((void **)&last, 0, &cap, stacks, sizeof *last) < 0) {
		rd_vec_release(&few->samples);
		return rd_fail_nomem(err);
	}
	memset(last, 0xff, stacks * sizeof *last);
	take_samples(p, few, last);
	rd_free(last);
	return 0;
}

/* What is believed, and of what. */
struct file {
	const struct rd_trace_info *info;
	struct rd_tables tables;
};
struct believing {
	struct file (*file)(const void *ctx, size_t i);
	const void *ctx;
	size_t n; /* files; they are one group */
	bool few; /* samples weigh those they stand for, and an address is asked once (struct rd_count) */
};

static int believe(const struct believing *b, struct rd_partial *to, struct rd_progress *progress, struct rd_error *err)
{
	struct rd_content content;
	struct rd_group group;
	int rc = rd_content_init(&content, err);

	rd_group_init(&group, &content, progress);
	for (size_t i = 0; rc == 0 && i < b->n; i++) {
		struct file f = b->file(b->ctx, i);
		rc = rd_group_add_file(&group, (uint32_t)i, f.info, f.tables, err);
	}
	if (rc == 0)
		rc = count(&content, &group, b->few, progress, err);
	rd_group_release(&group);
	if (rc == 0)
		rc = fold(&content, to, b->few, progress, err);
	rd_content_release(&content);
	return rc;
}

struct shard {
	const struct rd_trace_info *info;
	const struct rd_partial *p;
};

static struct file file_of_shard(const void *ctx, size_t i)
{
	const struct shard *s = ctx;

	(void)i;
	return (struct file){s->info, {.shards = 1, .in_memory = &s->p}};
}

int rd_finish_preliminary(const struct rd_trace_info *info, struct rd_partial *p, struct rd_progress *progress,
			  struct rd_error *err)
{
	struct rd_partial few;
	struct shard shard = {info, &few};
	struct believing b = {.file = file_of_shard, .ctx = &shard, .n = 1, .few = true};
	int rc = make_few(p, &few, err);

	if (rc < 0)
		return rc;
	rc = believe(&b, p, progress, err);
	rd_vec_release(&few.samples);
	return rc;
}

static struct file file_of_trace(const void *ctx, size_t i)
{
	const struct rd_finish_trace *t = (const struct rd_finish_trace *)ctx + i;

	return (struct file){t->info, {.shards = t->partials.shards, .packed = &t->partials}};
}

int rd_finish_so_far(const struct rd_finish_trace *traces, size_t n, struct rd_partial *belief,
		     struct rd_progress *progress, struct rd_error *err)
{
	struct believing b = {.file = file_of_trace, .ctx = traces, .n = n};

	return believe(&b, belief, progress, err);
}
