/*
 * folded - stacks as lines, `pid;frame;frame count`, root first: what flame graph tools read. By thread, its frame is
 * behind the pid.
 *
 * Frames that read the same are one (CLR instances, processes of one pid), so stacks that differ in nothing shown
 * become one line. Labels are numbered in the order of their bytes. Lines come from a walk over the tree of calls in the
 * order of labels and no stack is spelled out before its line is written, so memory goes with the calls, not with
 * the frames of all stacks.
 */
#include "base/text.h"
#include "report/format.h"
#include "report/label.h"

#include <stdlib.h>
#include <string.h>

/* A call in the tree of the group at hand; numbers of calls as in the view. */
struct node {
	uint64_t samples;
	uint32_t first, next; /* the first call that it makes; the next one that its caller makes */
	uint32_t there, zero;
};

/* A call whose turn is to come. */
struct item {
	uint32_t place, call; /* of its label; its number */
};

/* Items [begin, end) were called by what is one; those before `at` were walked. */
struct level {
	size_t begin, at, end;
};

struct folder {
	const struct rd_view *v;
	struct rd_strings labels;
	struct rd_bytes label, clean, escaped;
	RD_VEC(uint32_t) method_label; /* by method */
	RD_VEC(uint32_t) by_bytes;     /* labels in the order of their bytes */
	RD_VEC(uint32_t) place;        /* by label: its place in that order */
	RD_VEC(uint32_t) stacks;       /* of the view, by process and thread */
	RD_VEC(struct node) nodes;     /* by call */
	RD_VEC(struct item) items;
	RD_VEC(struct level) levels;
};

static void put_escaped(struct rd_bytes *b, const struct rd_bytes *text)
{
	for (size_t i = 0; i < text->n; i++) {
		uint8_t c = text->at[i];
		const char *escape = c == '%' ? "%25" : c == ';' ? "%3B" : c == '\n' ? "%0A" : c == '\r' ? "%0D" : NULL;
		if (escape)
			rd_bytes_append(b, escape, 3);
		else
			rd_bytes_append(b, &c, 1);
	}
}

static uint32_t label_of(struct folder *f, const struct rd_view_method *m)
{
	f->label.n = f->clean.n = f->escaped.n = 0;
	rd_label(&f->label, m, f->v->filter.tiers);
	rd_utf8_append(&f->clean, (struct rd_span){f->label.at, f->label.n});
	put_escaped(&f->escaped, &f->clean);
	if (f->label.failed || f->clean.failed || f->escaped.failed)
		return RD_NONE;
	return rd_strings_id(&f->labels, f->escaped.at ? (const void *)f->escaped.at : "", f->escaped.n);
}

static int compare_labels(const void *x, const void *y, void *ctx)
{
	const struct rd_strings *s = ctx;

	return rd_compare_spans(rd_strings_at(s, *(const uint32_t *)x), rd_strings_at(s, *(const uint32_t *)y));
}

static int make_labels(struct folder *f)
{
	if (rd_vec_reserve(&f->method_label, f->v->methods.n) != 0)
		return RD_NOMEM;
	for (size_t i = 0; i < f->v->methods.n; i++) {
		uint32_t id = label_of(f, &f->v->methods.at[i]);
		if (id == RD_NONE)
			return RD_NOMEM;
		f->method_label.at[f->method_label.n++] = id;
	}
	size_t n = f->labels.at.n;
	if (rd_vec_reserve(&f->by_bytes, n) != 0 || rd_vec_reserve(&f->place, n) != 0)
		return RD_NOMEM;
	for (size_t i = 0; i < n; i++)
		f->by_bytes.at[i] = (uint32_t)i;
	if (n)
		qsort_r(f->by_bytes.at, n, sizeof *f->by_bytes.at, compare_labels, &f->labels);
	for (size_t i = 0; i < n; i++)
		f->place.at[f->by_bytes.at[i]] = (uint32_t)i;
	return 0;
}

static struct node *node_at(struct folder *f, uint32_t call)
{
	return &f->nodes.at[call - 1];
}

/* ---- the samples of one process, or of one of its threads */

