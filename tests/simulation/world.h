/*
 * world - a broker, a merger and workers, the real machines of all of them, in one process: with a virtual clock,
 * network and disks, and with chance from one seed.
 *
 * What happens is a list of events by time. A connection keeps the order of what it carries, as tcp does; when it
 * breaks, what is under way is lost, and the peer comes back as a new one. What a disk has outlives its process.
 * Parsers and finishes are not simulated: they decode a recorded trace and reconcile it, only that their
 * words come at times of the world's choice.
 */
#ifndef RD_TESTS_SIMULATION_WORLD_H
#define RD_TESTS_SIMULATION_WORLD_H

#include "merger/merger.h"
#include "profile/index_codec.h"
#include "tests/broker/stage.h"
#include "tests/random.h"
#include "worker/worker.h"

#define MILLI   UINT64_C(1000000)
#define WORKERS 3

/* The trace, once for all seeds. */
struct recording {
	struct rd_source source;
	struct rd_index index;
};

/* ---- the network */

enum { MERGER_NODE, FIRST_WORKER, NODES = FIRST_WORKER + WORKERS };

/* A peer's way to the broker. */
struct link {
	rd_peer peer;      /* 0: there is none */
	uint64_t to_ns[2]; /* when the latest message arrives, at the broker and at the peer: nothing overtakes it */
	uint64_t held_ns;  /* nothing arrives before: the way is cut, and nobody was told */
};

/* ---- children of daemons: what they will say, as their pipe has it */

struct child {
	uint64_t id; /* 0 none */
	struct rd_bytes words;
	size_t at;
	bool crashes, hangs; /* in the middle of its words */
	uint64_t pause_ns;   /* between two of them */
};

/* ---- nodes */

struct worker_node {
	struct rd_worker machine;
	struct child child;
};

struct stored_block {
	struct rd_shard_id id;
	uint32_t table, seq;
	struct rd_bytes bytes;
};
struct stored_shard {
	struct rd_shard_id id;
	struct rd_ledger_row row;
};
struct stored_job {
	char job[RD_JOB_ID_MAX + 1];
	struct rd_job_record record;
};

struct merger_node {
	struct rd_merger machine;
	struct child child;
	enum rd_finish_step step;
	RD_VEC(struct rd_message) inbox; /* in its socket, while it does not listen */
	/* Its disk: */
	RD_VEC(struct stored_block) blocks;
	RD_VEC(struct stored_shard) ledger;
	RD_VEC(struct stored_job) jobs;
	int full;              /* commits that find no room from now on */
	char made[33];         /* the digest of the result that lies ready; "" none */
	char delivered[33];    /* of the one that was renamed into its place */
	uint64_t made_samples; /* in it */
	unsigned commits;
};

struct node {
	bool alive;
	uint64_t life; /* events of an earlier one come to nothing */
	uint8_t uuid[16];
	struct link link;
	uint64_t wake_ns; /* the earliest that is under way */
};

struct event {
	uint64_t at_ns, order;
	void (*happen)(struct event *e);
	int node;
	uint64_t life, child;
	rd_peer peer;
	struct rd_message message;
};

struct world {
	struct stage broker; /* the real machine, and its journal */
	uint64_t now_ns;
	uint64_t broker_offset_ns; /* its clock is another machine's */
	struct node nodes[NODES];
	struct worker_node workers[WORKERS];
	struct merger_node merger;
	RD_VEC(struct event) events;
	uint64_t orders;
	rd_peer peers;
	const struct recording *recording;
	uint32_t shards;                /* the job is asked for */
	bool storm;                     /* faults happen */
	uint64_t crash_percent, poison; /* of parsers; a shard whose parser always crashes, UINT64_MAX none */
	/* What was seen: */
	unsigned kills, breaks, holds, crashes, hangs, broker_restarts, events_n;
	bool over;
	bool handed[16][256]; /* out, by (task, attempt) */
	char state[32];       /* of the job */
	char error[512];      /* why it failed */
	uint32_t quarantined;
};

extern struct world world; /* one at a time */

bool chance(unsigned percent);
/* An event this much later; the caller fills in the rest. Borrowed until the next one. */
struct event *later(uint64_t ns, void (*happen)(struct event *e), int node);
/* Until the job is over; fails when virtual time runs out. */
void run_world(void);
void open_world(const struct recording *r, uint64_t seed);
void close_world(void);

/* The network: a peer's words to the broker, and the peer's connection. */
int post_to_broker(int node, const Rd__Envelope *e, struct rd_blob *blob);
void connect_node(int node, uint64_t after_ns);
void break_link(int node);
/* What the broker said, on its way. */
void post_letters(void);

/* Nodes: begin a life, end it, hear, go on. */
void start_node(int node);
void kill_node(int node);
void hear(int node, struct rd_message *m);
void pump_node(int node);
void wake_at(int node, uint64_t ns);

/* Answers of parsers are kept for other seeds. */
void forget_answers(void);
void start_worker(int node);
void stop_worker(int node);
void pump_worker(int node);
void start_merger(int node);
void stop_merger(int node);
void clear_inbox(void);
void pump_merger(int node);

/* A child begins to speak; its frames go to `frame`, its end to `gone`. */
void child_begins(struct child *c, uint64_t id, struct rd_bytes *words);
void child_release(struct child *c);
/* The next frame of what it has to say; false: there is none. */
bool child_next(struct child *c, struct rd_pipe_frame *f);

#endif
