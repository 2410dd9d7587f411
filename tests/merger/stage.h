/*
 * stage - a merger whose store is a few arrays, whose acts are written down,
 * and whose clock is a number; with the words of its broker and of the child
 * that finishes a job.
 */
#ifndef RD_TESTS_MERGER_STAGE_H
#define RD_TESTS_MERGER_STAGE_H

#include "merger/finish.h"
#include "merger/merger.h"
#include "net/validate.h"
#include "tests/blocks.h"
#include "tests/support.h"

struct sent {
	Rd__Kind kind;
	char job[RD_JOB_ID_MAX + 1];
	uint64_t task, bytes, total, count, samples, lost_events;
	uint32_t attempt;
	bool duplicate, retry, complete;
	struct rd_error error;
};

struct merged {
	struct rd_shard_id id;
	struct rd_ledger_row row;
};

struct job_row {
	char job[RD_JOB_ID_MAX + 1];
	struct rd_job_record record;
};

struct fixture {
	struct rd_merger m;
	RD_VEC(struct sent) sent;
	size_t seen;
	bool full; /* the socket takes nothing */
	uint64_t now_ns;
	RD_VEC(struct merged) ledger;
	RD_VEC(struct job_row) jobs;
	unsigned commits; /* that changed something */
	int store_errno;  /* the store fails so */
	int spool_errno;
	uint64_t started, killed;
	enum rd_finish_step step;
	struct rd_job_record step_record;
	test_block_vec blocks; /* the same for all tests */
	struct rd_error err;
};

#define SECOND 1000000000ull
extern const struct rd_merger_limits limits;

/* The blocks of one partial, the same for all tests. */
void make_partial(void);
void release_partial(void);

int setup(void **state);
int teardown(void **state);
#define MERGER_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

void pump(struct fixture *f);
/* The next message sent, which must be of this kind. */
struct sent *expect(struct fixture *f, Rd__Kind kind);
void expect_nothing(struct fixture *f);
struct job_row *find_job(struct fixture *f, const char *job);

/* ---- the broker's words */

int try_tell(struct fixture *f, const Rd__Envelope *e, struct rd_span blob);
void tell(struct fixture *f, const Rd__Envelope *e, struct rd_span blob);
/* A message about task n of job-1, which decodes shard n - 1 of trace 0. */
Rd__Envelope about(Rd__Kind kind, uint64_t task, uint32_t attempt);
void chunk(struct fixture *f, uint64_t task, uint32_t attempt, size_t i);
int try_commit(struct fixture *f, uint64_t task, uint32_t attempt, uint64_t count);
void commit(struct fixture *f, uint64_t task, uint32_t attempt, uint64_t count);
/* All chunks, each acknowledged. */
void chunks(struct fixture *f, uint64_t task, uint32_t attempt);
/* All of it, and it is merged. */
void merge(struct fixture *f, uint64_t task);
void connect_merger(struct fixture *f);
/* FINISH of a job with one trace of `shards`, of which the last `given_up` are quarantined. */
void finish(struct fixture *f, uint32_t shards, uint32_t given_up);

/* ---- the child's words */

void frame(struct fixture *f, uint8_t type, const void *body, size_t n);
void child_ends(struct fixture *f, int status);
void child_fails(struct fixture *f, int code, const char *text);
void child_is_ready(struct fixture *f);
void child_is_done(struct fixture *f);

#endif
