#include "cli/terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

extern char **environ;

const char *const rd_color_words[] = {
	[RD_COLOR_AUTO] = "auto", [RD_COLOR_ALWAYS] = "always", [RD_COLOR_NEVER] = "never", NULL};

unsigned rd_terminal_columns(int fd)
{
	struct winsize size;

	if (!isatty(fd))
		return 0;
	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col)
		return size.ws_col;
	const char *columns = getenv("COLUMNS");
	int n = columns ? atoi(columns) : 0;
	return n > 0 && n < 10000 ? (unsigned)n : 80;
}

bool rd_terminal_has_colors(int fd, int color)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	if (color != RD_COLOR_AUTO)
		return color == RD_COLOR_ALWAYS;
	return isatty(fd) && !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
}

/* Whether the shell would find it. */
static bool is_in_path(const char *program)
{
	const char *path = getenv("PATH");
	char file[4096];

	while (path && *path) {
		size_t n = strcspn(path, ":");
		snprintf(file, sizeof file, "%.*s/%s", (int)n, path, program);
		if (access(file, X_OK) == 0)
			return true;
		path += n + (path[n] == ':');
	}
	return false;
}

/* The command line of the pager; NULL: none is wanted, or there is none. */
static const char *pager_of(const struct rd_people_words *w)
{
	static const char *const names[] = {"RUNDOWN_PAGER", "PAGER"};
	const char *term = getenv("TERM");

	if (w->no_pager || term == NULL || strcmp(term, "dumb") == 0)
		return NULL;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *pager = getenv(names[i]);
		if (pager)
			return *pager == 0 || strcmp(pager, "cat") == 0 ? NULL : pager;
	}
	return is_in_path("less") ? "less" : NULL;
}

/* A shell with the pager, which reads from a pipe: the pipe's other end, or a code. */
static int start_pager(const char *pager, pid_t *pid, struct rd_error *err)
{
	char *const command[] = {"sh", "-c", (char *)(uintptr_t)pager, NULL};
	posix_spawn_file_actions_t actions;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		return rd_fail_errno(err, "cannot make a pipe to the pager");
	/* Short texts stay on the screen, colours are shown: as other tools call it, unless the user says otherwise. */
	setenv("LESS", "FRX", 0);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
	int failed = posix_spawn(pid, "/bin/sh", &actions, NULL, command, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[0]);
	if (failed) {
		close(ends[1]);
		return rd_fail(err, RD_IO, "cannot start the pager: %s", strerror(failed));
	}
	return ends[1];
}

int rd_output_for_people(struct rd_output *o, const struct rd_people_words *w, struct rd_error *err)
{
	const char *pager = o->path == NULL && isatty(o->out.fd) ? pager_of(w) : NULL;

	o->columns = rd_terminal_columns(o->out.fd);
	o->out.has_styles = rd_terminal_has_colors(o->out.fd, w->color);
	if (pager == NULL)
		return 0;
	int to = start_pager(pager, &o->pager, err);
	if (to < 0)
		return to;
	/* The user's keys are the pager's; that it ends before our end is not our failure. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	o->out.fd = to;
	return 0;
}
