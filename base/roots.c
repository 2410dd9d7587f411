#include "base/roots.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

/* Absolute, and every part of it a name: what is below a root by its text is below it. */
static bool is_plain(struct rd_span path)
{
	size_t from = 1;

	if (path.size_bytes == 0 || path.at[0] != '/')
		return false;
	for (size_t i = 1; i <= path.size_bytes; i++) {
		if (i < path.size_bytes && path.at[i] != '/')
			continue;
		struct rd_span part = {path.at + from, i - from};
		bool dots = part.size_bytes <= 2 && part.size_bytes > 0 && part.at[0] == '.' &&
			    part.at[part.size_bytes - 1] == '.';
		if (part.size_bytes == 0 || dots)
			return false;
		from = i + 1;
	}
	return true;
}

bool rd_roots_hold(const char *roots, struct rd_span path)
{
	if (roots == NULL)
		return true;
	if (!is_plain(path))
		return false;
	for (const char *root = roots; *root;) {
		size_t n = strcspn(root, ":");
		size_t bare = n;
		while (bare > 0 && root[bare - 1] == '/')
			bare--;
		if (n > 0 && path.size_bytes > bare && memcmp(path.at, root, bare) == 0 && path.at[bare] == '/')
			return true;
		root += n + (root[n] == ':');
	}
	return false;
}

static int add_root(const char *root, size_t n, struct rd_bytes *out, struct rd_error *err)
{
	char path[PATH_MAX], real[PATH_MAX];
	int rc = rd_path(path, sizeof path, err, "%.*s", (int)n, root);

	if (rc < 0)
		return rc;
	if (realpath(path, real) == NULL) {
		rc = errno == ENOENT ? rd_fail(err, RD_NOT_FOUND, "there is no such folder")
				     : rd_fail_errno(err, "looking for a root");
		return rd_error_at(err, rc, path, RD_NO_OFFSET);
	}
	if (strchr(real, ':'))
		return rd_error_at(err, rd_fail(err, RD_USAGE, "a root without a colon in its name"), real,
				   RD_NO_OFFSET);
	if (out->n > 0)
		rd_bytes_append(out, ":", 1);
	rd_bytes_append(out, real, strlen(real));
	return out->failed ? rd_fail_nomem(err) : 0;
}

int rd_roots_resolve(const char *roots, const char *more, struct rd_bytes *out, struct rd_error *err)
{
	int rc = 0;

	for (const char *root = roots; rc == 0 && *root;) {
		size_t n = strcspn(root, ":");
		if (n > 0)
			rc = add_root(root, n, out, err);
		root += n + (root[n] == ':');
	}
	if (rc == 0 && more)
		rc = add_root(more, strlen(more), out, err);
	if (rc == 0 && rd_bytes_append(out, "", 1) < 0)
		rc = rd_fail_nomem(err);
	return rc;
}

/* Where what is open lies; RD_USAGE when that is too long to be known. */
static int find_out(int fd, char path[PATH_MAX], struct rd_error *err)
{
	char name[64];

	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(name, path, PATH_MAX);
	if (n < 0)
		return rd_fail_errno(err, "finding out where a file lies");
	if (n == PATH_MAX)
		return rd_fail(err, RD_USAGE, "this lies too deep");
	path[n] = 0;
	return 0;
}

static int check_path(const char *resolved, const char *path, struct rd_error *err)
{
	if (rd_roots_hold(resolved, rd_text_span(path)))
		return 0;
	return rd_fail(err, RD_USAGE, "this lies outside of what may be read");
}

int rd_roots_check(const char *resolved, int fd, struct rd_error *err)
{
	char path[PATH_MAX];
	int rc = find_out(fd, path, err);

	return rc < 0 ? rc : check_path(resolved, path, err);
}

int rd_roots_check_in(const char *resolved, int fd, const char *name, struct rd_error *err)
{
	char folder[PATH_MAX], path[PATH_MAX];
	int rc = find_out(fd, folder, err);

	if (rc == 0)
		rc = rd_path(path, sizeof path, err, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, name);
	return rc < 0 ? rc : check_path(resolved, path, err);
}
