/* Partials: merged once, refused, held back, forgotten. */
#include "tests/merger/stage.h"

#include <errno.h>

#include "base/log.h"

static void a_partial_is_merged_once(void **state)
{
	struct fixture *f = *state;
	uint64_t budget = f->m.spool_budget;

	connect_merger(f);
	chunks(f, 1, 1);
	assert_true(f->m.spool_budget < budget);
	assert_int_equal(f->commits, 0);
	commit(f, 1, 1, f->blocks.n);
	assert_int_equal(f->commits, 1);
	struct sent *s = expect(f, RD__KIND__MERGED);
	assert_int_equal(s->task, 1);
	assert_int_equal(s->attempt, 1);
	assert_false(s->duplicate);
	assert_string_equal(f->ledger.at[0].id.job, "job-1");
	assert_int_equal(f->ledger.at[0].row.task, 1);
	/* Its COMMIT again: the chunks are gone, the ledger knows. */
	commit(f, 1, 1, f->blocks.n);
	assert_true(expect(f, RD__KIND__MERGED)->duplicate);
	/* All of it again, as another attempt. */
	chunks(f, 1, 2);
	commit(f, 1, 2, f->blocks.n);
	assert_true(expect(f, RD__KIND__MERGED)->duplicate);
	assert_int_equal(f->commits, 1);
	assert_int_equal(f->ledger.n, 1);
	assert_int_equal(f->m.incoming.n, 0);
	assert_int_equal(f->m.spool_budget, budget);
}

static void the_first_of_two_attempts_wins(void **state)
{
	struct fixture *f = *state;

	connect_merger(f);
	chunk(f, 1, 1, 0);
	chunk(f, 1, 2, 0);
	expect(f, RD__KIND__CHUNK_ACK);
	expect(f, RD__KIND__CHUNK_ACK);
	for (size_t i = 1; i < f->blocks.n; i++) {
		chunk(f, 1, 2, i);
		expect(f, RD__KIND__CHUNK_ACK);
	}
	commit(f, 1, 2, f->blocks.n);
	assert_false(expect(f, RD__KIND__MERGED)->duplicate);
	/* The late one's chunks are not kept any more, and its COMMIT changes nothing. */
	assert_int_equal(f->m.incoming.n, 1);
	assert_int_equal(f->m.incoming.at[0].spool.kept.n, 0);
	for (size_t i = 1; i < f->blocks.n; i++) {
		chunk(f, 1, 1, i);
		assert_int_equal(expect(f, RD__KIND__CHUNK_ACK)->count, i + 1);
	}
	commit(f, 1, 1, f->blocks.n);
	assert_true(expect(f, RD__KIND__MERGED)->duplicate);
	assert_int_equal(f->commits, 1);
	assert_int_equal(f->ledger.at[0].row.attempt, 2);
}

static void a_missing_chunk_is_seen(void **state)
{
	struct fixture *f = *state;

	connect_merger(f);
	chunk(f, 1, 1, 0);
	chunk(f, 1, 1, 1);
	assert_int_equal(expect(f, RD__KIND__CHUNK_ACK)->count, 2);
	commit(f, 1, 1, 3);
	struct sent *s = expect(f, RD__KIND__FAILED);
	assert_int_equal(s->error.code, RD_PROTOCOL);
	assert_string_equal(s->error.text, "2 of 3 chunks came");
	assert_true(s->retry);
	assert_int_equal(s->task, 1);
	/* In the middle: the number does not follow. */
	chunk(f, 2, 1, 0);
	expect(f, RD__KIND__CHUNK_ACK);
	chunk(f, 2, 1, 2);
	assert_int_equal(expect(f, RD__KIND__FAILED)->error.code, RD_PROTOCOL);
	/* At the beginning: a merger that died had it. */
	chunk(f, 3, 1, 1);
	s = expect(f, RD__KIND__FAILED);
	assert_string_equal(s->error.text, "the first chunks of this partial did not come here");
	/* What is still under way of it is not answered again. */
	chunk(f, 3, 1, 2);
	expect_nothing(f);
	commit(f, 3, 1, 4);
	expect_nothing(f);
	commit(f, 4, 1, 4);
	assert_string_equal(expect(f, RD__KIND__FAILED)->error.text, "the chunks of this partial are not here");
	assert_int_equal(f->commits, 0);
}

