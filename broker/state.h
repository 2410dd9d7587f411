/*
 * state - what the broker knows: peers, jobs, traces, tasks, attempts. Inside broker/ only.
 *
 * An attempt is one handing-out of a task to one worker; its number is never
 * used again, so that a late message of a lost attempt is told from the
 * present one's. All attempts that may still come to something stand in one
 * short list: no more than the workers' credits, and those that wait for the
 * merger.
 *
 * What is nobody's fault (the merger went away, a worker left politely) uses
 * up an attempt's number but not a chance.
 */
#ifndef RD_BROKER_STATE_H
#define RD_BROKER_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"
#include "base/table.h"
#include "broker/broker.h"
#include "broker/plan.h"
#include "net/message.h"
#include "net/validate.h"

struct rd_member {
	rd_peer id;
	Rd__Role role;
	uint8_t uuid[16];
	char name[300];           /* host and pid, for people */
	uint32_t capacity;        /* workers: attempts at a time */
	uint32_t load;            /* of these in use; one that has committed uses none */
	bool passed_over;         /* nothing that waits is for this one; rd_dispatch's own */
	bool gone;                /* the next sweep takes it out */
	bool watches_all;         /* clients: hears of every job, */
	struct rd_job *watches;   /* or of this one */
	struct rd_job *wants_top; /* clients: waits for the job's hottest methods */
};

enum rd_task_state { RD_TASK_WAITING, RD_TASK_RUNNING, RD_TASK_DONE, RD_TASK_QUARANTINED };

struct rd_task {
	enum rd_task_state state;
	Rd__Work work;
	uint32_t input;         /* OPEN: number in the job */
	struct rd_trace *trace; /* INDEX, DECODE */
	uint32_t shard;         /* DECODE */
	uint32_t attempts;      /* handed out so far */
	uint32_t failures;      /* told, or a lease that ended */
	uint32_t vanished;      /* workers that went away with it */
	uint32_t live;          /* attempts in the list */
	uint64_t bytes;         /* to decode */
	rd_peer failed_on;      /* the worker that failed it last; any other is tried first */
	bool asked;             /* the merger is to say first whether it has it */
	bool dirty;             /* changed since the last commit */
};

/* A plain trace: the input itself, or what was unpacked from it. */
struct rd_trace {
	uint32_t number; /* in the job, once all inputs are open */
	uint32_t group;  /* the number of the first trace that it is one with; its own when it is one by itself */
	uint32_t input;
	uint32_t place;             /* in the input */
	ProtobufCBinaryData path;   /* of the plain file; borrowed from the job */
	ProtobufCBinaryData member; /* its name inside the archive; empty for the input itself */
	ProtobufCBinaryData damage; /* of the archive, to be told of it; may be empty */
	bool indexed;
	struct rd_index index;
	struct rd_plan plan;
	uint32_t first_task; /* place of that of its first shard, once it is cut */
};

struct rd_input {
	RD_VEC(struct rd_trace *) traces;
};

enum rd_job_state {
	RD_JOB_QUEUED, /* nothing of it was handed out yet */
	RD_JOB_RUNNING,
	RD_JOB_FINISHING, /* all shards are settled; the merger reconciles */
	RD_JOB_DONE,
	RD_JOB_FAILED,
	RD_JOB_CANCELLED,
};

