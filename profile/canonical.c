/*
 * One kind of thing after the other, each sorted by the places of those before
 * it: processes, strings, frames, stacks, rows. A sort moves ids, not things;
 * `place` then says where an id went.
 */
#include "profile/canonical.h"

#include <stdlib.h>
#include <string.h>

#include "base/radix.h"
#include "profile/order.h"

/* Ids of one kind: sorted, and where each stands in the result (RD_NONE: nowhere). */
struct order {
	uint32_t *ids;
	uint32_t *place;
	size_t n;
};

struct sorting {
	const struct rd_content *content;
	struct order lives, strings, frames, stacks;
};

static int order_init(struct order *o, size_t all)
{
	o->n = 0;
	if (all == 0)
		return 0;
	o->ids = rd_realloc(NULL, all * sizeof *o->ids);
	o->place = rd_realloc(NULL, all * sizeof *o->place);
	if (o->ids == NULL || o->place == NULL)
		return RD_NOMEM;
	memset(o->place, 0xff, all * sizeof *o->place);
	return 0;
}

static void order_release(struct order *o)
{
	rd_free(o->ids);
	rd_free(o->place);
}

/* The id comes into the result. */
static void want(struct order *o, uint32_t id)
{
	if (o->place[id] != RD_NONE)
		return;
	o->place[id] = 0;
	o->ids[o->n++] = id;
}

static void sort(struct order *o, int (*compare)(const void *a, const void *b, void *s), struct sorting *s)
{
	if (o->n > 1)
		qsort_r(o->ids, o->n, sizeof *o->ids, compare, s);
	for (size_t i = 0; i < o->n; i++)
		o->place[o->ids[i]] = (uint32_t)i;
}

static int compare_spans(struct rd_span a, struct rd_span b)
{
	size_t n = a.size_bytes < b.size_bytes ? a.size_bytes : b.size_bytes;
	int c = n ? memcmp(a.at, b.at, n) : 0;
	return c ? c : RD_COMPARE(a.size_bytes, b.size_bytes);
}

static int compare_strings(const void *a, const void *b, void *ctx)
{
	const struct rd_strings *strings = &((struct sorting *)ctx)->content->strings;
	return compare_spans(rd_strings_at(strings, *(const uint32_t *)a),
			     rd_strings_at(strings, *(const uint32_t *)b));
}

/* Strings have their places by now. Lives that say the same stay in the order in which they were lived. */
static int compare_lives(const void *a, const void *b, void *ctx)
{
	const struct sorting *s = ctx;
	const struct rd_life *x = &s->content->lives.at[*(const uint32_t *)a];
	const struct rd_life *y = &s->content->lives.at[*(const uint32_t *)b];
	int c = RD_COMPARE(x->trace, y->trace);

	if (c == 0)
		c = RD_COMPARE(x->pid, y->pid);
	if (c == 0)
		c = RD_COMPARE(x->start_utc_ns, y->start_utc_ns);
	if (c == 0)
		c = RD_COMPARE(s->strings.place[x->name], s->strings.place[y->name]);
	if (c == 0)
		c = RD_COMPARE(s->strings.place[x->command_line], s->strings.place[y->command_line]);
	if (c == 0)
		c = RD_COMPARE(x->namespace_pid, y->namespace_pid);
	return c ? c : RD_COMPARE(x->begin, y->begin);
}

/* A frame of the content as a row of the result. */
static struct rd_result_frame result_frame(const struct sorting *s, uint32_t id)
{
	const struct rd_frame_key *frame = rd_content_frame_at(s->content, id);
	const struct rd_method_key *method = rd_records_at(&s->content->methods, frame->method);

	return (struct rd_result_frame){
		.process = s->lives.place[method->life],
		.clr = method->clr,
		.module = s->strings.place[method->module],
		.ns = s->strings.place[method->ns],
		.name = s->strings.place[method->name],
		.signature = s->strings.place[method->signature],
		.tier = frame->tier,
		.flags = frame->flags,
	};
}

static int compare_frames(const void *a, const void *b, void *ctx)
{
	struct rd_result_frame x = result_frame(ctx, *(const uint32_t *)a);
	struct rd_result_frame y = result_frame(ctx, *(const uint32_t *)b);
	const uint32_t left[] = {x.process, x.clr, x.module, x.ns, x.name, x.signature, x.tier, x.flags};
	const uint32_t right[] = {y.process, y.clr, y.module, y.ns, y.name, y.signature, y.tier, y.flags};
	int c = 0;

	for (size_t i = 0; c == 0 && i < sizeof left / sizeof *left; i++)
		c = RD_COMPARE(left[i], right[i]);
	return c;
}

