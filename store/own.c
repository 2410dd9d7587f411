/*
 * own - what of a folder is a result's, so that nothing else is ever removed with it.
 *
 * Everything goes by descriptor of the folder, so that no link can lead elsewhere.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/seal.h"
#include "store/store.h"

static const char *const parts[] = {RD_SEAL_NAME, RD_DATA_NAME};
#define PARTS (sizeof parts / sizeof *parts)

/* The descriptor; RD_NOT_FOUND, RD_EXISTS: it is no folder, RD_IO. */
static int open_folder(const char *path, struct rd_error *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	if (errno == ENOENT)
		return rd_fail(err, RD_NOT_FOUND, "no such result");
	if (errno == ENOTDIR || errno == ELOOP)
		return rd_fail(err, RD_EXISTS, "not a result: it is no folder");
	return rd_fail_errno(err, "looking at what is there");
}

static bool is_file(int folder, const char *name)
{
	struct stat st;
	return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

static bool is_part(int folder, const char *name)
{
	for (size_t i = 0; i < PARTS; i++)
		if (strcmp(name, parts[i]) == 0)
			return is_file(folder, name);
	return false;
}

/* RD_EXISTS, and the text names the first that is no part of a result. */
static int check_names(int folder, struct rd_error *err)
{
	struct dirent *e;
	int code = 0, again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = again < 0 ? NULL : fdopendir(again);

	if (d == NULL) {
		code = rd_fail_errno(err, "looking at what is there");
		if (again >= 0)
			close(again);
		return code;
	}
	while (code == 0 && (errno = 0, e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && !is_part(folder, e->d_name))
			code = rd_fail(err, RD_EXISTS, "it holds %.100s, which is no part of a result", e->d_name);
	if (code == 0 && errno)
		code = rd_fail_errno(err, "looking at what is there");
	closedir(d);
	return code;
}

static int check_parts(int folder, struct rd_error *err)
{
	int fd = openat(folder, RD_SEAL_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT || errno == ELOOP
			       ? rd_fail(err, RD_EXISTS, "not a result: the folder has no " RD_SEAL_NAME)
			       : rd_fail_errno(err, "cannot open its " RD_SEAL_NAME);
	bool sealed = is_file(folder, RD_SEAL_NAME) && rd_seal_is(fd);
	close(fd);
	if (!sealed)
		return rd_fail(err, RD_EXISTS, "not a result: its " RD_SEAL_NAME " is another file");
	if (!is_file(folder, RD_DATA_NAME))
		return rd_fail(err, RD_EXISTS, "not a result: the folder has no " RD_DATA_NAME);
	return check_names(folder, err);
}

int rd_store_own(const char *path, struct rd_error *err)
{
	int folder = open_folder(path, err), code = folder;

	if (folder >= 0) {
		code = check_parts(folder, err);
		close(folder);
	}
	return code < 0 ? rd_error_at(err, code, path, RD_NO_OFFSET) : 0;
}

int rd_store_remove(const char *path, struct rd_error *err)
{
	int folder = open_folder(path, err), code = folder;

	if (folder == RD_NOT_FOUND)
		return 0;
	if (folder >= 0) {
		code = check_names(folder, err);
		for (size_t i = 0; code == 0 && i < PARTS; i++)
			if (unlinkat(folder, parts[i], 0) != 0 && errno != ENOENT)
				code = rd_fail_errno(err, "removing its %s", parts[i]);
		close(folder);
	}
	/* What came meanwhile keeps the folder. */
	if (code == 0 && rmdir(path) != 0 && errno != ENOENT)
		code = rd_fail_errno(err, "removing the folder");
	return code < 0 ? rd_error_at(err, code, path, RD_NO_OFFSET) : 0;
}
