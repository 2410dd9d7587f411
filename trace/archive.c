/*
 * Unpacking with libarchive.
 *
 * The archive is read by place through our own callbacks, so that the same
 * descriptor serves all, and what was read is known for the ratio. A member's
 * first bytes decide whether it is a trace; the others are not written. One
 * huge zstd frame goes another way, for memory's sake (archive_zstd.c).
 */
#include "trace/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "trace/archive_names.h"
#include "trace/archive_output.h"
#include "trace/archive_zstd.h"
#include "trace/trace.h"

#define PACKED_BYTES ((size_t)256 << 10)
#define PLAIN_BYTES  ((size_t)256 << 10)
#define HEAD_BYTES   512

#define MEMBERS_MOST  65536
#define TRACES_MOST   256
#define DEFLATE_RATIO 1100
#define OTHER_RATIO   10000

/* What is known of a kind of archive: its first bytes, and what libarchive needs for it. */
static const struct {
	uint32_t size_bytes;
	const char *bytes;
	int (*filter)(struct archive *a);
	int (*format)(struct archive *a);
	uint32_t ratio;
	bool solid; /* to pass a member over is to unpack it */
} kinds[] = {
	{2, "\x1f\x8b", archive_read_support_filter_gzip, archive_read_support_format_raw, DEFLATE_RATIO, false},
	{4, "\x28\xb5\x2f\xfd", archive_read_support_filter_zstd, archive_read_support_format_raw, OTHER_RATIO, false},
	{6,
	 "\xfd"
	 "7zXZ",
	 archive_read_support_filter_xz, archive_read_support_format_raw, OTHER_RATIO, false},
	{3, "BZh", archive_read_support_filter_bzip2, archive_read_support_format_raw, OTHER_RATIO, false},
	{4, "PK\3\4", NULL, archive_read_support_format_zip, DEFLATE_RATIO, false},
	{4, "PK\5\6", NULL, archive_read_support_format_zip, DEFLATE_RATIO, false},
	{6, "7z\xbc\xaf\x27\x1c", NULL, archive_read_support_format_7zip, OTHER_RATIO, true},
};

struct unpack {
	const struct rd_source *source;
	int kind;
	uint32_t members_most, traces_most;
	uint64_t position; /* of the next packed byte to read */
	void (*progress)(void *ctx, uint64_t packed_bytes);
	void *ctx;
	struct rd_archive_output output;
	struct rd_error read_error; /* of our callbacks; code 0 none */
	uint32_t members, traces;
	struct rd_strings names; /* of members so far */
	uint64_t passed_bytes;   /* plain bytes of solid archives, whether written or passed over */
	uint64_t floor;          /* members lie behind here: the packed bytes before were another's */
	bool overlap;
	bool only_look;          /* for a trace: nothing is written */
	uint8_t *packed, *plain; /* buffers */
};

static int kind_of(const uint8_t *head, size_t size_bytes)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (size_bytes >= kinds[i].size_bytes && memcmp(head, kinds[i].bytes, kinds[i].size_bytes) == 0)
			return (int)i;
	return -1;
}

static int read_kind(const struct rd_source *s, int *kind, struct rd_error *err)
{
	uint8_t head[8];
	int64_t n = rd_source_some(s, head, sizeof head, 0, err);
	if (n < 0)
		return (int)n;
	*kind = kind_of(head, (size_t)n);
	return 0;
}

int rd_archive_is(const struct rd_source *s, bool *packed, struct rd_error *err)
{
	int kind;
	int rc = read_kind(s, &kind, err);
	if (rc == 0)
		*packed = kind >= 0;
	return rc;
}

static la_ssize_t on_read(struct archive *a, void *ctx, const void **bytes)
{
	struct unpack *u = ctx;
	uint64_t left = u->source->size_bytes - u->position;
	size_t want = left < PACKED_BYTES ? (size_t)left : PACKED_BYTES;
	int rc = rd_source_read(u->source, u->packed, want, u->position, &u->read_error);
	if (rc != 0) {
		archive_set_error(a, EIO, "reading the archive");
		return -1;
	}
	u->position += want;
	u->output.packed_bytes += want;
	if (u->progress != NULL)
		u->progress(u->ctx, u->position);
	*bytes = u->packed;
	return (la_ssize_t)want;
}

