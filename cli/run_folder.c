#include "cli/run_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

#define PREFIX   "rundown"
#define LOCK     "lock"
/* The address of a socket has room for 108 bytes only. */
#define ROOT_MAX 60

/* Whether this folder is one of ours and its run is dead. */
static bool is_left_behind(int root, const char *name)
{
	struct stat st;
	char lock_name[300];
	bool dead = false;

	if (strncmp(name, PREFIX "-", sizeof PREFIX) != 0 || strlen(name) != sizeof PREFIX + 6)
		return false;
	if (rd_path(lock_name, sizeof lock_name, NULL, "%s/" LOCK, name) < 0 ||
	    fstatat(root, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid())
		return false;
	int lock = openat(root, lock_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (lock < 0)
		return false;
	dead = fstat(lock, &st) == 0 && S_ISREG(st.st_mode) && flock(lock, LOCK_EX | LOCK_NB) == 0;
	close(lock);
	return dead;
}

static void sweep(const char *root)
{
	DIR *d = opendir(root);
	char path[4096];
	struct dirent *e;

	/* Whatever cannot be seen or removed is no failure of this run. */
	while (d && (e = readdir(d)) != NULL)
		if (is_left_behind(dirfd(d), e->d_name) &&
		    rd_path(path, sizeof path, NULL, "%s/%s", root, e->d_name) == 0)
			(void)rd_remove_tree(path, NULL);
	if (d)
		closedir(d);
}

/* The lock gets its name only when it is held, so that nobody ever finds it free while we live. */
static int take_lock(const char *folder, struct rd_error *err)
{
	char fresh[4200], name[4200];

	int rc = rd_path(fresh, sizeof fresh, err, "%s/" LOCK ".new", folder);
	if (rc == 0)
		rc = rd_path(name, sizeof name, err, "%s/" LOCK, folder);
	if (rc < 0)
		return rc;
	int fd = open(fresh, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0 || rename(fresh, name) != 0) {
		rc = rd_fail_errno(err, "cannot lock the folder");
		if (fd >= 0)
			close(fd);
		return rd_error_at(err, rc, folder, RD_NO_OFFSET);
	}
	return fd;
}

int rd_run_folder_make(char *path, size_t size, int *lock, struct rd_error *err)
{
	const char *named = getenv("TMPDIR");

	*lock = -1;
	path[0] = 0;
	if (named == NULL || *named == 0)
		named = "/tmp";
	/* Absolute, because others than we read it. */
	char *root = realpath(named, NULL);
	if (root == NULL)
		return rd_error_at(err, rd_fail_errno(err, "no folder for temporary files"), named, RD_NO_OFFSET);
	const char *used = strlen(root) <= ROOT_MAX ? root : "/tmp";
	sweep(used);
	int rc = rd_private_folder(used, PREFIX, path, size, err);
	free(root);
	if (rc == 0) {
		*lock = take_lock(path, err);
		rc = *lock < 0 ? *lock : 0;
		if (rc < 0)
			(void)rd_remove_tree(path, NULL);
	}
	if (rc < 0)
		path[0] = 0;
	return rc;
}
