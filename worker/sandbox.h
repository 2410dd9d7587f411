/*
 * sandbox - what a parser child may still do once it reads a stranger's bytes.
 *
 * The one door: a child opens its input, then enters, then parses. What a
 * level takes away cannot be had back.
 */
#ifndef RD_WORKER_SANDBOX_H
#define RD_WORKER_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum rd_sandbox_level {
	RD_SANDBOX_NONE = 0,
	/*
	 * No new privileges, no core file, limits of memory, time, files and
	 * descriptors; all descriptors but the kept ones and stderr closed;
	 * first in line when the host runs out of memory.
	 */
	RD_SANDBOX_LIMITS = 1,
	/* Besides, the fences of base/confine.h, as far as the kernel has them. */
	RD_SANDBOX_FENCED = 2,
};

struct rd_sandbox {
	uint64_t memory_bytes; /* of address space; 0 no limit */
	bool maps_files;       /* large ones, shared with their file: these are no memory and do not count */
	uint64_t cpu_s;        /* 0 no limit */
	uint64_t file_bytes;   /* of any file it writes; UINT64_MAX no limit */
	const int *keep;       /* descriptors that stay open, ascending */
	size_t keep_n;
	const char *folder; /* files may be opened and made below it; NULL: none */
};

/* Enter. 0, or RD_IO: then the child must not parse. */
int rd_sandbox_enter(enum rd_sandbox_level level, const struct rd_sandbox *s, struct rd_error *err);

#endif
