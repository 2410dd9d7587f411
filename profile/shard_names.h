/*
 * shard_names - a shard's string numbers as strings of the content.
 *
 * A shard's strings are unpacked when the first one is asked for, and only
 * those that are asked for become strings of the content: most names of a
 * trace belong to code that no sample met.
 */
#ifndef RD_PROFILE_SHARD_NAMES_H
#define RD_PROFILE_SHARD_NAMES_H

#include "profile/tables.h"

struct rd_shard_names {
	const struct rd_tables *tables;
	size_t shard;
	struct rd_strings *to;
	const struct rd_strings *from; /* NULL: not unpacked yet */
	struct rd_partial unpacked;
	RD_VEC(uint32_t) ids; /* by string; RD_NONE: not asked for yet */
};

void rd_shard_names_init(struct rd_shard_names *n, const struct rd_tables *t, size_t shard, struct rd_strings *to);
/* Of a string number + 1: the bytes, borrowed until the release; 0 is "". RD_CORRUPT when the shard has no such string.
 */
int rd_shard_name_span(struct rd_shard_names *n, uint32_t number, struct rd_span *span, struct rd_error *err);
/* The same as a string of the content. */
int rd_shard_name(struct rd_shard_names *n, uint32_t number, uint32_t *id, struct rd_error *err);
void rd_shard_names_release(struct rd_shard_names *n);

#endif
