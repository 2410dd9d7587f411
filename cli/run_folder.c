#include "cli/run_folder.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/owned.h"

#define PREFIX "rundown"

static bool is_named_so(const char *name)
{
	return strncmp(name, PREFIX "-", sizeof PREFIX) == 0 && strlen(name) == sizeof PREFIX + 6;
}

static void sweep(const char *root)
{
	DIR *d = opendir(root);
	char path[4096];
	struct dirent *e;
	int lock;

	/* Whatever cannot be seen or removed is no failure of this command. */
	while (d && (e = readdir(d)) != NULL) {
		if (!is_named_so(e->d_name) || rd_path(path, sizeof path, NULL, "%s/%s", root, e->d_name) < 0 ||
		    (lock = rd_owned_take(dirfd(d), e->d_name)) < 0)
			continue;
		(void)rd_owned_remove(path, NULL);
		close(lock);
	}
	if (d)
		closedir(d);
}

/* How often another may take our folder for a dead one's before its lock is there. */
#define TURNS 5

static int make_locked(const char *root, char *path, size_t size, int *lock, struct rd_error *err)
{
	int rc = RD_NOT_FOUND;

	for (int turn = 0; rc == RD_NOT_FOUND && turn < TURNS; turn++) {
		rc = rd_private_folder(root, PREFIX, path, size, err);
		if (rc < 0)
			return rc;
		rc = rd_owned_lock(path, err);
		/* Where nothing can be locked the folder is only missed by those who would sweep it. */
		if (rc < 0 && rc != RD_UNSUPPORTED)
			(void)rd_remove_tree(path, NULL);
	}
	*lock = rc < 0 ? -1 : rc;
	return rc < 0 && rc != RD_UNSUPPORTED ? rc : 0;
}

int rd_run_folder_make(char *path, size_t size, size_t root_max, int *lock, struct rd_error *err)
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
	const char *used = root_max == 0 || strlen(root) <= root_max ? root : "/tmp";
	sweep(used);
	int rc = make_locked(used, path, size, lock, err);
	free(root);
	if (rc < 0)
		path[0] = 0;
	return rc;
}