static void a_corrupt_chunk_is_refused(void **state)
{
	struct fixture *f = *state;
	uint8_t *bytes = (uint8_t *)(uintptr_t)f->blocks.at[1].bytes.at;

	connect_merger(f);
	chunk(f, 1, 1, 0);
	expect(f, RD__KIND__CHUNK_ACK);
	bytes[5000] ^= 1;
	chunk(f, 1, 1, 1);
	struct sent *s = expect(f, RD__KIND__FAILED);
	assert_int_equal(s->error.code, RD_CORRUPT);
	assert_true(s->retry);
	bytes[5000] ^= 1;
	/* The next attempt has its own beginning. */
	chunks(f, 1, 2);
	commit(f, 1, 2, f->blocks.n);
	assert_false(expect(f, RD__KIND__MERGED)->duplicate);
}

static void chunks_of_two_shards(void **state)
{
	struct fixture *f = *state;
	Rd__Envelope e = about(RD__KIND__CHUNK, 1, 1);
	Rd__Chunk c = RD__CHUNK__INIT;

	connect_merger(f);
	chunk(f, 1, 1, 0);
	expect(f, RD__KIND__CHUNK_ACK);
	c.shard = 5;
	c.table = f->blocks.at[1].table;
	e.chunk = &c;
	tell(f, &e, f->blocks.at[1].bytes);
	assert_string_equal(expect(f, RD__KIND__FAILED)->error.text, "chunks of two shards in one attempt");
}

static void an_abandoned_attempt_is_forgotten(void **state)
{
	struct fixture *f = *state;
	Rd__Envelope e = about(RD__KIND__ABANDON, 1, 1);

	connect_merger(f);
	chunk(f, 1, 1, 0);
	chunk(f, 2, 1, 0);
	expect(f, RD__KIND__CHUNK_ACK);
	expect(f, RD__KIND__CHUNK_ACK);
	tell(f, &e, (struct rd_span){0});
	assert_int_equal(f->m.incoming.n, 1);
	/* One that nobody follows up, in time. */
	assert_int_equal(rd_merger_wake_ns(&f->m), f->now_ns + limits.idle_ns);
	f->now_ns += limits.idle_ns;
	expect_nothing(f);
	assert_int_equal(f->m.incoming.n, 0);
}

static void a_new_connection_begins_anew(void **state)
{
	struct fixture *f = *state;

	connect_merger(f);
	chunk(f, 1, 1, 0);
	rd_merger_up(&f->m);
	expect(f, RD__KIND__HELLO);
	expect_nothing(f);
	assert_int_equal(f->m.incoming.n, 0);
	f->now_ns += limits.hello_ns;
	expect(f, RD__KIND__HELLO);
}

static void words_wait_for_the_socket(void **state)
{
	struct fixture *f = *state;

	connect_merger(f);
	f->full = true;
	for (size_t i = 0; i < f->blocks.n; i++)
		chunk(f, 1, 1, i);
	assert_int_equal(rd_merger_pump(&f->m, &f->err), 1);
	commit(f, 1, 1, f->blocks.n);
	assert_int_equal(rd_merger_pump(&f->m, &f->err), 1);
	f->full = false;
	assert_false(expect(f, RD__KIND__MERGED)->duplicate);
	expect_nothing(f);
}

/* ---- a full disk */

