/*
 * progress - word that work goes on, given by work done and not by time.
 *
 * Whoever waits for long work takes silence for a hang. So every loop whose
 * length a trace decides counts its steps here, each about as dear as a
 * sample, and work that may be left out ends when it has taken too many.
 */
#ifndef RD_PROFILE_PROGRESS_H
#define RD_PROFILE_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define RD_PROGRESS_STEPS 65536

struct rd_progress {
	/* Told every so many steps; a negative return ends the work. NULL: nobody listens. */
	int (*tell)(void *ctx, uint64_t done, uint64_t total);
	void *ctx;
	uint64_t done, total; /* samples: how far it is, for people */
	uint64_t steps;       /* since it was told */
	uint64_t all, most;   /* steps before these; more than so many end the work (RD_LIMIT), 0: as many as it takes */
};

/* Say it now. p may be NULL. */
static inline int rd_progress_tell(struct rd_progress *p, struct rd_error *err)
{
	if (p == NULL)
		return 0;
	p->all += p->steps;
	p->steps = 0;
	if (p->most && p->all > p->most)
		return rd_fail(err, RD_LIMIT, "it takes more than %llu steps", (unsigned long long)p->most);
	if (p->tell == NULL)
		return 0;
	int rc = p->tell(p->ctx, p->done, p->total);
	return rc < 0 ? rd_fail(err, rc, "the finish was stopped") : 0;
}

/* So many steps are done. p may be NULL. */
static inline int rd_progress_step(struct rd_progress *p, uint64_t steps, struct rd_error *err)
{
	if (p == NULL || (p->steps += steps) < RD_PROGRESS_STEPS)
		return 0;
	return rd_progress_tell(p, err);
}

#endif
