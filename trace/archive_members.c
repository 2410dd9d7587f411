/*
 * The archive is read by place through our own callbacks, so that the same
 * descriptor serves all, and what was read is known for the ratio. A member's
 * first bytes decide whether it is a trace; the others are not written.
 */
#include "trace/archive_members.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cursor.h"
#include "trace/archive_names.h"
#include "trace/archive_stream.h"
#include "trace/archive_zip.h"
#include "trace/trace.h"

#define PACKED_BYTES ((size_t)256 << 10)
#define PLAIN_BYTES  ((size_t)256 << 10)
#define HEAD_BYTES   512

struct unpack {
	const struct rd_archive_members *what;
	struct rd_archive_output *output;
	uint64_t position;          /* of the next packed byte to read */
	struct rd_error read_error; /* of our callbacks; code 0 none */
	uint32_t members, traces;
	struct rd_strings names; /* of members so far */
	uint64_t passed_bytes;   /* plain bytes of members that are no traces and were read, and of all in a 7z */
	uint64_t floor;          /* members lie behind here: the packed bytes before were another's */
	bool overlap;
	bool streamed; /* a zip without its directory, */
	bool cut;      /* inside a member or its head */
	/* The open member's bytes that libarchive lent, and how its reading failed; code 0 not. */
	const uint8_t *block;
	size_t block_bytes;
	struct rd_error member_error;
	uint8_t *packed, *plain; /* buffers */
};

/* ---- libarchive's side */

static la_ssize_t on_read(struct archive *a, void *ctx, const void **bytes)
{
	struct unpack *u = ctx;
	const struct rd_source *s = u->what->source;
	uint64_t left = s->size_bytes - u->position;
	size_t want = left < PACKED_BYTES ? (size_t)left : PACKED_BYTES;
	int rc = rd_source_read(s, u->packed, want, u->position, &u->read_error);
	if (rc != 0) {
		archive_set_error(a, EIO, "reading the archive");
		return -1;
	}
	u->position += want;
	u->output->packed_bytes += want;
	if (u->what->progress != NULL)
		u->what->progress(u->what->ctx, u->position);
	*bytes = u->packed;
	return (la_ssize_t)want;
}

static la_int64_t on_seek(struct archive *a, void *ctx, la_int64_t offset, int whence)
{
	struct unpack *u = ctx;
	uint64_t size = u->what->source->size_bytes;
	int64_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? (int64_t)u->position : (int64_t)size;
	int64_t to;
	if (__builtin_add_overflow(base, offset, &to) || to < 0 || (uint64_t)to > size) {
		archive_set_error(a, EINVAL, "a place outside of the archive");
		return ARCHIVE_FATAL;
	}
	u->overlap |= (uint64_t)to < u->floor;
	u->position = (uint64_t)to;
	return to;
}

static la_int64_t on_skip(struct archive *a, void *ctx, la_int64_t bytes)
{
	struct unpack *u = ctx;
	uint64_t left = u->what->source->size_bytes - u->position;
	(void)a;
	if (bytes < 0)
		return 0;
	uint64_t by = (uint64_t)bytes < left ? (uint64_t)bytes : left;
	u->position += by;
	return (la_int64_t)by;
}

/* libarchive's last error as one of ours. Its texts are the only way to tell a cut archive from a bad one. */
static int archive_failed(struct unpack *u, struct archive *a, struct rd_error *err)
{
	const char *text = archive_error_string(a);
	int code = RD_CORRUPT;
	if (u->read_error.code != 0) {
		if (err != NULL)
			*err = u->read_error;
		return u->read_error.code;
	}
	if (text == NULL)
		text = "an unknown fault";
	if (archive_errno(a) == ENOMEM)
		return rd_fail_nomem(err);
	if (strcasestr(text, "truncated") != NULL || strcasestr(text, "end of file") != NULL)
		code = RD_TRUNCATED;
	else if (strcasestr(text, "passphrase") != NULL || strcasestr(text, "encrypt") != NULL ||
		 strcasestr(text, "unsupported") != NULL || strcasestr(text, "too much memory") != NULL)
		code = RD_UNSUPPORTED;
	return rd_error_in(err, rd_fail(err, code, "%s", text), RD_ARCHIVE_CANNOT);
}

