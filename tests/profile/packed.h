/*
 * packed - keep the blocks of a packed partial in memory, for tests.
 */
#ifndef RD_TESTS_PROFILE_PACKED_H
#define RD_TESTS_PROFILE_PACKED_H

#include "profile/partial.h"

struct packed_block {
	uint32_t table, seq;
	uint8_t *at;
	size_t n;
};

struct packed {
	RD_VEC(struct packed_block) blocks;
};

/* For rd_partial_pack and rd_shard_decode; ctx is a struct packed. Checks table, sequence and head. */
int packed_keep(void *ctx, enum rd_partial_table table, uint32_t seq, struct rd_span block, struct rd_error *err);
/* All blocks into one partial. */
int packed_unpack(const struct packed *k, struct rd_partial *out, struct rd_error *err);
size_t packed_bytes(const struct packed *k);
void packed_release(struct packed *k);

#endif
