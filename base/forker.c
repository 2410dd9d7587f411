#include "base/forker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"

/* Both ends of the control socket are one program: messages are structs. */
enum order_kind { ORDER_SPAWN = 1, ORDER_KILL = 2 };

struct order {
	uint32_t kind;
	uint32_t fds_n;
	uint64_t id;
};

/* ---- the forker's side */

struct kid {
	pid_t pid;
	uint64_t id;
};

struct forker {
	int control;
	int signals;
	sigset_t mask_before;
	RD_VEC(struct kid) kids;
};

/* Die when the parent dies, and see whether it died before this was said. */
static bool bind_to_parent(pid_t parent)
{
	return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent;
}

static void tell(const struct forker *f, const struct rd_forker_exit *e)
{
	/* A failure means that the owner is gone, which the next poll sees. */
	while (send(f->control, e, sizeof *e, MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
}

static void reap(struct forker *f)
{
	struct signalfd_siginfo info;
	struct rusage use;
	int status;
	pid_t pid;

	while (read(f->signals, &info, sizeof info) > 0)
		;
	while ((pid = wait4(-1, &status, WNOHANG, &use)) > 0) {
		for (size_t i = 0; i < f->kids.n; i++) {
			if (f->kids.at[i].pid != pid)
				continue;
			struct rd_forker_exit e = {
				.id = f->kids.at[i].id,
				.status = status,
				.peak_bytes = (uint64_t)use.ru_maxrss * 1024,
				.cpu_ns = ((uint64_t)use.ru_utime.tv_sec + (uint64_t)use.ru_stime.tv_sec) * 1000000000 +
					  ((uint64_t)use.ru_utime.tv_usec + (uint64_t)use.ru_stime.tv_usec) * 1000,
			};
			f->kids.at[i] = f->kids.at[--f->kids.n];
			tell(f, &e);
			break;
		}
	}
}

static void close_all(const int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		close(fds[i]);
}

/* Take the descriptors out of a received message; their number. */
static size_t take_fds(struct msghdr *m, int fds[RD_FORKER_FDS])
{
	size_t n = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		size_t here = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < here && n < RD_FORKER_FDS; i++)
			memcpy(&fds[n++], CMSG_DATA(c) + i * sizeof(int), sizeof(int));
	}
	return n;
}

/* In the new child: leave nothing of the forker but what was ordered. */
static int become_child(struct forker *f, pid_t parent)
{
	close(f->control);
	close(f->signals);
	rd_vec_release(&f->kids);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &f->mask_before, NULL);
	return bind_to_parent(parent) ? RD_FORKER_CHILD : RD_FORKER_ENDED;
}

/* The role of the process that this returns in: the forker goes on with RD_FORKER_OWNER. */
static int spawn(struct forker *f, const struct order *o, struct rd_forker_child *child)
{
	struct rd_forker_exit failed = {.id = o->id, .spawn_errno = ENOMEM};
	pid_t parent = getpid();
	struct kid *kid = rd_vec_add(&f->kids);
	pid_t pid = kid ? fork() : -1;

	if (pid == 0) {
		child->id = o->id;
		return become_child(f, parent);
	}
	if (pid < 0) {
		if (kid) {
			failed.spawn_errno = errno;
			f->kids.n--;
		}
		tell(f, &failed);
	} else {
		*kid = (struct kid){pid, o->id};
	}
	close_all(child->fds, child->fds_n);
	return RD_FORKER_OWNER;
}

/* One order; the role of the process that this returns in, RD_FORKER_ENDED at the end of the control socket. */
static int obey(struct forker *f, struct rd_forker_child *child)
{
	struct order o;
	union {
		char bytes[CMSG_SPACE(sizeof(int) * RD_FORKER_FDS)];
		struct cmsghdr align;
	} room;
	struct iovec io = {&o, sizeof o};
	struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = room.bytes, .msg_controllen = sizeof room};
	ssize_t n = recvmsg(f->control, &m, MSG_CMSG_CLOEXEC);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return RD_FORKER_OWNER;
	if (n != sizeof o)
		return RD_FORKER_ENDED;
	child->fds_n = take_fds(&m, child->fds);
	if (o.kind == ORDER_SPAWN)
		return spawn(f, &o, child);
	for (size_t i = 0; i < f->kids.n; i++)
		if (f->kids.at[i].id == o.id)
			kill(f->kids.at[i].pid, SIGKILL);
	return RD_FORKER_OWNER;
}

static int run(struct forker *f, struct rd_forker_child *child)
{
	int role = RD_FORKER_OWNER;

	while (role == RD_FORKER_OWNER) {
		struct pollfd items[2] = {{.fd = f->control, .events = POLLIN}, {.fd = f->signals, .events = POLLIN}};

		if (poll(items, 2, -1) < 0 && errno != EINTR)
			break;
		if (items[1].revents)
			reap(f);
		if (items[0].revents)
			role = obey(f, child);
	}
	if (role == RD_FORKER_CHILD)
		return role;
	for (size_t i = 0; i < f->kids.n; i++)
		kill(f->kids.at[i].pid, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	rd_vec_release(&f->kids);
	return RD_FORKER_ENDED;
}

/* The first acts of the forker; false when it cannot work. */
static bool become_forker(struct forker *f, const char *name, pid_t owner)
{
	sigset_t chld;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0 || !bind_to_parent(owner))
		return false;
	/* stderr stays: a crashing child's last words are worth having. */
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	if (null > STDERR_FILENO)
		close(null);
	prctl(PR_SET_NAME, name);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&f->mask_before);
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_SETMASK, &chld, NULL);
	f->signals = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
	return f->signals >= 0;
}

