/*
 * folded - stacks as lines, `pid;frame;frame count`, root first: what flame graph tools read.
 *
 * Frames that read the same are one (tiers, CLR instances, processes of one
 * pid), so stacks that differ in nothing shown become one line. Labels are
 * numbered in the order of their bytes; stacks are then compared by numbers,
 * and no line is built before it is written.
 */
#include "report/format.h"

#include <stdlib.h>
#include <string.h>

struct line {
	uint32_t pid;
	const uint32_t *labels; /* n, root first */
	uint32_t n;
	uint64_t count;
};

struct folder {
	const struct rd_view *v;
	struct rd_strings labels;
	struct rd_bytes scratch;
	RD_VEC(uint32_t) frame_label; /* by frame */
	RD_VEC(uint32_t) by_bytes;    /* labels in the order of their bytes */
	RD_VEC(uint32_t) place;       /* by label: its place in that order */
	struct rd_arena arena;
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

static int make_lines(struct folder *f)
{
	const struct rd_result *r = f->v->result;

	if (rd_vec_reserve(&f->lines, f->v->stacks.n) != 0)
		return RD_NOMEM;
	for (size_t i = 0; i < f->v->stacks.n; i++) {
		const struct rd_view_stack *s = &f->v->stacks.at[i];
		const struct rd_result_call *innermost = rd_result_innermost(r, s->stack);
		uint32_t n = innermost ? 0 : 1;
		for (const struct rd_result_call *c = innermost; c; c = rd_result_call(r, c->caller))
			n++;
		uint32_t *labels = rd_arena_take(&f->arena, n * sizeof *labels), k = n;
		if (labels == NULL)
			return RD_NOMEM;
		labels[0] = f->place.at[f->frame_label.at[r->frames.n]];
		for (const struct rd_result_call *c = innermost; c; c = rd_result_call(r, c->caller))
			labels[--k] = f->place.at[f->frame_label.at[c->frame]];
		f->lines.at[f->lines.n++] = (struct line){
			.pid = r->processes.at[s->process].pid, .labels = labels, .n = n, .count = s->count};
	}
	return 0;
}

static int compare_lines(const void *x, const void *y)
{
	const struct line *a = x, *b = y;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	for (uint32_t i = 0; i < a->n && i < b->n; i++)
		if (a->labels[i] != b->labels[i])
			return a->labels[i] < b->labels[i] ? -1 : 1;
	return (a->n > b->n) - (a->n < b->n);
}

static void put_lines(struct folder *f, struct rd_out *out)
{
	for (size_t i = 0; i < f->lines.n; i++) {
		const struct line *line = &f->lines.at[i];
		uint64_t count = line->count;
		for (; i + 1 < f->lines.n && compare_lines(line, &f->lines.at[i + 1]) == 0; i++)
			count += f->lines.at[i + 1].count;
		rd_out_printf(out, "%lld", line->pid == RD_PID_UNOWNED ? -1LL : (long long)line->pid);
		for (uint32_t k = 0; k < line->n; k++) {
			struct rd_span label = rd_strings_at(&f->labels, f->by_bytes.at[line->labels[k]]);
			rd_out_bytes(out, ";", 1);
			rd_out_bytes(out, label.at, label.size_bytes);
		}
		rd_out_printf(out, " %llu\n", (unsigned long long)count);
	}
}

int rd_report_folded(const struct rd_view *v, const struct rd_report_options *o, struct rd_out *out,
		     struct rd_error *err)
{
	struct folder f = {.v = v};
	int code = 0;

	(void)o;
	if (make_labels(&f) != 0 || make_lines(&f) != 0)
		code = rd_fail_nomem(err);
	if (code == 0 && f.lines.n)
		qsort(f.lines.at, f.lines.n, sizeof *f.lines.at, compare_lines);
	if (code == 0)
		put_lines(&f, out);
	rd_strings_release(&f.labels);
	rd_bytes_release(&f.scratch);
	rd_vec_release(&f.frame_label);
	rd_vec_release(&f.by_bytes);
	rd_vec_release(&f.place);
	rd_arena_release(&f.arena);
	rd_vec_release(&f.lines);
	return code;
}
