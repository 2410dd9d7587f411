#include "tests/support.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "merger/spool.h"
#include "profile/partial.h"
#include "tests/blocks.h"

struct fixture {
	struct rd_spool s;
	uint64_t budget;
	unsigned files;
	test_block_vec blocks;
	struct rd_error err;
};

static int new_file(void *ctx, struct rd_error *err)
{
	((struct fixture *)ctx)->files++;
	return rd_spool_file(scratch_folder(), err);
}

/* With no budget all goes to a file; tests give one. */
static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	rd_spool_init(&f->s, new_file, f, &f->budget);
	make_blocks(&f->blocks, 5, 8);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	rd_spool_release(&f->s);
	release_blocks(&f->blocks);
	free(f);
	return 0;
}

static int add(struct fixture *f, size_t i)
{
	const struct test_block *b = &f->blocks.at[i];
	return rd_spool_add(&f->s, b->table, b->seq, b->bytes, &f->err);
}

static void check_blocks(struct fixture *f)
{
	uint64_t offset = 0, checksum = 0;
	static uint8_t room[RD_PARTIAL_BLOCK_BYTES];

	assert_int_equal(f->s.blocks.n, f->blocks.n);
	for (size_t i = 0; i < f->blocks.n; i++) {
		struct rd_span bytes = f->blocks.at[i].bytes;
		assert_int_equal(f->s.blocks.at[i].table, f->blocks.at[i].table);
		assert_int_equal(f->s.blocks.at[i].size_bytes, bytes.size_bytes);
		assert_ok(rd_spool_read(&f->s, i, offset, room, &f->err), &f->err);
		assert_memory_equal(room, bytes.at, bytes.size_bytes);
		offset += bytes.size_bytes;
		checksum = rd_spool_checksum(checksum, bytes);
	}
	assert_int_equal(f->s.bytes, offset);
	assert_int_equal(f->s.checksum, checksum);
}

static void blocks_come_back(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < f->blocks.n; i++)
		assert_ok(add(f, i), &f->err);
	check_blocks(f);
	assert_int_equal(f->files, 1);
}

static void memory_is_enough_for_most(void **state)
{
	struct fixture *f = *state;

	f->budget = 100 << 20;
	for (size_t i = 0; i < f->blocks.n; i++)
		assert_ok(add(f, i), &f->err);
	check_blocks(f);
	assert_int_equal(f->files, 0);
	assert_int_equal(f->budget, (100 << 20) - f->s.bytes);
	rd_spool_release(&f->s);
	assert_int_equal(f->budget, 100 << 20);
	rd_spool_release(&f->s);
	assert_int_equal(f->budget, 100 << 20);
}

/* The budget ends in the middle: what was kept moves into the file. */
static void beyond_the_budget_is_a_file(void **state)
{
	struct fixture *f = *state;

	for (size_t edge = 0; edge < f->blocks.n; edge++) {
		rd_spool_release(&f->s);
		f->budget = 0;
		for (size_t i = 0; i < edge; i++)
			f->budget += f->blocks.at[i].bytes.size_bytes;
		uint64_t budget = f->budget;
		rd_spool_init(&f->s, new_file, f, &f->budget);
		for (size_t i = 0; i < f->blocks.n; i++)
			assert_ok(add(f, i), &f->err);
		check_blocks(f);
		assert_int_equal(f->budget, budget);
		assert_true(f->s.fd >= 0);
	}
}

static void nothing_has_a_name(void **state)
{
	struct fixture *f = *state;
	struct dirent *e;
	DIR *d;

	assert_ok(add(f, 0), &f->err);
	d = opendir(scratch_folder());
	assert_non_null(d);
	while ((e = readdir(d)) != NULL)
		assert_true(e->d_name[0] == '.');
	closedir(d);
}

static void order_is_kept(void **state)
{
	struct fixture *f = *state;

	assert_code(RD_PROTOCOL, add(f, 1));
	assert_string_equal(f->err.text, "the first chunks of this partial did not come here");
	assert_ok(add(f, 0), &f->err);
	assert_code(RD_PROTOCOL, add(f, 0));
	assert_code(RD_PROTOCOL, add(f, 2));
	assert_ok(add(f, 1), &f->err);
	assert_code(RD_PROTOCOL, add(f, 1));
	assert_ok(add(f, 2), &f->err);
	assert_int_equal(f->s.blocks.n, 3);
}

static void corrupt_blocks_are_refused(void **state)
{
	struct fixture *f = *state;
	const struct test_block *b = &f->blocks.at[0];
	uint8_t *bytes = (uint8_t *)(uintptr_t)b->bytes.at;

	for (size_t i = 0; i < b->bytes.size_bytes; i++) {
		bytes[i] ^= 0x40;
		assert_true(add(f, 0) < 0);
		bytes[i] ^= 0x40;
		assert_code(RD_CORRUPT, rd_spool_add(&f->s, 1, 0, (struct rd_span){b->bytes.at, i}, &f->err));
	}
	/* A good block under another table's name. */
	assert_ok(add(f, 0), &f->err);
	assert_code(RD_PROTOCOL, rd_spool_add(&f->s, RD_TABLE_STACKS, 0, f->blocks.at[1].bytes, &f->err));
	assert_int_equal(f->s.blocks.n, 1);
	assert_int_equal(f->s.bytes, b->bytes.size_bytes);
}

/* A disk that is full now and not later: no block is lost, none is there twice. */
static void a_full_disk_can_be_waited_out(void **state)
{
	struct fixture *f = *state;
	struct rlimit old, small;
	uint64_t checksum;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = old;
	small.rlim_cur = f->blocks.at[0].bytes.size_bytes + 1000;
	assert_ok(add(f, 0), &f->err);
	checksum = f->s.checksum;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_code(RD_IO, add(f, 1));
	assert_int_equal(f->err.sys_errno, EFBIG);
	assert_int_equal(f->s.blocks.n, 1);
	assert_int_equal(f->s.checksum, checksum);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_ok(add(f, 1), &f->err);
	assert_int_equal(f->s.bytes, f->blocks.at[0].bytes.size_bytes + f->blocks.at[1].bytes.size_bytes);
}

static void no_folder(void **state)
{
	struct rd_error err;

	assert_code(RD_IO, rd_spool_file(scratch_path("nowhere"), &err));
}

int main(void)
{
#define SPOOL_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		SPOOL_TEST(blocks_come_back),
		SPOOL_TEST(memory_is_enough_for_most),
		SPOOL_TEST(beyond_the_budget_is_a_file),
		SPOOL_TEST(nothing_has_a_name),
		SPOOL_TEST(order_is_kept),
		SPOOL_TEST(corrupt_blocks_are_refused),
		SPOOL_TEST(a_full_disk_can_be_waited_out),
		cmocka_unit_test(no_folder),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
