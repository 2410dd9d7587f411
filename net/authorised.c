#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "net/key_file.h"
#include "net/keys.h"

/*
 * A folder's time of change tells that a key came or went. Clocks of file
 * systems are coarse, so a folder that has just changed is read again for a
 * while; and once in a while whatever its time says, for a file that was
 * rewritten in its place.
 */
#define UNSURE_NS UINT64_C(3000000000)
#define ANYWAY_NS UINT64_C(60000000000)
#define KEYS_MAX  100000

/* Says nothing of the keys: the machine is short of something, for now. */
static bool passes(int code, const struct rd_error *err)
{
	if (code != RD_IO || err == NULL)
		return code == RD_NOMEM;
	return err->sys_errno == EMFILE || err->sys_errno == ENFILE || err->sys_errno == EIO ||
	       err->sys_errno == ESTALE;
}

/* "worker.public", "worker-NAME.public"; RD__ROLE__ROLE_NONE for any other file. */
static Rd__Role role_of(const char *file, struct rd_key *key)
{
	size_t n = strlen(file), suffix = strlen(".public");

	if (n <= suffix || strcmp(file + n - suffix, ".public") != 0 || n - suffix >= sizeof key->name)
		return RD__ROLE__ROLE_NONE;
	memcpy(key->name, file, n - suffix);
	key->name[n - suffix] = 0;
	size_t word = strcspn(key->name, "-");
	for (int i = 0; rd_role_names[i]; i++)
		if (strlen(rd_role_names[i]) == word && memcmp(rd_role_names[i], key->name, word) == 0)
			return RD__ROLE__WORKER + i;
	return RD__ROLE__ROLE_NONE;
}

static void tell(const char *what, const char *file)
{
	char quoted[600];

	rd_log(RD_LOG_WARN, "key_ignored", "file=%s why=\"%s\"", rd_log_quote(file, quoted, sizeof quoted), what);
}

static int add_file(struct rd_authorised *a, const char *file, struct rd_error *err)
{
	struct rd_key key = {0};
	char path[4600];

	if (file[0] == '.' || strstr(file, ".public.new"))
		return 0;
	key.role = role_of(file, &key);
	if (key.role == RD__ROLE__ROLE_NONE) {
		tell("its name is not ROLE-NAME.public", file);
		return 0;
	}
	struct rd_error why;
	rd_error_clear(&why);
	int rc = rd_path(path, sizeof path, &why, "%s/%s", a->folder, file);
	if (rc == 0)
		rc = rd_key_read(path, RD_KEY_PUBLIC, key.public, &why);
	if (rc < 0 && passes(rc, &why)) {
		if (err)
			*err = why;
		return rc;
	}
	if (rc < 0) {
		/* One bad file shuts out its owner, and nobody else. */
		if (rc != RD_NOT_FOUND)
			tell("it holds no public key that can be read", file);
		return 0;
	}
	if (a->keys.n >= KEYS_MAX)
		return rd_fail(err, RD_LIMIT, "more than %d keys", KEYS_MAX);
	struct rd_key *slot = rd_vec_add(&a->keys);
	if (slot == NULL)
		return rd_fail_nomem(err);
	*slot = key;
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct rd_key *)a)->public, ((const struct rd_key *)b)->public);
}

/* A key that is given twice has two roles, and so none. */
static void drop_twins(struct rd_authorised *a)
{
	size_t kept = 0;

	if (a->keys.n > 1)
		qsort(a->keys.at, a->keys.n, sizeof *a->keys.at, by_text);
	for (size_t i = 0, next; i < a->keys.n; i = next) {
		for (next = i + 1; next < a->keys.n && by_text(&a->keys.at[i], &a->keys.at[next]) == 0; next++)
			tell("the same key is here under another name", a->keys.at[next].name);
		if (next == i + 1)
			a->keys.at[kept++] = a->keys.at[i];
		else
			tell("the same key is here under another name", a->keys.at[i].name);
	}
	a->keys.n = kept;
}