/* ---- the owner's side */

int rd_forker_start(struct rd_forker *f, const char *name, struct rd_forker_child *child, struct rd_error *err)
{
	int ends[2];
	pid_t owner = getpid();

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return rd_fail_errno(err, "making a control socket");
	pid_t pid = fork();
	if (pid < 0) {
		int code = rd_fail_errno(err, "forking");
		close_all(ends, 2);
		return code;
	}
	if (pid == 0) {
		struct forker inside = {.control = ends[1], .signals = -1};

		close(ends[0]);
		*child = (struct rd_forker_child){0};
		return become_forker(&inside, name, owner) ? run(&inside, child) : RD_FORKER_ENDED;
	}
	close(ends[1]);
	*f = (struct rd_forker){.fd = ends[0], .pid = pid};
	return RD_FORKER_OWNER;
}

static int give_order(struct rd_forker *f, const struct order *o, const int *fds, struct rd_error *err)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int) * RD_FORKER_FDS)];
		struct cmsghdr align;
	} room;
	struct order copy = *o;
	struct iovec io = {&copy, sizeof copy};
	struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1};
	ssize_t n;

	if (o->fds_n) {
		memset(&room, 0, sizeof room);
		m.msg_control = room.bytes;
		m.msg_controllen = CMSG_SPACE(sizeof(int) * o->fds_n);
		struct cmsghdr *c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * o->fds_n);
		memcpy(CMSG_DATA(c), fds, sizeof(int) * o->fds_n);
	}
	do
		n = sendmsg(f->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n < 0 ? rd_fail_errno(err, "giving an order to the forker") : 0;
}

int rd_forker_spawn(struct rd_forker *f, uint64_t id, const int *fds, size_t n, struct rd_error *err)
{
	if (n > RD_FORKER_FDS)
		return rd_fail(err, RD_INTERNAL, "%zu descriptors for one child", n);
	return give_order(f, &(struct order){ORDER_SPAWN, (uint32_t)n, id}, fds, err);
}

int rd_forker_spawn_task(struct rd_forker *f, uint64_t id, int task_fd, uint32_t body_max_bytes, struct rd_pipe *p,
			 struct rd_error *err)
{
	int ends[2];
	int code = rd_pipe_make(ends, err);

	if (code < 0)
		return code;
	int fds[2] = {[RD_FORKER_TASK_FD] = task_fd, [RD_FORKER_PIPE_FD] = ends[1]};
	code = rd_forker_spawn(f, id, fds, 2, err);
	close(ends[1]);
	if (code == 0)
		rd_pipe_init(p, ends[0], body_max_bytes);
	else
		close(ends[0]);
	return code;
}

int rd_forker_kill(struct rd_forker *f, uint64_t id, struct rd_error *err)
{
	return give_order(f, &(struct order){ORDER_KILL, 0, id}, NULL, err);
}

int rd_forker_next(struct rd_forker *f, struct rd_forker_exit *out, struct rd_error *err)
{
	ssize_t n;

	do
		n = recv(f->fd, out, sizeof *out, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n == sizeof *out)
		return 1;
	if (n < 0 && errno == EAGAIN)
		return 0;
	return n < 0 ? rd_fail_errno(err, "hearing from the forker") : rd_fail(err, RD_IO, "the forker is gone");
}

void rd_forker_stop(struct rd_forker *f)
{
	if (f->fd < 0)
		return;
	close(f->fd);
	f->fd = -1;
	while (waitpid(f->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

const char *rd_exit_text(const struct rd_forker_exit *e, char *buf, unsigned size)
{
	if (e->spawn_errno) {
		snprintf(buf, size, "was not started: %s", strerror(e->spawn_errno));
	} else if (WIFSIGNALED(e->status)) {
		int number = WTERMSIG(e->status);
		const char *name = sigabbrev_np(number);
		const char *what = sigdescr_np(number);
		snprintf(buf, size, "was killed by SIG%s (%s)", name ? name : "?", what ? what : "unknown signal");
	} else {
		snprintf(buf, size, "ended with code %d", WEXITSTATUS(e->status));
	}
	return buf;
}

int rd_memory_file(const struct rd_span *parts, size_t n, struct rd_error *err)
{
	int fd = memfd_create("rundown-task", MFD_CLOEXEC);

	if (fd < 0)
		return rd_fail_errno(err, "making a file in memory");
	for (size_t i = 0; i < n; i++) {
		int code = rd_write_all(fd, parts[i].at, parts[i].size_bytes, err);
		if (code < 0) {
			close(fd);
			return code;
		}
	}
	return fd;
}
