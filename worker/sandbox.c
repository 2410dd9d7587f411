#include "worker/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"

/* A trace, a pipe, a folder's entries, and what libraries open for a moment. */
#define DESCRIPTORS 64

/* The sanitizers reserve terabytes of address space. */
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

static int limit(int resource, uint64_t value, const char *what, struct rd_error *err)
{
	struct rlimit now;

	if (getrlimit(resource, &now) != 0)
		return rd_fail_errno(err, "reading the limit of %s", what);
	/* Never above what the child came with. */
	rlim_t v = value < now.rlim_max ? (rlim_t)value : now.rlim_max;
	if (setrlimit(resource, &(struct rlimit){v, v}) != 0)
		return rd_fail_errno(err, "setting the limit of %s", what);
	return 0;
}

static int close_others(const struct rd_sandbox *s, struct rd_error *err)
{
	unsigned from = STDERR_FILENO + 1;

	for (size_t i = 0; i <= s->keep_n; i++) {
		unsigned to = i < s->keep_n ? (unsigned)s->keep[i] : ~0u;
		/* [from, to) when a kept one follows, [from, end] else. */
		unsigned last = i < s->keep_n ? to - 1 : to;
		if (to > from && close_range(from, last, 0) != 0)
			return rd_fail_errno(err, "closing descriptors");
		from = to + 1;
	}
	return 0;
}

/* Better this child than the daemon or a neighbour; a host that does not let us is no reason to stop. */
static void be_first_to_go(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)rd_write_all(fd, "1000", 4, NULL);
	close(fd);
}

bool rd_sandbox_limits_memory(void)
{
	return LIMIT_MEMORY;
}

int rd_sandbox_enter(enum rd_sandbox_level level, const struct rd_sandbox *s, struct rd_error *err)
{
	int code;

	if (level == RD_SANDBOX_NONE)
		return 0;
	be_first_to_go();
	if ((code = close_others(s, err)) < 0)
		return code;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return rd_fail_errno(err, "giving up new privileges");
	if ((code = limit(RLIMIT_CORE, 0, "core files", err)) < 0 ||
	    (code = limit(RLIMIT_NOFILE, DESCRIPTORS, "descriptors", err)) < 0)
		return code;
	if (s->file_bytes != UINT64_MAX && (code = limit(RLIMIT_FSIZE, s->file_bytes, "files", err)) < 0)
		return code;
	if (s->cpu_s && (code = limit(RLIMIT_CPU, s->cpu_s, "processor time", err)) < 0)
		return code;
	if (LIMIT_MEMORY && s->memory_bytes)
		return limit(s->maps_files ? RLIMIT_DATA : RLIMIT_AS, s->memory_bytes, "memory", err);
	return 0;
}