struct rd_job {
	uint64_t serial; /* number in the journal */
	char id[RD_JOB_ID_MAX + 1];
	enum rd_job_state state;
	Rd__Envelope *submitted;  /* owned; its texts are borrowed by the traces */
	const Rd__Submit *submit; /* inside */
	struct rd_arena arena;    /* texts of members */
	RD_VEC(struct rd_input) inputs;
	RD_VEC(struct rd_trace *) traces; /* in order; empty until all inputs are open */
	RD_VEC(struct rd_task) tasks;     /* a task's number is its place + 1 */
	RD_VEC(uint32_t) waiting;         /* places of tasks that were handed out before, the next one last */
	uint32_t fresh;               /* turn of the first task that nobody ever got; all behind it are such, too */
	RD_VEC(uint32_t) dirty_tasks; /* places; room for all */
	uint32_t unopened;            /* OPEN and INDEX tasks that are not done */
	uint32_t unsettled;           /* DECODE tasks that are neither done nor quarantined */
	uint32_t shards, shards_done, quarantined;
	uint32_t attempts;                /* of all tasks */
	uint64_t bytes_total, bytes_done; /* done: of shards that are settled */
	uint64_t decode_from_ns;          /* when the first shard was handed out, since this broker began; 0 not yet */
	uint64_t decode_from_bytes;       /* bytes_done then */
	uint64_t decoded_bytes, decoded_ns; /* of attempts that committed, and how long they took together */
	uint64_t begun_ns;                  /* since when it is worked on in this broker's life; 0 not */
	uint64_t spent_ns;                  /* before that */
	uint32_t running;                   /* attempts that use a worker */
	uint64_t served;                    /* b->served when it was given a worker last */
	bool passed_over;                   /* it has nothing for this worker; rd_dispatch's own */
	bool planned;
	bool sweep_due;       /* ended: its scratch folder may be there still */
	bool dirty;           /* its state changed since the last commit */
	uint8_t identity[16]; /* of its traces and wishes, once they are known; else zeros */
	uint64_t finish_done, finish_total;
	uint32_t finish_failures;
	struct rd_error error;  /* FAILED: why; while running: the last failure of an attempt */
	Rd__Envelope *finished; /* DONE: the merger's FINISHED, owned */
	uint64_t told_ns;       /* when the watchers were told last */
	bool changed;           /* since then */
	bool changed_state;     /* of job or shards: they are told at once */
};

struct rd_attempt {
	struct rd_job *job;
	uint32_t task; /* place */
	uint32_t number;
	rd_peer worker;  /* 0: it went away after it had committed */
	uint64_t bytes;  /* done so far */
	uint64_t chunks; /* passed on to the merger */
	uint64_t begun_ns;
	uint64_t lease_until_ns;
	bool committed; /* now it is the merger's turn, and no lease runs */
	uint64_t committed_ns;
};

struct rd_letter {
	rd_peer to;
	struct rd_bytes envelope;
	struct rd_blob blob;
};

/* A peer that was refused, whether it has a place or not. */
struct rd_refused {
	rd_peer id;
	struct rd_log_limit limit;
};
#define RD_REFUSED_KEPT 64

#define RD_JOURNAL_VERSION 1

enum rd_journal_record {
	RD_RECORD_META = 'm',
	RD_RECORD_SUBMIT = 'a',
	RD_RECORD_STATE = 'b',
	RD_RECORD_OPENED = 'c',
	RD_RECORD_INDEX = 'd',
	RD_RECORD_PLAN = 'e',
	RD_RECORD_TASK = 'f',
};

struct rd_record_key {
	uint8_t at[8 + 1 + 4 + 4];
};

struct rd_pending {
	struct rd_record_key key, last;
	bool erase;
	struct rd_bytes value;
};

/* A task's record, as it is recalled. */
struct rd_task_record {
	uint32_t number, input, place, shard;
	uint32_t attempts, failures, vanished;
	uint8_t work, state;
};

/* Bytes a second, of the last ten whole seconds. */
#define RD_RATE_SECONDS 10
struct rd_rate {
	uint64_t second; /* the newest with a place */
	uint64_t bytes[RD_RATE_SECONDS + 1];
};

/* What happened since this broker began, for those who watch. */
struct rd_totals {
	uint64_t jobs_submitted, jobs_done, jobs_failed, jobs_cancelled;
	uint64_t attempts, retries, second_attempts;
	uint64_t lost_failed, lost_lease, lost_vanished, lost_blameless;
	uint64_t merged, quarantined;
	uint64_t late;    /* words about an attempt that lived no more */
	uint64_t refused; /* messages, whoever sent them */
	uint64_t decoded_bytes;
	struct rd_rate rate; /* of those */
};

