/* The result is folded into the form of the truth; then two truths are compared. */
#include "tests/properties/compare.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MOST 12

struct comparing {
	struct rd_bytes *why;
	unsigned lines;
};

static void say(struct comparing *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(struct comparing *c, const char *fmt, ...)
{
	char line[640];
	va_list args;

	if (c->lines++ >= LINES_MOST)
		return;
	va_start(args, fmt);
	vsnprintf(line, sizeof line, fmt, args);
	va_end(args);
	(void)rd_bytes_append(c->why, line, strlen(line));
}

/* ---- folding */

static char *text_of(const struct rd_result *r, uint32_t string)
{
	struct rd_span s = rd_strings_at(&r->strings, string);
	char *text = malloc(s.size_bytes + 1);

	if (text == NULL)
		gen_out_of_memory();
	memcpy(text, s.at, s.size_bytes);
	text[s.size_bytes] = 0;
	return text;
}

static uint32_t fold_frame(struct gen_truth *t, const struct rd_result *r, const struct rd_result_frame *f)
{
	char *text[4] = {text_of(r, f->module), text_of(r, f->ns), text_of(r, f->name), text_of(r, f->signature)};
	uint32_t id = gen_truth_method(t, f->clr, text[0], text[1], text[2], text[3], f->flags & RD_FRAME_UNRESOLVED);

	for (int i = 0; i < 4; i++)
		free(text[i]);
	return id;
}

/* The start is kept in nanoseconds here: see put_life. */
static uint32_t fold_life(struct gen_truth *t, const struct rd_result_process *p)
{
	bool started = p->start_utc_ns != INT64_MIN;
	return gen_truth_life(t, p->pid, started, (uint64_t)p->start_utc_ns);
}

static struct gen_truth_row *row_of(struct gen_truth *t, uint32_t life, uint32_t method)
{
	uint32_t key[2] = {life, method}, id = rd_records_id(&t->rows, key, NULL);

	if (id == RD_NONE)
		gen_out_of_memory();
	return rd_records_at(&t->rows, id);
}

static void fold_row(struct gen_truth *t, const struct rd_result *r, const struct rd_result_row *row, uint64_t serial)
{
	uint32_t life = fold_life(t, &r->processes.at[row->process]);
	const struct rd_result_call *call = rd_result_innermost(r, row->stack);
	uint64_t hash = 0;
	bool first = true;

	if (call == NULL) {
		struct gen_truth_row *to = row_of(t, life, gen_truth_method(t, 0, "", "", "[no stack]", "", false));
		to->exclusive += row->count;
		to->inclusive += row->count;
		to->exclusive_weight += row->weight;
		to->inclusive_weight += row->weight;
	}
	for (; call; call = rd_result_call(r, call->caller)) {
		const struct rd_result_frame *f = &r->frames.at[call->frame];
		uint32_t method = fold_frame(t, r, f);
		struct gen_truth_row *to = row_of(t, life, method);
		to->exclusive += first ? row->count : 0;
		to->exclusive_weight += first ? row->weight : 0;
		if (to->last != serial) {
			to->inclusive += row->count;
			to->inclusive_weight += row->weight;
		}
		to->last = serial;
		first = false;
		hash = gen_hash_frame(hash, t->methods.at[method].hash, f->tier);
	}
	t->stacks += row->count * gen_hash_sample(hash, r->processes.at[row->process].pid, row->thread, row->kind);
	((struct gen_life_row *)rd_records_at(&t->lives, life))->samples += row->count;
}

/* ---- comparing */

#define COMPARE(c, FIELD, got)                                                                                         \
	do {                                                                                                           \
		unsigned long long got_ = (unsigned long long)(got), right_ = (unsigned long long)truth->FIELD;        \
		if (got_ != right_)                                                                                    \
			say((c), #FIELD ": right %llu, got %llu\n", right_, got_);                                     \
	} while (0)

static void compare_counts(struct comparing *c, const struct rd_result *r, const struct gen_truth *truth)
{
	COMPARE(c, samples, r->samples);
	COMPARE(c, weight, r->weight);
	for (int i = 0; i < 3; i++)
		COMPARE(c, kinds[i], r->kinds[i]);
	COMPARE(c, frames, r->trust.frames);
	COMPARE(c, unresolved_frames, r->trust.unresolved_frames);
	COMPARE(c, ambiguous_frames, r->trust.ambiguous_frames);
	COMPARE(c, samples_without_stack, r->trust.samples_without_stack);
	COMPARE(c, stacks_unused, r->trust.stacks_unused);
	COMPARE(c, broken_stacks, r->trust.broken_stacks);
	COMPARE(c, unowned_samples, r->trust.unowned_samples);
	COMPARE(c, lost_events, r->trust.lost_events);
	COMPARE(c, lost_buffers, r->trust.lost_buffers);
	COMPARE(c, complete, r->trust.complete);
	if (r->trust.malformed_events)
		say(c, "malformed events: %llu\n", (unsigned long long)r->trust.malformed_events);
	if (!truth->complete && r->trust.cut_at != truth->file_bytes)
		say(c, "cut at: right %llu, got %llu\n", (unsigned long long)truth->file_bytes,
		    (unsigned long long)r->trust.cut_at);
}

/* A row as text that is the same in both: "pid@start module!ns.name(sig) #clr". */
static void label(const struct gen_truth *t, const struct gen_truth_row *row, const struct rd_clock *clock,
		  char out[512])
{
	const struct gen_life_row *l = rd_records_at(&t->lives, row->life);
	const struct gen_identity *m = &t->methods.at[row->method];
	long long start = !l->started ? 0
			  : clock     ? clock->start_utc_ns + rd_clock_ns(clock, l->begin)
				      : (long long)l->begin;

	snprintf(out, 512, "%d@%lld %s!%s.%s %s #%u", (int)l->pid, start, (const char *)m->module.at,
		 (const char *)m->ns.at, (const char *)m->name.at, (const char *)m->signature.at, m->clr);
}

struct labelled {
	char text[512];
	const struct gen_truth_row *row;
};

static int compare_labels(const void *a, const void *b)
{
	return strcmp(((const struct labelled *)a)->text, ((const struct labelled *)b)->text);
}

/* Rows of counts; those that nobody counted are none. */
static struct labelled *labels_of(const struct gen_truth *t, const struct rd_clock *clock, size_t *n)
{
	struct labelled *out = calloc(t->rows.n + 1, sizeof *out);

	if (out == NULL)
		gen_out_of_memory();
	*n = 0;
	for (uint32_t i = 0; i < t->rows.n; i++) {
		const struct gen_truth_row *row = rd_records_at(&t->rows, i);
		if (row->inclusive == 0)
			continue;
		out[*n].row = row;
		label(t, row, clock, out[(*n)++].text);
	}
	qsort(out, *n, sizeof *out, compare_labels);
	return out;
}

static void compare_row(struct comparing *c, const struct labelled *right, const struct labelled *got)
{
	static const struct gen_truth_row none;
	const struct gen_truth_row *r = right ? right->row : &none, *g = got ? got->row : &none;

	if (r->exclusive != g->exclusive || r->inclusive != g->inclusive ||
	    r->exclusive_weight != g->exclusive_weight || r->inclusive_weight != g->inclusive_weight)
		say(c, "%s: right %llu/%llu, got %llu/%llu\n", right ? right->text : got->text,
		    (unsigned long long)r->exclusive, (unsigned long long)r->inclusive,
		    (unsigned long long)g->exclusive, (unsigned long long)g->inclusive);
}

static void compare_rows(struct comparing *c, const struct gen_truth *truth, const struct gen_truth *got,
			 const struct rd_clock *clock)
{
	size_t n, m, i = 0, k = 0;
	struct labelled *right = labels_of(truth, clock, &n), *found = labels_of(got, NULL, &m);

	while (i < n || k < m) {
		int order = i == n ? 1 : k == m ? -1 : strcmp(right[i].text, found[k].text);
		compare_row(c, order <= 0 ? &right[i] : NULL, order >= 0 ? &found[k] : NULL);
		i += order <= 0;
		k += order >= 0;
	}
	free(right);
	free(found);
}

void compare_with_truth(const struct rd_result *r, const struct gen_truth *truth, struct rd_bytes *why)
{
	struct comparing c = {.why = why};
	struct gen_truth got;

	gen_truth_init(&got);
	for (size_t i = 0; i < r->rows.n; i++)
		fold_row(&got, r, &r->rows.at[i], i + 1);
	compare_counts(&c, r, truth);
	compare_rows(&c, truth, &got, &r->traces.at[0].info.clock);
	if (c.lines == 0 && got.stacks != truth->stacks)
		say(&c, "the sums are right, and some stack is not\n");
	gen_truth_release(&got);
}
