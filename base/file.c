#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/memory.h"

int64_t rd_pread_some(int fd, void *buf, size_t size_bytes, uint64_t offset, struct rd_error *err)
{
	uint8_t *to = buf;
	size_t done = 0;

	/* Beyond what an off_t can say there is no file. */
	if (offset > INT64_MAX || size_bytes > INT64_MAX - offset)
		return rd_fail(err, RD_TRUNCATED, "a read of %zu bytes at %llu lies beyond any file", size_bytes,
			       (unsigned long long)offset);
	while (done < size_bytes) {
		ssize_t n = pread(fd, to + done, size_bytes - done, (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return rd_error_at(err, rd_fail_errno(err, "reading %zu bytes", size_bytes), NULL,
					   offset + done);
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (int64_t)done;
}

int rd_pread_all(int fd, void *buf, size_t size_bytes, uint64_t offset, struct rd_error *err)
{
	int64_t n = rd_pread_some(fd, buf, size_bytes, offset, err);

	if (n < 0)
		return (int)n;
	if ((size_t)n == size_bytes)
		return RD_OK;
	int code = rd_fail(err, RD_TRUNCATED, "%zu bytes wanted, %lld there", size_bytes, (long long)n);
	return rd_error_at(err, code, NULL, offset);
}

/* At an offset, or where the file stands. */
static int write_all(int fd, const uint8_t *from, size_t size_bytes, const uint64_t *offset, struct rd_error *err)
{
	for (size_t done = 0; done < size_bytes;) {
		ssize_t n = offset ? pwrite(fd, from + done, size_bytes - done, (off_t)(*offset + done))
				   : write(fd, from + done, size_bytes - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return rd_fail_errno(err, "writing %zu bytes", size_bytes - done);
		done += (size_t)n;
	}
	return RD_OK;
}

int rd_write_all(int fd, const void *buf, size_t size_bytes, struct rd_error *err)
{
	return write_all(fd, buf, size_bytes, NULL, err);
}

int rd_pwrite_all(int fd, const void *buf, size_t size_bytes, uint64_t offset, struct rd_error *err)
{
	return write_all(fd, buf, size_bytes, &offset, err);
}

int rd_path(char *buf, size_t size, struct rd_error *err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	int n = vsnprintf(buf, size, fmt, args);
	va_end(args);
	if (n >= 0 && (size_t)n < size)
		return RD_OK;
	if (size)
		buf[0] = 0;
	return rd_fail(err, RD_LIMIT, "a path is longer than %zu bytes", size ? size - 1 : 0);
}

int rd_private_folder(const char *root, const char *prefix, char *path, size_t path_size, struct rd_error *err)
{
	if (root == NULL) {
		root = getenv("TMPDIR");
		if (root == NULL || *root == 0)
			root = "/tmp";
	}
	int code = rd_path(path, path_size, err, "%s/%s-XXXXXX", root, prefix);
	if (code)
		return code;
	if (mkdtemp(path) == NULL) {
		path[0] = 0;
		return rd_error_at(err, rd_fail_errno(err, "making a private folder"), root, RD_NO_OFFSET);
	}
	return RD_OK;
}

/*
 * A folder is emptied by descriptor, never by path, so that nobody can put a
 * link in the way. Its depth is not ours to choose, hence a list of open
 * folders instead of recursion.
 */
struct level {
	DIR *dir;
	char name[256]; /* of a folder inside the level above; NAME_MAX and the NUL */
};

typedef RD_VEC(struct level) levels;

static DIR *open_folder(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (dir == NULL && fd >= 0)
		close(fd);
	return dir;
}

static int descend(levels *stack, const char *name, struct rd_error *err)
{
	int parent = dirfd(stack->at[stack->n - 1].dir);
	DIR *dir = open_folder(parent, name);

	if (dir == NULL && errno == EACCES && fchmodat(parent, name, 0700, 0) == 0)
		dir = open_folder(parent, name);
	if (dir == NULL)
		return errno == ENOENT ? RD_OK : rd_fail_errno(err, "opening the folder %s", name);
	struct level *level = rd_vec_add(stack);
	if (level == NULL) {
		closedir(dir);
		return rd_fail_nomem(err);
	}
	level->dir = dir;
	snprintf(level->name, sizeof level->name, "%s", name);
	return RD_OK;
}

/* Remove one entry of the innermost folder, or go into it, or leave the folder when it is empty. */
static int remove_step(levels *stack, struct rd_error *err)
{
	struct level *level = &stack->at[stack->n - 1];

	errno = 0;
	struct dirent *entry = readdir(level->dir);
	if (entry == NULL && errno)
		return rd_fail_errno(err, "listing a folder");
	if (entry == NULL) {
		closedir(level->dir);
		stack->n--;
		if (stack->n == 0)
			return RD_OK;
		if (unlinkat(dirfd(stack->at[stack->n - 1].dir), level->name, AT_REMOVEDIR) != 0 && errno != ENOENT)
			return rd_fail_errno(err, "removing the folder %s", level->name);
		return RD_OK;
	}
	if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
		return RD_OK;
	/* unlink refuses folders (EISDIR; EPERM by POSIX) and so tells what it is. */
	if (unlinkat(dirfd(level->dir), entry->d_name, 0) == 0 || errno == ENOENT)
		return RD_OK;
	if (errno != EISDIR && errno != EPERM)
		return rd_fail_errno(err, "removing %s", entry->d_name);
	return descend(stack, entry->d_name, err);
}

int rd_remove_tree(const char *path, struct rd_error *err)
{
	levels stack = {0};
	struct stat st;
	int code;

	if (lstat(path, &st) != 0) {
		if (errno == ENOENT)
			return RD_OK;
		code = rd_fail_errno(err, "removing");
		goto named;
	}
	if (!S_ISDIR(st.st_mode)) {
		code = unlink(path) == 0 || errno == ENOENT ? RD_OK : rd_fail_errno(err, "removing");
		goto named;
	}
	DIR *dir = open_folder(AT_FDCWD, path);
	if (dir == NULL) {
		code = rd_fail_errno(err, "opening the folder");
		goto named;
	}
	struct level *level = rd_vec_add(&stack);
	if (level == NULL) {
		closedir(dir);
		return rd_fail_nomem(err);
	}
	*level = (struct level){.dir = dir};
	code = RD_OK;
	while (code == RD_OK && stack.n)
		code = remove_step(&stack, err);
	while (stack.n)
		closedir(stack.at[--stack.n].dir);
	rd_vec_release(&stack);
	if (code == RD_OK && rmdir(path) != 0 && errno != ENOENT)
		code = rd_fail_errno(err, "removing the folder");
named:
	return code ? rd_error_at(err, code, path, RD_NO_OFFSET) : RD_OK;
}

/* renameat2, which old C libraries lack. -1 and ENOSYS or EINVAL where the system or file system cannot. */
static int rename_with(const char *from, const char *to, unsigned flags)
{
#ifdef SYS_renameat2
	return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags);
#else
	(void)from, (void)to, (void)flags;
	errno = ENOSYS;
	return -1;
#endif
}

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1u
#endif
#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE 2u
#endif

static bool cannot(void)
{
	return errno == ENOSYS || errno == EINVAL || errno == ENOTSUP;
}

static int deliver_new(const char *from, const char *to, struct rd_error *err)
{
	struct stat st;

	if (rename_with(from, to, RENAME_NOREPLACE) == 0)
		return RD_OK;
	if (errno == EEXIST)
		return rd_fail(err, RD_EXISTS, "it exists already");
	if (!cannot())
		return rd_fail_errno(err, "moving the finished output here");
	if (lstat(to, &st) == 0)
		return rd_fail(err, RD_EXISTS, "it exists already");
	return rename(from, to) == 0 ? RD_OK : rd_fail_errno(err, "moving the finished output here");
}

/*
 * Where there is no exchange: the old one steps aside first and comes back if
 * the new one cannot take its place. Between the two steps the new one lies
 * complete under `from`.
 */
static int deliver_aside(const char *from, const char *to, struct rd_error *err)
{
	char aside[4096];
	int code = rd_path(aside, sizeof aside, err, "%s.old-%ld", to, (long)getpid());

	if (code)
		return code;
	if (rename(to, aside) != 0)
		return rd_fail_errno(err, "moving the old output aside");
	if (rename(from, to) != 0) {
		code = rd_fail_errno(err, "moving the finished output here");
		if (rename(aside, to) != 0)
			rd_error_in(err, code, "the old output is now %s", aside);
		return code;
	}
	return rd_remove_tree(aside, err);
}

static int deliver_over(const char *from, const char *to, struct rd_error *err)
{
	struct stat old, new;

	if (lstat(from, &new) != 0)
		return rd_fail_errno(err, "looking at the finished output %s", from);
	if (lstat(to, &old) != 0)
		return errno == ENOENT ? deliver_new(from, to, err) : rd_fail_errno(err, "looking at the old output");
	if (!S_ISDIR(old.st_mode) && !S_ISDIR(new.st_mode))
		return rename(from, to) == 0 ? RD_OK : rd_fail_errno(err, "moving the finished output here");
	if (rename_with(from, to, RENAME_EXCHANGE) == 0)
		return rd_remove_tree(from, err);
	return cannot() ? deliver_aside(from, to, err) : rd_fail_errno(err, "moving the finished output here");
}

/* The folder that holds a path. That we may write in it and not read it is no failure: the output is there. */
static int sync_parent(const char *path, struct rd_error *err)
{
	char parent[4096];
	struct rd_error why;
	int code = rd_path(parent, sizeof parent, err, "%s", path);

	if (code)
		return code;
	size_t n = strlen(parent);
	while (n > 1 && parent[n - 1] == '/')
		parent[--n] = 0;
	char *slash = strrchr(parent, '/');
	if (slash)
		slash[slash == parent] = 0;
	code = rd_sync_path(slash ? parent : ".", &why);
	if (code == RD_OK || why.sys_errno == EACCES)
		return RD_OK;
	if (err)
		*err = why;
	return code;
}

int rd_deliver(const char *from, const char *to, bool replace, struct rd_error *err)
{
	int code = replace ? deliver_over(from, to, err) : deliver_new(from, to, err);

	if (code == RD_OK)
		return sync_parent(to, err);
	return rd_error_at(err, code, to, RD_NO_OFFSET);
}

#define DISK_FULL_BYTES ((uint64_t)64 << 20)

bool rd_disk_full(int fd)
{
	struct statvfs fs;
	return fstatvfs(fd, &fs) == 0 && (uint64_t)fs.f_bavail * fs.f_frsize < DISK_FULL_BYTES;
}

int rd_sync_path(const char *path, struct rd_error *err)
{
	int code = RD_OK;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	/* Some file systems sync no folders and say so with EINVAL. */
	if (fd < 0 || (fsync(fd) != 0 && errno != EINVAL))
		code = rd_error_at(err, rd_fail_errno(err, "syncing"), path, RD_NO_OFFSET);
	if (fd >= 0)
		close(fd);
	return code;
}
