/*
 * merger - partials in, each exactly once, and results out: what to do next.
 *
 * A state machine without sockets, database, processes or clock of its own:
 * its owner (merger/serve.c, a test, a simulation) tells it what happened and
 * lends it acts. It never waits. After each thing told, rd_merger_pump sends
 * what is due.
 *
 * Chunks of an attempt are spooled and acknowledged; its COMMIT puts ledger
 * row and blocks into the store in one transaction, and MERGED goes out after
 * that, never before. Of several attempts at a shard the first COMMIT wins;
 * the others are duplicates and change nothing.
 *
 * FINISH is three steps, each in a child process: FINISH computes the result
 * and writes it beside its place; DELIVER renames it there; SWEEP takes away
 * what a failure left. Before DELIVER the store learns the result's inode, so
 * that a merger which died in between sees whether the rename was done.
 *
 * A full disk is waited out: the message in hand is kept, and nothing more is
 * heard until it could be dealt with. A store that is thrown away anyway has
 * no one to make room: there the job fails.
 */
#ifndef RD_MERGER_MERGER_H
#define RD_MERGER_MERGER_H

#include "base/forker.h"
#include "base/pipe.h"
#include "merger/rows.h"
#include "merger/spool.h"
#include "net/message.h"

enum rd_finish_step { RD_STEP_QUEUED = 0, RD_STEP_FINISH = 1, RD_STEP_DELIVER = 2, RD_STEP_SWEEP = 3, RD_STEP_LOOK = 4 /* look.h */ };

/* The acts that a merger needs; those on store and spool as in merger/work.h and merger/spool.h. */
struct rd_merger_acts {
	void *ctx;
	/* As rd_send on a connecting socket: 1 sent, 0 not now. */
	int (*send)(void *ctx, const Rd__Envelope *e, struct rd_error *err);
	rd_spool_file_fn spool_file;
	const char *folder; /* of store and spools, for errors */
	int (*ledger)(void *ctx, const struct rd_shard_id *id, struct rd_ledger_row *row, struct rd_error *err);
	int (*ledger_task)(void *ctx, const char *job, uint64_t task, struct rd_error *err);
	int (*commit)(void *ctx, const struct rd_shard_id *id, const struct rd_ledger_row *row,
		      const struct rd_spool *spool, struct rd_error *err);
	int (*job)(void *ctx, const char *job, struct rd_job_record *out, struct rd_error *err);
	int (*job_put)(void *ctx, const char *job, struct rd_job_record *record, struct rd_error *err);
	/* Start a child for a step of this FINISH message; its frames and end are told under this id. */
	int (*start)(void *ctx, uint64_t child, enum rd_finish_step step, const struct rd_message *order,
		     const struct rd_job_record *record, struct rd_error *err);
	/* Kill it, if it still lives: no frame of it comes any more, its end does. */
	void (*kill)(void *ctx, uint64_t child);
	uint64_t (*now_ns)(void *ctx);
};

struct rd_merger_limits {
	uint64_t patience_ns; /* a child that says nothing for so long is killed */
	uint64_t idle_ns;     /* chunks of an attempt that nobody follows up are forgotten */
	uint64_t retry_ns;    /* a full disk is asked again */
	uint64_t hello_ns;    /* HELLO is said again */
	uint64_t progress_ns; /* between two FINISH_PROGRESS */
	bool thrown_away;     /* the store: a full disk fails the job */
};
#define RD_MERGER_LIMITS                                                                                               \
	((struct rd_merger_limits){3600000000000u, 1800000000000u, 1000000000u, 2000000000u, 200000000u, false})

enum rd_incoming_state {
	RD_INCOMING_OPEN,
	RD_INCOMING_DUPLICATE, /* its shard is merged: chunks are counted, not kept */
	RD_INCOMING_REFUSED,   /* it failed, and that was said: chunks still under way are ignored */
};

