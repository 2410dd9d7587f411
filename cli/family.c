#include "cli/family.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/forker.h"
#include "base/memory.h"
#include "base/owned.h"
#include "broker/program.h"
#include "cli/command.h"
#include "cli/run_folder.h"
#include "merger/program.h"
#include "worker/program.h"

static const struct {
	const char *program;
	const char *name; /* for people */
	int (*become)(int argc, char **argv);
} roles[] = {
	[RD_FAMILY_BROKER] = {"rundown-broker", "the broker", rd_broker_program},
	[RD_FAMILY_MERGER] = {"rundown-merger", "the merger", rd_merger_program},
	[RD_FAMILY_WORKER] = {"rundown-worker", "a worker", rd_worker_program},
};

rd_program_fn rd_family_program(const char *name)
{
	for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
		if (strcmp(roles[i].program, name) == 0)
			return roles[i].become;
	return NULL;
}

const char *rd_family_name(enum rd_family_role role)
{
	return roles[role].name;
}

/* How often all workers together are started again. */
static unsigned restarts_for(unsigned workers)
{
	return 10 + 4 * workers;
}

/* ---- before anybody runs */

/* Where a disk is full, too, there is room for the words that say so. */
static int make_members(struct rd_family *f, struct rd_error *err)
{
	f->members = rd_realloc(NULL, f->n * sizeof *f->members);
	if (f->members == NULL)
		return rd_fail_nomem(err);
	for (size_t i = 0; i < f->n; i++)
		f->members[i] = (struct rd_family_member){.role = i < 2 ? (enum rd_family_role)i : RD_FAMILY_WORKER,
							  .words = -1};
	for (size_t i = 0; i < f->n && f->log_level[0] == 0; i++) {
		f->members[i].words = rd_memory_file(NULL, 0, err);
		if (f->members[i].words < 0)
			return f->members[i].words;
		fcntl(f->members[i].words, F_SETFL, O_APPEND);
	}
	return 0;
}

static int make_folder(struct rd_family *f, struct rd_error *err)
{
	char inner[4200];

	int rc = rd_run_folder_make(f->folder, sizeof f->folder, 0, &f->lock, err);
	/* What a trace unpacks to and its partials lie where the user wants temporary files, the socket where it can.
	 */
	if (rc == 0 && strlen(f->folder) > RD_SOCKET_ROOT_MAX + strlen("/rundown-XXXXXX"))
		rc = rd_run_folder_make(f->nook, sizeof f->nook, RD_SOCKET_ROOT_MAX, &f->nook_lock, err);
	if (rc < 0)
		return rc;
	snprintf(inner, sizeof inner, "%s/scratch", f->folder);
	if (mkdir(inner, 0700) != 0)
		return rd_error_at(err, rd_fail_errno(err, "cannot make a folder"), inner, RD_NO_OFFSET);
	return rd_path(f->endpoint, sizeof f->endpoint, err, "ipc://%s/broker", f->nook[0] ? f->nook : f->folder);
}

/*
 * The broker's socket, before there is a broker: connects wait in its queue
 * instead of failing and being tried again later and later.
 */
static int make_listener(struct rd_family *f, unsigned workers, struct rd_error *err)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	snprintf(a.sun_path, sizeof a.sun_path, "%s", f->endpoint + strlen("ipc://"));
	f->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (f->listener < 0 || bind(f->listener, (struct sockaddr *)&a, sizeof a) != 0 ||
	    listen(f->listener, (int)workers + 8) != 0)
		return rd_error_at(err, rd_fail_errno(err, "cannot make a socket"), a.sun_path, RD_NO_OFFSET);
	return 0;
}

int rd_family_init(struct rd_family *f, unsigned workers, const char *log_level, struct rd_error *err)
{
	*f = (struct rd_family){
		.n = workers + 2, .listener = -1, .lock = -1, .nook_lock = -1, .restarts_left = restarts_for(workers)};
	if (log_level)
		snprintf(f->log_level, sizeof f->log_level, "%s", log_level);
	int rc = make_members(f, err);
	if (rc == 0)
		rc = make_folder(f, err);
	return rc < 0 ? rc : make_listener(f, workers, err);
}

/* ---- starting */

#define ARGUMENTS      12
#define LISTEN_FD      3
#define LISTEN_FD_TEXT "3"