static int open_archive(struct unpack *u, struct archive *a, struct rd_error *err)
{
	int rc = archive_read_set_read_callback(a, on_read) | archive_read_set_seek_callback(a, on_seek) |
		 archive_read_set_skip_callback(a, on_skip) | archive_read_set_callback_data(a, u);
	if (u->what->format == RD_ARCHIVE_7ZIP)
		rc |= archive_read_support_format_7zip(a);
	else
		rc |= u->streamed ? archive_read_support_format_zip_streamable(a)
				  : archive_read_support_format_zip_seekable(a);
	if (rc != ARCHIVE_OK)
		return rd_fail(err, RD_UNSUPPORTED, "this build of libarchive cannot unpack it");
	return archive_read_open1(a) == ARCHIVE_OK ? 0 : archive_failed(u, a, err);
}

/* ---- a member's bytes */

/* In a cut zip: everything up to its end was read. */
static bool is_at_cut(const struct unpack *u)
{
	return u->streamed && u->read_error.code == 0 && u->position == u->what->source->size_bytes;
}

/* The next plain bytes: 1, 0 at the member's end. */
static int next_block(struct unpack *u, struct archive *a, struct rd_error *err)
{
	la_int64_t offset;
	const void *at;
	int rc;
	do
		rc = archive_read_data_block(a, &at, &u->block_bytes, &offset);
	while (rc == ARCHIVE_RETRY);
	u->block = at;
	if (rc == ARCHIVE_OK)
		return 1;
	u->block_bytes = 0;
	return rc == ARCHIVE_EOF ? 0 : archive_failed(u, a, err);
}

/* Up to size_bytes of the member's plain bytes; fewer only at its end. What comes before a failure comes first. */
static int64_t read_plain(struct unpack *u, struct archive *a, size_t size_bytes, struct rd_error *err)
{
	size_t n = 0;
	while (n < size_bytes && u->member_error.code == 0) {
		if (u->block_bytes == 0) {
			int rc = next_block(u, a, &u->member_error);
			if (rc == 0)
				break;
			continue;
		}
		size_t take = u->block_bytes < size_bytes - n ? u->block_bytes : size_bytes - n;
		memcpy(u->plain + n, u->block, take);
		u->block += take;
		u->block_bytes -= take;
		n += take;
	}
	if (n > 0 || u->member_error.code == 0)
		return (int64_t)n;
	if (err != NULL)
		*err = u->member_error;
	return u->member_error.code;
}

/* The rest of an open trace's bytes, behind the n that were read. */
static int write_member(struct unpack *u, struct archive *a, const char *name, int64_t n, struct rd_error *err)
{
	int rc = rd_archive_output_begin(u->output, name, err);
	while (rc == 0 && n > 0) {
		rc = rd_archive_output_write(u->output, u->plain, (size_t)n, err);
		if (rc != 0)
			return rc;
		n = read_plain(u, a, PLAIN_BYTES, err);
		if (n < 0 && is_at_cut(u))
			u->cut = true;
		else if (n < 0)
			return (int)n;
	}
	return rc != 0 ? rc : rd_archive_output_end(u->output, "", err);
}

/* It has a trace's name and not the bytes of one: what it has is read for its check. */
static int pass_member(struct unpack *u, struct archive *a, int64_t n, struct rd_error *err)
{
	bool solid = u->what->format == RD_ARCHIVE_7ZIP; /* and counted already */
	while (n > 0) {
		if (!solid)
			u->passed_bytes += (uint64_t)n;
		int rc = rd_archive_output_allow_all(u->output, u->passed_bytes, u->what->source->size_bytes, err);
		if (rc != 0)
			return rc;
		n = read_plain(u, a, PLAIN_BYTES, err);
	}
	if (n < 0 && is_at_cut(u)) {
		u->cut = true;
		return 0;
	}
	return (int)n;
}

/* ---- members */

