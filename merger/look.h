/*
 * look - early answers: what the merged shards of a job believe, while it still runs.
 *
 * The merger's own process parses nothing, so a child reads the store at its
 * snapshot and answers with the packed message. It reconciles the shards that
 * are there, as the finish will all of them; where that needs too much memory
 * or time, it adds up what each believes by itself. One child at a time looks; a question about the same job waits for
 * its answer, others wait in line. A lost answer is asked for again by whoever
 * wants it.
 */
#ifndef RD_MERGER_LOOK_H
#define RD_MERGER_LOOK_H

#include "base/forker.h"
#include "merger/work.h"
#include "net/message.h"
#include "net/validate.h"

/* Ids of these children, apart from those of the finishes. */
#define RD_LOOK_CHILD ((uint64_t)1 << 63)

/* Of the memory that a finish may have, a look may have a quarter; and of time so much until it only adds up. */
#define RD_LOOK_MEMORY_PART 4
#define RD_LOOK_NS          10000000000u

struct rd_look_question {
	char job[RD_JOB_ID_MAX + 1];
	struct rd_message order; /* its TOP */
};

struct rd_look {
	RD_VEC(struct rd_look_question) waiting; /* oldest first; the first is looked for when child is not 0 */
	uint64_t child, children;
	struct rd_pipe pipe;
	struct rd_bytes answer; /* the packed envelope */
	bool gone, ended;
	struct rd_error error;
};

void rd_look_init(struct rd_look *l);
void rd_look_release(struct rd_look *l);
/* A TOP of the broker; what is in it may be taken over. When too many wait it is dropped. */
void rd_look_ask(struct rd_look *l, struct rd_message *m);
/* Start the next child, if one waits. */
void rd_look_pump(struct rd_look *l, struct rd_forker *forker);
/* The pipe is readable; a child is gone. */
void rd_look_hear(struct rd_look *l);
void rd_look_gone(struct rd_look *l, const struct rd_forker_exit *e);
/* 1 and *to is the answer, an envelope of its own memory; 0 none yet. */
int rd_look_take(struct rd_look *l, Rd__Envelope **to);

/* ---- the child's side: the message of TOP in, the packed TOP_ROWS out. work is a reader, deadline_ns is of rd_now_ns.
 */
int rd_look_child(struct rd_work *work, const struct rd_message *question, uint64_t deadline_ns,
		  struct rd_bytes *packed, struct rd_error *err);

#endif