static la_int64_t on_seek(struct archive *a, void *ctx, la_int64_t offset, int whence)
{
	struct unpack *u = ctx;
	int64_t base = whence == SEEK_SET   ? 0
		       : whence == SEEK_CUR ? (int64_t)u->position
					    : (int64_t)u->source->size_bytes;
	int64_t to;
	if (__builtin_add_overflow(base, offset, &to) || to < 0 || (uint64_t)to > u->source->size_bytes) {
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
	uint64_t left = u->source->size_bytes - u->position;
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
	return rd_fail(err, code, "the archive cannot be unpacked: %s", text);
}

/* Up to size_bytes of the member's plain bytes; fewer only at its end. */
static int64_t read_plain(struct unpack *u, struct archive *a, size_t size_bytes, struct rd_error *err)
{
	size_t n = 0;
	while (n < size_bytes) {
		la_ssize_t got = archive_read_data(a, u->plain + n, size_bytes - n);
		if (got == ARCHIVE_RETRY)
			continue;
		if (got < 0)
			return archive_failed(u, a, err);
		if (got == 0)
			break;
		n += (size_t)got;
	}
	return (int64_t)n;
}

static int write_member(struct unpack *u, struct archive *a, const char *name, int64_t n, struct rd_error *err)
{
	int rc = rd_archive_output_begin(&u->output, name, err);
	while (rc == 0 && n > 0) {
		rc = rd_archive_output_write(&u->output, u->plain, (size_t)n, err);
		if (rc != 0)
			break;
		n = read_plain(u, a, PLAIN_BYTES, err);
		rc = n < 0 ? (int)n : 0;
	}
	return rc != 0 ? rc : rd_archive_output_end(&u->output, err);
}

/* The member that the archive stands at, written if it is a trace. */
static int take_member(struct unpack *u, struct archive *a, const char *name, struct rd_error *err)
{
	int64_t n = read_plain(u, a, HEAD_BYTES, err);
	if (n < 0)
		return (int)n;
	if (rd_format_of(u->plain, (size_t)n) == NULL)
		return 0;
	if (++u->traces > u->traces_most)
		return rd_fail(err, RD_LIMIT, "the archive has more than %u traces", u->traces_most);
	return u->only_look ? 0 : write_member(u, a, name, n, err);
}

/* What is known of a member before its bytes. */
static int check_member(struct unpack *u, struct archive_entry *entry, const char *name, struct rd_error *err)
{
	if (++u->members > u->members_most)
		return rd_fail(err, RD_LIMIT, "the archive has more than %u members", u->members_most);
	if (u->overlap)
		return rd_fail(err, RD_CORRUPT, "the archive has members that overlap");
	if (kinds[u->kind].solid) {
		int64_t size = archive_entry_size(entry);
		uint64_t all;
		if (size < 0 || __builtin_add_overflow(u->passed_bytes, (uint64_t)size, &all))
			return rd_fail(err, RD_CORRUPT, "the archive has a member of an impossible size");
		u->passed_bytes = all;
		int rc = rd_archive_output_allow_all(&u->output, all, u->source->size_bytes, err);
		if (rc != 0)
			return rc;
	}
	return name[0] ? rd_archive_name_check(&u->names, name, err) : 0;
}

/* The name may be in letters that this locale does not have. */
static const char *member_name(const struct unpack *u, struct archive_entry *entry)
{
	if (kinds[u->kind].filter != NULL)
		return "";
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
		u->floor = kinds[u->kind].format == archive_read_support_format_zip && at > 0 ? (uint64_t)at : 0;
	}
	do
		rc = archive_read_next_header(a, entry);
	while (rc == ARCHIVE_RETRY);
	u->floor = 0;
	if (rc == ARCHIVE_EOF)
		return 0;
	return rc < ARCHIVE_WARN ? archive_failed(u, a, err) : 1;
}