static void a_full_disk_holds_a_commit(void **state)
{
	struct fixture *f = *state;

	connect_merger(f);
	chunks(f, 1, 1);
	f->store_errno = ENOSPC;
	commit(f, 1, 1, f->blocks.n);
	expect_nothing(f);
	assert_false(rd_merger_listens(&f->m));
	assert_int_equal(rd_merger_wake_ns(&f->m), f->now_ns + limits.retry_ns);
	f->now_ns += limits.retry_ns;
	expect_nothing(f);
	assert_false(rd_merger_listens(&f->m));
	f->store_errno = 0;
	f->now_ns += limits.retry_ns;
	assert_false(expect(f, RD__KIND__MERGED)->duplicate);
	assert_true(rd_merger_listens(&f->m));
	assert_int_equal(f->commits, 1);
}

static void a_full_disk_holds_a_chunk(void **state)
{
	struct fixture *f = *state;

	connect_merger(f);
	f->m.spool_budget = 0;
	f->spool_errno = ENOSPC;
	chunk(f, 1, 1, 0);
	expect_nothing(f);
	assert_false(rd_merger_listens(&f->m));
	f->spool_errno = 0;
	f->now_ns += limits.retry_ns;
	assert_int_equal(expect(f, RD__KIND__CHUNK_ACK)->count, 1);
	for (size_t i = 1; i < f->blocks.n; i++)
		chunk(f, 1, 1, i);
	expect(f, RD__KIND__CHUNK_ACK);
	commit(f, 1, 1, f->blocks.n);
	expect(f, RD__KIND__MERGED);
}

static void a_private_merger_does_not_wait_for_room(void **state)
{
	struct fixture *f = *state;

	f->m.limits.thrown_away = true;
	connect_merger(f);
	chunks(f, 1, 1);
	f->store_errno = ENOSPC;
	commit(f, 1, 1, f->blocks.n);
	struct sent *s = expect(f, RD__KIND__FAILED);
	assert_false(s->retry);
	assert_int_equal(s->error.code, RD_IO);
	f->m.spool_budget = 0;
	f->spool_errno = ENOSPC;
	chunk(f, 2, 1, 0);
	s = expect(f, RD__KIND__FAILED);
	assert_int_equal(s->task, 2);
	assert_false(s->retry);
	/* Whoever reads it learns where there is no room. */
	assert_string_equal(s->error.text, "making room: No space left on device");
	assert_string_equal(s->error.file, "/state");
}

/* What the disk holds is not known: the process must end, and say nothing. */
static void another_failure_ends_it(void **state)
{
	struct fixture *f = *state;

	connect_merger(f);
	chunks(f, 1, 1);
	f->store_errno = EIO;
	assert_code(RD_IO, try_commit(f, 1, 1, f->blocks.n));
	assert_int_equal(f->m.replies.n, 0);
}

static void another_merger_has_come(void **state)
{
	struct fixture *f = *state;
	Rd__Envelope e = rd_envelope(RD__KIND__REFUSED);
	Rd__Error error = RD__ERROR__INIT;

	connect_merger(f);
	error.code = RD_NOT_FOUND;
	e.error = &error;
	tell(f, &e, (struct rd_span){0});
	expect(f, RD__KIND__HELLO);
	assert_false(rd_merger_over(&f->m));
	error.code = RD_EXISTS;
	tell(f, &e, (struct rd_span){0});
	assert_true(rd_merger_over(&f->m));
	assert_true(f->m.refused);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		MERGER_TEST(a_partial_is_merged_once),
		MERGER_TEST(the_first_of_two_attempts_wins),
		MERGER_TEST(a_missing_chunk_is_seen),
		MERGER_TEST(a_corrupt_chunk_is_refused),
		MERGER_TEST(chunks_of_two_shards),
		MERGER_TEST(an_abandoned_attempt_is_forgotten),
		MERGER_TEST(a_new_connection_begins_anew),
		MERGER_TEST(words_wait_for_the_socket),
		MERGER_TEST(a_full_disk_holds_a_commit),
		MERGER_TEST(a_full_disk_holds_a_chunk),
		MERGER_TEST(a_private_merger_does_not_wait_for_room),
		MERGER_TEST(another_failure_ends_it),
		MERGER_TEST(another_merger_has_come),
	};
	rd_log_init(RD_LOG_ERROR, "test");
	make_partial();
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	release_partial();
	return failed;
}
