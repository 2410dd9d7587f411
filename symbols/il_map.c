#include "symbols/il_map.h"

#include <inttypes.h>

#define OLD_AT 0
#define NEW_AT 4

/* An offset that is not above the one before, or is none; `at` is its place in the entry. */
static int check_offset(size_t i, const char *side, uint32_t offset, uint32_t before, unsigned at, struct rd_error *err)
{
	int rc;

	if (offset > RD_IL_OFFSET_MOST)
		rc = rd_fail(err, RD_CORRUPT, "entry %zu: the %s offset %" PRIu32 " is above %d", i, side, offset,
			     RD_IL_OFFSET_MOST);
	else if (i > 0 && offset <= before)
		rc = rd_fail(err, RD_CORRUPT, "entry %zu: the %s offset %" PRIu32 " is not above %" PRIu32 "%s", i, side,
			     offset, before,
			     at == OLD_AT ? ": the map is not sorted" : ": the code would be reordered or removed");
	else
		return 0;
	return rd_error_at(err, rc, NULL, (uint64_t)i * RD_IL_ENTRY_BYTES + at);
}

static int check_entry(const struct rd_il_map *m, size_t i, struct rd_error *err)
{
	const struct rd_il_entry *e = &m->entries.at[i], *before = i ? e - 1 : e;

	if (i == 0 && (e->old_offset != 0 || e->new_offset != 0))
		return rd_error_at(err,
				   rd_fail(err, RD_CORRUPT,
					   "the first entry is (%" PRIu32 ", %" PRIu32 ") and not (0, 0): "
					   "what stands before it has no counterpart",
					   e->old_offset, e->new_offset),
				   NULL, 0);
	int rc = check_offset(i, "old", e->old_offset, before->old_offset, OLD_AT, err);
	return rc < 0 ? rc : check_offset(i, "new", e->new_offset, before->new_offset, NEW_AT, err);
}

static int check_size(size_t size_bytes, struct rd_error *err)
{
	if (size_bytes == 0)
		return rd_error_at(err, rd_fail(err, RD_CORRUPT, "a map without entries covers no offset"), NULL, 0);
	if (size_bytes > RD_IL_MAP_BYTES_MOST)
		return rd_fail(err, RD_LIMIT, "more than %d entries", RD_IL_ENTRIES_MOST);
	if (size_bytes % RD_IL_ENTRY_BYTES)
		return rd_error_at(err,
				   rd_fail(err, RD_TRUNCATED, "the map ends inside entry %zu, of %d bytes each",
					   size_bytes / RD_IL_ENTRY_BYTES, RD_IL_ENTRY_BYTES),
				   NULL, size_bytes - size_bytes % RD_IL_ENTRY_BYTES);
	return 0;
}

int rd_il_map_read(struct rd_il_map *m, struct rd_span bytes, struct rd_error *err)
{
	struct rd_cursor c = rd_cursor_of(bytes.at, bytes.size_bytes);
	size_t n = bytes.size_bytes / RD_IL_ENTRY_BYTES;

	*m = (struct rd_il_map){0};
	int rc = check_size(bytes.size_bytes, err);
	if (rc == 0 && rd_vec_reserve(&m->entries, n) < 0)
		rc = rd_fail_nomem(err);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		struct rd_il_entry *e = &m->entries.at[m->entries.n++];
		e->old_offset = rd_u32(&c);
		e->new_offset = rd_u32(&c);
		e->is_accurate = rd_i32(&c) != 0;
		rc = check_entry(m, i, err);
	}
	return rc;
}

void rd_il_map_release(struct rd_il_map *m)
{
	rd_vec_release(&m->entries);
}

static uint32_t side(const struct rd_il_entry *e, bool is_new)
{
	return is_new ? e->new_offset : e->old_offset;
}

/* The last entry whose offset on that side is at or below; entry 0 has 0 on both. */
static const struct rd_il_entry *find(const struct rd_il_map *m, bool by_new, uint32_t offset)
{
	size_t low = 0, high = m->entries.n;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (side(&m->entries.at[middle], by_new) <= offset)
			low = middle;
		else
			high = middle;
	}
	return &m->entries.at[low];
}

uint32_t rd_il_map_to_new(const struct rd_il_map *m, uint32_t old_offset)
{
	return find(m, false, old_offset)->new_offset;
}

uint32_t rd_il_map_to_old(const struct rd_il_map *m, uint32_t new_offset)
{
	return find(m, true, new_offset)->old_offset;
}