/* Everything that the child needs, made before the fork. */
struct start {
	char state[4400], memory[24];
	const char *argv[ARGUMENTS];
	int argc;
	pid_t parent;
};

static void prepare(const struct rd_family *f, const struct rd_family_member *m, struct start *s)
{
	int n = 0;

	*s = (struct start){.parent = getpid()};
	snprintf(s->state, sizeof s->state, "%s/state", f->folder);
	s->argv[n++] = roles[m->role].program;
	s->argv[n++] = m->role == RD_FAMILY_BROKER ? "--listen" : "--broker";
	s->argv[n++] = f->endpoint;
	if (m->role == RD_FAMILY_BROKER) {
		s->argv[n++] = "--listen-fd";
		s->argv[n++] = LISTEN_FD_TEXT;
		s->argv[n++] = "--progress";
		s->argv[n++] = "100ms";
	}
	if (m->role == RD_FAMILY_MERGER) {
		s->argv[n++] = "--state";
		s->argv[n++] = s->state;
		s->argv[n++] = "--volatile";
		if (f->finish_memory_bytes) {
			snprintf(s->memory, sizeof s->memory, "%llu", (unsigned long long)f->finish_memory_bytes);
			s->argv[n++] = "--finish-memory";
			s->argv[n++] = s->memory;
		}
	}
	if (f->log_level[0]) {
		s->argv[n++] = "--log";
		s->argv[n++] = f->log_level;
	}
	s->argc = n;
}

/*
 * In the child. At the start of all nothing of ours runs yet, so it simply
 * becomes the daemon: to load the programs anew would cost more than a small
 * trace. Later there are threads of ours that a fork does not copy: then only
 * calls that are safe in this state, up to the exec.
 */
static void become(const struct rd_family *f, const struct rd_family_member *m, const struct start *s)
{
	char **argv = (char **)(uintptr_t)s->argv;
	sigset_t none;
	int null = open("/dev/null", O_RDWR);

	setpgid(0, f->group);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != s->parent)
		_exit(127);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	if (m->words >= 0)
		dup2(m->words, STDERR_FILENO);
	unsigned kept = STDERR_FILENO;
	if (m->role == RD_FAMILY_BROKER && dup2(f->listener, LISTEN_FD) == LISTEN_FD)
		kept = LISTEN_FD;
	close_range(kept + 1, ~0u, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (f->threads) {
		execv("/proc/self/exe", argv);
		_exit(127);
	}
	signal(SIGPIPE, SIG_DFL);
	prctl(PR_SET_NAME, s->argv[0]);
	rd_lines_as_json(false);
	int code = roles[m->role].become(s->argc, argv);
	fflush(NULL);
	_exit(code);
}

static int start_member(struct rd_family *f, struct rd_family_member *m, struct rd_error *err)
{
	struct start s;

	prepare(f, m, &s);
	pid_t pid = fork();
	if (pid < 0)
		return rd_fail_errno(err, "cannot start %s", roles[m->role].name);
	if (pid == 0)
		become(f, m, &s);
	/* Both sides do it, so that it is done for whoever comes first. */
	setpgid(pid, f->group);
	if (f->group == 0)
		f->group = pid;
	m->pid = pid;
	return 0;
}

int rd_family_start(struct rd_family *f, struct rd_error *err)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (size_t i = 0; i < f->n; i++) {
		int rc = start_member(f, &f->members[i], err);
		if (rc < 0)
			return rc;
	}
	/* Only the broker holds it now: when it dies, nobody waits in a queue. */
	close(f->listener);
	f->listener = -1;
	f->threads = true;
	return 0;
}

/* ---- those who end */

/* The last line that it wrote, without the name that begins it; "" none. */
static void last_words(const struct rd_family_member *m, char *buf, size_t size)
{
	char text[1024];

	buf[0] = 0;
	if (m->words < 0)
		return;
	off_t end = lseek(m->words, 0, SEEK_END);
	off_t from = end > (off_t)sizeof text - 1 ? end - (off_t)(sizeof text - 1) : 0;
	int64_t n = end < 0 ? 0 : rd_pread_some(m->words, text, sizeof text - 1, (uint64_t)from, NULL);
	while (n > 0 && text[n - 1] == '\n')
		n--;
	text[n > 0 ? n : 0] = 0;
	const char *line = strrchr(text, '\n');
	line = line ? line + 1 : text;
	size_t skip = strlen(roles[m->role].program);
	if (strncmp(line, roles[m->role].program, skip) == 0 && strncmp(line + skip, ": ", 2) == 0)
		line += skip + 2;
	snprintf(buf, size, "%.*s", (int)size - 1, line);
}

