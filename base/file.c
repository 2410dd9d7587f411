#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
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

int rd_read_start(const char *path, size_t size_bytes, struct rd_bytes *out, struct rd_error *err)
{
	size_t before = out->n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return rd_error_at(err, rd_fail_errno(err, "cannot open"), path, RD_NO_OFFSET);
	uint8_t *at = rd_bytes_extend(out, size_bytes);
	int64_t n = at ? rd_pread_some(fd, at, size_bytes, 0, err) : rd_fail_nomem(err);
	close(fd);
	out->n = before + (n < 0 ? 0 : (size_t)n);
	return n < 0 ? rd_error_at(err, (int)n, path, RD_NO_OFFSET) : 0;
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

int rd_path_below(char *buf, size_t size, struct rd_error *err, const char *folder, const char *name)
{
	size_t n = strlen(folder);

	return rd_path(buf, size, err, "%s%s%s", folder, n == 0 || folder[n - 1] == '/' ? "" : "/", name);
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

/* How many links may lead to one another, as the kernel counts. */
#define LINKS_MAX 40

static bool is_proc(const char *folder)
{
	struct statfs fs;
	return statfs(folder, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

/* Put what a link says in the place of its name; `at` is cut behind its folder. */
static int step_into(char *at, size_t size, const char *says, struct rd_error *err)
{
	char next[4096];
	int code = says[0] == '/' ? rd_path(next, sizeof next, err, "%s", says)
				  : rd_path(next, sizeof next, err, "%s%s", at, says);

	for (size_t n = strlen(next); n > 1 && next[n - 1] == '/'; n--)
		next[n - 1] = 0;
	return code < 0 ? code : rd_path(at, size, err, "%s", next);
}

int rd_follow(const char *path, char *buf, size_t size, struct rd_error *err)
{
	char says[4096];
	struct stat st;
	int code = rd_path(buf, size, err, "%s", path);

	for (int links = 0; code == 0 && lstat(buf, &st) == 0 && S_ISLNK(st.st_mode); links++) {
		char *slash = strrchr(buf, '/');
		size_t folder = slash ? (size_t)(slash - buf) + 1 : 0;
		char first = buf[folder];
		buf[folder] = 0;
		bool proc = is_proc(folder ? buf : ".");
		buf[folder] = first;
		if (proc)
			return 1;
		if (links == LINKS_MAX) {
			errno = ELOOP;
			return rd_fail_errno(err, "following links");
		}
		ssize_t n = readlink(buf, says, sizeof says - 1);
		if (n < 0)
			return rd_fail_errno(err, "following a link");
		says[n] = 0;
		buf[folder] = 0;
		code = step_into(buf, size, says, err);
	}
	return code;
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

/* 0, or errno. */
static int make_one(const char *path, unsigned mode)
{
	struct stat st;

	if (mkdir(path, mode) == 0)
		return 0;
	int failed = errno;
	/* What is there is asked for: a disk that is mounted to read says so of folders that exist, too. */
	if (failed != ENOENT && stat(path, &st) == 0)
		return S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
	return failed;
}

int rd_make_folders(const char *path, unsigned mode, struct rd_error *err)
{
	char part[4096];
	int failed = make_one(path, mode);
	int code = rd_path(part, sizeof part, err, "%s", path);

	if (code < 0)
		return code;
	for (char *slash = part; failed == ENOENT && (slash = strchr(slash + 1, '/')) != NULL;) {
		*slash = 0;
		int above = make_one(part, mode);
		*slash = '/';
		if (above)
			failed = above;
	}
	if (failed == ENOENT)
		failed = make_one(path, mode);
	if (failed == 0)
		return 0;
	errno = failed;
	return rd_error_at(err, rd_fail_errno(err, "cannot make the folder"), path, RD_NO_OFFSET);
}

bool rd_is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}
