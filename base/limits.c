#include "base/limits.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIMIT_MEMORY false
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define LIMIT_MEMORY false
#endif
#endif
#ifndef LIMIT_MEMORY
#define LIMIT_MEMORY true
#endif

int rd_limit(int resource, uint64_t value, const char *what, struct rd_error *err)
{
	struct rlimit now;

	if (getrlimit(resource, &now) != 0)
		return rd_fail_errno(err, "reading the limit of %s", what);
	rlim_t v = value < now.rlim_max ? (rlim_t)value : now.rlim_max;
	if (setrlimit(resource, &(struct rlimit){v, v}) != 0)
		return rd_fail_errno(err, "setting the limit of %s", what);
	return 0;
}

bool rd_limits_memory(void)
{
	return LIMIT_MEMORY;
}

uint64_t rd_peak_bytes(void)
{
	struct rusage used;

	return getrusage(RUSAGE_SELF, &used) == 0 ? (uint64_t)used.ru_maxrss * 1024 : 0;
}

void rd_limit_first_to_go(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)rd_write_all(fd, "1000", 4, NULL);
	close(fd);
}
