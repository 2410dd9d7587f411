/*
 * inside - what the two halves of the worker's state machine share: worker.c hears, say.c speaks.
 */
#ifndef RD_WORKER_INSIDE_H
#define RD_WORKER_INSIDE_H

#include "worker/worker.h"

/* The task failed, and another attempt may go well. */
void rd_worker_fail(struct rd_worker *w, int code, const char *text);
/* A task whose child, pipe and blocks are all through gets its last word. */
void rd_worker_settle(struct rd_worker *w);
/* A killed child whose end is known is swept after, and the task that waited for it begins. */
void rd_worker_bury(struct rd_worker *w);

#endif
