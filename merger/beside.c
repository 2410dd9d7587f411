#include "merger/beside.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/owned.h"
#include "store/store.h"

#define OLD          RD_BESIDE_RESULT "-old"
#define TOKEN_DIGITS 8

/* ---- names */

int rd_beside_split(const char *output, char *folder, size_t size, const char **name, struct rd_error *err)
{
	const char *slash = strrchr(output, '/');

	*name = slash ? slash + 1 : output;
	if (**name == 0)
		return rd_fail(err, RD_USAGE, "the output's path has no name at its end");
	if (slash == NULL)
		return rd_path(folder, size, err, ".");
	return slash == output ? rd_path(folder, size, err, "/")
			       : rd_path(folder, size, err, "%.*s", (int)(slash - output), output);
}

/* What all folders beside an output begin with. */
static int name_prefix(char *buf, size_t size, const char *name, struct rd_error *err)
{
	/* The name is cut where it would grow too long for a file system. */
	return rd_path(buf, size, err, ".%.100s.rundown-", name);
}

int rd_beside_folder(char *buf, size_t size, const char *output, const char *job, const char *token,
		     struct rd_error *err)
{
	char folder[4096], prefix[256];
	const char *name;
	int code = rd_beside_split(output, folder, sizeof folder, &name, err);

	if (strchr(job, '/'))
		return rd_fail(err, RD_PROTOCOL, "a job's id that is no plain name");
	if (code == 0)
		code = name_prefix(prefix, sizeof prefix, name, err);
	if (code == 0)
		code = rd_path(buf, size, err, "%s/%s%s-%s", folder, prefix, job, token);
	return code;
}

/* Whether a name is the prefix, a job and a token. */
static bool is_named_so(const char *name, const char *prefix)
{
	size_t n = strlen(name), before = strlen(prefix);

	if (strncmp(name, prefix, before) != 0 || n < before + 1 + 1 + TOKEN_DIGITS ||
	    name[n - TOKEN_DIGITS - 1] != '-')
		return false;
	for (size_t i = n - TOKEN_DIGITS; i < n; i++)
		if (!isxdigit((unsigned char)name[i]))
			return false;
	return true;
}

/* ---- one folder */

/* Another may take the folder for a dead one's before its lock is there; hence some turns. */
#define TURNS 5

int rd_beside_make(const char *folder, int *lock, struct rd_error *err)
{
	const struct timespec slice = {0, 1000000};
	int code = RD_NOT_FOUND;

	*lock = -1;
	for (int turn = 0; code == RD_NOT_FOUND && turn < TURNS; turn++) {
		/* Who takes it for a dead one's removes it at once. */
		if (turn)
			nanosleep(&slice, NULL);
		if (mkdir(folder, 0700) != 0 && (turn == 0 || errno != EEXIST))
			return rd_error_at(err, rd_fail_errno(err, "making a folder beside the output"), folder,
					   RD_NO_OFFSET);
		code = rd_owned_lock(folder, err);
	}
	if (code >= 0)
		*lock = code;
	return code >= 0 || code == RD_UNSUPPORTED ? 0 : code;
}

int rd_beside_take(const char *folder, int *lock, struct rd_error *err)
{
	char path[4200];
	struct stat st;
	int code = rd_path(path, sizeof path, err, "%s/" RD_OWNED_LOCK, folder);

	*lock = -1;
	if (code < 0)
		return code;
	/* One without a lock lies where nothing can be locked. */
	if (lstat(path, &st) != 0)
		return lstat(folder, &st) == 0 ? 0 : rd_fail(err, RD_NOT_FOUND, "the result is gone");
	*lock = rd_owned_take(AT_FDCWD, folder);
	return *lock < 0 ? rd_fail(err, RD_NOT_FOUND, "the result is being removed") : 0;
}

static bool is_known(const char *name)
{
	static const char *const known[] = {
		".", "..", RD_OWNED_LOCK, RD_OWNED_FRESH, RD_BESIDE_MAKING, RD_BESIDE_RESULT, OLD};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(name, known[i]) == 0)
			return true;
	return false;
}

/* RD_NOT_FOUND: there is no such folder. RD_EXISTS: more is in it than is known. */
static int check_names(const char *folder, struct rd_error *err)
{
	struct dirent *e;
	DIR *d = opendir(folder);
	int code = 0;

	if (d == NULL)
		return errno == ENOENT ? rd_fail(err, RD_NOT_FOUND, "no such folder")
				       : rd_fail_errno(err, "opening the folder");
	while (code == 0 && (errno = 0, e = readdir(d)) != NULL)
		if (!is_known(e->d_name))
			code = rd_fail(err, RD_EXISTS, "it holds %.100s, which is none of ours", e->d_name);
	if (code == 0 && errno)
		code = rd_fail_errno(err, "listing the folder");
	closedir(d);
	return code;
}

