/*
 * plan - what a recording on Windows shall be, out of the words of its command line. Nothing here needs Windows.
 */
#ifndef RD_DEPLOY_WINDOWS_PLAN_H
#define RD_DEPLOY_WINDOWS_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/memory.h"
#include "capture/state.h"

struct plan {
	const char *file;
	uint32_t seconds;     /* of recording; 0: until Ctrl-C */
	uint32_t every_s;     /* between keyframes; 0 none */
	uint32_t rundown_s;   /* for the end rundown to be written */
	uint32_t interval_us; /* between samples */
	uint32_t buffer_kb, buffers;
	bool help;
};

/* A provider that the session enables; of the two of the runtime the rundown only at the start and the end. */
struct plan_provider {
	const char *name, *guid;
	uint8_t level;
	uint64_t keywords;
};

enum { PLAN_RUNTIME, PLAN_RUNDOWN_START, PLAN_RUNDOWN_END, PLAN_PROVIDERS };
extern const struct plan_provider plan_providers[PLAN_PROVIDERS];
extern const char plan_help[];

/* RD_USAGE and a line that says why. */
int plan_read(struct plan *p, int argc, char **argv, struct rd_error *err);
/*
 * The bytes for the periodic capture state, which Windows allows every least_s seconds or less often; none when no
 * keyframes are wanted. *every_s: what it came to.
 */
int plan_capture(const struct plan *p, uint32_t least_s, struct rd_bytes *out, uint32_t *every_s, struct rd_error *err);

#endif
