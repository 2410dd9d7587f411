/*
 * losses - how many events a trace lost, by the sequence numbers of its capture threads, however it is cut.
 *
 * A shard writes what its runs of consecutive blocks did to each thread's
 * number as rows (struct rd_sequence_row); the rows of all shards compose in
 * the order of the file and give the same total as one pass. The rules and
 * why they compose: docs/losses.md.
 * A row of its own stands for each run, so that blocks which nobody decoded
 * (a quarantined shard) are seen as a hole and not counted as lost events.
 * Knows no format: who has no sequence numbers writes the runs' rows only.
 */
#ifndef RD_PROFILE_LOSSES_H
#define RD_PROFILE_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"
#include "profile/partial.h"
#include "trace/trace.h"

/* Writes the rows of one shard. Zeroed but for `out` it is ready. */
struct rd_losses {
	struct rd_partial *out;              /* rows are added to its sequences */
	RD_VEC(struct rd_losses_op) pending; /* of the open block */
	RD_VEC(uint32_t) epoch_of;           /* by row of the run: how often all was forgotten when it was last told */
	struct rd_table threads;             /* thread -> row of the run */
	size_t first_row;                    /* the open run's own row */
	uint32_t epoch;                      /* how often the run forgot all */
	uint32_t recent;                     /* the row of the thread spoken of last */
	bool open;
};
void rd_losses_release(struct rd_losses *l);

/* A block begins (blocks come in file order), speaks, and ends; with undo it said nothing. 0 or RD_NOMEM. */
int rd_losses_begin(struct rd_losses *l, uint32_t ordinal);
int rd_losses_tell(struct rd_losses *l, uint64_t thread, enum rd_sequence_op op, uint32_t first, uint32_t count);
int rd_losses_end(struct rd_losses *l, bool undo);
/* No block comes any more: the last run's rows are complete. */
void rd_losses_finish(struct rd_losses *l);

/*
 * The events lost by the rows of all shards of one trace; sorts them.
 * Saturates. RD_CORRUPT: runs overlap, a thread has two rows in a run or a run
 * has no row of its own.
 */
int rd_losses_merge(struct rd_sequence_row *rows, size_t n, uint64_t *lost, struct rd_error *err);

#endif
