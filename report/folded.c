/*
 * folded - stacks as lines, `pid;frame;frame count`, root first: what flame graph tools read. By thread, its frame is
 * behind the pid.
 *
 * Frames that read the same are one (CLR instances, processes of one pid), so stacks that differ in nothing shown
 * become one line. Labels are numbered in the order of their bytes; stacks are then compared by numbers, and no line is
 * built before it is written.
 */
#include "base/text.h"
#include "report/format.h"
#include "report/label.h"

#include <stdlib.h>
#include <string.h>

struct line {
	uint32_t pid;
	uint64_t thread;
	const uint32_t *labels; /* n, root first */
	uint32_t n;
	uint64_t count;
};

struct folder {
	const struct rd_view *v;
	struct rd_strings labels;
	struct rd_bytes label, clean, escaped;
	RD_VEC(uint32_t) method_label; /* by method */
	RD_VEC(uint32_t) by_bytes;     /* labels in the order of their bytes */
	RD_VEC(uint32_t) place;        /* by label: its place in that order */
	struct rd_arena arena;
	RD_VEC(struct line) lines;
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

static int make_lines(struct folder *f)
{
	const struct rd_view *v = f->v;

	if (rd_vec_reserve(&f->lines, v->stacks.n) != 0)
		return RD_NOMEM;
	for (size_t i = 0; i < v->stacks.n; i++) {
		const struct rd_view_stack *s = &v->stacks.at[i];
		uint32_t n = 0;
		for (const struct rd_view_call *c = rd_view_call(v, s->call); c; c = rd_view_call(v, c->caller))
			n++;
		uint32_t *labels = rd_arena_take(&f->arena, n * sizeof *labels), k = n;
		if (labels == NULL)
			return RD_NOMEM;
		for (const struct rd_view_call *c = rd_view_call(v, s->call); c; c = rd_view_call(v, c->caller))
			labels[--k] = f->place.at[f->method_label.at[c->method]];
		f->lines.at[f->lines.n++] = (struct line){.pid = v->result->processes.at[s->process].pid,
							  .thread = s->thread,
							  .labels = labels,
							  .n = n,
							  .count = s->count};
	}
	return 0;
}

static int compare_lines(const void *x, const void *y)
{
	const struct line *a = x, *b = y;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
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
		rd_out_printf(out, "%lld", (long long)rd_pid_number(line->pid));
		if (f->v->filter.by_thread)
			rd_out_printf(out, ";thread %llu", (unsigned long long)line->thread);
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
	rd_bytes_release(&f.label);
	rd_bytes_release(&f.clean);
	rd_bytes_release(&f.escaped);
	rd_vec_release(&f.method_label);
	rd_vec_release(&f.by_bytes);
	rd_vec_release(&f.place);
	rd_arena_release(&f.arena);
	rd_vec_release(&f.lines);
	return code;
}
