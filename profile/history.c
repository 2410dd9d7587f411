/*
 * The segment tree is implicit: with m ranks, node m + r is the leaf of rank
 * r, node i has the children 2i and 2i + 1, and the walk from a leaf to node 1
 * meets every node whose ranks include it. That holds for any m, not only for
 * powers of two. A range of ranks is the union of at most two nodes a level.
 */
#include "profile/history.h"

#include <string.h>

#include "profile/row_sort.h"

struct list {
	uint32_t owner, node; /* the key */
	uint32_t begin, n;    /* entries */
};

void rd_history_init(struct rd_history *h, const struct rd_addresses *sealed)
{
	*h = (struct rd_history){.addresses = sealed};
	rd_records_init(&h->lists, sizeof(struct list), offsetof(struct list, begin));
}

int rd_history_add(struct rd_history *h, struct rd_when when, uint32_t low, uint32_t high, struct rd_error *err)
{
	struct rd_history_event *event = h->events.n < RD_NONE ? rd_vec_add(&h->events) : NULL;

	if (event == NULL)
		return rd_fail_nomem(err);
	*event = (struct rd_history_event){when, low, high};
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct rd_history_event *x = a, *y = b;
	return rd_when_compare(&x->when, &y->when);
}

/* An event in a list, before the lists have their places. */
struct membership {
	uint32_t list, event;
};
typedef RD_VEC(struct membership) membership_vec;

static int join_list(struct rd_history *h, membership_vec *members, uint32_t owner, uint32_t node, uint32_t event)
{
	uint32_t key[2] = {owner, node};
	uint32_t id = rd_records_id(&h->lists, key, NULL);
	struct membership *m = rd_vec_add(members);

	if (id == RD_NONE || m == NULL)
		return RD_NOMEM;
	((struct list *)rd_records_at(&h->lists, id))->n++;
	h->occupied[node / 8] |= (uint8_t)(1 << node % 8);
	*m = (struct membership){id, event};
	return 0;
}

/* The event joins the lists of the nodes that make up its range. */
static int join_lists(struct rd_history *h, membership_vec *members, uint32_t owner, uint32_t event)
{
	uint64_t m = h->addresses->at.n;
	uint64_t low = h->events.at[event].low + m, high = h->events.at[event].high + m;
	int rc = 0;

	for (; rc == 0 && low < high; low /= 2, high /= 2) {
		if (low % 2)
			rc = join_list(h, members, owner, (uint32_t)low++, event);
		if (rc == 0 && high % 2)
			rc = join_list(h, members, owner, (uint32_t)--high, event);
	}
	return rc;
}

/* Members come in the order of events, and so they stand in each list. */
static int place_entries(struct rd_history *h, const membership_vec *members)
{
	uint32_t begin = 0;

	if (members->n >= RD_NONE || rd_vec_reserve(&h->entries, members->n) < 0)
		return RD_NOMEM;
	for (uint32_t i = 0; i < h->lists.n; i++) {
		struct list *list = rd_records_at(&h->lists, i);
		list->begin = begin;
		begin += list->n;
		list->n = 0;
	}
	for (size_t i = 0; i < members->n; i++) {
		struct list *list = rd_records_at(&h->lists, members->at[i].list);
		h->entries.at[list->begin + list->n++] = members->at[i].event;
	}
	h->entries.n = members->n;
	return 0;
}

int rd_history_seal(struct rd_history *h, uint32_t (*owner)(const void *ctx, uint32_t id), const void *ctx,
		    struct rd_error *err)
{
	membership_vec members = {0};
	size_t bitmap_bytes = h->addresses->at.n / 4 + 1;
	int rc = 0;

	h->occupied = rd_realloc(NULL, bitmap_bytes);
	if (h->occupied == NULL)
		return rd_fail_nomem(err);
	memset(h->occupied, 0, bitmap_bytes);
	if (rd_sort_rows(h->events.at, h->events.n, sizeof *h->events.at, offsetof(struct rd_history_event, when.time),
			 compare) < 0)
		return rd_fail_nomem(err);
	for (uint32_t i = 0; rc == 0 && i < h->events.n; i++)
		rc = join_lists(h, &members, owner(ctx, h->events.at[i].when.id), i);
	if (rc == 0)
		rc = place_entries(h, &members);
	rd_vec_release(&members);
	return rc < 0 ? rd_fail_nomem(err) : 0;
}

/* Let the events of one list come nearer: the greatest index at or before the time, the smallest after it. */
static void near_in_list(const struct rd_history *h, const struct list *list, uint64_t time, struct rd_near *near)
{
	const uint32_t *entries = h->entries.at + list->begin;
	uint32_t low = 0, high = list->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (h->events.at[entries[middle]].when.time <= time)
			low = middle + 1;
		else
			high = middle;
	}
	if (low > 0 && (near->before == RD_NONE || entries[low - 1] > near->before))
		near->before = entries[low - 1];
	if (low < list->n && entries[low] < near->after)
		near->after = entries[low];
}

struct rd_near rd_history_near(const struct rd_history *h, uint32_t owner, uint32_t rank, uint64_t time)
{
	struct rd_near near = {RD_NONE, RD_NONE};

	for (uint32_t node = rank + (uint32_t)h->addresses->at.n; node > 0; node /= 2) {
		if (!(h->occupied[node / 8] >> node % 8 & 1))
			continue;
		uint32_t key[2] = {owner, node};
		uint32_t id = rd_records_find(&h->lists, key);
		if (id != RD_NONE)
			near_in_list(h, rd_records_at(&h->lists, id), time, &near);
	}
	return near;
}

struct rd_ownership rd_history_owner(const struct rd_history *h, uint32_t owner, uint32_t rank, uint64_t time,
				     rd_history_speaks_fn speaks, void *ctx)
{
	struct rd_near near = rd_history_near(h, owner, rank, time);
	struct rd_ownership o = {RD_NONE, RD_NONE, UINT64_MAX};
	bool before = false, after = false;

	if (near.before != RD_NONE)
		before = rd_alive_from(h->events.at[near.before].when.op);
	if (near.after != RD_NONE) {
		const struct rd_history_event *event = &h->events.at[near.after];
		o.until = event->when.time;
		after = rd_alive_until(event->when.op) && (speaks == NULL || speaks(ctx, event, time, &o.until));
	}
	if (before) {
		o.owner = near.before;
		o.rival = after ? near.after : RD_NONE;
	} else if (after) {
		o.owner = near.after;
	}
	return o;
}

void rd_history_release(struct rd_history *h)
{
	rd_vec_release(&h->events);
	rd_records_release(&h->lists);
	rd_vec_release(&h->entries);
	rd_free(h->occupied);
	h->occupied = NULL;
}
