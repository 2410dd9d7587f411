#include "merger/copy.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

static int copy_file(const char *from, const char *to, struct rd_error *err)
{
	static uint8_t room[1 << 16];
	uint64_t offset = 0;
	int64_t n;
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	int code = 0;

	if (in < 0 || out < 0)
		code = rd_fail_errno(err, "copying the result");
	while (code == 0 && (n = rd_pread_some(in, room, sizeof room, offset, err)) != 0) {
		code = n < 0 ? (int)n : rd_write_all(out, room, (size_t)n, err);
		offset += n > 0 ? (uint64_t)n : 0;
	}
	if (code == 0 && fsync(out) != 0)
		code = rd_fail_errno(err, "copying the result");
	if (in >= 0)
		close(in);
	/* A remote file system may tell of a full disk as late as here. */
	if (out >= 0 && close(out) != 0 && code == 0)
		code = rd_fail_errno(err, "copying the result");
	return code < 0 ? rd_error_at(err, code, in < 0 ? from : to, RD_NO_OFFSET) : 0;
}

int rd_copy_result(const char *from, const char *to, struct rd_error *err)
{
	char source[4096], target[4096];
	struct dirent *e;
	int code = 0;
	DIR *d = opendir(from);

	if (d == NULL || mkdir(to, 0777) != 0)
		code = rd_error_at(err, rd_fail_errno(err, "copying the result"), d ? to : from, RD_NO_OFFSET);
	while (code == 0 && (e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		code = rd_path(source, sizeof source, err, "%s/%s", from, e->d_name);
		if (code == 0)
			code = rd_path(target, sizeof target, err, "%s/%s", to, e->d_name);
		if (code == 0)
			code = copy_file(source, target, err);
	}
	if (d)
		closedir(d);
	return code == 0 ? rd_sync_path(to, err) : code;
}
