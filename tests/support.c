#include "tests/support.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

void rd_assert_ok(int64_t result, const struct rd_error *err, const char *expr, const char *file, int line)
{
	if (result >= 0)
		return;
	if (err == NULL) {
		print_error("%s -> %s\n", expr, rd_code_name((int)result));
	} else if (err->offset == RD_NO_OFFSET) {
		print_error("%s -> %s: %s%s (file \"%s\")\n", expr, rd_code_name((int)result), err->context, err->text,
			    err->file);
	} else {
		print_error("%s -> %s: %s%s (file \"%s\", byte %llu)\n", expr, rd_code_name((int)result), err->context,
			    err->text, err->file, (unsigned long long)err->offset);
	}
	_fail(file, line);
}

void rd_assert_code(int code, int64_t result, const char *expr, const char *file, int line)
{
	if (result == code)
		return;
	print_error("%s -> %lld (%s), expected %s\n", expr, (long long)result,
		    result < 0 ? rd_code_name((int)result) : "ok", rd_code_name(code));
	_fail(file, line);
}

void rd_assert_span(struct rd_span span, const char *text, const char *file, int line)
{
	if (span.size_bytes == strlen(text) && (span.size_bytes == 0 || memcmp(span.at, text, span.size_bytes) == 0))
		return;
	print_error("\"%.*s\" (%zu bytes), expected \"%s\"\n", (int)span.size_bytes, (const char *)span.at,
		    span.size_bytes, text);
	_fail(file, line);
}

void rd_skip_test(const char *file, int line, const char *fmt, ...)
{
	char why[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, sizeof why, fmt, args);
	va_end(args);
	/* The runner collects these lines. */
	printf("# skip: %s\n", why);
	fflush(stdout);
	_skip(file, line);
	abort(); /* _skip jumps away */
}

static char *next_path(void)
{
	static char paths[4][4096];
	static unsigned turn;
	return paths[turn++ % 4];
}

static const char *root_folder(void)
{
	const char *root = getenv("RD_ROOT");
	return root && *root ? root : ".";
}

const char *repository_path(const char *path)
{
	char *buf = next_path();
	snprintf(buf, 4096, "%s/%s", root_folder(), path);
	return buf;
}

const char *shared_path(const char *path)
{
	const char *shared = getenv("RD_SHARED");
	char *buf = next_path();

	if (shared && *shared)
		snprintf(buf, 4096, "%s/%s", shared, path);
	else
		snprintf(buf, 4096, "%s/../shared/%s", root_folder(), path);
	if (access(buf, R_OK) != 0)
		skip_test("no %s in the shared folder", path);
	return buf;
}

static char scratch[4096];
static pid_t scratch_owner;

static void remove_scratch(void)
{
	/* A forked child that exits must not take the folder from its parent. */
	if (scratch_owner == getpid())
		rd_remove_tree(scratch, NULL);
}

const char *scratch_folder(void)
{
	struct rd_error err;

	if (scratch_owner == 0) {
		assert_ok(rd_private_folder(NULL, "rundown-test", scratch, sizeof scratch, &err), &err);
		scratch_owner = getpid();
		atexit(remove_scratch);
	}
	return scratch;
}

const char *scratch_path(const char *name)
{
	char *buf = next_path();

	if ((size_t)snprintf(buf, 4096, "%s/%s", scratch_folder(), name) >= 4096)
		fail_msg("the path of %s is too long", name);
	return buf;
}

const char *scratch_file(const char *name, const void *bytes, size_t size_bytes)
{
	const char *path = scratch_path(name);
	struct rd_error err;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0)
		fail_msg("%s: %s", path, strerror(errno));
	assert_ok(rd_write_all(fd, bytes, size_bytes, &err), &err);
	close(fd);
	return path;
}

uint8_t *read_whole(const char *path, size_t *size_bytes)
{
	struct rd_error err;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) != 0)
		fail_msg("%s: %s", path, strerror(errno));
	uint8_t *bytes = malloc((size_t)st.st_size + 1);
	assert_non_null(bytes);
	assert_ok(rd_pread_all(fd, bytes, (size_t)st.st_size, 0, &err), &err);
	close(fd);
	bytes[st.st_size] = 0;
	*size_bytes = (size_t)st.st_size;
	return bytes;
}
