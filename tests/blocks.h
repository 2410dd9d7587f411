/*
 * blocks - packed partials made up for tests of those who carry them.
 */
#ifndef RD_TESTS_BLOCKS_H
#define RD_TESTS_BLOCKS_H

#include "base/cursor.h"
#include "base/memory.h"

struct test_block {
	uint32_t table, seq;
	struct rd_span bytes; /* owned by the list */
};
typedef RD_VEC(struct test_block) test_block_vec;

/*
 * The blocks of a partial whose summary counts `samples` and that holds
 * `strings` names of 300 KB that do not pack; equal arguments give equal
 * bytes. At least one block.
 */
void make_blocks(test_block_vec *out, uint64_t samples, unsigned strings);
void release_blocks(test_block_vec *blocks);

#endif
