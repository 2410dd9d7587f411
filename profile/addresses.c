/*
 * Most code ranges touch one or two pages, and most of these hold no address
 * at all or a few: a small hash of the pages says which ranks are on each.
 */
#include "profile/addresses.h"

#include <string.h>

#include "base/radix.h"

#define PAGE_SHIFT   12
#define PAGES_WALKED 16 /* a range of more pages is searched for instead */

struct rd_address_page {
	uint64_t page;
	uint32_t first, end; /* ranks on it: [first, end); an unused slot has none */
};

void rd_addresses_init(struct rd_addresses *a)
{
	*a = (struct rd_addresses){0};
	rd_records_init(&a->seen, sizeof(uint64_t), sizeof(uint64_t));
}

int rd_addresses_add(struct rd_addresses *a, uint64_t address, struct rd_error *err)
{
	uint32_t *recent = &a->recent[(address * 0x9e3779b97f4a7c15u) >> 55];

	if (*recent < a->seen.n && *(const uint64_t *)rd_records_at(&a->seen, *recent) == address)
		return 0;
	*recent = rd_records_id(&a->seen, &address, NULL);
	return *recent == RD_NONE ? rd_fail_nomem(err) : 0;
}

/* What was seen, in ascending order. */
static int sort_seen(struct rd_addresses *a, struct rd_error *err)
{
	size_t n = a->seen.n;
	struct rd_radix_item *items = rd_realloc(NULL, n * sizeof *items);

	if ((n > 0 && items == NULL) || rd_vec_reserve(&a->at, n) < 0) {
		rd_free(items);
		return rd_fail_nomem(err);
	}
	for (uint32_t i = 0; i < n; i++)
		items[i] = (struct rd_radix_item){*(const uint64_t *)rd_records_at(&a->seen, i), i};
	int rc = rd_radix_sort(items, n);
	for (size_t i = 0; rc == 0 && i < n; i++)
		a->at.at[a->at.n++] = items[i].key;
	rd_free(items);
	rd_records_release(&a->seen);
	return rc < 0 ? rd_fail_nomem(err) : 0;
}

/* The slot of a page, or the free one where it belongs. */
static struct rd_address_page *page_slot(const struct rd_addresses *a, uint64_t page)
{
	size_t i = rd_hash_u64(page) & (a->page_slots - 1);

	while (a->pages[i].end > 0 && a->pages[i].page != page)
		i = (i + 1) & (a->page_slots - 1);
	return &a->pages[i];
}

static int index_pages(struct rd_addresses *a, struct rd_error *err)
{
	size_t pages = 0;

	for (size_t i = 0; i < a->at.n; i++)
		pages += i == 0 || a->at.at[i] >> PAGE_SHIFT != a->at.at[i - 1] >> PAGE_SHIFT;
	a->page_slots = 16;
	while (a->page_slots < 4 * pages)
		a->page_slots *= 2;
	a->pages = rd_realloc(NULL, a->page_slots * sizeof *a->pages);
	if (a->pages == NULL)
		return rd_fail_nomem(err);
	memset(a->pages, 0, a->page_slots * sizeof *a->pages);
	for (uint32_t i = 0; i < a->at.n; i++) {
		uint64_t page = a->at.at[i] >> PAGE_SHIFT;
		struct rd_address_page *slot = page_slot(a, page);
		*slot = (struct rd_address_page){page, slot->end ? slot->first : i, i + 1};
	}
	return 0;
}

int rd_addresses_seal(struct rd_addresses *a, struct rd_error *err)
{
	if (a->seen.n >= RD_NONE / 2)
		return rd_fail(err, RD_LIMIT, "%zu distinct addresses in stacks", a->seen.n);
	int rc = sort_seen(a, err);
	return rc < 0 ? rc : index_pages(a, err);
}

/* The first rank in [low, high) whose address is not below; high when there is none. */
static uint32_t search(const struct rd_addresses *a, uint32_t low, uint32_t high, uint64_t address)
{
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (a->at.at[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The first rank in [start, last], page by page; a rank outside the range when there is none. */
static uint32_t search_pages(const struct rd_addresses *a, uint64_t start, uint64_t last)
{
	for (uint64_t page = start >> PAGE_SHIFT; page <= last >> PAGE_SHIFT; page++) {
		const struct rd_address_page *slot = page_slot(a, page);
		uint32_t rank = search(a, slot->first, slot->end, start);
		if (rank < slot->end)
			return rank;
	}
	return (uint32_t)a->at.n;
}

/* Behind the last rank of [start, last], of which `low` is the first. Most ranges hold few. */
static uint32_t search_end(const struct rd_addresses *a, uint32_t low, uint64_t last)
{
	uint32_t end = low + 1;

	while (end < a->at.n && end - low < 8 && a->at.at[end] <= last)
		end++;
	if (end >= a->at.n || a->at.at[end] > last)
		return end;
	return last == UINT64_MAX ? (uint32_t)a->at.n : search(a, end, (uint32_t)a->at.n, last + 1);
}

uint32_t rd_addresses_rank(const struct rd_addresses *a, uint64_t address)
{
	const struct rd_address_page *slot = a->at.n ? page_slot(a, address >> PAGE_SHIFT) : NULL;
	uint32_t rank = slot ? search(a, slot->first, slot->end, address) : 0;

	return slot && rank < slot->end && a->at.at[rank] == address ? rank : RD_NONE;
}

bool rd_addresses_in(const struct rd_addresses *a, uint64_t start, uint64_t size_bytes, uint32_t *low, uint32_t *high)
{
	uint64_t last;

	if (size_bytes == 0)
		return false;
	if (__builtin_add_overflow(start, size_bytes - 1, &last))
		last = UINT64_MAX;
	return rd_addresses_between(a, start, last, low, high);
}

bool rd_addresses_between(const struct rd_addresses *a, uint64_t start, uint64_t last, uint32_t *low, uint32_t *high)
{
	if (last < start || a->at.n == 0)
		return false;
	bool few_pages = (last >> PAGE_SHIFT) - (start >> PAGE_SHIFT) < PAGES_WALKED;
	uint32_t first = few_pages ? search_pages(a, start, last) : search(a, 0, (uint32_t)a->at.n, start);
	if (first >= a->at.n || a->at.at[first] > last)
		return false;
	*low = first;
	*high = search_end(a, first, last);
	return true;
}

void rd_addresses_release(struct rd_addresses *a)
{
	rd_records_release(&a->seen);
	rd_vec_release(&a->at);
	rd_free(a->pages);
	rd_addresses_init(a);
}
