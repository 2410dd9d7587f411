/*
 * Frame by frame: stacks that are equal so far form a run, which is sorted by
 * its next frames and falls apart into shorter ones. A frame is looked at
 * only while some other stack is equal to there, and nothing recurs into
 * itself, however deep the stacks are.
 */
#include "profile/stack_order.h"

#include <stdlib.h>
#include <string.h>

#include "profile/order.h"

#define FEW 16 /* so many are sorted by insertion */

struct item {
	uint32_t next; /* the frame to look at: its place + 1; 0: the stack is over */
	uint32_t rest; /* the stack from that frame on */
	uint32_t stack;
};

/* Of the items: [begin, end) are equal before `next`. */
struct run {
	size_t begin, end;
};

struct sorting {
	const struct rd_content *content;
	const uint32_t *frame_place;
	struct item *items;
	RD_VEC(struct run) runs; /* left to be sorted */
};

static void look_at(const struct sorting *s, struct item *item, uint32_t rest)
{
	const struct rd_result_call *call = rd_content_call_at(s->content, rest);

	item->rest = rest;
	item->next = call ? s->frame_place[call->frame] + 1 : 0;
}

static int compare(const void *a, const void *b)
{
	return RD_COMPARE(((const struct item *)a)->next, ((const struct item *)b)->next);
}

static void sort(struct item *items, size_t n)
{
	if (n > FEW) {
		qsort(items, n, sizeof *items, compare);
		return;
	}
	for (size_t i = 1; i < n; i++) {
		struct item item = items[i];
		size_t k = i;
		for (; k > 0 && items[k - 1].next > item.next; k--)
			items[k] = items[k - 1];
		items[k] = item;
	}
}

/* Sort a run, and go one frame on with what is still equal. */
static int split(struct sorting *s, struct run run)
{
	sort(s->items + run.begin, run.end - run.begin);
	for (size_t begin = run.begin, end; begin < run.end; begin = end) {
		uint32_t next = s->items[begin].next;
		for (end = begin + 1; end < run.end && s->items[end].next == next; end++)
			;
		/* Stacks that are over are different: there is one. */
		if (next == 0 || end - begin == 1)
			continue;
		for (size_t i = begin; i < end; i++)
			look_at(s, &s->items[i], rd_content_call_at(s->content, s->items[i].rest)->caller);
		struct run *more = rd_vec_add(&s->runs);
		if (more == NULL)
			return RD_NOMEM;
		*more = (struct run){begin, end};
	}
	return 0;
}

int rd_stack_order(const struct rd_content *c, const uint32_t *frame_place, uint32_t *stacks, size_t n,
		   struct rd_progress *progress, struct rd_error *err)
{
	struct sorting s = {.content = c, .frame_place = frame_place};
	size_t cap = 0;
	int rc = 0;

	if (n < 2)
		return 0;
	struct run *all = rd_vec_add(&s.runs);
	if (all == NULL || rd_grow((void **)&s.items, 0, &cap, n, sizeof *s.items) < 0) {
		rd_vec_release(&s.runs);
		return rd_fail_nomem(err);
	}
	*all = (struct run){0, n};
	for (size_t i = 0; i < n; i++) {
		s.items[i].stack = stacks[i];
		look_at(&s, &s.items[i], stacks[i]);
	}
	while (rc == 0 && s.runs.n > 0) {
		struct run run = s.runs.at[--s.runs.n];
		rc = split(&s, run) < 0 ? rd_fail_nomem(err) : rd_progress_step(progress, run.end - run.begin, err);
	}
	for (size_t i = 0; rc == 0 && i < n; i++)
		stacks[i] = s.items[i].stack;
	rd_free(s.items);
	rd_vec_release(&s.runs);
	return rc;
}
