#include "worker/sandbox.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/limits.h"

/* A trace, a pipe, a folder's entries, and what libraries open for a moment. */
#define DESCRIPTORS 64

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

int rd_sandbox_enter(enum rd_sandbox_level level, const struct rd_sandbox *s, struct rd_error *err)
{
	int code;

	if (level == RD_SANDBOX_NONE)
		return 0;
	rd_limit_first_to_go();
	if ((code = close_others(s, err)) < 0)
		return code;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return rd_fail_errno(err, "giving up new privileges");
	if ((code = rd_limit(RLIMIT_CORE, 0, "core files", err)) < 0 ||
	    (code = rd_limit(RLIMIT_NOFILE, DESCRIPTORS, "descriptors", err)) < 0)
		return code;
	if (s->file_bytes != UINT64_MAX && (code = rd_limit(RLIMIT_FSIZE, s->file_bytes, "files", err)) < 0)
		return code;
	if (s->cpu_s && (code = rd_limit(RLIMIT_CPU, s->cpu_s, "processor time", err)) < 0)
		return code;
	if (rd_limits_memory() && s->memory_bytes)
		code = rd_limit(s->maps_files ? RLIMIT_DATA : RLIMIT_AS, s->memory_bytes, "memory", err);
	if (code == 0 && level >= RD_SANDBOX_FENCED)
		code = rd_confine(s->folder ? (const char *const[]){s->folder, NULL} : NULL, err);
	return code < 0 ? code : 0;
}
