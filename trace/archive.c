/* Which kind of archive, and who unpacks it. */
#include "trace/archive.h"

#include <stdio.h>
#include <string.h>

#include "trace/archive_members.h"
#include "trace/archive_names.h"
#include "trace/archive_stream.h"
#include "trace/archive_zstd.h"
#include "trace/trace.h"

#define MEMBERS_MOST  65536
#define TRACES_MOST   256
#define DEFLATE_RATIO 1100
#define OTHER_RATIO   10000

/* What is known of a kind of archive: its first bytes, and how it is unpacked. */
static const struct {
	uint32_t size_bytes;
	const char *bytes;
	const struct rd_codec *codec; /* NULL: members */
	enum rd_archive_format format;
	uint32_t ratio;
} kinds[] = {
	{2, "\x1f\x8b", &rd_codec_gzip, 0, DEFLATE_RATIO},
	{4, "\x28\xb5\x2f\xfd", &rd_codec_zstd, 0, OTHER_RATIO},
	/* Packers that work in parallel put such a frame in front. */
	{4, "\x50\x2a\x4d\x18", &rd_codec_zstd, 0, OTHER_RATIO},
	{6,
	 "\xfd"
	 "7zXZ",
	 &rd_codec_xz, 0, OTHER_RATIO},
	{3, "BZh", &rd_codec_bzip2, 0, OTHER_RATIO},
	{4, "PK\3\4", NULL, RD_ARCHIVE_ZIP, DEFLATE_RATIO},
	{4, "PK\5\6", NULL, RD_ARCHIVE_EMPTY_ZIP, DEFLATE_RATIO},
	{6, "7z\xbc\xaf\x27\x1c", NULL, RD_ARCHIVE_7ZIP, OTHER_RATIO},
};

static int kind_of(const uint8_t *head, size_t size_bytes)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (size_bytes >= kinds[i].size_bytes && memcmp(head, kinds[i].bytes, kinds[i].size_bytes) == 0)
			return (int)i;
	return -1;
}

bool rd_archive_begins(const uint8_t *head, size_t size_bytes)
{
	return kind_of(head, size_bytes) >= 0;
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

struct unpack {
	const struct rd_source *source;
	int kind;
	bool only_look;
	uint32_t members_most, traces_most;
	void (*progress)(void *ctx, uint64_t packed_bytes);
	void *ctx;
	struct rd_archive_output output;
	uint32_t traces;
};

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

/* x.nettrace.gz: like a member of that name, it must have been one. */
static bool name_says_trace(const char *path)
{
	char name[sizeof((struct rd_source){0}.path)];
	size_t n = strlen(path);
	while (n > 0 && path[n - 1] != '.' && path[n - 1] != '/')
		n--;
	if (n < 2 || path[n - 1] != '.')
		return false;
	memcpy(name, path, n - 1);
	name[n - 1] = 0;
	return rd_archive_name_says_trace(name);
}

static int unpack_stream(struct unpack *u, struct rd_error *err)
{
	const struct rd_archive_stream what = {
		.source = u->source,
		.codec = kinds[u->kind].codec,
		.output = u->only_look ? NULL : &u->output,
		.progress = u->progress,
		.ctx = u->ctx,
	};
	int rc = RD_ZSTD_NOT_MINE;
	/* One huge zstd frame goes another way, for memory's sake. */
	if (!u->only_look)
		rc = rd_archive_zstd(u->source, &u->output, u->progress, u->ctx, err);
	if (rc == RD_ZSTD_NOT_MINE)
		rc = rd_archive_stream(&what, err);
	u->traces = rc == 0;
	if (!u->only_look || rc != RD_NOT_FOUND)
		return rc;
	u->traces = name_says_trace(u->source->path);
	return 0;
}

static int unpack_members(struct unpack *u, struct rd_error *err)
{
	if (kinds[u->kind].format == RD_ARCHIVE_EMPTY_ZIP)
		return u->only_look ? 0 : rd_fail(err, RD_NOT_FOUND, "an empty archive");
	const struct rd_archive_members what = {
		.source = u->source,
		.format = kinds[u->kind].format,
		.output = &u->output,
		.only_look = u->only_look,
		.members_most = u->members_most,
		.traces_most = u->traces_most,
		.progress = u->progress,
		.ctx = u->ctx,
	};
	return rd_archive_members(&what, &u->traces, err);
}

static int unpack(struct unpack *u, struct rd_error *err)
{
	return kinds[u->kind].codec != NULL ? unpack_stream(u, err) : unpack_members(u, err);
}

int rd_archive_holds(const struct rd_source *s, bool *trace, struct rd_error *err)
{
	struct unpack u = {.only_look = true};
	rd_unpacked_vec none = {0};
	int rc = begin(&u, s, NULL, "", &none, err);
	if (rc == 0)
		rc = unpack(&u, err);
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
		rc = unpack(&u, err);
	if (rc == 0)
		return 0;
	if (u.output.out != NULL)
		rd_archive_output_undo(&u.output);
	return rd_error_at(err, rc, s->path, RD_NO_OFFSET);
}

void rd_archive_mark(struct rd_trace_info *info, const char *damage)
{
	if (damage[0] == 0)
		return;
	info->complete = false;
	if (info->cut_at > info->size_bytes)
		info->cut_at = info->size_bytes;
	snprintf(info->damage, sizeof info->damage, "%s", damage);
}