/* The member that the archive stands at, written if it is a trace. */
static int take_member(struct unpack *u, struct archive *a, const char *name, struct rd_error *err)
{
	u->block_bytes = 0;
	rd_error_clear(&u->member_error);
	int64_t n = read_plain(u, a, HEAD_BYTES, err);
	if (n <= 0 || rd_format_of(u->plain, (size_t)n) == NULL) {
		if (n < 0 && is_at_cut(u))
			u->cut = true;
		else if (n < 0)
			return (int)n;
		if (!rd_archive_name_says_trace(name))
			return 0;
		u->traces += u->what->only_look;
		return u->what->only_look ? 0 : pass_member(u, a, n, err);
	}
	if (++u->traces > u->what->traces_most)
		return rd_fail(err, RD_LIMIT, "the archive has more than %u traces", u->what->traces_most);
	return u->what->only_look ? 0 : write_member(u, a, name, n, err);
}

/* What is known of a member before its bytes. */
static int check_member(struct unpack *u, struct archive_entry *entry, const char *name, struct rd_error *err)
{
	if (++u->members > u->what->members_most)
		return rd_fail(err, RD_LIMIT, "the archive has more than %u members", u->what->members_most);
	if (u->overlap)
		return rd_fail(err, RD_CORRUPT, "the archive has members that overlap");
	/* In a solid archive, to pass a member over is to unpack it. */
	if (u->what->format == RD_ARCHIVE_7ZIP) {
		int64_t size = archive_entry_size(entry);
		uint64_t all;
		if (size < 0 || __builtin_add_overflow(u->passed_bytes, (uint64_t)size, &all))
			return rd_fail(err, RD_CORRUPT, "the archive has a member of an impossible size");
		u->passed_bytes = all;
		int rc = rd_archive_output_allow_all(u->output, all, u->what->source->size_bytes, err);
		if (rc != 0)
			return rc;
	}
	return name[0] ? rd_archive_name_check(&u->names, name, err) : 0;
}

static bool is_link_target(const char *text)
{
	if (text == NULL || *text == 0)
		return false;
	for (; *text; text++)
		if ((unsigned char)*text < ' ')
			return false;
	return true;
}

/* Whether there is nothing to unpack: a folder, a link. A file whose kind was damaged still has its bytes. */
static int is_hollow(struct archive_entry *entry, struct rd_error *err)
{
	if (archive_entry_filetype(entry) == AE_IFREG && archive_entry_hardlink(entry) == NULL)
		return 0;
	bool link = archive_entry_filetype(entry) == AE_IFLNK;
	if (link ? is_link_target(archive_entry_symlink(entry)) : archive_entry_size(entry) == 0)
		return 1;
	return rd_fail(err, RD_CORRUPT, "the archive has a member that is no file and yet has bytes");
}

/* The name may be in letters that this locale does not have. */
static const char *member_name(struct archive_entry *entry)
{
	const char *name = archive_entry_pathname_utf8(entry);
	name = name != NULL ? name : archive_entry_pathname(entry);
	return name != NULL ? name : "";
}

/* The next member's header: 1, 0 at the end. */
static int next_header(struct unpack *u, struct archive *a, struct archive_entry **entry, struct rd_error *err)
{
	int rc;
	if (u->members > 0) {
		/* The reader goes from member to member in the order of their places: never back. */
		if (archive_read_data_skip(a) < ARCHIVE_WARN)
			return archive_failed(u, a, err);
		int64_t at = archive_filter_bytes(a, -1);
		u->floor = u->what->format == RD_ARCHIVE_ZIP && at > 0 ? (uint64_t)at : 0;
	}
	do
		rc = archive_read_next_header(a, entry);
	while (rc == ARCHIVE_RETRY);
	u->floor = 0;
	if (rc == ARCHIVE_EOF)
		return 0;
	return rc < ARCHIVE_WARN ? archive_failed(u, a, err) : 1;
}

static void in_member(struct rd_error *err, const char *name)
{
	char shown[128];
	rd_archive_name_shown(shown, sizeof shown, name);
	if (err != NULL && strstr(err->text, shown) == NULL)
		rd_error_in(err, err->code, "%s", shown);
}

