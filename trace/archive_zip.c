#include "trace/archive_zip.h"

#include <string.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "trace/archive_names.h"

#define END_BYTES    22
#define END64_BYTES  56
#define LOCATE_BYTES 20
#define ENTRY_BYTES  46
#define LOCAL_BYTES  30
#define TEXT_MOST    65535u
/* An end with the longest comment, and what points to a large one before it. */
#define TAIL_BYTES   (LOCATE_BYTES + END_BYTES + TEXT_MOST)

struct directory {
	const struct rd_source *source;
	uint64_t entries, offset, size_bytes;
	uint32_t most; /* entries */
	uint8_t *name, *local_name, *extra; /* buffers of TEXT_MOST bytes */
};

/* Exactly these bytes: 1, 0 when the file does not have them. */
static int get(const struct rd_source *s, void *buf, size_t size_bytes, uint64_t offset, struct rd_error *err)
{
	int64_t n = rd_source_some(s, buf, size_bytes, offset, err);
	return n < 0 ? (int)n : (size_t)n == size_bytes;
}

static bool is_at(const uint8_t *at, const char *what)
{
	return memcmp(at, what, 4) == 0;
}

/* Of an archive that is larger than an end can say: what stands before that leads to one that can. */
static int find_large(struct directory *d, const uint8_t *locator, struct rd_error *err)
{
	uint8_t end[END64_BYTES];
	if (!is_at(locator, "PK\6\7"))
		return 0;
	int rc = get(d->source, end, sizeof end, rd_le64(locator + 8), err);
	if (rc <= 0 || !is_at(end, "PK\6\6"))
		return rc < 0 ? rc : 0;
	d->entries = rd_le64(end + 32);
	d->size_bytes = rd_le64(end + 40);
	d->offset = rd_le64(end + 48);
	return 1;
}

static int find_in_tail(struct directory *d, const uint8_t *tail, size_t n, struct rd_error *err)
{
	for (size_t at = n < END_BYTES ? 0 : n - END_BYTES + 1; at-- > 0;) {
		const uint8_t *end = tail + at;
		if (!is_at(end, "PK\5\6"))
			continue;
		d->entries = rd_le16(end + 10);
		d->size_bytes = rd_le32(end + 12);
		d->offset = rd_le32(end + 16);
		if (d->entries != 0xffff && d->size_bytes != UINT32_MAX && d->offset != UINT32_MAX)
			return 1;
		return at >= LOCATE_BYTES ? find_large(d, end - LOCATE_BYTES, err) : 0;
	}
	return 0;
}

static int find_directory(struct directory *d, struct rd_error *err)
{
	uint8_t *tail = rd_realloc(NULL, TAIL_BYTES);
	if (tail == NULL)
		return rd_fail_nomem(err);
	uint64_t size = d->source->size_bytes;
	int64_t n = rd_source_some(d->source, tail, TAIL_BYTES, size > TAIL_BYTES ? size - TAIL_BYTES : 0, err);
	int rc = n < 0 ? (int)n : find_in_tail(d, tail, (size_t)n, err);
	rd_free(tail);
	return rc;
}

/* Where the member's head is, when the entry itself has no room for it: in its extra field 1, behind the sizes. */
static bool large_offset(const uint8_t *entry, struct rd_cursor extra, uint64_t *offset)
{
	while (rd_left(&extra) > 0) {
		uint16_t id = rd_u16(&extra);
		size_t n = rd_u16(&extra);
		const uint8_t *at = rd_take(&extra, n);
		if (at == NULL)
			return false;
		size_t skip =
			(rd_le32(entry + 24) == UINT32_MAX ? 8u : 0) + (rd_le32(entry + 20) == UINT32_MAX ? 8u : 0);
		if (id != 1 || n < skip + 8)
			continue;
		*offset = rd_le64(at + skip);
		return true;
	}
	return false;
}

static int disagree(const struct directory *d, size_t name_bytes, struct rd_error *err)
{
	char name[128], shown[128];
	size_t n = name_bytes < sizeof name ? name_bytes : sizeof name - 1;
	memcpy(name, d->name, n);
	name[n] = 0;
	rd_archive_name_shown(shown, sizeof shown, name);
	return rd_fail(err, RD_CORRUPT, "the archive's directory and its members disagree: %s", shown);
}

/* The member of an entry whose name is in d->name. */
static int check_member(const struct directory *d, const uint8_t *entry, uint64_t offset, struct rd_error *err)
{
	uint8_t local[LOCAL_BYTES];
	size_t name_bytes = rd_le16(entry + 28);
	int rc = get(d->source, local, sizeof local, offset, err);
	if (rc < 0)
		return rc;
	/* How it is packed, and the name. */
	if (rc == 0 || !is_at(local, "PK\3\4") || memcmp(local + 8, entry + 10, 2) != 0 ||
	    rd_le16(local + 26) != name_bytes)
		return disagree(d, name_bytes, err);
	rc = get(d->source, d->local_name, name_bytes, offset + sizeof local, err);
	if (rc < 0)
		return rc;
	return rc == 1 && memcmp(d->name, d->local_name, name_bytes) == 0 ? 1 : disagree(d, name_bytes, err);
}

/* The entry at *at, which moves on. */
static int check_entry(const struct directory *d, uint64_t *at, struct rd_error *err)
{
	uint8_t entry[ENTRY_BYTES];
	int rc = get(d->source, entry, sizeof entry, *at, err);
	if (rc <= 0 || !is_at(entry, "PK\1\2"))
		return rc < 0 ? rc : 0;
	size_t name_bytes = rd_le16(entry + 28), extra_bytes = rd_le16(entry + 30);
	uint64_t offset = rd_le32(entry + 42);
	rc = get(d->source, d->name, name_bytes, *at + sizeof entry, err);
	if (rc == 1)
		rc = get(d->source, d->extra, extra_bytes, *at + sizeof entry + name_bytes, err);
	if (rc == 1 && offset == UINT32_MAX && !large_offset(entry, rd_cursor_of(d->extra, extra_bytes), &offset))
		rc = 0;
	*at += sizeof entry + name_bytes + extra_bytes + rd_le16(entry + 32);
	return rc == 1 ? check_member(d, entry, offset, err) : rc;
}

static int check_entries(const struct directory *d, struct rd_error *err)
{
	uint64_t at = d->offset, end;
	int rc = 1;
	if (__builtin_add_overflow(d->offset, d->size_bytes, &end) || end > d->source->size_bytes)
		return 0;
	/* Before each is looked at. A count that the directory has no room for is damage. */
	if (d->entries > d->most && d->entries <= d->size_bytes / ENTRY_BYTES)
		return rd_fail(err, RD_LIMIT, "the archive has more than %u members", d->most);
	for (uint64_t i = 0; rc == 1 && i < d->entries; i++)
		rc = check_entry(d, &at, err);
	return rc == 1 && at != end ? 0 : rc;
}

int rd_zip_check(const struct rd_source *s, uint32_t members_most, struct rd_error *err)
{
	struct directory d = {.source = s, .most = members_most};
	int rc = find_directory(&d, err);
	if (rc <= 0)
		return rc;
	uint8_t *room = rd_realloc(NULL, (size_t)3 * TEXT_MOST);
	if (room == NULL)
		return rd_fail_nomem(err);
	d.name = room;
	d.local_name = room + TEXT_MOST;
	d.extra = room + (size_t)2 * TEXT_MOST;
	rc = check_entries(&d, err);
	rd_free(room);
	return rc;
}
