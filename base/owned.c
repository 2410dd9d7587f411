#include "base/owned.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

static int fail_lock(const char *folder, struct rd_error *err)
{
	int code;

	if (errno == ENOENT || errno == EWOULDBLOCK)
		code = rd_fail(err, RD_NOT_FOUND, "the folder is gone");
	else if (errno == ENOLCK || errno == ENOSYS || errno == EOPNOTSUPP)
		code = rd_fail(err, RD_UNSUPPORTED, "its file system knows no locks");
	else
		code = rd_fail_errno(err, "cannot lock the folder");
	return rd_error_at(err, code, folder, RD_NO_OFFSET);
}

/* The lock gets its name only when it is held, so that nobody ever finds it free while we live. */
int rd_owned_lock(const char *folder, struct rd_error *err)
{
	char fresh[4200], name[4200];
	int code = rd_path(fresh, sizeof fresh, err, "%s/" RD_OWNED_FRESH, folder);

	if (code == 0)
		code = rd_path(name, sizeof name, err, "%s/" RD_OWNED_LOCK, folder);
	if (code < 0)
		return code;
	/* Some network file systems lock only what is open for writing. */
	int fd = open(fresh, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return fail_lock(folder, err);
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 && rename(fresh, name) == 0)
		return fd;
	code = fail_lock(folder, err);
	unlink(fresh);
	close(fd);
	return code;
}

/* A file that is held by nobody else, or -1. */
static int take_file(int folder, const char *name)
{
	struct stat st;
	int lock = openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (lock >= 0 && fstat(lock, &st) == 0 && S_ISREG(st.st_mode) && flock(lock, LOCK_EX | LOCK_NB) == 0)
		return lock;
	if (lock >= 0)
		close(lock);
	return -1;
}

int rd_owned_take(int root, const char *name)
{
	struct stat st;
	int folder = openat(root, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int lock = -1;

	if (folder < 0)
		return -1;
	if (fstat(folder, &st) == 0 && st.st_uid == geteuid()) {
		lock = take_file(folder, RD_OWNED_LOCK);
		/* Its owner may have died that young. */
		if (lock < 0 && fstatat(folder, RD_OWNED_LOCK, &st, AT_SYMLINK_NOFOLLOW) != 0)
			lock = take_file(folder, RD_OWNED_FRESH);
	}
	close(folder);
	return lock;
}

static bool is_lock(const char *name)
{
	return strcmp(name, RD_OWNED_LOCK) == 0 || strcmp(name, RD_OWNED_FRESH) == 0;
}

int rd_owned_remove(const char *folder, struct rd_error *err)
{
	char path[4096];
	struct dirent *e;
	DIR *d = opendir(folder);
	int code = 0;

	if (d == NULL)
		return errno == ENOENT ? 0 : rd_remove_tree(folder, err);
	while (code == 0 && (e = readdir(d)) != NULL) {
		if (is_lock(e->d_name) || strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		code = rd_path(path, sizeof path, err, "%s/%s", folder, e->d_name);
		if (code == 0)
			code = rd_remove_tree(path, err);
	}
	closedir(d);
	return code < 0 ? code : rd_remove_tree(folder, err);
}
