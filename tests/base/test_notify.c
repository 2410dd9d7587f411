#include "tests/support.h"

#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/notify.h"

/* A manager's socket at this path, @ for an abstract name; and $NOTIFY_SOCKET says so. */
static int manager(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	memcpy(a.sun_path, path, strlen(path));
	if (*path == '@')
		a.sun_path[0] = 0;
	assert_int_equal(
		0, bind(fd, (struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path))));
	setenv("NOTIFY_SOCKET", path, 1);
	return fd;
}

/* The next word, "" when there is none. */
static const char *heard(int fd)
{
	static char text[100];
	ssize_t n = recv(fd, text, sizeof text - 1, 0);

	text[n > 0 ? n : 0] = 0;
	return text;
}

static void words_arrive(void **state)
{
	char name[64];

	snprintf(name, sizeof name, "@rundown-test-%d", (int)getpid());
	int fd = manager(name);
	rd_notify("READY=1");
	assert_string_equal("READY=1", heard(fd));
	assert_string_equal("", heard(fd));
	close(fd);
	/* It is gone, and nobody minds. */
	rd_notify("READY=1");

	const char *path = scratch_path("notify");
	fd = manager(path);
	rd_notify("STOPPING=1");
	assert_string_equal("STOPPING=1", heard(fd));
	close(fd);
}

static void names_that_are_none(void **state)
{
	char longer[300];

	memset(longer, 'x', sizeof longer - 1);
	longer[0] = '/';
	longer[sizeof longer - 1] = 0;
	for (const char *const *p = (const char *const[]){"", "relative", "@", "/", longer, NULL}; *p; p++) {
		setenv("NOTIFY_SOCKET", *p, 1);
		rd_notify("READY=1");
	}
	unsetenv("NOTIFY_SOCKET");
	rd_notify("READY=1");
}

static void a_watchdog_is_fed_at_half_its_patience(void **state)
{
	struct rd_watchdog w;
	char name[64], pid[32];

	snprintf(name, sizeof name, "@rundown-dog-%d", (int)getpid());
	int fd = manager(name);
	unsetenv("WATCHDOG_PID");
	setenv("WATCHDOG_USEC", "10000000", 1);
	rd_watchdog_init(&w);
	assert_true(w.every_ns == 5000000000u);
	assert_true(rd_watchdog_turn(&w, 7) == 5000000007u);
	assert_string_equal("WATCHDOG=1", heard(fd));
	assert_true(rd_watchdog_turn(&w, 5000000006u) == 5000000007u);
	assert_string_equal("", heard(fd));
	assert_true(rd_watchdog_turn(&w, 5000000007u) == 10000000007u);
	assert_string_equal("WATCHDOG=1", heard(fd));

	snprintf(pid, sizeof pid, "%d", (int)getpid());
	setenv("WATCHDOG_PID", pid, 1);
	rd_watchdog_init(&w);
	assert_true(w.every_ns == 5000000000u);
	/* Another process is meant, or nothing is. */
	setenv("WATCHDOG_PID", "1", 1);
	rd_watchdog_init(&w);
	assert_true(w.every_ns == 0);
	unsetenv("WATCHDOG_PID");
	for (const char *const *p = (const char *const[]){"", "0", "-1", "5x", "18446744073709551615", NULL}; *p; p++) {
		setenv("WATCHDOG_USEC", *p, 1);
		rd_watchdog_init(&w);
		assert_true(rd_watchdog_turn(&w, 1) == UINT64_MAX);
	}
	assert_string_equal("", heard(fd));
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_arrive),
		cmocka_unit_test(names_that_are_none),
		cmocka_unit_test(a_watchdog_is_fed_at_half_its_patience),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
