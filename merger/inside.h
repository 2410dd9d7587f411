/*
 * inside - what the parts of the merger's state machine share: merger.c takes partials in, finishing.c gives results
 * out, say.c speaks.
 */
#ifndef RD_MERGER_INSIDE_H
#define RD_MERGER_INSIDE_H

#include "merger/merger.h"

static inline uint64_t rd_merger_now(const struct rd_merger *m)
{
	return m->acts.now_ns(m->acts.ctx);
}

/* A new word at the end of the queue; NULL when out of memory (err says so). */
struct rd_reply *rd_merger_reply(struct rd_merger *m, Rd__Kind kind, const char *job, struct rd_error *err);

bool rd_merger_disk_full(int code, const struct rd_error *err);
/* merger.c: forget chunks of attempts; with a job's name only those. */
void rd_merger_forget_incoming(struct rd_merger *m, const char *job);

/* ---- finishing.c */
int rd_merger_finish(struct rd_merger *m, struct rd_message *msg, const char *job, struct rd_error *err);
void rd_merger_drop_finishing(struct rd_merger *m, const char *job);
/* Whatever can go on: start the next child, take a finished one's result. 0 or negative. */
int rd_merger_advance(struct rd_merger *m, struct rd_error *err);
void rd_merger_finishing_free(struct rd_finishing *f);

#endif