struct rd_broker {
	struct rd_broker_options opt;
	struct rd_totals totals;
	uint64_t now_ns;
	RD_VEC(struct rd_member *) members;     /* by id */
	RD_VEC(struct rd_job *) jobs;           /* oldest first */
	RD_VEC(struct rd_attempt) attempts;     /* that live */
	RD_VEC(struct rd_letter) letters;       /* to be sent by flush, oldest first */
	RD_VEC(struct rd_pending) pending;      /* to be on disk before the next letter goes */
	RD_VEC(struct rd_task_record) recalled; /* of the job that is recalled */
	struct rd_member *merger;               /* NULL none */
	uint64_t jobs_so_far;
	uint64_t served;                            /* hand-outs so far */
	uint64_t probe_ns[3];                       /* when to ping everybody (again); 0 not */
	struct rd_refused refused[RD_REFUSED_KEPT]; /* the newest of those with id mod that number */
	struct rd_log_limit refusals;               /* of all peers together: a new connection is a new peer */
	bool sweep;                                 /* some member is gone */
	bool failed;                                /* out of memory: end */
};

#define RD_SECOND_NS          UINT64_C(1000000000)
#define RD_JOBS_KEPT          4096 /* that have ended */
/* A worker that vanishes costs a part of a chance. */
#define RD_VANISHED_A_FAILURE 5
#define RD_MEMBERS_MAX        10000

/* ---- members.c: who is there */

struct rd_member *rd_member_find(const struct rd_broker *b, rd_peer id);
void rd_member_hello(struct rd_broker *b, rd_peer id, const Rd__Hello *hello);
void rd_member_leave(struct rd_broker *b, struct rd_member *m);
/* Its attempts go back, and the next sweep takes it out. */
void rd_member_gone(struct rd_broker *b, struct rd_member *m);
void rd_refuse(struct rd_broker *b, rd_peer id, const struct rd_error *why);
void rd_members_sweep(struct rd_broker *b);
/* Of what was handed out and is not settled: whether the merger has it; until it answers nobody is given it again. */
void rd_ask_for_merged(struct rd_broker *b, struct rd_job *j);
uint32_t rd_members_workers(const struct rd_broker *b);

/* ---- jobs.c: the life of a job */

struct rd_job *rd_job_find(const struct rd_broker *b, const ProtobufCBinaryData *id);
/* Takes the message's envelope. */
struct rd_job *rd_job_submit(struct rd_broker *b, struct rd_message *m);
bool rd_job_ended(const struct rd_job *j);
/*
 * The place of the task whose turn it is, the first time it is handed out. Shards are taken from both ends of their
 * trace: rundowns stand there, and early answers have the names from the first shards on.
 */
uint32_t rd_job_in_turn(const struct rd_job *j, uint32_t turn);
/* A new task at the end of the queue; NULL when out of memory. */
struct rd_task *rd_job_add_task(struct rd_broker *b, struct rd_job *j, Rd__Work work);
/* An OPEN task for each input; RD_NOMEM. */
int rd_job_add_inputs(struct rd_broker *b, struct rd_job *j);
struct rd_trace *rd_job_add_trace(struct rd_broker *b, struct rd_job *j, uint32_t input);
/* A copy that lives as long as the job's work. */
ProtobufCBinaryData rd_job_keep_text(struct rd_broker *b, struct rd_job *j, const ProtobufCBinaryData *text);
/* A task for each shard of the trace's plan. */
void rd_job_add_shards(struct rd_broker *b, struct rd_job *j, struct rd_trace *trace);
/* What a worker found behind an input or a plain trace. */
void rd_job_opened(struct rd_broker *b, struct rd_job *j, struct rd_task *t, const Rd__Opened *opened);
void rd_job_indexed(struct rd_broker *b, struct rd_job *j, struct rd_task *t, struct rd_index *taken);
/*
 * An input, or a trace of it, cannot be opened: the job fails, or goes on without it when nobody named it
 * (leave_out.c). The task's attempts are over. Tasks move or end.
 */
