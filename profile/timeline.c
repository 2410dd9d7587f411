#include "profile/timeline.h"

#include <stdlib.h>

int rd_timeline_add(struct rd_timeline *t, uint64_t key, struct rd_when when, struct rd_error *err)
{
	struct rd_timeline_fact *fact = t->facts.n < RD_NONE ? rd_vec_add(&t->facts) : NULL;

	if (fact == NULL)
		return rd_fail_nomem(err);
	*fact = (struct rd_timeline_fact){key, when};
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct rd_timeline_fact *x = a, *y = b;
	int c = RD_COMPARE(x->key, y->key);
	return c ? c : rd_when_compare(&x->when, &y->when);
}

void rd_timeline_seal(struct rd_timeline *t)
{
	if (t->facts.n > 1)
		qsort(t->facts.at, t->facts.n, sizeof *t->facts.at, compare);
}

/* The number of facts before (key, time); with the flag, of those at it too. */
static size_t count_before(const struct rd_timeline *t, uint64_t key, uint64_t time, bool inclusive)
{
	size_t low = 0, high = t->facts.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct rd_timeline_fact *f = &t->facts.at[middle];
		bool before = f->key != key ? f->key < key : f->when.time < time || (inclusive && f->when.time == time);
		if (before)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct rd_near rd_timeline_near(const struct rd_timeline *t, uint64_t key, uint64_t time)
{
	size_t i = count_before(t, key, time, true);
	struct rd_near near = {RD_NONE, RD_NONE};

	if (i > 0 && t->facts.at[i - 1].key == key)
		near.before = (uint32_t)(i - 1);
	if (i < t->facts.n && t->facts.at[i].key == key)
		near.after = (uint32_t)i;
	return near;
}

const struct rd_when *rd_timeline_at(const struct rd_timeline *t, uint64_t key, uint64_t time)
{
	struct rd_near near = rd_timeline_near(t, key, time);
	uint32_t i = near.before != RD_NONE ? near.before : near.after;
	return i == RD_NONE ? NULL : &t->facts.at[i].when;
}

const struct rd_when *rd_timeline_from(const struct rd_timeline *t, uint64_t key, uint64_t time)
{
	size_t i = count_before(t, key, time, false);
	return i < t->facts.n && t->facts.at[i].key == key ? &t->facts.at[i].when : NULL;
}

uint32_t rd_timeline_last(const struct rd_timeline *t, uint64_t key, const struct rd_when *when)
{
	struct rd_timeline_fact moment = {key, *when};
	size_t low = 0, high = t->facts.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (compare(&t->facts.at[middle], &moment) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && t->facts.at[low - 1].key == key ? (uint32_t)(low - 1) : RD_NONE;
}

void rd_timeline_release(struct rd_timeline *t)
{
	rd_vec_release(&t->facts);
}