static int compare_stacks(const void *x, const void *y, void *ctx)
{
	const struct rd_view *v = ctx;
	const struct rd_view_stack *a = &v->stacks.at[*(const uint32_t *)x], *b = &v->stacks.at[*(const uint32_t *)y];
	uint32_t pid_a = v->result->processes.at[a->process].pid, pid_b = v->result->processes.at[b->process].pid;

	if (pid_a != pid_b)
		return pid_a < pid_b ? -1 : 1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

static int order_stacks(struct folder *f)
{
	const struct rd_view *v = f->v;

	if (rd_vec_reserve(&f->stacks, v->stacks.n) != 0 || rd_vec_reserve(&f->nodes, v->calls.n) != 0)
		return RD_NOMEM;
	if (v->calls.n)
		memset(f->nodes.at, 0, v->calls.n * sizeof *f->nodes.at);
	for (size_t i = 0; i < v->stacks.n; i++)
		f->stacks.at[f->stacks.n++] = (uint32_t)i;
	if (f->stacks.n)
		qsort_r(f->stacks.at, f->stacks.n, sizeof *f->stacks.at, compare_stacks, (void *)v);
	return 0;
}

static int add_item(struct folder *f, uint32_t call)
{
	struct item *item = rd_vec_add(&f->items);

	if (item == NULL)
		return RD_NOMEM;
	*item = (struct item){f->place.at[f->method_label.at[f->v->calls.at[call - 1].method]], call};
	return 0;
}

/* The stack's samples, and its calls into the group's tree, as far as they are not there. */
static int add_stack(struct folder *f, const struct rd_view_stack *s)
{
	node_at(f, s->call)->samples += s->count;
	for (uint32_t call = s->call; call && !node_at(f, call)->there;) {
		uint32_t caller = f->v->calls.at[call - 1].caller;
		node_at(f, call)->there = 1;
		if (caller == 0)
			return add_item(f, call);
		node_at(f, call)->next = node_at(f, caller)->first;
		node_at(f, caller)->first = call;
		call = caller;
	}
	return 0;
}

/* ---- the walk: calls whose labels are equal all the way are one */

static int compare_items(const void *x, const void *y)
{
	const struct item *a = x, *b = y;

	return (a->place > b->place) - (a->place < b->place);
}

/* The items from begin on are called alike: a level of the walk. */
static int enter(struct folder *f, size_t begin)
{
	struct level *level = rd_vec_add(&f->levels);

	if (level == NULL)
		return RD_NOMEM;
	*level = (struct level){.begin = begin, .at = begin, .end = f->items.n};
	if (f->items.n - begin > 1)
		qsort(f->items.at + begin, f->items.n - begin, sizeof *f->items.at, compare_items);
	return 0;
}

/* The items [begin, end) are one: their samples, and what they call as the next level. They leave the tree. */
static int take(struct folder *f, size_t begin, size_t end, uint64_t *samples)
{
	size_t inside = f->items.n;

	*samples = 0;
	for (size_t i = begin; i < end; i++) {
		struct node *n = node_at(f, f->items.at[i].call);
		*samples += n->samples;
		for (uint32_t call = n->first; call; call = node_at(f, call)->next)
			if (add_item(f, call) != 0)
				return RD_NOMEM;
		n->samples = n->first = n->there = 0;
	}
	return f->items.n > inside ? enter(f, inside) : 0;
}

/* A line of the first `depth` levels' calls. */
static void put_line(const struct folder *f, const struct rd_view_stack *of, size_t depth, uint64_t samples,
		     struct rd_out *out)
{
	rd_out_printf(out, "%lld", (long long)rd_pid_number(f->v->result->processes.at[of->process].pid));
	if (f->v->filter.by_thread)
		rd_out_printf(out, ";thread %llu", (unsigned long long)of->thread);
	for (size_t i = 0; i < depth; i++) {
		uint32_t place = f->items.at[f->levels.at[i].at - 1].place;
		struct rd_span label = rd_strings_at(&f->labels, f->by_bytes.at[place]);
		rd_out_bytes(out, ";", 1);
		rd_out_bytes(out, label.at, label.size_bytes);
	}
	rd_out_printf(out, " %llu\n", (unsigned long long)samples);
}

/* What is outside comes before what is inside, and labels in their order. */
static int walk(struct folder *f, const struct rd_view_stack *of, struct rd_out *out)
{
	int rc = enter(f, 0);

	while (rc == 0 && f->levels.n > 0) {
		struct level *level = &f->levels.at[f->levels.n - 1];
		size_t depth = f->levels.n, begin = level->at, end = begin;
		uint64_t samples;
		if (begin == level->end) {
			f->items.n = level->begin;
			f->levels.n--;
			continue;
		}
		while (end < level->end && f->items.at[end].place == f->items.at[begin].place)
			end++;
		level->at = end;
		rc = take(f, begin, end, &samples);
		if (rc == 0 && samples)
			put_line(f, of, depth, samples, out);
	}
	return rc;
}

static int put_groups(struct folder *f, struct rd_out *out)
{
	const struct rd_view *v = f->v;
	int rc = 0;

	for (size_t i = 0, end; rc == 0 && i < f->stacks.n; i = end) {
		for (end = i; rc == 0 && end < f->stacks.n; end++) {
			if (compare_stacks(&f->stacks.at[i], &f->stacks.at[end], (void *)v) != 0)
				break;
			rc = add_stack(f, &v->stacks.at[f->stacks.at[end]]);
		}
		if (rc == 0)
			rc = walk(f, &v->stacks.at[f->stacks.at[i]], out);
	}
	return rc;
}

int rd_report_folded(const struct rd_view *v, const struct rd_report_options *o, struct rd_out *out,
		     struct rd_error *err)
{
	struct folder f = {.v = v};
	int code = 0;

	(void)o;
	if (make_labels(&f) != 0 || order_stacks(&f) != 0 || put_groups(&f, out) != 0)
		code = rd_fail_nomem(err);
	rd_strings_release(&f.labels);
	rd_bytes_release(&f.label);
	rd_bytes_release(&f.clean);
	rd_bytes_release(&f.escaped);
	rd_vec_release(&f.method_label);
	rd_vec_release(&f.by_bytes);
	rd_vec_release(&f.place);
	rd_vec_release(&f.stacks);
	rd_vec_release(&f.nodes);
	rd_vec_release(&f.items);
	rd_vec_release(&f.levels);
	return code;
}
