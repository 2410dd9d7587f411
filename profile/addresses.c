/*
 * While addresses come, the array is a sorted, distinct beginning and a tail
 * of what came since; when the tail is as long as the beginning, the two are
 * made one. So memory stays within twice the distinct addresses.
 *
 * Most code ranges touch one or two pages, and most of these hold no address
 * at all: a small hash of the pages that do spares the search.
 */
#include "profile/addresses.h"

#include <stdlib.h>
#include <string.h>

#include "profile/order.h"

#define PAGE_SHIFT   12
#define PAGES_WALKED 16 /* a range of more pages is searched for instead */

struct rd_address_page {
	uint64_t page;
	bool used;
};

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return RD_COMPARE(*x, *y);
}

static void make_distinct(struct rd_addresses *a)
{
	uint64_t *at = a->at.at;
	size_t n = 0;

	if (a->at.n > 1)
		qsort(at, a->at.n, sizeof *at, compare);
	for (size_t i = 0; i < a->at.n; i++)
		if (n == 0 || at[n - 1] != at[i])
			at[n++] = at[i];
	a->at.n = a->distinct = n;
}

int rd_addresses_add(struct rd_addresses *a, const uint64_t *addresses, size_t n, struct rd_error *err)
{
	if (n == 0)
		return 0;
	if (rd_vec_reserve(&a->at, n) < 0)
		return rd_fail_nomem(err);
	memcpy(a->at.at + a->at.n, addresses, n * sizeof *addresses);
	a->at.n += n;
	if (a->at.n >= 4096 && a->at.n / 2 >= a->distinct)
		make_distinct(a);
	return 0;
}

/* The slot of a page, or the free one where it belongs. */
static struct rd_address_page *page_slot(const struct rd_addresses *a, uint64_t page)
{
	size_t i = rd_hash_u64(page) & (a->page_slots - 1);

	while (a->pages[i].used && a->pages[i].page != page)
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
	for (size_t i = 0; i < a->at.n; i++) {
		uint64_t page = a->at.at[i] >> PAGE_SHIFT;
		*page_slot(a, page) = (struct rd_address_page){page, true};
	}
	return 0;
}

int rd_addresses_seal(struct rd_addresses *a, struct rd_error *err)
{
	make_distinct(a);
	if (a->at.n >= RD_NONE / 2)
		return rd_fail(err, RD_LIMIT, "%zu distinct addresses in stacks", a->at.n);
	return index_pages(a, err);
}

/* The first rank whose address is not below. */
static uint32_t lower_bound(const struct rd_addresses *a, uint64_t address)
{
	size_t low = 0, high = a->at.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (a->at.at[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return (uint32_t)low;
}

/* Whether the pages of a short range hold no address. */
static bool nothing_near(const struct rd_addresses *a, uint64_t start, uint64_t last)
{
	uint64_t page = start >> PAGE_SHIFT, last_page = last >> PAGE_SHIFT;

	if (last_page - page >= PAGES_WALKED)
		return false;
	while (page <= last_page)
		if (page_slot(a, page++)->used)
			return false;
	return true;
}

uint32_t rd_addresses_rank(const struct rd_addresses *a, uint64_t address)
{
	uint32_t i = lower_bound(a, address);
	return i < a->at.n && a->at.at[i] == address ? i : RD_NONE;
}

bool rd_addresses_in(const struct rd_addresses *a, uint64_t start, uint64_t size_bytes, uint32_t *low, uint32_t *high)
{
	uint64_t last;

	if (size_bytes == 0 || a->at.n == 0)
		return false;
	if (__builtin_add_overflow(start, size_bytes - 1, &last))
		last = UINT64_MAX;
	if (nothing_near(a, start, last))
		return false;
	uint32_t first = lower_bound(a, start);
	if (first >= a->at.n || a->at.at[first] > last)
		return false;
	*low = first;
	*high = last == UINT64_MAX ? (uint32_t)a->at.n : lower_bound(a, last + 1);
	return true;
}

void rd_addresses_release(struct rd_addresses *a)
{
	rd_vec_release(&a->at);
	rd_free(a->pages);
	*a = (struct rd_addresses){0};
}