void rd_job_input_failed(struct rd_broker *b, struct rd_job *j, struct rd_task *t, const struct rd_error *why);
/* Not all traces were left out; else why the last one was. */
int rd_job_check_left(const struct rd_job *j, struct rd_error *err);
/* The second half begins: number the traces, plan each, add the shards' tasks; or end the job. */
void rd_job_cut_shards(struct rd_broker *b, struct rd_job *j);
/* Put it back to be handed out next. */
void rd_job_requeue(struct rd_job *j, struct rd_task *t);
/* What was given up has all its chances again; how many that were. */
uint32_t rd_job_revive(struct rd_broker *b, struct rd_job *j);
/* The merger lacks what it acknowledged, so its disk is another one: nothing of the job's shards is settled any more. */
void rd_job_doubt(struct rd_broker *b, struct rd_job *j);
/* The same job once more, from the start. NULL when out of memory. */
struct rd_job *rd_job_again(struct rd_broker *b, const struct rd_job *j, const ProtobufCBinaryData *token);
/* It need not be handed out after all. */
void rd_job_unqueue(struct rd_job *j, const struct rd_task *t);
/* It needs no more attempts. Until rd_job_advance the job goes no further. */
void rd_job_settle(struct rd_broker *b, struct rd_job *j, struct rd_task *t, enum rd_task_state state);
/* Cut shards once all inputs are open, finish once all shards are settled. Tasks move or end. */
void rd_job_advance(struct rd_broker *b, struct rd_job *j);
/* These two end the job: its tasks, traces and attempts are void. */
void rd_job_fail(struct rd_broker *b, struct rd_job *j, const struct rd_error *why);
void rd_job_end(struct rd_broker *b, struct rd_job *j, enum rd_job_state state);
/* An ended job keeps what status tells of it, not the plan. */
void rd_job_release_work(struct rd_job *j);
void rd_job_free(struct rd_job *j);
/* Let a worker remove the scratch folders of ended jobs. */
void rd_jobs_sweep(struct rd_broker *b);
/* How long it was worked on. */
uint64_t rd_job_spent_ns(const struct rd_broker *b, const struct rd_job *j);
/* Time passed: jobs that have used up theirs fail. */
void rd_jobs_expire(struct rd_broker *b);
uint64_t rd_jobs_next_ns(const struct rd_broker *b);
/* The oldest ended job goes when too many are kept. */
void rd_jobs_forget(struct rd_broker *b);
/* The text for an input, "NAME" or "NAME:MEMBER", into buf. */
const char *rd_job_display_path(const struct rd_job *j, uint32_t input, const struct rd_trace *t, char *buf,
				size_t size);

/* ---- groups.c */

/*
 * Once all inputs are indexed: fill j->traces, each with its number and group. RD_UNSUPPORTED: traces that are to be
 * one have different clocks.
 */
int rd_job_number_traces(struct rd_job *j, struct rd_error *err);

/* ---- same.c */

/* Whether a job of the very same traces and wishes is done; then j is, too. */
bool rd_job_is_done_already(struct rd_broker *b, struct rd_job *j);
/* Whether two requests want the same of the same paths. */
bool rd_job_wishes_same(const Rd__Submit *a, const Rd__Submit *b);

/* ---- dispatch.c: who gets what */

void rd_dispatch(struct rd_broker *b);
/* When a shard may begin to lag; UINT64_MAX: nobody is free to try it. */
uint64_t rd_dispatch_next_ns(const struct rd_broker *b);

/* ---- attempts.c: what becomes of what was handed out */

/* As rd_work_text; of a shard with its trace. */
struct rd_work_text rd_task_text(const struct rd_task *t);

struct rd_attempt *rd_attempt_find(struct rd_broker *b, const Rd__Envelope *e);
static inline struct rd_task *rd_attempt_task(const struct rd_attempt *a)
{
	return &a->job->tasks.at[a->task];
}
/* All is with the merger: the worker is free for its next task. */
void rd_attempt_commit(struct rd_broker *b, struct rd_attempt *a);
/* Out of the list; the worker's credit is free. Attempts behind it move. */
void rd_attempt_end(struct rd_broker *b, struct rd_attempt *a);
enum rd_blame { RD_BLAMELESS, RD_BLAMED, RD_OVERDUE /* blamed, for its lease */, RD_VANISHED };
/*
 * It came to nothing: the merger forgets its chunks, and the task goes back
 * or, after too many blamed failures, is given up.
 */
void rd_attempt_lost(struct rd_broker *b, struct rd_attempt *a, enum rd_blame blame, const struct rd_error *why);
void rd_attempts_abandon(struct rd_broker *b, const struct rd_job *j, const struct rd_task *t);
/* The merger is another one, or gone: what it did not acknowledge is to be done again. */
void rd_attempts_merger_lost(struct rd_broker *b);
void rd_attempts_expire(struct rd_broker *b);

