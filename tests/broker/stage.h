/*
 * stage - the broker's machine with scripted peers, letters and time.
 *
 * Every letter that leaves is held against rd_validate, as its receiver does.
 */
#ifndef RD_TESTS_BROKER_STAGE_H
#define RD_TESTS_BROKER_STAGE_H

#include "broker/broker.h"
#include "tests/support.h"
#include "trace/trace.h"

#define SECOND UINT64_C(1000000000)
#define MIB    (UINT64_C(1) << 20)

struct letter {
	rd_peer to;
	struct rd_message m;
};

/* A record of the journal in memory. */
struct kept {
	struct rd_bytes key, value;
};

enum stage_crash {
	STAGE_NO_CRASH,
	STAGE_BEFORE_COMMIT, /* the turn is lost, and nobody heard of it */
	STAGE_AFTER_COMMIT,  /* it is on disk, and nobody heard of it */
};

struct stage {
	struct rd_broker *broker;
	struct rd_broker_options opt;
	bool keeps;               /* a journal */
	RD_VEC(struct kept) kept; /* by key */
	uint64_t commits;         /* so far */
	uint64_t crash_at;        /* at this commit; 0 never */
	enum stage_crash crash;   /* how */
	bool crashed;             /* nothing is heard until stage_restart */
	int disk_full;            /* commits that find no room from now on */
	uint64_t now_ns;
	RD_VEC(struct letter) letters; /* not yet looked at */
	rd_peer unreachable[8];        /* sends to these fail, */
	bool (*gone)(rd_peer to);      /* and to those of whom this says so; NULL none */
	char job[80];                  /* the last one submitted */
	Rd__Envelope *last;            /* what expect returned, owned here */
	struct rd_blob last_blob;
	uint8_t uuids;
};

enum { CLIENT = 1, MERGER = 2, W1 = 11, W2 = 12, W3 = 13 };

/* opt may be NULL. */
void stage_open(struct stage *s, const struct rd_broker_options *opt);
/* With a journal in memory, which outlives the broker. */
void stage_open_kept(struct stage *s, const struct rd_broker_options *opt);
/* The broker dies, its letters with it, and another one begins with the journal. Peers are to say HELLO. */
void stage_restart(struct stage *s);
void stage_close(struct stage *s);
void stage_pass(struct stage *s, uint64_t ns); /* time, then tick and flush */

void say(struct stage *s, rd_peer from, const Rd__Envelope *e, struct rd_blob *blob);
/* HELLO alone, with this as the first byte of the uuid. */
void say_hello(struct stage *s, rd_peer from, Rd__Role role, uint32_t capacity, uint8_t uuid);
void hello(struct stage *s, rd_peer from, Rd__Role role, uint32_t capacity);
/* The oldest letter to this peer; false when there is none. The caller releases it. */
bool next_letter(struct stage *s, rd_peer to, struct rd_message *m);
/* A job of these inputs (n texts); s->job is its id. The letters to the client are taken. */
void submit(struct stage *s, const Rd__Submit *base, size_t n, const char *const *paths);
Rd__Submit plain_submit(void);

/* An envelope for the job with a task and attempt. */
Rd__Envelope about(struct stage *s, Rd__Kind kind, uint64_t task, uint32_t attempt);
/* The next letter to this peer, which must be of this kind; pings and, unless wanted, status are passed over. */
const Rd__Envelope *expect(struct stage *s, rd_peer to, Rd__Kind kind);
void expect_nothing(struct stage *s, rd_peer to);
/* The newest status that the client was told, "" when none since. */
const Rd__Status *newest_status(struct stage *s, rd_peer to);

/* An index of n blocks of size_bytes each. */
void make_index(struct rd_index *ix, uint32_t n, uint64_t size_bytes);
void say_index(struct stage *s, rd_peer from, const Rd__Envelope *task, uint32_t blocks, uint64_t size_bytes);
void say_this_index(struct stage *s, rd_peer from, const Rd__Envelope *task, const struct rd_index *ix);
void say_failed(struct stage *s, rd_peer from, const Rd__Envelope *task, int code, const char *text, const char *file,
		bool retry);
/* A chunk each, then COMMIT; the merger's letters are taken. */
void say_partial(struct stage *s, rd_peer from, const Rd__Envelope *task, uint32_t chunks);
void say_merged(struct stage *s, const Rd__Envelope *task, bool duplicate);
/* The merger is asked about a task with these numbers, and does not have it. */
void say_not_merged(struct stage *s, rd_peer merger, uint64_t task, uint32_t attempt);
/* A task to this worker, as a copy that the stage keeps until it closes. */
const Rd__Envelope *take_task(struct stage *s, rd_peer worker, Rd__Work work);

/* A field as a C string, in one of eight buffers that take turns. */
const char *text(const ProtobufCBinaryData *f);
/* Everybody is there, one trace of `blocks` blocks is submitted, and its index is said. */
void start(struct stage *s, uint32_t workers, uint32_t shards, uint32_t blocks);
/* What the client hears who asks for the job. */
const Rd__Status *status_of_job(struct stage *s);
void say_finished(struct stage *s);
/* This worker's next shard is decoded and merged. */
void settle(struct stage *s, rd_peer worker);

#endif
