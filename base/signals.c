#include "base/signals.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

int rd_signals_open(const int *numbers, size_t n, struct rd_error *err)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < n; i++)
		sigaddset(&set, numbers[i]);
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? rd_fail_errno(err, "waiting for signals") : fd;
}

int rd_signals_next(int fd)
{
	struct signalfd_siginfo info;

	return read(fd, &info, sizeof info) == sizeof info ? (int)info.ssi_signo : 0;
}
