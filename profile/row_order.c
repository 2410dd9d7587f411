/*
 * By radix, the last part of the key first: bucket and stack, then the rest,
 * which few rows differ in and which is therefore made one number before.
 */
#include "profile/row_order.h"

#include <stdlib.h>

#include "base/radix.h"
#include "base/records.h"
#include "profile/order.h"

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

/* Each group's place among the groups: the second half of *ids, whose first half is scratch. */
static int place_groups(const struct rd_records *groups, uint32_t **ids)
{
	size_t n = groups->n;

	*ids = rd_realloc(NULL, 2 * n * sizeof **ids);
	if (*ids == NULL)
		return RD_NOMEM;
	for (uint32_t i = 0; i < n; i++)
		(*ids)[i] = i;
	qsort_r(*ids, n, sizeof **ids, compare_groups, (void *)(uintptr_t)groups);
	for (size_t i = 0; i < n; i++)
		(*ids)[n + (*ids)[i]] = (uint32_t)i;
	return 0;
}

/* Rows by (process, thread, kind), then by (bucket, stack); out's rows are not yet in order. */
static int sort_rows(const struct rd_result *out, struct rd_records *groups, uint32_t **places,
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
		items[i].key = (*places)[groups->n + items[i].key];
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

int rd_row_order(struct rd_result *out)
{
	struct rd_records groups;
	uint32_t *places = NULL;
	struct rd_radix_item *items = rd_realloc(NULL, out->rows.n * sizeof *items);

	if (items == NULL)
		return out->rows.n ? RD_NOMEM : 0;
	rd_records_init(&groups, sizeof(struct row_group), sizeof(struct row_group));
	int rc = sort_rows(out, &groups, &places, items);
	if (rc == 0)
		rc = move_rows(out, items);
	rd_records_release(&groups);
	rd_free(places);
	rd_free(items);
	return rc;
}
