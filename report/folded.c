/*
 * folded - stacks as lines, `pid;frame;frame count`, root first: what flame graph tools read.
 *
 * Frames that read the same are one (tiers, CLR instances, processes of one
 * pid), so stacks that differ in nothing shown become one line. Labels are
 * numbered in the order of their bytes. The calls become a tree of steps by
 * label, and a walk along it, least labels first, meets the lines in their
 * order: no line is built before it is written.
 */
#include "report/format.h"

#include <stdlib.h>
#include <string.h>

#include "base/radix.h"
#include "base/records.h"

/* A call as it reads. Numbers are those of steps + 1; 0 none. */
struct step {
	uint32_t caller, label; /* the key; label: its place in the order of bytes */
	uint32_t first, next;   /* the first step inside, the next one beside */
	uint32_t rank;          /* in the order of lines */
};

struct line {
	uint32_t pid;
	uint32_t step; /* the innermost: its number */
	uint32_t rank; /* that step's */
	uint64_t count;
};

struct folder {
	const struct rd_view *v;
	struct rd_strings labels;
	struct rd_bytes scratch;
	RD_VEC(uint32_t) frame_label; /* by frame */
	RD_VEC(uint32_t) by_bytes;    /* labels in the order of their bytes */
	RD_VEC(uint32_t) place;       /* by label: its place in that order */
	struct rd_records steps;      /* struct step */
	RD_VEC(uint32_t) call_step;   /* by call: its step's number */
	RD_VEC(uint32_t) way;         /* labels of the line in work, from the innermost */
	RD_VEC(struct line) lines;
};

static void put_escaped(struct rd_bytes *b, struct rd_span text)
{
	for (size_t i = 0; i < text.size_bytes; i++) {
		uint8_t c = text.at[i];
		const char *escape = c == '%' ? "%25" : c == ';' ? "%3B" : c == '\n' ? "%0A" : c == '\r' ? "%0D" : NULL;
		if (escape)
			rd_bytes_append(b, escape, 3);
		else
			rd_bytes_append(b, &c, 1);
	}
}

static uint32_t label_of(struct folder *f, const struct rd_result_frame *frame)
{
	const struct rd_strings *s = &f->v->result->strings;
	struct rd_span module = rd_strings_at(s, frame->module), ns = rd_strings_at(s, frame->ns);

	f->scratch.n = 0;
	put_escaped(&f->scratch, module);
	if (module.size_bytes)
		rd_bytes_append(&f->scratch, "!", 1);
	put_escaped(&f->scratch, ns);
	if (ns.size_bytes)
		rd_bytes_append(&f->scratch, ".", 1);
	put_escaped(&f->scratch, rd_strings_at(s, frame->name));
	put_escaped(&f->scratch, rd_signature_arguments(rd_strings_at(s, frame->signature)));
	if (f->scratch.failed)
		return RD_NONE;
	return rd_strings_id(&f->labels, f->scratch.at, f->scratch.n);
}

static int compare_labels(const void *x, const void *y, void *ctx)
{
	const struct rd_strings *s = ctx;
	struct rd_span a = rd_strings_at(s, *(const uint32_t *)x), b = rd_strings_at(s, *(const uint32_t *)y);
	size_t n = a.size_bytes < b.size_bytes ? a.size_bytes : b.size_bytes;
	int c = n ? memcmp(a.at, b.at, n) : 0;

	return c ? c : (a.size_bytes > b.size_bytes) - (a.size_bytes < b.size_bytes);
}

static int make_labels(struct folder *f)
{
	const struct rd_result *r = f->v->result;

	if (rd_vec_reserve(&f->frame_label, r->frames.n + 1) != 0)
		return RD_NOMEM;
	for (size_t i = 0; i <= r->frames.n; i++) {
		/* One more than there are frames: what stands for a stack that has none. */
		uint32_t id =
			i < r->frames.n ? label_of(f, &r->frames.at[i]) : rd_strings_id(&f->labels, "[no stack]", 10);
		if (id == RD_NONE)
			return RD_NOMEM;
		f->frame_label.at[f->frame_label.n++] = id;
	}
	size_t n = f->labels.at.n;
	if (rd_vec_reserve(&f->by_bytes, n) != 0 || rd_vec_reserve(&f->place, n) != 0)
		return RD_NOMEM;
	for (size_t i = 0; i < n; i++)
		f->by_bytes.at[i] = (uint32_t)i;
	qsort_r(f->by_bytes.at, n, sizeof *f->by_bytes.at, compare_labels, &f->labels);
	for (size_t i = 0; i < n; i++)
		f->place.at[f->by_bytes.at[i]] = (uint32_t)i;
	return 0;
}

static struct step *step_at(const struct folder *f, uint32_t number)
{
	return rd_records_at(&f->steps, number - 1);
}

/* The number of the step with a label (as frame_label has it) inside another; 0 when out of memory. */
static uint32_t step_of(struct folder *f, uint32_t caller, uint32_t label)
{
	uint32_t key[2] = {caller, f->place.at[label]};
	uint32_t id = rd_records_id(&f->steps, key, NULL);
	return id == RD_NONE ? 0 : id + 1;
}