static int compare_stacks(const void *a, const void *b, void *ctx)
{
	const struct sorting *s = ctx;
	struct rd_span x = rd_strings_at(&s->content->stacks, *(const uint32_t *)a);
	struct rd_span y = rd_strings_at(&s->content->stacks, *(const uint32_t *)b);
	size_t n = x.size_bytes < y.size_bytes ? x.size_bytes : y.size_bytes;

	for (size_t i = 0; i < n; i += sizeof(uint32_t)) {
		uint32_t left = s->frames.place[rd_le32(x.at + i)], right = s->frames.place[rd_le32(y.at + i)];
		if (left != right)
			return left < right ? -1 : 1;
	}
	return RD_COMPARE(x.size_bytes, y.size_bytes);
}

static const struct rd_result_row *row_at(const struct rd_content *c, size_t i)
{
	return rd_records_at(&c->rows, (uint32_t)i);
}

static void want_frame(struct sorting *s, uint32_t id)
{
	const struct rd_method_key *method =
		rd_records_at(&s->content->methods, rd_content_frame_at(s->content, id)->method);

	want(&s->frames, id);
	want(&s->strings, method->module);
	want(&s->strings, method->ns);
	want(&s->strings, method->name);
	want(&s->strings, method->signature);
}

static void want_stack(struct sorting *s, uint32_t id)
{
	if (s->stacks.place[id] != RD_NONE)
		return;
	want(&s->stacks, id);
	struct rd_span frames = rd_strings_at(&s->content->stacks, id);
	for (size_t i = 0; i < frames.size_bytes; i += sizeof(uint32_t))
		want_frame(s, rd_le32(frames.at + i));
}

static void want_life(struct sorting *s, uint32_t id)
{
	want(&s->lives, id);
	want(&s->strings, s->content->lives.at[id].name);
	want(&s->strings, s->content->lives.at[id].command_line);
}

static int find_order(struct sorting *s)
{
	const struct rd_content *c = s->content;

	if (order_init(&s->lives, c->lives.n) < 0 || order_init(&s->strings, c->strings.at.n) < 0 ||
	    order_init(&s->frames, c->frames.n) < 0 || order_init(&s->stacks, c->stacks.at.n) < 0)
		return RD_NOMEM;
	for (size_t i = 0; i < c->rows.n; i++) {
		want_life(s, row_at(c, i)->process);
		want_stack(s, row_at(c, i)->stack);
	}
	sort(&s->strings, compare_strings, s);
	sort(&s->lives, compare_lives, s);
	sort(&s->frames, compare_frames, s);
	sort(&s->stacks, compare_stacks, s);
	return 0;
}

static int put_strings(const struct sorting *s, struct rd_result *out)
{
	for (size_t i = 0; i < s->strings.n; i++) {
		struct rd_span text = rd_strings_at(&s->content->strings, s->strings.ids[i]);
		if (rd_strings_id(&out->strings, text.at, text.size_bytes) == RD_NONE)
			return RD_NOMEM;
	}
	return 0;
}

static int put_processes(const struct sorting *s, struct rd_result *out)
{
	if (rd_vec_reserve(&out->processes, s->lives.n) < 0)
		return RD_NOMEM;
	for (size_t i = 0; i < s->lives.n; i++) {
		const struct rd_life *life = &s->content->lives.at[s->lives.ids[i]];
		out->processes.at[out->processes.n++] = (struct rd_result_process){
			.trace = life->trace,
			.pid = life->pid,
			.namespace_pid = life->namespace_pid,
			.name = s->strings.place[life->name],
			.command_line = s->strings.place[life->command_line],
			.start_utc_ns = life->start_utc_ns,
			.samples = life->samples,
		};
	}
	return 0;
}

static int put_frames(const struct sorting *s, struct rd_result *out)
{
	if (rd_vec_reserve(&out->frames, s->frames.n) < 0)
		return RD_NOMEM;
	for (size_t i = 0; i < s->frames.n; i++)
		out->frames.at[out->frames.n++] = result_frame(s, s->frames.ids[i]);
	return 0;
}

static int put_stacks(const struct sorting *s, struct rd_result *out)
{
	if (rd_vec_reserve(&out->stack_ends, s->stacks.n) < 0)
		return RD_NOMEM;
	for (size_t i = 0; i < s->stacks.n; i++) {
		struct rd_span frames = rd_strings_at(&s->content->stacks, s->stacks.ids[i]);
		if (rd_vec_reserve(&out->stack_frames, frames.size_bytes / sizeof(uint32_t)) < 0)
			return RD_NOMEM;
		for (size_t k = 0; k < frames.size_bytes; k += sizeof(uint32_t))
			out->stack_frames.at[out->stack_frames.n++] = s->frames.place[rd_le32(frames.at + k)];
		out->stack_ends.at[out->stack_ends.n++] = out->stack_frames.n;
	}
	return 0;
}

