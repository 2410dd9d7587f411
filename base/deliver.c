#include "base/deliver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"

struct rd_deliver_tests rd_deliver_tests;

static void moment(const char *name)
{
	if (rd_deliver_tests.moment)
		rd_deliver_tests.moment(name);
}

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1u
#endif
#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE 2u
#endif

/* renameat2, which old C libraries lack. -1 and ENOSYS or EINVAL where the system or file system cannot. */
static int rename_with(const char *from, const char *to, unsigned flags)
{
#ifdef SYS_renameat2
	if (!rd_deliver_tests.plain)
		return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags);
#endif
	(void)from, (void)to, (void)flags;
	errno = ENOSYS;
	return -1;
}

static bool cannot(void)
{
	return errno == ENOSYS || errno == EINVAL || errno == ENOTSUP;
}

static int fail_move(struct rd_error *err)
{
	return rd_fail_errno(err, "moving the finished output here");
}

/* Where nothing is: 0; RD_EXISTS, RD_IO. */
static int move_new(const char *from, const char *to, struct rd_error *err)
{
	struct stat st;

	if (rename_with(from, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno == EEXIST)
		return rd_fail(err, RD_EXISTS, "it exists already");
	if (!cannot())
		return fail_move(err);
	if (lstat(to, &st) == 0)
		return rd_fail(err, RD_EXISTS, "it exists already");
	return rename(from, to) == 0 ? 0 : fail_move(err);
}

/* What cannot go back to its place keeps a name that its owner can find; the error tells it. Returns code. */
static int keep_beside(const char *lost, const char *to, int code, struct rd_error *err)
{
	char name[4096];

	for (unsigned i = 0; i < 100; i++) {
		if (rd_path(name, sizeof name, NULL, "%s.kept-%ld-%u", to, (long)getpid(), i) < 0)
			break;
		int moved = move_new(lost, name, NULL);
		const char *slash = strrchr(name, '/');
		if (moved == 0)
			return rd_error_in(err, code, "what was there is now %s", slash ? slash + 1 : name);
		if (moved != RD_EXISTS)
			break;
	}
	return rd_error_in(err, code, "what was there is now %s", lost);
}

static bool is_same(const char *path, const struct stat *wanted)
{
	struct stat st;
	return lstat(path, &st) == 0 && st.st_dev == wanted->st_dev && st.st_ino == wanted->st_ino;
}

/* Both are exchanged. What came out is ours, or goes back. */
static int check_exchanged(const char *from, const char *to, const struct stat *fresh, rd_ours_fn ours,
			   struct rd_error *err)
{
	int code = ours(from, err);

	if (code == 0)
		return 0;
	if (rename_with(from, to, RENAME_EXCHANGE) != 0)
		return keep_beside(from, to, code, err);
	/* A third thing may have stood there by now. */
	return is_same(from, fresh) ? code : keep_beside(from, to, code, err);
}

/*
 * Where there is no exchange: the old one steps aside first and comes back if it is not ours, or the new one cannot
 * take its place. Between the two steps the new one lies complete under `from`.
 */
static int deliver_aside(const char *from, const char *to, rd_ours_fn ours, struct rd_error *err)
{
	char aside[4096];
	int code = rd_path(aside, sizeof aside, err, "%s-old", from);

	if (code < 0)
		return code;
	if (move_new(to, aside, NULL) < 0)
		return rd_fail_errno(err, "moving the old output aside");
	moment("exchanged");
	code = ours(aside, err);
	if (code == 0 && (code = move_new(from, to, err)) == 0)
		return rename(aside, from) == 0 ? 0 : rd_fail_errno(err, "moving the old output out of the way");
	return move_new(aside, to, NULL) == 0 ? code : keep_beside(aside, to, code, err);
}

static int deliver_over(const char *from, const char *to, rd_ours_fn ours, struct rd_error *err)
{
	struct stat fresh;

	if (lstat(from, &fresh) != 0)
		return rd_fail_errno(err, "looking at the finished output %s", from);
	int code = ours(to, err);
	if (code < 0)
		return code;
	moment("asked");
	if (rename_with(from, to, RENAME_EXCHANGE) != 0)
		return cannot() ? deliver_aside(from, to, ours, err) : fail_move(err);
	moment("exchanged");
	return check_exchanged(from, to, &fresh, ours, err);
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

/* How often the place may be taken or left while we look. */
#define TURNS 3

int rd_deliver(const char *from, const char *to, rd_ours_fn ours, struct rd_error *err)
{
	struct stat st;
	int code = RD_EXISTS;

	for (int turn = 0; code == RD_EXISTS && turn < TURNS; turn++) {
		bool there = ours && lstat(to, &st) == 0;
		if (ours && !there)
			moment("asked");
		if (there)
			code = deliver_over(from, to, ours, err);
		else
			code = move_new(from, to, err);
		/* Only that somebody came just now is worth a second look. */
		if (there || ours == NULL)
			break;
	}
	return code == 0 ? sync_parent(to, err) : rd_error_at(err, code, to, RD_NO_OFFSET);
}

int rd_deliver_file(const char *from, const char *to, struct rd_error *err)
{
	if (rename(from, to) == 0)
		return sync_parent(to, err);
	return rd_error_at(err, fail_move(err), to, RD_NO_OFFSET);
}
