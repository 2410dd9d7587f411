/*
 * A file is pages of one size. Each has a head: u64 its number, u16 padding,
 * u16 flags, u16 end of the offsets, u16 begin of the nodes; in the first page
 * of a value that fills pages of its own, the last four bytes are their number.
 *
 * Pages 0 and 1 each hold, behind the head, what a commit left: u32 magic, u32
 * version, u64 address, u64 map size, the databases of free pages and of
 * values, u64 last page, u64 transaction; a database is u32 (the page size in
 * the first), u16 flags, u16 depth, five u64, the last of which is the root.
 *
 * Behind the head of a branch or leaf stand u16 offsets of its nodes, by key.
 * A node is u16, u16, u16, u16 size of the key, the key. The first three are
 * a branch's child; in a leaf the first two are the size of the value, which
 * stands behind the key, and the third says by a flag that what stands there
 * is the number of the value's own pages. The first key of a branch is empty
 * and stands for all below the second.
 */
#include "store/pages.h"

#include <stdbool.h>
#include <string.h>

#define HEAD_BYTES      16u
#define NODE_HEAD_BYTES 8u
#define NO_PAGE         UINT64_MAX
#define DEPTH_MAX       32

enum page_flags { PAGE_BRANCH = 0x01, PAGE_LEAF = 0x02, PAGE_OVERFLOW = 0x04, PAGE_META = 0x08 };
enum node_flags { NODE_OWN_PAGES = 0x01 };

#define MAGIC              0xbeefc0deu
#define DATA_VERSION       1u
/* From the begin of page 0 or 1. */
#define META_MAGIC_AT      16
#define META_VERSION_AT    20
#define META_PAGE_BYTES_AT 40
#define META_FLAGS_AT      92
#define META_ROOT_AT       128
#define META_TXN_AT        144
#define META_END           152

#define PAGE_BYTES_MIN 512u
#define PAGE_BYTES_MAX 65536u

static int corrupt(const char *what, uint64_t page, struct rd_error *err)
{
	return rd_fail(err, RD_CORRUPT, "%s in page %llu", what, (unsigned long long)page);
}

/* ---- the file */

/* What page 0 or 1 says; false when it is none of the kind. */
static bool read_meta(const struct rd_pages *p, uint64_t page, uint64_t *root, uint64_t *txn)
{
	if (p->file.size_bytes < (page + 1) * p->page_bytes)
		return false;
	const uint8_t *at = p->file.at + page * p->page_bytes;
	if (rd_le64(at) != page || !(rd_le16(at + 10) & PAGE_META) || rd_le32(at + META_MAGIC_AT) != MAGIC ||
	    rd_le32(at + META_VERSION_AT) != DATA_VERSION || rd_le32(at + META_PAGE_BYTES_AT) != p->page_bytes)
		return false;
	/* No database of ours has flags: keys are bytes, and each has one value. */
	if (rd_le16(at + META_FLAGS_AT) != 0)
		return false;
	*root = rd_le64(at + META_ROOT_AT);
	*txn = rd_le64(at + META_TXN_AT);
	return true;
}

int rd_pages_open(struct rd_pages *p, struct rd_span file, struct rd_error *err)
{
	uint64_t roots[2] = {0}, txns[2] = {0};

	*p = (struct rd_pages){.file = file, .left_bytes = file.size_bytes};
	if (file.size_bytes < META_END)
		return corrupt("the file ends", 0, err);
	if (rd_le32(file.at + META_MAGIC_AT) == MAGIC && rd_le32(file.at + META_VERSION_AT) != DATA_VERSION)
		return rd_fail(err, RD_UNSUPPORTED, "a result that another LMDB wrote, of data format %u",
			       rd_le32(file.at + META_VERSION_AT));
	p->page_bytes = rd_le32(file.at + META_PAGE_BYTES_AT);
	if (p->page_bytes < PAGE_BYTES_MIN || p->page_bytes > PAGE_BYTES_MAX || p->page_bytes & (p->page_bytes - 1))
		return corrupt("a wrong size of pages", 0, err);
	p->pages = file.size_bytes / p->page_bytes;
	bool first = read_meta(p, 0, &roots[0], &txns[0]), second = read_meta(p, 1, &roots[1], &txns[1]);
	if (!first || !second)
		return corrupt("no state of the file", !second, err);
	p->root = roots[txns[1] > txns[0]];
	return 0;
}

/* ---- pages and nodes */

/* A page that is there and of the kind; NULL else. */
static const uint8_t *page_at(const struct rd_pages *p, uint64_t number, uint16_t *flags)
{
	/* The first two are no pages of a tree. */
	if (number < 2 || number >= p->pages)
		return NULL;
	const uint8_t *at = p->file.at + number * p->page_bytes;
	*flags = rd_le16(at + 10);
	return rd_le64(at) == number ? at : NULL;
}

/* The number of nodes of a branch or leaf; 0 when it has none or its head is off. */
static uint32_t nodes_of(const struct rd_pages *p, const uint8_t *page)
{
	uint32_t end = rd_le16(page + 12);
	return end > HEAD_BYTES && end <= p->page_bytes ? (end - HEAD_BYTES) / 2 : 0;
}

