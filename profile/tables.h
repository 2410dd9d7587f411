/*
 * tables - the rows of one table of one shard, block by block, packed or in memory.
 *
 * The finish reads everything through this: in a merger the blocks are packed
 * and rest in a store, in a worker the one shard is in memory already.
 */
#ifndef RD_PROFILE_TABLES_H
#define RD_PROFILE_TABLES_H

#include "profile/partial.h"

/* All shards of one trace: one of the two pointers. Borrowed. */
struct rd_tables {
	size_t shards;
	const struct rd_partial_source *packed;
	const struct rd_partial *const *in_memory;
	uint64_t *bytes; /* adds the packed bytes read; NULL: they are not counted */
};

struct rd_table_reader {
	const struct rd_tables *tables;
	size_t shard;
	enum rd_partial_table table;
	uint32_t seq;
	struct rd_partial block; /* packed: the rows of one block */
};

void rd_table_open(struct rd_table_reader *r, const struct rd_tables *t, size_t shard, enum rd_partial_table table);
/*
 * The next rows of the table: 1 and *rows, of which only this table's array
 * may be read, borrowed until the next call; 0 at the end; or an error.
 */
int rd_table_next(struct rd_table_reader *r, const struct rd_partial **rows, struct rd_error *err);
void rd_table_close(struct rd_table_reader *r);

/*
 * All strings of a packed shard, by their numbers, into *into; in memory they
 * are there already and nothing is done.
 */
int rd_tables_unpack_strings(const struct rd_tables *t, size_t shard, struct rd_partial *into, struct rd_error *err);

#endif