static int each_member(struct unpack *u, struct archive *a, struct rd_error *err)
{
	struct archive_entry *entry;
	while (!u->cut && !(u->what->only_look && u->traces > 0)) {
		int rc = next_header(u, a, &entry, err);
		if (rc < 0 && is_at_cut(u)) {
			u->cut = true;
			return 0;
		}
		if (rc <= 0)
			return rc;
		const char *name = member_name(entry);
		rc = check_member(u, entry, name, err);
		if (rc == 0)
			rc = is_hollow(entry, err);
		if (rc == 0)
			rc = take_member(u, a, name, err);
		if (rc == RD_CORRUPT || rc == RD_TRUNCATED || rc == RD_UNSUPPORTED)
			in_member(err, name);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* ---- archives */

/* What a zip without a directory gave is told at the last trace of it. */
static int tell_cut(struct unpack *u, struct rd_error *err)
{
	char damage[256] = "the archive's directory, at its end, is missing or damaged";
	if (u->cut)
		snprintf(damage, sizeof damage, RD_ARCHIVE_ENDS_EARLY, (unsigned long long)u->what->source->size_bytes);
	if (u->traces == 0)
		return rd_fail(err, RD_TRUNCATED, "%s, and before that is no trace", damage);
	if (!u->what->only_look)
		snprintf(u->output->out->at[u->output->out->n - 1].damage, sizeof damage, "%s", damage);
	return 0;
}

static int unpack_once(struct unpack *u, bool *known, struct rd_error *err)
{
	struct archive *a = archive_read_new();
	int rc = a != NULL ? open_archive(u, a, err) : rd_fail_nomem(err);
	if (rc == 0)
		rc = each_member(u, a, err);
	*known = a == NULL || u->members > 0 || archive_format(a) != 0;
	if (a != NULL)
		archive_read_free(a);
	return rc;
}

static int unpack_zip(struct unpack *u, struct rd_error *err)
{
	bool known = false;
	int rc = rd_zip_check(u->what->source, u->what->members_most, err);
	if (rc < 0)
		return rc;
	if (rc == 1)
		rc = unpack_once(u, &known, err);
	/* libarchive looks for a directory less far from the end. */
	if (known || u->read_error.code != 0)
		return rc;
	u->streamed = true;
	u->position = 0;
	rc = unpack_once(u, &known, err);
	return rc == 0 ? tell_cut(u, err) : rc;
}

/* The place of a 7z's directory stands in its head. */
static int check_7zip_end(const struct rd_source *s, struct rd_error *err)
{
	uint8_t head[32];
	int64_t n = rd_source_some(s, head, sizeof head, 0, err);
	if (n < 0)
		return (int)n;
	uint64_t end = sizeof head;
	bool whole = n == sizeof head && !__builtin_add_overflow(end, rd_le64(head + 12), &end) &&
		     !__builtin_add_overflow(end, rd_le64(head + 20), &end) && end <= s->size_bytes;
	if (whole)
		return 0;
	return rd_fail(err, RD_TRUNCATED, RD_ARCHIVE_ENDS_EARLY ", and nothing of a 7z can be unpacked without its end",
		       (unsigned long long)s->size_bytes);
}

static int unpack_7zip(struct unpack *u, struct rd_error *err)
{
	bool known;
	int rc = check_7zip_end(u->what->source, err);
	return rc == 0 ? unpack_once(u, &known, err) : rc;
}

int rd_archive_members(const struct rd_archive_members *what, uint32_t *traces, struct rd_error *err)
{
	struct unpack u = {.what = what, .output = what->output};
	u.packed = rd_realloc(NULL, PACKED_BYTES);
	u.plain = rd_realloc(NULL, PLAIN_BYTES);
	int rc = u.packed != NULL && u.plain != NULL ? 0 : rd_fail_nomem(err);
	if (rc == 0)
		rc = what->format == RD_ARCHIVE_ZIP ? unpack_zip(&u, err) : unpack_7zip(&u, err);
	if (rc == 0 && u.traces == 0 && !what->only_look)
		rc = rd_fail(err, RD_NOT_FOUND, u.members ? "the archive holds no trace" : "an empty archive");
	*traces = u.traces;
	rd_free(u.packed);
	rd_free(u.plain);
	rd_strings_release(&u.names);
	return rc;
}