/* Node i of a page, its key, and what is left of the page behind that. false: it lies outside. */
static bool node_at(const struct rd_pages *p, const uint8_t *page, uint32_t i, const uint8_t **node,
		    struct rd_span *key, struct rd_cursor *behind)
{
	struct rd_cursor c = rd_cursor_of(page, p->page_bytes);

	rd_seek(&c, rd_le16(page + HEAD_BYTES + 2 * (size_t)i));
	*node = rd_take(&c, NODE_HEAD_BYTES);
	if (*node == NULL)
		return false;
	key->size_bytes = rd_le16(*node + 6);
	key->at = rd_take(&c, key->size_bytes);
	*behind = c;
	return key->at != NULL;
}

static int compare(struct rd_span a, struct rd_span b)
{
	int order = memcmp(a.at, b.at, a.size_bytes < b.size_bytes ? a.size_bytes : b.size_bytes);
	return order ? order : (a.size_bytes > b.size_bytes) - (a.size_bytes < b.size_bytes);
}

/*
 * The last node whose key is not above the wanted one. 1 and its number, *same when the keys are equal; 0: all are
 * above, or there is none; RD_CORRUPT. `from` 1: the first stands for all below the second.
 */
static int search(const struct rd_pages *p, const uint8_t *page, struct rd_span wanted, uint32_t from, uint32_t *found,
		  bool *same)
{
	uint32_t low = from, high = nodes_of(p, page);
	const uint8_t *node;
	struct rd_cursor behind;
	struct rd_span key;

	*same = false;
	if (high == 0)
		return 0;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (!node_at(p, page, middle, &node, &key, &behind))
			return RD_CORRUPT;
		int order = compare(key, wanted);
		if (order == 0)
			*same = true;
		if (order > 0)
			high = middle;
		else
			low = middle + 1;
	}
	if (low == 0)
		return 0;
	*found = low - 1;
	return 1;
}

/* ---- values */

/* A value in pages of its own. */
static int take_own_pages(struct rd_pages *p, uint64_t number, uint64_t size_bytes, struct rd_span *value,
			  struct rd_error *err)
{
	uint16_t flags;
	const uint8_t *page = page_at(p, number, &flags);

	if (page == NULL || !(flags & PAGE_OVERFLOW))
		return corrupt("a value's pages that are none", number, err);
	uint64_t there = p->file.size_bytes - number * p->page_bytes - HEAD_BYTES;
	if (size_bytes > there || size_bytes + HEAD_BYTES > (uint64_t)rd_le32(page + 12) * p->page_bytes)
		return corrupt("a value beyond its pages", number, err);
	*value = (struct rd_span){page + HEAD_BYTES, (size_t)size_bytes};
	return 1;
}

static int take_value(struct rd_pages *p, uint64_t number, const uint8_t *node, struct rd_cursor behind,
		      struct rd_span *value, struct rd_error *err)
{
	uint64_t size_bytes = rd_le16(node) | (uint64_t)rd_le16(node + 2) << 16;
	uint16_t flags = rd_le16(node + 4);

	if (flags & ~NODE_OWN_PAGES)
		return corrupt("a value of another kind", number, err);
	/* As often as the same bytes are handed out, as often they count. */
	if (size_bytes > p->left_bytes)
		return corrupt("more values than the file has room for", number, err);
	p->left_bytes -= size_bytes;
	if (flags & NODE_OWN_PAGES) {
		uint64_t own = rd_u64(&behind);
		return behind.failed ? corrupt("a node beyond its page", number, err)
				     : take_own_pages(p, own, size_bytes, value, err);
	}
	const uint8_t *at = rd_take(&behind, (size_t)size_bytes);
	if (at == NULL)
		return corrupt("a value beyond its page", number, err);
	*value = (struct rd_span){at, (size_t)size_bytes};
	return 1;
}

int rd_pages_get(struct rd_pages *p, struct rd_span key, struct rd_span *value, struct rd_error *err)
{
	uint64_t number = p->root;
	const uint8_t *node;
	struct rd_cursor behind;
	struct rd_span its;

	for (int depth = 0; number != NO_PAGE && depth < DEPTH_MAX; depth++) {
		uint16_t flags = 0;
		const uint8_t *page = page_at(p, number, &flags);
		bool leaf = flags == PAGE_LEAF, same;
		uint32_t at = 0;
		if (page == NULL || (!leaf && flags != PAGE_BRANCH))
			return corrupt("no page of keys", number, err);
		int found = search(p, page, key, leaf ? 0 : 1, &at, &same);
		if (found < 0 || (found == 1 && !node_at(p, page, at, &node, &its, &behind)))
			return corrupt("a node beyond its page", number, err);
		if (found == 0 && !leaf)
			return corrupt("a branch without nodes", number, err);
		if (leaf)
			return same && found ? take_value(p, number, node, behind, value, err) : 0;
		number = rd_le16(node) | (uint64_t)rd_le16(node + 2) << 16 | (uint64_t)rd_le16(node + 4) << 32;
	}
	return number == NO_PAGE ? 0 : corrupt("a tree that does not end", number, err);
}