/* The first parts of a row's key: there are few of them. */
struct row_group {
	uint32_t process, kind; /* process: its place */
	uint64_t thread;
};

static int compare_groups(const void *a, const void *b, void *ctx)
{
	const struct rd_records *groups = ctx;
	const struct row_group *x = rd_records_at(groups, *(const uint32_t *)a);
	const struct row_group *y = rd_records_at(groups, *(const uint32_t *)b);
	int c = RD_COMPARE(x->process, y->process);

	if (c == 0)
		c = RD_COMPARE(x->thread, y->thread);
	return c ? c : RD_COMPARE(x->kind, y->kind);
}

/* Each group's place among the groups. */
static int place_groups(const struct rd_records *groups, struct order *o)
{
	if (order_init(o, groups->n) < 0)
		return RD_NOMEM;
	for (uint32_t i = 0; i < groups->n; i++)
		want(o, i);
	if (o->n > 1)
		qsort_r(o->ids, o->n, sizeof *o->ids, compare_groups, (void *)(uintptr_t)groups);
	for (size_t i = 0; i < o->n; i++)
		o->place[o->ids[i]] = (uint32_t)i;
	return 0;
}

/* Rows by (process, thread, kind), then by (bucket, stack); out's rows are not yet in order. */
static int sort_rows(const struct rd_result *out, struct rd_records *groups, struct order *places,
		     struct rd_radix_item *items)
{
	size_t n = out->rows.n;
	int rc;

	for (size_t i = 0; i < n; i++) {
		const struct rd_result_row *row = &out->rows.at[i];
		items[i] = (struct rd_radix_item){(uint64_t)row->bucket << 32 | row->stack, (uint32_t)i};
	}
	if ((rc = rd_radix_sort(items, n)) < 0)
		return rc;
	for (size_t i = 0; i < n; i++) {
		const struct rd_result_row *row = &out->rows.at[items[i].index];
		struct row_group key = {row->process, row->kind, row->thread};
		uint32_t id = rd_records_id(groups, &key, NULL);
		if (id == RD_NONE)
			return RD_NOMEM;
		items[i].key = id;
	}
	if ((rc = place_groups(groups, places)) < 0)
		return rc;
	for (size_t i = 0; i < n; i++)
		items[i].key = places->place[items[i].key];
	return rd_radix_sort(items, n);
}

/* Put the rows in the order of the items. */
static int move_rows(struct rd_result *out, const struct rd_radix_item *items)
{
	size_t n = out->rows.n;
	struct rd_result_row *sorted = rd_realloc(NULL, n * sizeof *sorted);

	if (sorted == NULL)
		return RD_NOMEM;
	for (size_t i = 0; i < n; i++)
		sorted[i] = out->rows.at[items[i].index];
	rd_free(out->rows.at);
	out->rows.at = sorted;
	out->rows.cap = n;
	return 0;
}

static int order_rows(struct rd_result *out)
{
	struct rd_records groups;
	struct order places = {0};
	struct rd_radix_item *items = rd_realloc(NULL, out->rows.n * sizeof *items);

	if (items == NULL)
		return out->rows.n ? RD_NOMEM : 0;
	rd_records_init(&groups, sizeof(struct row_group), sizeof(struct row_group));
	int rc = sort_rows(out, &groups, &places, items);
	if (rc == 0)
		rc = move_rows(out, items);
	rd_records_release(&groups);
	order_release(&places);
	rd_free(items);
	return rc;
}

static int put_rows(const struct sorting *s, struct rd_result *out)
{
	size_t n = s->content->rows.n;

	if (rd_vec_reserve(&out->rows, n) < 0)
		return RD_NOMEM;
	for (size_t i = 0; i < n; i++) {
		struct rd_result_row row = *row_at(s->content, i);
		row.process = s->lives.place[row.process];
		row.stack = s->stacks.place[row.stack];
		out->rows.at[out->rows.n++] = row;
	}
	return order_rows(out);
}

int rd_canonical(const struct rd_content *c, struct rd_result *out, struct rd_error *err)
{
	struct sorting s = {.content = c};
	int rc = find_order(&s);

	if (rc == 0)
		rc = put_strings(&s, out);
	if (rc == 0)
		rc = put_processes(&s, out);
	if (rc == 0)
		rc = put_frames(&s, out);
	if (rc == 0)
		rc = put_stacks(&s, out);
	if (rc == 0)
		rc = put_rows(&s, out);
	order_release(&s.lives);
	order_release(&s.strings);
	order_release(&s.frames);
	order_release(&s.stacks);
	return rc < 0 ? rd_fail_nomem(err) : 0;
}
