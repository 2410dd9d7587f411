/*
 * signals - signals as a descriptor that a loop can poll, and the end that they ask for.
 *
 * Call rd_signals_open before threads start: they inherit what is blocked.
 */
#ifndef RD_BASE_SIGNALS_H
#define RD_BASE_SIGNALS_H

#include <signal.h>

#include "base/error.h"

/*
 * Those by which a user or a system asks a process to end: SIGHUP, SIGINT, SIGQUIT, SIGTERM, and what would end it
 * without a word: SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGXCPU. One that is ignored is not among them: under nohup a
 * hangup is nothing to us, and a shell's background jobs are not interrupted.
 */
void rd_signals_ending(sigset_t *set);
/*
 * Take these signals from the process and tell them by a descriptor, which is
 * non-blocking and the caller's; or RD_IO. SIGPIPE is ignored from now on.
 */
int rd_signals_open(const sigset_t *set, struct rd_error *err);
/* The next one that has come, or 0. */
int rd_signals_next(int fd);
/* End by this signal, as if it had never been taken: so that a shell that waits for us stops its loop, too. No core. */
void rd_signals_die(int number) __attribute__((noreturn));

#endif
