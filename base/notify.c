#include "base/notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void rd_notify(const char *words)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	const char *path = getenv("NOTIFY_SOCKET");

	if (path == NULL || (path[0] != '/' && path[0] != '@') || strlen(path) >= sizeof to.sun_path)
		return;
	size_t n = strlen(path);
	memcpy(to.sun_path, path, n);
	/* An abstract name: its first byte is 0, and no byte behind it counts. */
	if (path[0] == '@')
		to.sun_path[0] = 0;
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	(void)sendto(fd, words, strlen(words), MSG_NOSIGNAL, (struct sockaddr *)&to,
		     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
	close(fd);
}

/* Of a variable; 0 when there is none or it is no number. */
static uint64_t number(const char *name)
{
	const char *text = getenv(name);
	char *end;

	if (text == NULL || *text < '0' || *text > '9')
		return 0;
	unsigned long long v = strtoull(text, &end, 10);
	return *end ? 0 : v;
}

void rd_watchdog_init(struct rd_watchdog *w)
{
	uint64_t usec = number("WATCHDOG_USEC"), pid = number("WATCHDOG_PID");

	*w = (struct rd_watchdog){0};
	/* Meant for the process that was started, not for what it starts. */
	if (usec > 0 && usec < UINT64_MAX / 1000 && (pid == 0 || pid == (uint64_t)getpid()))
		w->every_ns = usec * 1000 / 2;
}

uint64_t rd_watchdog_turn(struct rd_watchdog *w, uint64_t now_ns)
{
	if (w->every_ns == 0)
		return UINT64_MAX;
	if (now_ns >= w->due_ns) {
		rd_notify("WATCHDOG=1");
		w->due_ns = now_ns + w->every_ns;
	}
	return w->due_ns;
}