static int tell_death(const struct rd_family_member *m, struct rd_error *err)
{
	struct rd_forker_exit e = {.status = m->status};
	char how[128], words[200];

	rd_exit_text(&e, how, sizeof how);
	last_words(m, words, sizeof words);
	return rd_fail(err, RD_IO, "%s %s%s%s", roles[m->role].name, how, words[0] ? ": " : "", words);
}

static struct rd_family_member *find(struct rd_family *f, pid_t pid)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->members[i].pid == pid)
			return &f->members[i];
	return NULL;
}

static struct rd_family_member *take_in(struct rd_family *f)
{
	int status;
	pid_t pid;

	/* Orphans of our children, whose end means nothing, come here too. */
	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
		struct rd_family_member *m = find(f, pid);
		if (m == NULL)
			continue;
		if (WIFSTOPPED(status) || WIFCONTINUED(status)) {
			m->stopped_ns = WIFSTOPPED(status) ? rd_now_ns() : 0;
			continue;
		}
		m->pid = 0;
		m->stopped_ns = 0;
		m->status = status;
		return m;
	}
	return NULL;
}

static bool any_worker(const struct rd_family *f)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->members[i].role == RD_FAMILY_WORKER && f->members[i].pid)
			return true;
	return false;
}

int rd_family_reap(struct rd_family *f, struct rd_error *err)
{
	struct rd_family_member *m;

	while ((m = take_in(f)) != NULL) {
		if (m->role != RD_FAMILY_WORKER)
			return tell_death(m, err);
		if (f->restarts_left > 0) {
			f->restarts_left--;
			int rc = start_member(f, m, err);
			if (rc < 0)
				return rc;
		} else if (!any_worker(f)) {
			return rd_error_in(err, tell_death(m, err), "no worker is left");
		}
	}
	return 0;
}

void rd_family_kill(struct rd_family *f)
{
	if (f->group)
		kill(-f->group, SIGKILL);
}

void rd_family_wind_down(struct rd_family *f)
{
	for (size_t i = 0; f->members && i < f->n; i++) {
		const struct rd_family_member *m = &f->members[i];
		if (m->pid == 0)
			continue;
		kill(m->pid, m->role == RD_FAMILY_MERGER ? SIGTERM : SIGKILL);
		/* One that is stopped would not hear of it. */
		kill(m->pid, SIGCONT);
	}
}

bool rd_family_merger_gone(struct rd_family *f)
{
	while (take_in(f) != NULL)
		continue;
	for (size_t i = 0; f->members && i < f->n; i++)
		if (f->members[i].role == RD_FAMILY_MERGER && f->members[i].pid)
			return false;
	return true;
}

/* Take in who has ended; whether nobody is left. */
static bool all_gone(struct rd_family *f)
{
	while (take_in(f) != NULL)
		continue;
	return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD;
}

static int remove_folder(char *folder, int lock, struct rd_error *err)
{
	int rc = rd_owned_remove(folder, err);

	if (lock >= 0)
		close(lock);
	folder[0] = 0;
	return rc;
}

/* A killed process that hangs in a read of a dead file system is not waited for longer. */
#define WAIT_KILLED_MS 5000

int rd_family_release(struct rd_family *f, struct rd_error *err)
{
	const struct timespec slice = {0, 20000000};
	sigset_t chld;
	int rc = 0;

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	for (int ms = 0; f->group && !all_gone(f) && ms < WAIT_KILLED_MS; ms += 20) {
		rd_family_kill(f);
		/* SIGCHLD is blocked, so that none is missed in between. */
		(void)sigtimedwait(&chld, NULL, &slice);
	}
	f->group = 0;
	if (f->listener >= 0 && f->folder[0])
		close(f->listener);
	if (f->folder[0])
		rc = remove_folder(f->folder, f->lock, err);
	if (f->nook[0] && rc == 0)
		rc = remove_folder(f->nook, f->nook_lock, err);
	for (size_t i = 0; f->members && i < f->n; i++)
		if (f->members[i].words >= 0)
			close(f->members[i].words);
	rd_free(f->members);
	f->members = NULL;
	f->n = 0;
	return rc;
}
