#include "tests/support.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
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

/* A socket of this kind is bound to the path; its descriptor. */
static int bound(int type)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	assert_true(strlen(path) < sizeof a.sun_path);
	memcpy(a.sun_path, path, strlen(path));
	assert_int_equal(0, bind(fd, (struct sockaddr *)&a, sizeof a));
	return fd;
}

static void a_path_where_somebody_listens_is_his(void **state)
{
	struct rd_net *net;
	struct rd_socket *first;
	struct rd_error err;

	(void)state;
	assert_ok(rd_net_open(&net, &err), &err);
	assert_ok(listen_at(net, endpoint, &first, &err), &err);
	stays(net, "somebody listens there already");
	rd_socket_close(first);
	assert_int_equal(-1, access(path, F_OK));

	/* No queue, and nobody who takes anybody out of it. */
	int fd = bound(SOCK_STREAM);
	assert_int_equal(0, listen(fd, 0));
	for (int i = 0; i < 3; i++)
		stays(net, "somebody listens there already");
	close(fd);
	rd_net_close(net);
	unlink(path);
}

static void a_socket_of_another_kind_is_not_ours(void **state)
{
	struct rd_net *net;
	struct rd_socket *s;
	struct rd_error err;

	(void)state;
	assert_ok(rd_net_open(&net, &err), &err);
	int fd = bound(SOCK_DGRAM);
	assert_code(RD_IO, listen_at(net, endpoint, &s, &err));
	assert_int_equal(0, access(path, F_OK));
	close(fd);
	rd_net_close(net);
}

static void what_the_dead_left_is_replaced(void **state)
{
	struct rd_net *net;
	struct rd_socket *s;
	struct rd_error err;

	(void)state;
	assert_ok(rd_net_open(&net, &err), &err);
	close(bound(SOCK_STREAM));
	assert_int_equal(0, access(path, F_OK));
	assert_ok(listen_at(net, endpoint, &s, &err), &err);
	/* Only what we made goes with us. */
	unlink(path);
	close(bound(SOCK_STREAM));
	rd_net_close(net);
	assert_int_equal(0, access(path, F_OK));
}

/* Of many who start at the same moment one has the path, whatever lay there. */
static void one_of_many_has_the_path(void **state)
{
	enum { MANY = 8 };
	int won = 0, status, go[2], end[2];
	pid_t pids[MANY];
	char byte;

	(void)state;
	close(bound(SOCK_STREAM));
	assert_int_equal(0, pipe(go) | pipe(end));
	for (int i = 0; i < MANY; i++) {
		if ((pids[i] = fork()) != 0)
			continue;
		struct rd_net *net;
		struct rd_socket *s;
		close(go[1]);
		close(end[1]);
		if (read(go[0], &byte, 1) != 0 || rd_net_open(&net, NULL) < 0)
			_exit(2);
		int rc = rd_socket_listen(net, endpoint, &s, NULL);
		/* Whoever lost ends; the winner waits for all of them. */
		if (rc == 0)
			(void)!read(end[0], &byte, 1);
		_exit(rc == 0 ? 0 : rc == RD_EXISTS ? 1 : 2);
	}
	close(go[1]);
	for (int i = 0; i < MANY; i++) {
		/* All but one end by themselves. */
		pid_t pid = i < MANY - 1 ? wait(&status) : (close(end[1]), wait(&status));
		assert_true(pid > 0 && WIFEXITED(status));
		assert_in_range(WEXITSTATUS(status), 0, 1);
		won += WEXITSTATUS(status) == 0;
	}
	close(go[0]);
	close(end[0]);
	assert_int_equal(1, won);
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
		cmocka_unit_test_setup(a_path_where_somebody_listens_is_his, name_path),
		cmocka_unit_test_setup(a_socket_of_another_kind_is_not_ours, name_path),
		cmocka_unit_test_setup(what_the_dead_left_is_replaced, name_path),
		cmocka_unit_test_setup(one_of_many_has_the_path, name_path),
		cmocka_unit_test_setup(a_folder_that_is_not_there, name_path),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
