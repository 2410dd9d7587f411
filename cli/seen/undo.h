/*
 * undo - records that can go back to what they were when a block began.
 *
 * A block of a trace may turn out not to decode, and then whatever it said is
 * forgotten. A record is saved when it is first changed within a block, so an
 * undo costs as much as the block changed. Records that a forgotten block made
 * stay with their keys and zeros behind them.
 */
#ifndef RD_CLI_SEEN_UNDO_H
#define RD_CLI_SEEN_UNDO_H

#include "base/records.h"

/* The first field behind a record's key; the record's owner leaves it alone. */
typedef uint32_t rd_undo_mark;

struct rd_undo {
	struct rd_records rows;
	size_t mark_at;      /* where a record's rd_undo_mark stands */
	uint32_t block;      /* the mark of records that are saved already; never 0 */
	struct rd_bytes log; /* id u32 and the record, one behind the other */
};

void rd_undo_init(struct rd_undo *u, size_t record_bytes, size_t key_bytes, size_t mark_at);
void rd_undo_release(struct rd_undo *u);

/*
 * The record with this key, made if need be, for changing; it may move with the next call. NULL when out of memory,
 * after which only release is allowed.
 */
void *rd_undo_change(struct rd_undo *u, const void *key);
/* The same of a record that is there. */
void *rd_undo_change_at(struct rd_undo *u, uint32_t id);

/* A block ended: keep what was changed since the last one, or take it back. */
void rd_undo_end(struct rd_undo *u, bool undo);

#endif