static int list(struct rd_authorised *a, DIR *dir, struct rd_error *err)
{
	struct dirent *entry;
	struct stat st;
	int rc = 0;

	if (fstat(dirfd(dir), &st) != 0)
		return rd_fail_errno(err, "reading the authorised keys");
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return rd_fail(err, RD_USAGE, "others may add keys here; chmod 700 it, and see which are yours");
	/* Before its entries: what changes meanwhile is seen the next time. */
	a->mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	errno = 0;
	while (rc == 0 && (entry = readdir(dir)) != NULL) {
		rc = add_file(a, entry->d_name, err);
		errno = 0;
	}
	if (rc == 0 && errno)
		rc = rd_fail_errno(err, "reading the authorised keys");
	return rc;
}

static int read_all(struct rd_authorised *a, struct rd_error *err)
{
	DIR *dir = opendir(a->folder);
	int rc;

	if (dir == NULL)
		rc = errno == ENOENT ? rd_fail(err, RD_NOT_FOUND, "there is no folder of authorised keys")
				     : rd_fail_errno(err, "opening the authorised keys");
	else
		rc = list(a, dir, err);
	if (dir)
		closedir(dir);
	if (rc == 0)
		drop_twins(a);
	else
		a->keys.n = 0;
	return rc < 0 ? rd_error_at(err, rc, a->folder, RD_NO_OFFSET) : 0;
}

int rd_authorised_open(struct rd_authorised *a, const char *folder, struct rd_error *err)
{
	*a = (struct rd_authorised){0};
	int rc = rd_path(a->folder, sizeof a->folder, err, "%s/authorised", folder);

	a->seen_ns = a->read_ns = rd_now_ns();
	return rc == 0 ? read_all(a, err) : rc;
}

void rd_authorised_release(struct rd_authorised *a)
{
	rd_vec_release(&a->keys);
}

static bool same_keys(const struct rd_key *a, size_t a_n, const struct rd_key *b, size_t b_n)
{
	for (size_t i = 0; a_n == b_n && i < a_n; i++)
		if (by_text(&a[i], &b[i]) != 0 || a[i].role != b[i].role)
			return false;
	return a_n == b_n;
}

int rd_authorised_refresh(struct rd_authorised *a, uint64_t now_ns, struct rd_error *err)
{
	struct stat st;
	int64_t mtime_ns = -1;

	if (stat(a->folder, &st) == 0)
		mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	if (mtime_ns != a->mtime_ns)
		a->seen_ns = now_ns;
	bool unsure = now_ns - a->seen_ns < UNSURE_NS;
	if (!unsure && !a->failed && now_ns - a->read_ns < ANYWAY_NS)
		return 0;

	struct rd_authorised fresh = *a;
	struct rd_error why;
	fresh.keys.at = NULL;
	fresh.keys.n = fresh.keys.cap = 0;
	rd_error_clear(&why);
	int rc = read_all(&fresh, &why);
	if (err)
		*err = why;
	a->read_ns = now_ns;
	a->failed = rc < 0;
	if (rc < 0 && passes(rc, &why)) {
		/* Nobody was shut out, nobody let in. */
		rd_vec_release(&fresh.keys);
		return rc;
	}
	bool same = same_keys(a->keys.at, a->keys.n, fresh.keys.at, fresh.keys.n);
	rd_vec_release(&a->keys);
	a->keys.at = fresh.keys.at;
	a->keys.n = fresh.keys.n;
	a->keys.cap = fresh.keys.cap;
	a->mtime_ns = fresh.mtime_ns;
	return rc < 0 ? rc : !same;
}

const struct rd_key *rd_authorised_find(const struct rd_authorised *a, const char *public)
{
	struct rd_key wanted;

	if (a->keys.n == 0 || strlen(public) != RD_KEY_TEXT - 1)
		return NULL;
	memcpy(wanted.public, public, RD_KEY_TEXT);
	return bsearch(&wanted, a->keys.at, a->keys.n, sizeof *a->keys.at, by_text);
}
