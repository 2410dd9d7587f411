#include "base/signals.h"

#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

void rd_signals_ending(sigset_t *set)
{
	static const int ending[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,  SIGUSR1,
				     SIGUSR2, SIGALRM, SIGXCPU, SIGVTALRM};

	sigemptyset(set);
	for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) {
		struct sigaction now;
		if (sigaction(ending[i], NULL, &now) != 0 || now.sa_handler != SIG_IGN)
			sigaddset(set, ending[i]);
	}
}

int rd_signals_open(const sigset_t *set, struct rd_error *err)
{
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_BLOCK, set, NULL);
	int fd = signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? rd_fail_errno(err, "waiting for signals") : fd;
}

int rd_signals_next(int fd)
{
	struct signalfd_siginfo info;

	return read(fd, &info, sizeof info) == sizeof info ? (int)info.ssi_signo : 0;
}

void rd_signals_die(int number)
{
	const struct rlimit none = {0, 0};
	sigset_t set;

	/* What was worth a look is cleaned up by now. */
	setrlimit(RLIMIT_CORE, &none);
	signal(number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, number);
	/* To the whole process: another thread may have it unblocked while ours is still on its way here. */
	kill(getpid(), number);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	/* Until it comes: all of these end a process that does nothing about them. */
	for (;;)
		pause();
}
