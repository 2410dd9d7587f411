#include "tests/support.h"

#include <errno.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/start.h"
#include "net/accept.h"
#include "net/hello.h"
#include "net/validate.h"
#include "tests/net/broker_end.h"

/* More connections than a broker has descriptors, which is in a process of its own. */

#define FLOOD 200

/* Named before the fork: each process has a scratch folder of its own. */
static char path[4000], endpoint[4100];

static unsigned char descriptors_left(int fd)
{
	int at[RD_DESCRIPTORS_LEAST];
	unsigned char n = 0;

	while (n < RD_DESCRIPTORS_LEAST && (at[n] = dup(fd)) >= 0)
		n++;
	for (unsigned char i = 0; i < n; i++)
		close(at[i]);
	return n;
}

/* A broker: it says what is left to it when it is asked, and then answers whoever says HELLO. */
static int serve(int parent)
{
	struct broker_end b = {0};
	struct rd_error err;
	unsigned char c;

	assert_ok(rd_limit(RLIMIT_NOFILE, RD_DESCRIPTORS_LEAST, "descriptors", &err), &err);
	broker_listen(&b, endpoint);
	assert_int_equal(write(parent, "1", 1), 1);
	assert_int_equal(read(parent, &c, 1), 1);
	c = descriptors_left(parent);
	assert_in_range(rd_accept_shut_out(), FLOOD - RD_DESCRIPTORS_LEAST + RD_ACCEPT_SPARE, FLOOD);
	assert_int_equal(rd_accept_shut_out(), 0);
	assert_int_equal(write(parent, &c, 1), 1);
	assert_int_equal(broker_hear(&b, RD_FROM_WORKER)->kind, RD__KIND__HELLO);
	assert_int_equal(write(parent, "2", 1), 1);
	broker_close(&b);
	return 0;
}

static pid_t start(int *ready)
{
	int ends[2];
	char c;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	pid_t pid = fork();
	if (pid == 0) {
		close(ends[0]);
		_exit(serve(ends[1]));
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &c, 1), 1);
	*ready = ends[0];
	return pid;
}

/* One that connects and says nothing, or -1 while the queue is full. */
static int knock(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0);
	strcpy(a.sun_path, path);
	if (connect(fd, (struct sockaddr *)&a, sizeof a) == 0)
		return fd;
	assert_int_equal(errno, EAGAIN);
	close(fd);
	return -1;
}

static unsigned shut_out(const int *at, unsigned n)
{
	unsigned out = 0;

	for (unsigned i = 0; i < n; i++) {
		struct pollfd p = {.fd = at[i], .events = POLLRDHUP};
		out += poll(&p, 1, 0) == 1 && (p.revents & (POLLRDHUP | POLLHUP));
	}
	return out;
}

static void say_hello(struct rd_socket **s, struct rd_net *net)
{
	struct rd_poll item = {.want = RD_POLL_OUT};
	Rd__Envelope e = rd_envelope(RD__KIND__HELLO);
	uint8_t uuid[16] = {1};
	struct rd_hello hello;
	struct rd_error err;

	rd_hello(&hello, RD__ROLE__WORKER, uuid);
	hello.message.capacity = 1;
	e.hello = &hello.message;
	assert_ok(rd_socket_connect(net, endpoint, s, &err), &err);
	item.socket = *s;
	for (int i = 0; i < 1000 && !(item.got & RD_POLL_OUT); i++)
		assert_true(rd_net_poll(&item, 1, 10, &err) >= 0);
	assert_int_equal(rd_send(*s, 0, &e, NULL, &err), 1);
}

static void a_flood_of_connections_ends_nobody(void **state)
{
	const struct timespec slice = {0, 1000000};
	int at[FLOOD], ready, status;
	struct rd_socket *s;
	struct rd_net *net;
	struct rd_error err;
	unsigned n = 0;
	unsigned char c, left;

	snprintf(path, sizeof path, "%s", scratch_path("door"));
	snprintf(endpoint, sizeof endpoint, "ipc://%s", path);
	pid_t pid = start(&ready);
	while (n < FLOOD) {
		int fd = knock();
		if (fd >= 0)
			at[n++] = fd;
		else
			nanosleep(&slice, NULL);
	}
	/* All were taken; those beyond the limit were shown out. */
	unsigned out = 0;
	for (int i = 0; i < 5000 && out < FLOOD - RD_DESCRIPTORS_LEAST + RD_ACCEPT_SPARE; i++) {
		out = shut_out(at, n);
		nanosleep(&slice, NULL);
	}
	assert_in_range(out, FLOOD - RD_DESCRIPTORS_LEAST + RD_ACCEPT_SPARE, FLOOD - 1);
	assert_int_equal(write(ready, "?", 1), 1);
	assert_int_equal(read(ready, &left, 1), 1);
	assert_in_range(left, RD_ACCEPT_SPARE, RD_ACCEPT_SPARE + 2);
	while (n > 0)
		close(at[--n]);
	/* Who comes now is served. */
	assert_ok(rd_net_open(&net, &err), &err);
	say_hello(&s, net);
	assert_int_equal(read(ready, &c, 1), 1);
	assert_int_equal(c, '2');
	rd_net_close(net);
	close(ready);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_flood_of_connections_ends_nobody),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
