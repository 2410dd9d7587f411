#include "base/start.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

static int hold_streams(struct rd_error *err)
{
	static const int how[] = {O_WRONLY, O_RDONLY, O_RDWR};

	/* In ascending order: open takes the lowest number that is free. */
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", how[fd]) != fd)
			return rd_error_at(err, rd_fail_errno(err, "cannot be opened"), "/dev/null", RD_NO_OFFSET);
	return 0;
}

uint64_t rd_descriptors_max(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : UINT64_MAX;
}

static int raise_limit(struct rd_error *err)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		/* Where it is refused, what there is may still do. */
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
	uint64_t max = rd_descriptors_max();
	if (max < RD_DESCRIPTORS_LEAST)
		return rd_fail(err, RD_LIMIT, "only %llu files may be open at a time, %d are needed (see ulimit -n)",
			       (unsigned long long)max, RD_DESCRIPTORS_LEAST);
	return 0;
}

int rd_start(struct rd_error *err)
{
	int rc = hold_streams(err);
	return rc < 0 ? rc : raise_limit(err);
}