static int make_steps(struct folder *f)
{
	const struct rd_result *r = f->v->result;

	if (rd_vec_reserve(&f->call_step, r->calls.n) != 0)
		return RD_NOMEM;
	for (size_t i = 0; i < r->calls.n; i++) {
		const struct rd_result_call *c = &r->calls.at[i];
		uint32_t caller = c->caller ? f->call_step.at[c->caller - 1] : 0;
		uint32_t step = step_of(f, caller, f->frame_label.at[c->frame]);
		if (step == 0)
			return RD_NOMEM;
		f->call_step.at[f->call_step.n++] = step;
	}
	return 0;
}

static int make_lines(struct folder *f)
{
	const struct rd_result *r = f->v->result;

	if (rd_vec_reserve(&f->lines, f->v->stacks.n) != 0)
		return RD_NOMEM;
	for (size_t i = 0; i < f->v->stacks.n; i++) {
		const struct rd_view_stack *s = &f->v->stacks.at[i];
		uint32_t call = r->stacks.at[s->stack];
		uint32_t step = call ? f->call_step.at[call - 1] : step_of(f, 0, f->frame_label.at[r->frames.n]);
		if (step == 0)
			return RD_NOMEM;
		f->lines.at[f->lines.n++] =
			(struct line){.pid = r->processes.at[s->process].pid, .step = step, .count = s->count};
	}
	return 0;
}

/* Bring each step beside those of its caller, the least label first; *root is the first of the outermost. */
static int link_steps(struct folder *f, uint32_t *root)
{
	size_t n = f->steps.n;
	struct rd_radix_item *items = rd_realloc(NULL, n * sizeof *items);

	*root = 0;
	if (items == NULL)
		return n ? RD_NOMEM : 0;
	for (uint32_t i = 0; i < n; i++)
		items[i] = (struct rd_radix_item){step_at(f, i + 1)->label, i + 1};
	int rc = rd_radix_sort(items, n);
	for (size_t i = n; rc == 0 && i > 0; i--) {
		struct step *step = step_at(f, items[i - 1].index);
		uint32_t *first = step->caller ? &step_at(f, step->caller)->first : root;
		step->next = *first;
		*first = items[i - 1].index;
	}
	rd_free(items);
	return rc;
}

/* A step comes before what is inside it. */
static int rank_steps(struct folder *f)
{
	uint32_t at, rank = 0;
	int rc = link_steps(f, &at);

	while (rc == 0 && at) {
		const struct step *step = step_at(f, at);
		step_at(f, at)->rank = rank++;
		uint32_t next = step->first;
		while (at && next == 0) {
			next = step_at(f, at)->next;
			at = step_at(f, at)->caller;
		}
		at = next;
	}
	for (size_t i = 0; i < f->lines.n; i++)
		f->lines.at[i].rank = step_at(f, f->lines.at[i].step)->rank;
	return rc;
}

static int compare_lines(const void *x, const void *y)
{
	const struct line *a = x, *b = y;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

static int put_frames(struct folder *f, uint32_t step, struct rd_out *out)
{
	f->way.n = 0;
	for (; step; step = step_at(f, step)->caller) {
		uint32_t *label = rd_vec_add(&f->way);
		if (label == NULL)
			return RD_NOMEM;
		*label = step_at(f, step)->label;
	}
	for (size_t i = f->way.n; i > 0; i--) {
		struct rd_span label = rd_strings_at(&f->labels, f->by_bytes.at[f->way.at[i - 1]]);
		rd_out_bytes(out, ";", 1);
		rd_out_bytes(out, label.at, label.size_bytes);
	}
	return 0;
}

static int put_lines(struct folder *f, struct rd_out *out)
{
	for (size_t i = 0; i < f->lines.n; i++) {
		const struct line *line = &f->lines.at[i];
		uint64_t count = line->count;
		for (; i + 1 < f->lines.n && compare_lines(line, &f->lines.at[i + 1]) == 0; i++)
			count += f->lines.at[i + 1].count;
		rd_out_printf(out, "%lld", line->pid == RD_PID_UNOWNED ? -1LL : (long long)line->pid);
		if (put_frames(f, line->step, out) != 0)
			return RD_NOMEM;
		rd_out_printf(out, " %llu\n", (unsigned long long)count);
	}
	return 0;
}

int rd_report_folded(const struct rd_view *v, const struct rd_report_options *o, struct rd_out *out,
		     struct rd_error *err)
{
	struct folder f = {.v = v};
	int code = 0;

	(void)o;
	rd_records_init(&f.steps, sizeof(struct step), offsetof(struct step, first));
	if (make_labels(&f) != 0 || make_steps(&f) != 0 || make_lines(&f) != 0 || rank_steps(&f) != 0)
		code = rd_fail_nomem(err);
	if (code == 0 && f.lines.n)
		qsort(f.lines.at, f.lines.n, sizeof *f.lines.at, compare_lines);
	if (code == 0 && put_lines(&f, out) != 0)
		code = rd_fail_nomem(err);
	rd_strings_release(&f.labels);
	rd_bytes_release(&f.scratch);
	rd_vec_release(&f.frame_label);
	rd_vec_release(&f.by_bytes);
	rd_vec_release(&f.place);
	rd_records_release(&f.steps);
	rd_vec_release(&f.call_step);
	rd_vec_release(&f.way);
	rd_vec_release(&f.lines);
	return code;
}
