/*
 * collect - the events of a shard, as the rows of a partial.
 *
 * Hands a sink to a decoder; what the sink hears becomes facts, samples, stack
 * records, sequence runs and damage. An event whose payload does not hold what
 * it promises is counted as malformed and is nothing else. Nothing is settled
 * here: what a row means is the finish's to say.
 * A block that is undone leaves no row and no count; names and stacks that
 * only it spoke of stay, and nothing refers to them.
 * Nothing is allocated per event.
 */
#ifndef RD_PROFILE_COLLECT_H
#define RD_PROFILE_COLLECT_H

#include "profile/intern.h"
#include "profile/losses.h"
#include "profile/partial.h"
#include "trace/trace.h"

/* What a profile is made of. */
extern const uint64_t rd_collector_want;

struct rd_collector {
	struct rd_partial *out;
	struct rd_intern intern;
	struct rd_losses losses;
	uint32_t stack_depth;
	RD_VEC(uint8_t) seen_by_slot; /* of the event key: what it says of providers, and that it was asked */
	/* Told the bytes of all blocks so far after each of them; NULL none. */
	int (*progress)(void *ctx, uint64_t bytes);
	void *progress_ctx;
	uint64_t bytes;
	/* As the open block found them. */
	struct rd_partial_summary summary;
	size_t rows[RD_TABLE_END];
};

/* out is empty and outlives the collector. stack_depth: frames kept of a stack. */
void rd_collector_init(struct rd_collector *c, struct rd_partial *out, uint32_t stack_depth);
/*
 * Room for what block_bytes of a trace usually come to: address space, taken once
 * and filled as rows come, in large pages where the system has them. A hint.
 */
void rd_collector_expect(struct rd_collector *c, uint64_t block_bytes);
/* Frees what is the collector's own; *out stays. */
void rd_collector_release(struct rd_collector *c);

/* The sink borrows the collector. Its functions return 0, RD_NOMEM, RD_LIMIT, or what progress said. */
struct rd_sink rd_collector_sink(struct rd_collector *c);

/* All blocks were told: sort, and sum up. */
int rd_collector_finish(struct rd_collector *c, struct rd_error *err);

#endif