static int each_member(struct unpack *u, struct archive *a, struct rd_error *err)
{
	struct archive_entry *entry;
	for (;;) {
		int rc = next_header(u, a, &entry, err);
		if (rc <= 0)
			return rc;
		const char *name = member_name(u, entry);
		rc = check_member(u, entry, name, err);
		if (rc != 0)
			return rc;
		/* Links, folders and devices are nothing to unpack. */
		if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) != NULL)
			continue;
		rc = take_member(u, a, name, err);
		if (rc != 0 || (u->only_look && u->traces > 0))
			return rc;
	}
}

static int open_archive(struct unpack *u, struct archive *a, struct rd_error *err)
{
	int rc = archive_read_set_read_callback(a, on_read) | archive_read_set_seek_callback(a, on_seek) |
		 archive_read_set_skip_callback(a, on_skip) | archive_read_set_callback_data(a, u) |
		 kinds[u->kind].format(a);
	/* A filter that libarchive would leave to another program answers with a warning. */
	if (rc == ARCHIVE_OK && kinds[u->kind].filter != NULL)
		rc = kinds[u->kind].filter(a);
	if (rc != ARCHIVE_OK)
		return rd_fail(err, RD_UNSUPPORTED, "this build of libarchive cannot unpack it");
	return archive_read_open1(a) == ARCHIVE_OK ? 0 : archive_failed(u, a, err);
}

static int unpack_all(struct unpack *u, struct rd_error *err)
{
	struct archive *a = archive_read_new();
	u->packed = rd_realloc(NULL, PACKED_BYTES);
	u->plain = rd_realloc(NULL, PLAIN_BYTES);
	int rc = a != NULL && u->packed != NULL && u->plain != NULL ? 0 : rd_fail_nomem(err);
	if (rc == 0)
		rc = open_archive(u, a, err);
	if (rc == 0)
		rc = each_member(u, a, err);
	if (a != NULL)
		archive_read_free(a);
	rd_free(u->packed);
	rd_free(u->plain);
	rd_strings_release(&u->names);
	return rc;
}

static int begin(struct unpack *u, const struct rd_source *s, const struct rd_unpack_limits *limits, const char *folder,
		 rd_unpacked_vec *out, struct rd_error *err)
{
	u->source = s;
	int rc = read_kind(s, &u->kind, err);
	if (rc != 0)
		return rc;
	uint32_t ratio = u->kind < 0 ? DEFLATE_RATIO : kinds[u->kind].ratio;
	rd_archive_output_init(&u->output, folder, limits, ratio, s->size_bytes, out);
	u->members_most = limits != NULL && limits->members != 0 ? limits->members : MEMBERS_MOST;
	u->traces_most = limits != NULL && limits->traces != 0 ? limits->traces : TRACES_MOST;
	if (u->kind < 0)
		return rd_fail(err, RD_UNSUPPORTED,
			       "not an archive that this build knows (gzip, zstd, xz, bzip2, zip, 7z)");
	return 0;
}

int rd_archive_holds(const struct rd_source *s, bool *trace, struct rd_error *err)
{
	struct unpack u = {.only_look = true};
	rd_unpacked_vec none = {0};
	int rc = begin(&u, s, NULL, "", &none, err);
	if (rc == 0)
		rc = unpack_all(&u, err);
	if (rc != 0)
		return rd_error_at(err, rc, s->path, RD_NO_OFFSET);
	*trace = u.traces > 0;
	return 0;
}

int rd_archive_unpack(const struct rd_source *s, const char *folder, const struct rd_unpack_limits *limits,
		      rd_unpacked_vec *out, void (*progress)(void *ctx, uint64_t packed_bytes), void *ctx,
		      struct rd_error *err)
{
	struct unpack u = {.progress = progress, .ctx = ctx};
	int rc = begin(&u, s, limits, folder, out, err);
	if (rc == 0)
		rc = rd_archive_zstd(s, &u.output, progress, ctx, err);
	if (rc == RD_ZSTD_NOT_MINE)
		rc = unpack_all(&u, err);
	if (rc == 0 && u.output.written == 0)
		rc = rd_fail(err, RD_NOT_FOUND, "the archive holds no trace");
	if (rc == 0)
		return 0;
	if (u.output.out != NULL)
		rd_archive_output_undo(&u.output);
	return rd_error_at(err, rc, s->path, RD_NO_OFFSET);
}
