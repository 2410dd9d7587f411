/* Files out of an archive, and the caps against archive bombs. */
#include "trace/archive_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "trace/archive_names.h"

#define PLAIN_BYTES_MOST (UINT64_C(1) << 40)
#define RATIO_FREE_BYTES (UINT64_C(64) << 20) /* small things may be as dense as they like */

void rd_archive_output_init(struct rd_archive_output *o, const char *folder, const struct rd_unpack_limits *limits,
			    uint32_t ratio_most, uint64_t packed_bytes_most, rd_unpacked_vec *out)
{
	*o = (struct rd_archive_output){
		.folder = folder,
		.out = out,
		.first = out->n,
		.plain_bytes_most = limits != NULL && limits->plain_bytes != 0 ? limits->plain_bytes : PLAIN_BYTES_MOST,
		.packed_bytes_most = packed_bytes_most,
		.ratio_most = limits != NULL && limits->ratio != 0 ? limits->ratio : ratio_most,
		.fd = -1,
	};
}

int rd_archive_output_allow_all(const struct rd_archive_output *o, uint64_t plain, uint64_t packed,
				struct rd_error *err)
{
	char text[32];
	if (plain > o->plain_bytes_most)
		return rd_fail(err, RD_LIMIT, "the archive unpacks to more than %s",
			       rd_size_text(o->plain_bytes_most, text, sizeof text));
	if (plain > RATIO_FREE_BYTES && plain / o->ratio_most > packed)
		return rd_fail(err, RD_LIMIT, "the archive unpacks to more than %u times its size", o->ratio_most);
	return 0;
}

int rd_archive_output_allow(const struct rd_archive_output *o, uint64_t more_bytes, struct rd_error *err)
{
	uint64_t plain, packed = o->packed_bytes < o->packed_bytes_most ? o->packed_bytes : o->packed_bytes_most;
	if (__builtin_add_overflow(o->plain_bytes, more_bytes, &plain))
		plain = UINT64_MAX;
	return rd_archive_output_allow_all(o, plain, packed, err);
}

int rd_archive_output_begin(struct rd_archive_output *o, const char *name, struct rd_error *err)
{
	struct rd_unpacked *u = rd_vec_add(o->out);
	if (u == NULL)
		return rd_fail_nomem(err);
	memset(u, 0, sizeof *u);
	int rc = rd_path(u->path, sizeof u->path, err, "%s/%02zu.trace", o->folder, o->written);
	if (rc == 0) {
		rd_archive_name_shown(u->name, sizeof u->name, name);
		o->fd = open(u->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (o->fd < 0)
			rc = rd_error_at(err, rd_fail_errno(err, "making the unpacked file"), u->path, RD_NO_OFFSET);
	}
	if (rc != 0) {
		o->out->n--;
		return rc;
	}
	o->written++;
	return 0;
}

int rd_archive_output_write(struct rd_archive_output *o, const void *bytes, size_t size_bytes, struct rd_error *err)
{
	struct rd_unpacked *u = &o->out->at[o->out->n - 1];
	int rc = rd_archive_output_allow(o, size_bytes, err);
	if (rc != 0)
		return rc;
	rc = rd_write_all(o->fd, bytes, size_bytes, err);
	if (rc != 0)
		return rd_error_at(err, rc, u->path, RD_NO_OFFSET);
	o->plain_bytes += size_bytes;
	u->size_bytes += size_bytes;
	return 0;
}

int rd_archive_output_shorten(struct rd_archive_output *o, uint64_t size_bytes, struct rd_error *err)
{
	struct rd_unpacked *u = &o->out->at[o->out->n - 1];
	if (ftruncate(o->fd, (off_t)size_bytes) != 0)
		return rd_error_at(err, rd_fail_errno(err, "shortening the unpacked file"), u->path, RD_NO_OFFSET);
	u->size_bytes = size_bytes;
	return 0;
}

int rd_archive_output_end(struct rd_archive_output *o, const char *damage, struct rd_error *err)
{
	int fd = o->fd;
	struct rd_unpacked *u = &o->out->at[o->out->n - 1];
	snprintf(u->damage, sizeof u->damage, "%s", damage);
	o->fd = -1;
	if (fd < 0 || close(fd) == 0 || errno == EINTR)
		return 0;
	int rc = rd_fail_errno(err, "writing the unpacked file");
	return rd_error_at(err, rc, u->path, RD_NO_OFFSET);
}

void rd_archive_output_undo(struct rd_archive_output *o)
{
	if (o->fd >= 0)
		close(o->fd);
	o->fd = -1;
	for (size_t i = o->first; i < o->out->n; i++)
		unlink(o->out->at[i].path);
	o->out->n = o->first;
	o->written = 0;
	o->plain_bytes = 0;
}
