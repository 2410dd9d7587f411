/*
 * stage - a worker whose acts are written down and whose clock is a number;
 * with the words of its broker and of its parsers.
 */
#ifndef RD_TESTS_WORKER_STAGE_H
#define RD_TESTS_WORKER_STAGE_H

#include "tests/blocks.h"
#include "tests/support.h"
#include "worker/worker.h"

struct sent {
	Rd__Kind kind;
	char job[RD_JOB_ID_MAX + 1];
	uint64_t task, bytes, count;
	uint32_t attempt;
	struct rd_error error;
	bool retry;
	uint32_t table, seq, trace, shard;
	uint64_t blob_bytes;
	size_t opened;
	char damage[256]; /* of the first that was opened */
	bool valid;
};

struct fixture {
	struct rd_worker w;
	RD_VEC(struct sent) sent;
	size_t seen; /* of the sent ones */
	bool full;   /* the socket takes nothing */
	uint64_t now_ns;
	uint64_t started, killed; /* ids */
	char folder[4096];
	char cleaned[4096];
	bool refuse_start;
	test_block_vec blocks; /* the same for all tests */
};

#define SECOND 1000000000ull
extern const struct rd_worker_limits limits;

/* The blocks of one partial, the same for all tests. */
void make_partial(void);
void release_partial(void);

int setup(void **state);
int teardown(void **state);
#define WORKER_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

void pump(struct fixture *f);
/* The next message sent, which must be of this kind. */
struct sent *expect(struct fixture *f, Rd__Kind kind);
void expect_nothing(struct fixture *f);

/* ---- the broker's words; each goes through the wire's form, so that the worker owns what it keeps */

void tell(struct fixture *f, const Rd__Envelope *e);
void welcome(struct fixture *f);
void connect_worker(struct fixture *f);
void task(struct fixture *f, Rd__Work work, uint64_t number, uint32_t attempt);
void about(struct fixture *f, Rd__Kind kind, uint64_t number, uint32_t attempt, uint64_t count);

/* ---- the child's words */

void frame(struct fixture *f, uint8_t type, const void *body, size_t n);
void block(struct fixture *f, size_t i);
void child_ends(struct fixture *f, int status);

#endif
