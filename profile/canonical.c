/*
 * One kind of thing after the other, each sorted by the places of those before
 * it: strings, processes, frames, stacks, rows. A sort moves ids, not things;
 * `place` then says where an id went. Calls are numbered as the stacks, taken
 * in their order, come to them: a caller before those it calls.
 */
#include "profile/canonical.h"

#include <stdlib.h>
#include <string.h>

#include "base/radix.h"
#include "profile/order.h"
#include "profile/row_order.h"
#include "profile/stack_order.h"

/* Ids of one kind: sorted, and where each stands in the result (RD_NONE: nowhere). */
struct order {
	uint32_t *ids;
	uint32_t *place;
	size_t n;
};

struct sorting {
	const struct rd_content *content;
	struct rd_progress *progress;
	struct order lives, strings, frames, stacks;
	uint32_t *call_place; /* by call, as order's: RD_NONE when no stack has it */
	RD_VEC(uint32_t) way; /* out of a stack: calls that have no place yet */
};

/* Of ids below `all`, no more than `most`. */
static int order_init(struct order *o, size_t all, size_t most)
{
	o->n = 0;
	if (all == 0)
		return 0;
	o->ids = rd_realloc(NULL, (most < all ? most : all) * sizeof *o->ids + 1);
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

/* Sorted: each id has its place. */
static void place_all(struct order *o)
{
	for (size_t i = 0; i < o->n; i++)
		o->place[o->ids[i]] = (uint32_t)i;
}

/* ---- strings */

static int compare_spans(struct rd_span a, struct rd_span b)
{
	size_t n = a.size_bytes < b.size_bytes ? a.size_bytes : b.size_bytes;
	int c = n ? memcmp(a.at, b.at, n) : 0;
	return c ? c : RD_COMPARE(a.size_bytes, b.size_bytes);
}

static int compare_strings(const void *a, const void *b, void *ctx)
{
	const struct rd_strings *strings = &((struct sorting *)ctx)->content->strings;
	return compare_spans(rd_strings_at(strings, ((const struct rd_radix_item *)a)->index),
			     rd_strings_at(strings, ((const struct rd_radix_item *)b)->index));
}

/* The first bytes as a number that is less for what comes first. A short text's are filled up with zeros. */
static uint64_t first_bytes(struct rd_span text)
{
	uint8_t bytes[8] = {0};

	memcpy(bytes, text.at, text.size_bytes < sizeof bytes ? text.size_bytes : sizeof bytes);
	return __builtin_bswap64(rd_le64(bytes));
}

/* By their first bytes, and by all of them only where these are equal. */
static int sort_strings(struct sorting *s)
{
	struct order *o = &s->strings;
	struct rd_radix_item *items = rd_realloc(NULL, o->n * sizeof *items);

	if (items == NULL)
		return o->n ? RD_NOMEM : 0;
	for (size_t i = 0; i < o->n; i++)
		items[i] =
			(struct rd_radix_item){first_bytes(rd_strings_at(&s->content->strings, o->ids[i])), o->ids[i]};
	int rc = rd_radix_sort(items, o->n);
	for (size_t begin = 0, end; rc == 0 && begin < o->n; begin = end) {
		for (end = begin + 1; end < o->n && items[end].key == items[begin].key; end++)
			;
		if (end - begin > 1)
			qsort_r(items + begin, end - begin, sizeof *items, compare_strings, s);
	}
	for (size_t i = 0; rc == 0 && i < o->n; i++)
		o->ids[i] = items[i].index;
	rd_free(items);
	if (rc == 0)
		place_all(o);
	return rc;
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

/* ---- processes */

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

static void sort_lives(struct sorting *s)
{
	if (s->lives.n > 1)
		qsort_r(s->lives.ids, s->lives.n, sizeof *s->lives.ids, compare_lives, s);
	place_all(&s->lives);
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

/* ---- frames */

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

/* A frame while frames are sorted. */
struct placed_frame {
	struct rd_result_frame row;
	uint32_t id;
};

static int compare_frames(const void *a, const void *b)
{
	const struct rd_result_frame *x = &((const struct placed_frame *)a)->row;
	const struct rd_result_frame *y = &((const struct placed_frame *)b)->row;
	const uint32_t left[] = {x->process, x->clr, x->module, x->ns, x->name, x->signature, x->tier, x->flags};
	const uint32_t right[] = {y->process, y->clr, y->module, y->ns, y->name, y->signature, y->tier, y->flags};
	int c = 0;

	for (size_t i = 0; c == 0 && i < sizeof left / sizeof *left; i++)
		c = RD_COMPARE(left[i], right[i]);
	return c;
}

/* Sort the frames, and put them. */
static int put_frames(struct sorting *s, struct rd_result *out)
{
	struct order *o = &s->frames;
	struct placed_frame *frames = rd_realloc(NULL, o->n * sizeof *frames);

	if ((o->n && frames == NULL) || rd_vec_reserve(&out->frames, o->n) < 0) {
		rd_free(frames);
		return RD_NOMEM;
	}
	for (size_t i = 0; i < o->n; i++)
		frames[i] = (struct placed_frame){result_frame(s, o->ids[i]), o->ids[i]};
	if (o->n > 1)
		qsort(frames, o->n, sizeof *frames, compare_frames);
	for (size_t i = 0; i < o->n; i++) {
		o->ids[i] = frames[i].id;
		out->frames.at[out->frames.n++] = frames[i].row;
	}
	place_all(o);
	rd_free(frames);
	return 0;
}

/* ---- stacks */

/* The calls of a stack that no stack before it has, from the outermost on. */
static int put_calls(struct sorting *s, struct rd_result *out, uint32_t stack)
{
	s->way.n = 0;
	for (; stack && s->call_place[stack - 1] == RD_NONE; stack = rd_content_call_at(s->content, stack)->caller) {
		uint32_t *at = rd_vec_add(&s->way);
		if (at == NULL)
			return RD_NOMEM;
		*at = stack;
	}
	if (rd_vec_reserve(&out->calls, s->way.n) < 0)
		return RD_NOMEM;
	for (size_t i = s->way.n; i > 0; i--) {
		stack = s->way.at[i - 1];
		const struct rd_result_call *call = rd_content_call_at(s->content, stack);
		s->call_place[stack - 1] = (uint32_t)out->calls.n;
		out->calls.at[out->calls.n++] = (struct rd_result_call){
			.caller = call->caller ? s->call_place[call->caller - 1] + 1 : 0,
			.frame = s->frames.place[call->frame],
		};
	}
	return 0;
}

static int put_stacks(struct sorting *s, struct rd_result *out, struct rd_error *err)
{
	struct order *o = &s->stacks;
	int rc = rd_stack_order(s->content, s->frames.place, o->ids, o->n, s->progress, err);

	if (rc < 0)
		return rc;
	place_all(o);
	if (s->content->calls.n)
		memset(s->call_place, 0xff, s->content->calls.n * sizeof *s->call_place);
	if (rd_vec_reserve(&out->stacks, o->n) < 0)
		return rd_fail_nomem(err);
	for (size_t i = 0; i < o->n; i++) {
		uint32_t stack = o->ids[i];
		if (put_calls(s, out, stack) < 0)
			return rd_fail_nomem(err);
		out->stacks.at[out->stacks.n++] = stack ? s->call_place[stack - 1] + 1 : 0;
		if ((rc = rd_progress_step(s->progress, s->way.n + 1, err)) < 0)
			return rc;
	}
	return 0;
}

/* ---- rows, and what they refer to */

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

/* The stack, and all calls of it that no other stack wanted before. */
static void want_stack(struct sorting *s, uint32_t stack)
{
	want(&s->stacks, stack);
	while (stack && s->call_place[stack - 1] == RD_NONE) {
		const struct rd_result_call *call = rd_content_call_at(s->content, stack);
		s->call_place[stack - 1] = 0;
		want_frame(s, call->frame);
		stack = call->caller;
	}
}

static void want_life(struct sorting *s, uint32_t id)
{
	want(&s->lives, id);
	want(&s->strings, s->content->lives.at[id].name);
	want(&s->strings, s->content->lives.at[id].command_line);
}

static int want_all(struct sorting *s)
{
	const struct rd_content *c = s->content;

	if (order_init(&s->lives, c->lives.n, c->lives.n) < 0 ||
	    order_init(&s->strings, c->strings.at.n, c->strings.at.n) < 0 ||
	    order_init(&s->frames, c->frames.n, c->frames.n) < 0 ||
	    order_init(&s->stacks, c->calls.n + 1, c->rows.n) < 0 ||
	    (s->call_place = rd_realloc(NULL, (c->calls.n + 1) * sizeof *s->call_place)) == NULL)
		return RD_NOMEM;
	memset(s->call_place, 0xff, (c->calls.n + 1) * sizeof *s->call_place);
	for (size_t i = 0; i < c->rows.n; i++) {
		want_life(s, row_at(c, i)->process);
		want_stack(s, row_at(c, i)->stack);
	}
	return 0;
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
	return rd_row_order(out);
}

static int fill(struct sorting *s, struct rd_result *out)
{
	int rc = want_all(s);

	if (rc == 0)
		rc = sort_strings(s);
	if (rc == 0)
		rc = put_strings(s, out);
	if (rc < 0)
		return rc;
	sort_lives(s);
	rc = put_processes(s, out);
	return rc < 0 ? rc : put_frames(s, out);
}

int rd_canonical(const struct rd_content *c, struct rd_result *out, struct rd_progress *progress, struct rd_error *err)
{
	struct sorting s = {.content = c, .progress = progress};
	int rc = fill(&s, out) < 0 ? rd_fail_nomem(err) : 0;

	if (rc == 0)
		rc = put_stacks(&s, out, err);
	if (rc == 0)
		rc = put_rows(&s, out) < 0 ? rd_fail_nomem(err) : 0;
	order_release(&s.lives);
	order_release(&s.strings);
	order_release(&s.frames);
	order_release(&s.stacks);
	rd_free(s.call_place);
	rd_vec_release(&s.way);
	return rc;
}
