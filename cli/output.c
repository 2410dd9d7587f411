#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/deliver.h"
#include "base/file.h"

/* The folder of a path, in buf. */
static int folder_of(const char *path, char *buf, size_t size, struct rd_error *err)
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL)
		return rd_path(buf, size, err, ".");
	return rd_path(buf, size, err, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

/* The rights that open(2) would have given: mkostemp and linkat do not ask the umask. */
static void usual_rights(int fd)
{
	mode_t mask = umask(0);
	umask(mask);
	/* Where it fails the file stays readable to its owner. */
	if (fchmod(fd, 0666 & ~mask) != 0)
		errno = 0;
}

static int open_nameless(struct rd_output *o, struct rd_error *err)
{
	char folder[4096];
	int code = folder_of(o->target, folder, sizeof folder, err);

	if (code < 0)
		return code;
	int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0) {
		/* Not every file system has files without a name. */
		if ((code = rd_path(o->temporary, sizeof o->temporary, err, "%s.XXXXXX", o->target)) < 0)
			return code;
		fd = mkostemp(o->temporary, O_CLOEXEC);
		if (fd < 0) {
			o->temporary[0] = 0;
			return rd_fail_errno(err, "cannot write here");
		}
	}
	usual_rights(fd);
	return fd;
}

/* The number of an open file of ours that a link of /proc stands for (/dev/stdout, /dev/fd/3); -1: it is another's. */
static int own_descriptor(const char *link)
{
	char folder[4096], real[PATH_MAX], ours[64];
	const char *name = strrchr(link, '/');
	char *end;

	if (name == NULL || folder_of(link, folder, sizeof folder, NULL) < 0 || realpath(folder, real) == NULL)
		return -1;
	snprintf(ours, sizeof ours, "/proc/%ld/", (long)getpid());
	size_t n = strlen(real);
	if (strncmp(real, ours, strlen(ours)) != 0 || n < 3 || strcmp(real + n - 3, "/fd") != 0)
		return -1;
	long number = strtol(name + 1, &end, 10);
	return end == name + 1 || *end || number < 0 || number > INT_MAX ? -1 : (int)number;
}

/*
 * What is already open is written to where it stands: to open it anew would begin at the start of its file, or not be
 * possible at all. Another process's is added to.
 */
static int open_proc_link(const struct rd_output *o)
{
	int number = own_descriptor(o->target);
	return number >= 0 ? fcntl(number, F_DUPFD_CLOEXEC, 0) : open(o->target, O_WRONLY | O_APPEND | O_CLOEXEC);
}

static int open_target(struct rd_output *o, struct rd_error *err)
{
	struct stat st;
	/* A link stays: what it leads to is replaced, or made. */
	int fd, code = rd_follow(o->path, o->target, sizeof o->target, err);

	if (code < 0)
		return code;
	bool there = stat(o->target, &st) == 0;
	if (there && S_ISDIR(st.st_mode))
		return rd_fail(err, RD_USAGE, "the output is a folder");
	o->in_place = code == 1 || (there && !S_ISREG(st.st_mode));
	if (!o->in_place)
		return open_nameless(o, err);
	fd = code == 1 ? open_proc_link(o) : open(o->target, O_WRONLY | O_CLOEXEC);
	return fd < 0 ? rd_fail_errno(err, "cannot write here") : fd;
}

int rd_output_open(struct rd_output *o, const char *path, struct rd_error *err)
{
	int fd = STDOUT_FILENO;

	memset(o, 0, sizeof *o);
	if (path && strcmp(path, "-") != 0) {
		o->path = path;
		fd = open_target(o, err);
		if (fd < 0)
			return rd_error_at(err, fd, path, RD_NO_OFFSET);
	}
	rd_out_init(&o->out, fd);
	return 0;
}

/* Give the file its temporary name, if it has none. */
static int name_it(struct rd_output *o, int fd, struct rd_error *err)
{
	char link[64];

	if (o->temporary[0])
		return 0;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	for (unsigned i = 0; i < 100; i++) {
		char name[4096];
		int code = rd_path(name, sizeof name, err, "%s.%ld-%u", o->target, (long)getpid(), i);
		if (code < 0)
			return code;
		if (linkat(AT_FDCWD, link, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0) {
			memcpy(o->temporary, name, sizeof name);
			return 0;
		}
		if (errno != EEXIST)
			break;
	}
	return rd_fail_errno(err, "cannot name the finished output");
}

/* It has all of the text, or does not want more; it is left when its user does. */
static int close_pager(struct rd_output *o, int code, struct rd_error *err)
{
	int status;

	close(o->out.fd);
	while (waitpid(o->pager, &status, 0) < 0 && errno == EINTR)
		continue;
	if (WIFEXITED(status) && (WEXITSTATUS(status) == 126 || WEXITSTATUS(status) == 127))
		return rd_fail(err, RD_IO, "the pager cannot be run: see PAGER, or --no-pager");
	if (code < 0 && err && err->sys_errno == EPIPE) {
		rd_error_clear(err);
		return 0;
	}
	return code;
}

int rd_output_close(struct rd_output *o, bool good, struct rd_error *err)
{
	int fd = o->out.fd;
	struct rd_error own;
	int code = rd_out_close(&o->out, good ? err : &own);

	if (o->pager)
		return close_pager(o, code, err);
	if (o->path == NULL)
		return code;
	if (code == 0 && good && !o->in_place) {
		if (fsync(fd) != 0)
			code = rd_fail_errno(err, "writing the output");
		if (code == 0)
			code = name_it(o, fd, err);
		if (code == 0)
			code = rd_deliver_file(o->temporary, o->target, err);
		if (code == 0)
			o->temporary[0] = 0;
	}
	if (close(fd) != 0 && code == 0 && good)
		code = rd_fail_errno(err, "writing the output");
	if (o->temporary[0])
		unlink(o->temporary);
	if (code < 0 && good)
		rd_error_at(err, code, o->path, RD_NO_OFFSET);
	return code;
}