/* Whether a result may go: only if it is one, or is not there. */
static int check_result(const char *folder, const char *name, struct rd_error *err)
{
	char path[4200];
	int code = rd_path(path, sizeof path, err, "%s/%s", folder, name);

	if (code == 0)
		code = rd_store_own(path, err);
	return code == RD_NOT_FOUND ? 0 : code;
}

static int remove_part(const char *folder, const char *name, struct rd_error *err)
{
	char path[4200];
	int code = rd_path(path, sizeof path, err, "%s/%s", folder, name);
	return code < 0 ? code : rd_store_remove(path, err);
}

/*
 * A finished one, which was asked for before. It goes by the name that may be removed whatever state it is in: whoever
 * is killed half-way leaves no result, and what is none would be somebody's under its own name.
 */
static int remove_result(const char *folder, const char *name, struct rd_error *err)
{
	char path[4200], making[4200];
	int code = rd_path(path, sizeof path, err, "%s/%s", folder, name);

	if (code == 0)
		code = rd_path(making, sizeof making, err, "%s/" RD_BESIDE_MAKING, folder);
	if (code == 0 && rename(path, making) != 0 && errno != ENOENT)
		code = rd_error_at(err, rd_fail_errno(err, "removing"), path, RD_NO_OFFSET);
	return code < 0 ? code : remove_part(folder, RD_BESIDE_MAKING, err);
}

static int remove_file(const char *folder, const char *name, struct rd_error *err)
{
	char path[4200];
	int code = rd_path(path, sizeof path, err, "%s/%s", folder, name);

	if (code == 0 && unlink(path) != 0 && errno != ENOENT)
		code = rd_error_at(err, rd_fail_errno(err, "removing"), path, RD_NO_OFFSET);
	return code;
}

int rd_beside_remove(const char *folder, struct rd_error *err)
{
	int code = check_names(folder, err);

	if (code == RD_NOT_FOUND)
		return 0;
	if (code == 0 && (code = check_result(folder, RD_BESIDE_RESULT, err)) == 0 &&
	    (code = check_result(folder, OLD, err)) == 0 && (code = remove_part(folder, RD_BESIDE_MAKING, err)) == 0 &&
	    (code = remove_result(folder, RD_BESIDE_RESULT, err)) == 0 &&
	    (code = remove_result(folder, OLD, err)) == 0 && (code = remove_file(folder, RD_OWNED_FRESH, err)) == 0)
		/* Last, so that whoever dies in between leaves what others can judge. */
		code = remove_file(folder, RD_OWNED_LOCK, err);
	if (code == 0 && rmdir(folder) != 0 && errno != ENOENT)
		code = rd_fail_errno(err, "removing the folder");
	return code < 0 ? rd_error_at(err, code, folder, RD_NO_OFFSET) : 0;
}

/* ---- all of an output */

/* What the kernel needs to end the children of a killed merger. */
#define DYING_NS UINT64_C(2000000000)

/* Its lock, from an owner that is dead; of `dying` ones also a little later. */
static int take_dead(int root, const char *name, bool dying)
{
	const struct timespec slice = {0, 5000000};
	uint64_t until = rd_now_ns() + DYING_NS;
	char path[512];
	struct stat st;
	int lock;

	while ((lock = rd_owned_take(root, name)) < 0 && dying && rd_now_ns() < until &&
	       rd_path(path, sizeof path, NULL, "%s/" RD_OWNED_LOCK, name) == 0 && fstatat(root, path, &st, 0) == 0)
		nanosleep(&slice, NULL);
	return lock;
}

static void sweep_one(int root, const char *folder, const char *name, bool dying)
{
	char path[4096];
	struct stat st;
	int lock;

	if (fstatat(root, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || st.st_uid != geteuid() ||
	    rd_path(path, sizeof path, NULL, "%s/%s", folder, name) < 0)
		return;
	if ((lock = take_dead(root, name, dying)) >= 0) {
		(void)rd_beside_remove(path, NULL);
		close(lock);
	} else {
		/* Its owner died before the lock was there: it goes if it is empty. */
		(void)unlinkat(root, name, AT_REMOVEDIR);
	}
}

int rd_beside_sweep(const char *output, const char *job, struct rd_error *err)
{
	char folder[4096], prefix[256], of_job[256] = "";
	const char *name;
	struct dirent *e;
	int code = rd_beside_split(output, folder, sizeof folder, &name, err);

	if (code == 0)
		code = name_prefix(prefix, sizeof prefix, name, err);
	if (code == 0 && job)
		code = rd_path(of_job, sizeof of_job, err, "%s%s-", prefix, job);
	if (code < 0)
		return code;
	DIR *d = opendir(folder);
	/* We may have to write where we may not look. */
	if (d == NULL && errno == EACCES)
		return 0;
	if (d == NULL)
		return rd_error_at(err, rd_fail_errno(err, "opening the output's folder"), folder, RD_NO_OFFSET);
	while ((e = readdir(d)) != NULL)
		if (is_named_so(e->d_name, prefix))
			sweep_one(dirfd(d), folder, e->d_name, job && strncmp(e->d_name, of_job, strlen(of_job)) == 0);
	closedir(d);
	return 0;
}