/* ---- keep.c: what changed, as records; nothing without a journal */

void rd_keep_job(struct rd_broker *b, const struct rd_job *j); /* a new one */
void rd_keep_opened(struct rd_broker *b, const struct rd_job *j, uint32_t input, const Rd__Opened *opened);
void rd_keep_index(struct rd_broker *b, const struct rd_job *j, const struct rd_trace *t);
void rd_keep_plan(struct rd_broker *b, const struct rd_job *j, const struct rd_trace *t);
/* Of an ended job nothing is needed but how it ended; of a forgotten one, nothing. */
void rd_keep_less(struct rd_broker *b, const struct rd_job *j, bool nothing);
static inline void rd_touch_job(struct rd_job *j)
{
	j->changed = j->changed_state = j->dirty = true;
}
void rd_touch_task(struct rd_broker *b, struct rd_job *j, struct rd_task *t);
/* Commit what is pending and touched. 0, or the journal's failure: all is still pending. */
int rd_keep_commit(struct rd_broker *b, struct rd_error *err);
void rd_record_key(struct rd_record_key *key, uint64_t serial, enum rd_journal_record kind, uint32_t a, uint32_t c);

/* ---- recall.c, recall_job.c: what the journal knew */

/* RD_CORRUPT about this job's record. */
int rd_recall_off(struct rd_error *err, const struct rd_job *j, const char *what);
/* NULL when the job has no such trace. */
struct rd_trace *rd_recall_trace(const struct rd_job *j, uint32_t input, uint32_t place);
/* All records of the last job are told. */
int rd_recall_put_together(struct rd_broker *b, struct rd_error *err);

/* ---- finish.c */

/* Whether the message to the merger will be short enough, as far as the traces' names go. RD_LIMIT. */
int rd_finish_fits(const struct rd_job *j, struct rd_error *err);

/* The job fails when the message would be too long. */
void rd_finish_ask(struct rd_broker *b, struct rd_job *j);
/* Of a job whose shards are cut: what it will be, from what is merged. */
void rd_finish_ask_top(struct rd_broker *b, struct rd_job *j, uint64_t count);

/* ---- status.c: what clients are told */

/* Borrows from the job; `error` is where s->error points, if it points anywhere. */
void rd_status_fill(const struct rd_broker *b, const struct rd_job *j, Rd__Status *s, Rd__Error *error);
void rd_status_tell(struct rd_broker *b, const struct rd_job *j, rd_peer to);
/* "queued" … */
extern const char *const rd_job_state_names[];
/* Tell the watchers, now or when it is time again. */
void rd_status_push(struct rd_broker *b);
uint64_t rd_status_next_ns(const struct rd_broker *b);

/* ---- top.c: early answers, from the merger to those who asked */

void rd_top_ask(struct rd_broker *b, struct rd_member *from, const Rd__Envelope *e);
void rd_top_answer(struct rd_broker *b, const Rd__Envelope *e);
/* Nobody will answer those who wait; of a job, or NULL: of all. */
void rd_top_give_up(struct rd_broker *b, const struct rd_job *j);

/* ---- metrics.c */

/* Bytes that an attempt has done more than was known. */
void rd_count_decoded(struct rd_broker *b, uint64_t bytes);
uint64_t rd_rate_per_second(const struct rd_rate *r, uint64_t now_ns);

/* ---- hear_*.c: what peers say, already validated; each may take what it needs out of *m */

void rd_hear_worker(struct rd_broker *b, struct rd_member *from, struct rd_message *m);
void rd_hear_merger(struct rd_broker *b, struct rd_message *m);
void rd_hear_client(struct rd_broker *b, struct rd_member *from, struct rd_message *m);

/* ---- broker.c */

/*
 * Queue a message; blob may be NULL and is taken on success. RD_LIMIT when it is too long, which only a message with
 * lists can be; out of memory is remembered in `failed` too.
 */
int rd_say(struct rd_broker *b, rd_peer to, const Rd__Envelope *e, struct rd_blob *blob, struct rd_error *err);
/* The same with job, task and attempt filled in. */
void rd_say_attempt(struct rd_broker *b, rd_peer to, Rd__Kind kind, const struct rd_attempt *a);

#endif
