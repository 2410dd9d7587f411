#include "net/key_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zmq.h>

#include "base/file.h"

/* What people write into a file of a key is short. */
#define FILE_MAX_BYTES 4096

static const char *const words[] = {[RD_KEY_PUBLIC] = "public ", [RD_KEY_SECRET] = "secret "};

/* Ours alone, or root's and shared with a group. */
static bool is_private(const struct stat *st)
{
	mode_t others = st->st_uid == 0 ? S_IRWXO | S_IWGRP : S_IRWXO | S_IRWXG;

	return (st->st_mode & others) == 0;
}

static bool is_key(const char *at, size_t n)
{
	char text[RD_KEY_TEXT];
	uint8_t raw[32];

	if (n != RD_KEY_TEXT - 1)
		return false;
	memcpy(text, at, n);
	text[n] = 0;
	bool ok = zmq_z85_decode(raw, text) != NULL;
	explicit_bzero(raw, sizeof raw);
	explicit_bzero(text, sizeof text);
	return ok;
}

/* The one line that begins with the word; text ends with a NUL. */
static int find_key(const char *text, const char *word, char out[RD_KEY_TEXT])
{
	int found = 0;

	for (const char *line = text; *line;) {
		size_t n = strcspn(line, "\r\n");
		size_t skip = strlen(word);
		if (n > skip && strncmp(line, word, skip) == 0) {
			if (found++ || !is_key(line + skip, n - skip))
				return RD_USAGE;
			memcpy(out, line + skip, RD_KEY_TEXT - 1);
			out[RD_KEY_TEXT - 1] = 0;
		} else if (n > 0 && line[0] != '#') {
			return RD_USAGE;
		}
		line += n + (line[n] != 0);
	}
	return found == 1 ? 0 : RD_USAGE;
}

static int read_open(int fd, enum rd_key_kind kind, char out[RD_KEY_TEXT], struct rd_error *err)
{
	char text[FILE_MAX_BYTES + 1];
	struct stat st;

	if (fstat(fd, &st) != 0)
		return rd_fail_errno(err, "reading a key");
	if (!S_ISREG(st.st_mode))
		return rd_fail(err, RD_USAGE, "a key is a file");
	if (kind == RD_KEY_SECRET && !is_private(&st))
		return rd_fail(err, RD_USAGE, "others may read this secret; chmod 600 it, or make a new one");
	int64_t n = rd_pread_some(fd, text, FILE_MAX_BYTES, 0, err);
	if (n < 0)
		return (int)n;
	text[n] = 0;
	int rc = find_key(text, words[kind], out);
	explicit_bzero(text, sizeof text);
	return rc == 0 ? 0 : rd_fail(err, RD_USAGE, "this file holds no %skey", words[kind]);
}

int rd_key_read(const char *path, enum rd_key_kind kind, char out[RD_KEY_TEXT], struct rd_error *err)
{
	/* A fifo must not hold up whoever reads. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int rc;

	if (fd < 0)
		rc = errno == ENOENT ? rd_fail(err, RD_NOT_FOUND, "there is no key here")
				     : rd_fail_errno(err, "opening a key");
	else
		rc = read_open(fd, kind, out, err);
	if (fd >= 0)
		close(fd);
	return rc < 0 ? rd_error_at(err, rc, path, RD_NO_OFFSET) : 0;
}

static int write_open(int fd, enum rd_key_kind kind, const char *key, const char *whose, struct rd_error *err)
{
	char text[512];
	int n = snprintf(text, sizeof text, "# rundown: %s %skey%s\n%s%s\n", whose, words[kind],
			 kind == RD_KEY_SECRET ? "; whoever has it may do what its owner may" : "", words[kind], key);
	int rc = rd_write_all(fd, text, (size_t)n, err);

	explicit_bzero(text, sizeof text);
	if (rc == 0 && fsync(fd) != 0)
		rc = rd_fail_errno(err, "writing a key");
	return rc;
}

int rd_key_write(const char *path, enum rd_key_kind kind, const char *key, const char *whose, struct rd_error *err)
{
	char fresh[4300];
	int rc = rd_path(fresh, sizeof fresh, err, "%s.new", path);

	if (rc < 0)
		return rc;
	(void)unlink(fresh);
	int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kind == RD_KEY_SECRET ? 0600 : 0644);
	rc = fd < 0 ? rd_fail_errno(err, "making a key's file") : write_open(fd, kind, key, whose, err);
	if (fd >= 0)
		close(fd);
	/* A link, unlike a rename, never takes another's place. */
	if (rc == 0 && link(fresh, path) != 0)
		rc = errno == EEXIST ? rd_fail(err, RD_EXISTS, "there is a key already")
				     : rd_fail_errno(err, "making a key's file");
	if (fd >= 0)
		(void)unlink(fresh);
	return rc < 0 ? rd_error_at(err, rc, path, RD_NO_OFFSET) : 0;
}
