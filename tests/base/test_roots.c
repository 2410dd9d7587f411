#include "tests/support.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/roots.h"

static bool hold(const char *roots, const char *path)
{
	return rd_roots_hold(roots, (struct rd_span){(const uint8_t *)path, strlen(path)});
}

static void by_text(void **state)
{
	assert_true(hold(NULL, "anything"));
	assert_true(hold("/a", "/a/b"));
	assert_true(hold("/a/", "/a/b/c"));
	assert_true(hold("/x:/a//", "/a/b"));
	assert_true(hold("/", "/a"));
	assert_true(hold(":/a:", "/a/...b"));
	assert_false(hold("/a", "/a"));
	assert_false(hold("/a", "/ab"));
	assert_false(hold("/a", "/b/a/c"));
	assert_false(hold("/a", "a/b"));
	assert_false(hold("/a", "/a/../b"));
	assert_false(hold("/a", "/a/./b"));
	assert_false(hold("/a", "/a//b"));
	assert_false(hold("/a", "/a/"));
	assert_false(hold("/a", ""));
	assert_false(hold("", "/a/b"));
}

static void by_what_is_open(void **state)
{
	struct rd_bytes roots = {0};
	struct rd_error err;
	char text[9000];

	assert_int_equal(mkdir(scratch_path("real"), 0700), 0);
	assert_int_equal(mkdir(scratch_path("else"), 0700), 0);
	scratch_file("real/in", "x", 1);
	scratch_file("else/out", "x", 1);
	assert_int_equal(symlink("real", scratch_path("root")), 0);
	assert_int_equal(symlink("../else/out", scratch_path("real/link")), 0);

	snprintf(text, sizeof text, "%s:/", scratch_path("none"));
	assert_code(RD_NOT_FOUND, rd_roots_resolve(text, NULL, &roots, &err));
	rd_bytes_release(&roots);
	snprintf(text, sizeof text, "%s:", scratch_path("root"));
	assert_ok(rd_roots_resolve(text, NULL, &roots, &err), &err);
	int in = open(scratch_path("root/in"), O_RDONLY), out = open(scratch_path("root/link"), O_RDONLY);
	assert_true(in >= 0 && out >= 0);
	assert_ok(rd_roots_check((const char *)roots.at, in, &err), &err);
	assert_code(RD_USAGE, rd_roots_check((const char *)roots.at, out, &err));
	rd_bytes_release(&roots);
	assert_ok(rd_roots_resolve(text, scratch_path("else"), &roots, &err), &err);
	assert_ok(rd_roots_check((const char *)roots.at, out, &err), &err);
	assert_code(RD_IO, rd_roots_check((const char *)roots.at, 1000, &err));
	close(in);
	close(out);
	rd_bytes_release(&roots);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(by_text), cmocka_unit_test(by_what_is_open)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
