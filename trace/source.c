/* Opening and reading a trace file by place. */
#include "trace/source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

static int64_t mtime_of(const struct stat *st)
{
	return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

/* What stands at a path that is no plain file. */
static const char *name_of_mode(mode_t mode)
{
	if (S_ISDIR(mode))
		return "a folder";
	if (S_ISFIFO(mode))
		return "a pipe";
	if (S_ISSOCK(mode))
		return "a socket";
	return "a device";
}

static int open_file(struct rd_source *s, struct rd_error *err)
{
	struct stat st;
	/* Not to wait for a writer when the path is a FIFO. */
	s->fd = open(s->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (s->fd < 0 && errno == ENOENT)
		return rd_fail(err, RD_NOT_FOUND, "no such file");
	if (s->fd < 0)
		return rd_fail_errno(err, "cannot be opened");
	if (fstat(s->fd, &st) != 0)
		return rd_fail_errno(err, "cannot be looked at");
	if (!S_ISREG(st.st_mode))
		return rd_fail(err, RD_USAGE, "is %s, not a file", name_of_mode(st.st_mode));
	s->size_bytes = (uint64_t)st.st_size;
	s->mtime_ns = mtime_of(&st);
	return 0;
}

int rd_source_open(struct rd_source *s, const char *path, struct rd_error *err)
{
	memset(s, 0, sizeof *s);
	s->fd = -1;
	size_t n = strlen(path);
	if (n >= sizeof s->path)
		return rd_fail(err, RD_USAGE, "a path of %zu bytes is too long", n);
	memcpy(s->path, path, n + 1);
	int rc = open_file(s, err);
	if (rc == 0)
		return 0;
	rd_source_close(s);
	return rd_error_at(err, rc, path, RD_NO_OFFSET);
}

void rd_source_close(struct rd_source *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

int64_t rd_source_some(const struct rd_source *s, void *buf, size_t size_bytes, uint64_t offset, struct rd_error *err)
{
	if (offset >= s->size_bytes)
		return 0;
	uint64_t left = s->size_bytes - offset;
	int64_t n = rd_pread_some(s->fd, buf, size_bytes < left ? size_bytes : (size_t)left, offset, err);
	return n >= 0 ? n : rd_error_at(err, (int)n, s->path, offset);
}

int rd_source_read(const struct rd_source *s, void *buf, size_t size_bytes, uint64_t offset, struct rd_error *err)
{
	int64_t n = rd_source_some(s, buf, size_bytes, offset, err);
	if (n < 0 || (size_t)n == size_bytes)
		return n < 0 ? (int)n : 0;
	int rc = rd_fail(err, RD_TRUNCATED, "%zu bytes wanted, %lld there", size_bytes, (long long)n);
	return rd_error_at(err, rc, s->path, offset);
}

int rd_source_same(const struct rd_source *s, uint64_t size_bytes, int64_t mtime_ns, struct rd_error *err)
{
	struct stat st;
	if (fstat(s->fd, &st) != 0)
		return rd_error_at(err, rd_fail_errno(err, "cannot be looked at"), s->path, RD_NO_OFFSET);
	if ((uint64_t)st.st_size == size_bytes && mtime_of(&st) == mtime_ns && s->size_bytes == size_bytes &&
	    s->mtime_ns == mtime_ns)
		return 0;
	int rc = rd_fail(err, RD_CHANGED, "the file has changed since it was indexed");
	return rd_error_at(err, rc, s->path, RD_NO_OFFSET);
}
