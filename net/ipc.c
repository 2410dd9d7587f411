#include "net/ipc.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"

const char *rd_ipc_path(const char *endpoint)
{
	static const char scheme[] = "ipc://";
	const char *path = endpoint + sizeof scheme - 1;

	if (strncmp(endpoint, scheme, sizeof scheme - 1) != 0)
		return NULL;
	/* libzmq's own words: an abstract name, a folder of its own. */
	return *path == '@' || *path == '*' ? NULL : path;
}

#define HOLD_TRIES 200
#define SLICE_NS   5000000

/* The folder is locked, for a moment: a file of our own beside the socket would have to stay for ever. */
int rd_ipc_hold(const char *path)
{
	const struct timespec slice = {0, SLICE_NS};
	const char *slash = strrchr(path, '/');
	char folder[4096];

	if (rd_path(folder, sizeof folder, NULL, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".") < 0)
		return -1;
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; fd >= 0 && i < HOLD_TRIES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return fd;
		if (errno != EWOULDBLOCK)
			break;
		nanosleep(&slice, NULL);
	}
	/* Anybody may lock a folder that he can read, for as long as he likes. */
	if (fd >= 0)
		close(fd);
	return -1;
}

/* A socket without its listener refuses. One that is stopped, or has no room in its queue, still has the path. */
static int check_socket(const char *path, struct rd_error *err)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	/* Too long for an address, which the bind will say. */
	if (strlen(path) >= sizeof a.sun_path)
		return 0;
	memcpy(a.sun_path, path, strlen(path));
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return rd_fail_errno(err, "cannot listen");
	int failed = connect(fd, (struct sockaddr *)&a, sizeof a) == 0 ? 0 : errno;
	close(fd);
	if (failed == ECONNREFUSED || failed == ENOENT)
		return 0;
	if (failed == 0 || failed == EAGAIN)
		return rd_fail(err, RD_EXISTS, "cannot listen: somebody listens there already");
	errno = failed;
	return rd_fail_errno(err, "cannot listen: a socket is there");
}

int rd_ipc_check(const char *path, struct rd_error *err)
{
	struct stat st;

	if (lstat(path, &st) != 0)
		return errno == ENOENT ? 0 : rd_fail_errno(err, "cannot listen");
	if (!S_ISSOCK(st.st_mode))
		return rd_fail(err, RD_EXISTS, "cannot listen: something that is no socket is there");
	return check_socket(path, err);
}

void rd_ipc_mark(const char *path, struct rd_ipc_mark *mark)
{
	struct stat st;

	if (lstat(path, &st) == 0)
		*mark = (struct rd_ipc_mark){st.st_dev, st.st_ino};
}

void rd_ipc_remove(const char *path, const struct rd_ipc_mark *mark)
{
	struct stat st;

	if (mark->inode && lstat(path, &st) == 0 && S_ISSOCK(st.st_mode) && st.st_dev == mark->device &&
	    st.st_ino == mark->inode)
		unlink(path);
}
