#include "cli/scratch.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/signals.h"
#include "cli/run_folder.h"

static char folder[4096];
static int lock = -1; /* of the folder */
static sigset_t before;
static pthread_t watcher;

static void ending_signals(sigset_t *set)
{
	rd_signals_ending(set);
	/* Ours, to end the watcher. */
	sigaddset(set, SIGRTMIN);
}

static void remove_folder(void)
{
	rd_owned_remove(folder, NULL);
	close(lock);
	lock = -1;
	folder[0] = 0;
}

static void *watch(void *ctx)
{
	sigset_t set;
	int signal_number;

	(void)ctx;
	ending_signals(&set);
	if (sigwait(&set, &signal_number) != 0 || signal_number == SIGRTMIN)
		return NULL;
	rd_owned_remove(folder, NULL);
	rd_signals_die(signal_number);
}

const char *rd_scratch_open(struct rd_error *err)
{
	sigset_t set;

	/* Blocked first, so that no signal falls between the folder and its watcher. */
	ending_signals(&set);
	pthread_sigmask(SIG_BLOCK, &set, &before);
	if (rd_run_folder_make(folder, sizeof folder, 0, &lock, err) < 0) {
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		return NULL;
	}
	int rc = pthread_create(&watcher, NULL, watch, NULL);
	if (rc != 0) {
		remove_folder();
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		errno = rc;
		rd_fail_errno(err, "cannot start a thread");
		return NULL;
	}
	return folder;
}

void rd_scratch_close(void)
{
	if (folder[0] == 0)
		return;
	pthread_kill(watcher, SIGRTMIN);
	pthread_join(watcher, NULL);
	remove_folder();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}
