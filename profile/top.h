/*
 * top - the hottest methods as the shards believe them, before anything is reconciled.
 *
 * The preliminary histograms of shards, summed by trace, process and method.
 * A shard names what its own facts resolve; what only another shard's facts
 * name counts as "?" here and not in the end.
 */
#ifndef RD_PROFILE_TOP_H
#define RD_PROFILE_TOP_H

#include "base/records.h"
#include "profile/tables.h"

struct rd_top {
	struct rd_strings strings;
	struct rd_records methods; /* by trace, pid, CLR instance and names */
	uint64_t samples;          /* exclusive ones of all methods */
};

struct rd_top_row {
	uint32_t trace, pid;
	struct rd_span module, ns, name, signature; /* borrowed until the release */
	uint64_t exclusive, inclusive;
};
typedef RD_VEC(struct rd_top_row) rd_top_rows;

void rd_top_init(struct rd_top *t);
/* Add one shard of a trace. RD_CORRUPT, RD_NOMEM. */
int rd_top_add(struct rd_top *t, uint32_t trace, const struct rd_tables *tables, size_t shard, struct rd_error *err);
/* Append at most n rows, the hottest first: by exclusive, then inclusive samples, then names. RD_NOMEM. */
int rd_top_hottest(const struct rd_top *t, size_t n, rd_top_rows *rows, struct rd_error *err);
void rd_top_release(struct rd_top *t);

#endif
