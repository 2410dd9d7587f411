#include "tests/support.h"

#include <sys/stat.h>
#include <unistd.h>

#include "net/socket.h"

static char path[4000], endpoint[4100];

static int name_path(void **state)
{
	(void)state;
	snprintf(path, sizeof path, "%s", scratch_path("door"));
	snprintf(endpoint, sizeof endpoint, "ipc://%s", path);
	unlink(path);
	return 0;
}

static int listen_at(struct rd_net *net, const char *where, struct rd_socket **s, struct rd_error *err)
{
	rd_error_clear(err);
	return rd_socket_listen(net, where, s, err);
}

/* Refused, and what is there stays what it is. */
static void stays(struct rd_net *net, const char *what)
{
	struct stat before, after;
	struct rd_socket *s;
	struct rd_error err;
	char line[1024];

	assert_int_equal(0, lstat(path, &before));
	assert_code(RD_EXISTS, listen_at(net, endpoint, &s, &err));
	assert_non_null(strstr(rd_error_line(&err, line, sizeof line), endpoint));
	assert_non_null(strstr(line, what));
	assert_int_equal(0, lstat(path, &after));
	assert_int_equal(before.st_ino, after.st_ino);
	assert_int_equal(before.st_mode, after.st_mode);
}

static void what_is_no_socket_is_not_replaced(void **state)
{
	struct rd_net *net;
	struct rd_error err;

	(void)state;
	assert_ok(rd_net_open(&net, &err), &err);
	FILE *f = fopen(path, "w");
	fputs("mine", f);
	fclose(f);
	stays(net, "no socket");
	unlink(path);
	mkfifo(path, 0600);
	stays(net, "no socket");
	unlink(path);
	/* Also one that leads to nothing. */
	assert_int_equal(0, symlink("nothing", path));
	stays(net, "no socket");
	unlink(path);
	mkdir(path, 0700);
	stays(net, "no socket");
	rmdir(path);
	rd_net_close(net);
}

static void a_folder_that_is_not_there(void **state)
{
	struct rd_net *net;
	struct rd_socket *s;
	struct rd_error err;
	char deep[4200];

	(void)state;
	assert_ok(rd_net_open(&net, &err), &err);
	snprintf(deep, sizeof deep, "%s/none/door", endpoint);
	assert_code(RD_IO, listen_at(net, deep, &s, &err));
	assert_non_null(strstr(err.text, "No such file or directory"));
	rd_net_close(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(what_is_no_socket_is_not_replaced, name_path),
		cmocka_unit_test_setup(a_folder_that_is_not_there, name_path),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