/* An attempt whose chunks come in. */
struct rd_incoming {
	char job[RD_JOB_ID_MAX + 1];
	uint64_t task;
	uint32_t attempt;
	struct rd_shard_id id;
	enum rd_incoming_state state;
	struct rd_spool spool; /* OPEN */
	uint64_t received;     /* chunks */
	bool ack_due;
	uint64_t busy_ns, heard_ns;
};

/* A word to be said once the socket takes it. */
struct rd_reply {
	Rd__Kind kind; /* MERGED, FAILED, FINISHED */
	char job[RD_JOB_ID_MAX + 1];
	uint64_t task;
	uint32_t attempt;
	bool duplicate, retry;
	struct rd_error error;
	struct rd_job_record record; /* FINISHED */
};

/* A job to be finished. */
struct rd_finishing {
	char job[RD_JOB_ID_MAX + 1];
	struct rd_message order;
	enum rd_finish_step step;
	struct rd_job_record record;
	bool resumed;    /* DELIVER for a merger that died */
	bool made_again; /* the result was gone before it was delivered */
	bool dropped;    /* nobody wants it any more */
	struct rd_error failure;
	uint64_t child; /* 0 none */
	bool killed, gone, pipe_ended;
	struct rd_forker_exit exit;
	bool ready, over; /* the child said READY; its last frame */
	struct rd_error error;
	uint64_t done, total;
	bool progress_due;
	uint64_t progress_at_ns, heard_ns;
	uint64_t wait_until_ns; /* a full disk kept back the row that is due; 0 not */
};

/* Its fields are the merger's own; tests look. */
struct rd_merger {
	struct rd_merger_acts acts;
	struct rd_merger_limits limits;
	uint8_t uuid[16];
	bool welcome, hello_due, refused;
	uint64_t hello_at_ns;
	struct rd_error refusal;

	RD_VEC(struct rd_incoming) incoming;
	RD_VEC(struct rd_reply *) replies;       /* oldest first */
	RD_VEC(struct rd_finishing *) finishing; /* oldest first; the first one is at work */
	uint64_t children;
	uint64_t spool_budget; /* bytes of memory that chunks may still take */
	uint64_t carry_ns;     /* time of commits that no ledger row tells yet */

	struct rd_message held; /* cannot be dealt with while the disk is full */
	uint64_t retry_at_ns;
	bool leaving;

	/* Since the start, for those who watch. */
	struct {
		uint64_t merged, duplicates, refused; /* attempts */
		uint64_t merged_bytes, commit_ns;     /* of those that were merged */
		uint64_t finished, finishes_failed;   /* jobs */
	} totals;
};

struct rd_out;
void rd_merger_metrics(const struct rd_merger *m, struct rd_out *out);
void rd_merger_page(const struct rd_merger *m, struct rd_out *out);

void rd_merger_init(struct rd_merger *m, const struct rd_merger_acts *acts, const struct rd_merger_limits *limits,
		    const uint8_t uuid[16]);
void rd_merger_release(struct rd_merger *m);

/* ---- what happened; a negative code means that the process must end: a restart sees what the disk holds */
void rd_merger_up(struct rd_merger *m); /* the connection is there (again) */
/* A message of the broker that rd_validate accepted; it may be taken over. */
int rd_merger_message(struct rd_merger *m, struct rd_message *msg, struct rd_error *err);
void rd_merger_frame(struct rd_merger *m, const struct rd_pipe_frame *f);
void rd_merger_pipe_end(struct rd_merger *m);
void rd_merger_child_gone(struct rd_merger *m, const struct rd_forker_exit *e);
/* Stop: children are killed and swept after, then it is over. */
void rd_merger_leave(struct rd_merger *m);

/* ---- what to do */
/* Send all that is due, go on with what waited. 0; 1 the socket is full; negative as above. */
int rd_merger_pump(struct rd_merger *m, struct rd_error *err);
/* Whether messages are wanted now. */
bool rd_merger_listens(const struct rd_merger *m);
uint64_t rd_merger_wake_ns(const struct rd_merger *m);
bool rd_merger_over(const struct rd_merger *m);

#endif
