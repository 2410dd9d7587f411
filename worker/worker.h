/*
 * worker - one task at a time, between a broker and a parser child: what to do next.
 *
 * A state machine without sockets, processes or clocks of its own: its owner
 * (worker/serve.c, or a test) tells it what happened and lends it three acts.
 * It never waits. After each thing told, rd_worker_pump sends what is due.
 *
 * A task ends for the worker in one of three last words: RESULT, COMMIT or
 * FAILED. The last word is kept, and said again after a while of silence,
 * until the broker settles the task (DONE, ABANDON, or another TASK: with a
 * capacity of one, the newest order is what counts). A connection that breaks
 * voids the task: to the broker, whoever says HELLO holds nothing.
 *
 * Chunks are not kept: a block goes from the child's pipe to the broker once.
 * At most `window` are on their way; while that many are, the pipe is not
 * read and the child waits.
 */
#ifndef RD_WORKER_WORKER_H
#define RD_WORKER_WORKER_H

#include "base/forker.h"
#include "net/message.h"
#include "net/validate.h"
#include "worker/answer.h"

/* The acts that a worker needs. */
struct rd_worker_acts {
	void *ctx;
	/* As rd_send on a connecting socket: 1 sent, 0 not now. */
	int (*send)(void *ctx, const Rd__Envelope *e, struct rd_blob *blob, struct rd_error *err);
	/* Start a parser child for this TASK and OPEN's folder; its frames and its end are told under this id. */
	int (*start)(void *ctx, uint64_t child, const struct rd_message *task, const char *folder,
		     struct rd_error *err);
	/* Kill it, if it still lives: no frame of it comes any more, its end does. */
	void (*kill)(void *ctx, uint64_t child);
	/* Remove the folder of a task that came to nothing; there may be none. */
	void (*clean)(void *ctx, const char *folder);
	uint64_t (*now_ns)(void *ctx);
};

struct rd_worker_limits {
	uint64_t hang_ns;   /* a child that says nothing for so long is killed */
	uint64_t ack_ns;    /* an acknowledgement later than this fails the attempt */
	uint64_t repeat_ns; /* the last word is said again after this */
	uint64_t hello_ns;  /* so is HELLO */
};
#define RD_WORKER_LIMITS ((struct rd_worker_limits){120000000000u, 300000000000u, 10000000000u, 2000000000u})

enum rd_worker_phase {
	RD_WORKER_IDLE,
	RD_WORKER_WORKING, /* a child runs, or its blocks are on their way */
	RD_WORKER_SAID,    /* the last word is due or said, and not settled */
};

/* The last word on a task. */
enum rd_worker_word { RD_WORD_NONE, RD_WORD_RESULT, RD_WORD_COMMIT, RD_WORD_FAILED };

struct rd_worker_task {
	char job[RD_JOB_ID_MAX + 1];
	uint64_t number;
	uint32_t attempt;
	Rd__Work work;
	uint32_t trace, shard, window;
	char path[4096];
	char folder[4096]; /* OPEN: of its plain files; "" else */
};

/* Its fields are the worker's own; tests look. */
struct rd_worker {
	struct rd_worker_acts acts;
	struct rd_worker_limits limits;
	uint8_t uuid[16];
	char scratch[4096]; /* instead of the folder that OPEN tasks name; "" none */

	/* the broker */
	bool welcome; /* it answered since the connection came up */
	uint64_t progress_ns;
	bool hello_due;
	uint64_t hello_at_ns; /* when it was said */
	bool refused;
	struct rd_error refusal;

	/* the task */
	enum rd_worker_phase phase;
	struct rd_worker_task task;
	struct rd_answer answer;
	struct rd_message next; /* waits until the last child is gone; no envelope: none */
	uint64_t sent, acked;   /* chunks */
	bool chunk_due;         /* answer.table, answer.seq and this: */
	struct rd_blob chunk;
	enum rd_worker_word word;
	bool word_due;
	bool word_retry; /* FAILED: another attempt may go well */
	struct rd_error word_error;
	uint64_t word_at_ns;
	bool alive; /* something moved since the last PROGRESS */
	uint64_t progress_at_ns, heard_at_ns, acked_at_ns;

	/* the child; one at a time, also while it dies */
	uint64_t child;    /* its id; 0 none */
	uint64_t children; /* started so far */
	bool child_killed; /* by us: nobody wants its frames */
	bool child_gone, pipe_ended;
	bool sweep_due; /* its files are for nobody: remove them when it is gone */
	struct rd_forker_exit child_exit;

	bool leaving, leave_due;
	bool down; /* the connection broke */

	/* Since the start, for those who watch. */
	struct {
		uint64_t failed;     /* tasks */
		uint64_t cpu_ns;     /* of all parsers */
		uint64_t peak_bytes; /* of the largest */
	} totals;
};

struct rd_out;
void rd_worker_metrics(const struct rd_worker *w, struct rd_out *out);
void rd_worker_page(const struct rd_worker *w, uint64_t now_ns, struct rd_out *out);

/* `scratch` may be "". */
void rd_worker_init(struct rd_worker *w, const struct rd_worker_acts *acts, const struct rd_worker_limits *limits,
		    const uint8_t uuid[16], const char *scratch);
void rd_worker_release(struct rd_worker *w);

/* ---- what happened */
void rd_worker_up(struct rd_worker *w);   /* the connection is there (again) */
void rd_worker_down(struct rd_worker *w); /* it broke */
/* A message of the broker that rd_validate accepted; it may be taken over (then m->envelope is NULL). */
void rd_worker_message(struct rd_worker *w, struct rd_message *m);
void rd_worker_frame(struct rd_worker *w, const struct rd_pipe_frame *f);
/* The pipe ended; `left` bytes of a cut frame came last. err is NULL, or why reading failed. */
void rd_worker_pipe_end(struct rd_worker *w, size_t left, const struct rd_error *err);
void rd_worker_child_gone(struct rd_worker *w, const struct rd_forker_exit *e);
/* Nothing can be parsed any more, or a signal came: hand back the task and leave. */
void rd_worker_leave(struct rd_worker *w);

/* ---- what to do */
/* Send all that is due, fire what is late. 0; 1 the socket is full, wait until it is not; negative: it broke. */
int rd_worker_pump(struct rd_worker *w, struct rd_error *err);
/* Whether frames of the child are wanted now. */
bool rd_worker_wants_frames(const struct rd_worker *w);
/* When to pump again if nothing happens: on the clock of now_ns, UINT64_MAX never. */
uint64_t rd_worker_wake_ns(const struct rd_worker *w);
/* The worker has left, or was refused (w->refused). */
bool rd_worker_over(const struct rd_worker *w);

#endif
