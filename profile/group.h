/*
 * group - the traces that are one trace, and everything their facts say.
 *
 * Init, add files, load the summaries; then gather: after it the histories
 * stand and samples can be counted. docs/reconciliation.md has the order of
 * work and what each step may keep.
 */
#ifndef RD_PROFILE_GROUP_H
#define RD_PROFILE_GROUP_H

#include "profile/evidence.h"
#include "profile/images.h"
#include "profile/lives.h"
#include "profile/mappings.h"
#include "profile/methods.h"
#include "profile/progress.h"
#include "profile/stream.h"

struct rd_group_file {
	uint32_t trace;                   /* index in the result */
	const struct rd_trace_info *info; /* borrowed */
	struct rd_tables tables;
	/* What was gathered: */
	uint64_t last_time; /* ticks: the latest fact or sample */
	uint64_t latest;    /* ticks from the start to the last event of any kind */
	bool any_time;
	uint64_t malformed_events;
	uint64_t providers_seen; /* enum rd_providers_seen */
	uint64_t lost_events;    /* by sequence numbers */
	uint64_t damage_at;      /* byte of the first damage met while decoding; RD_NO_OFFSET none */
};

struct rd_group {
	struct rd_content *content; /* borrowed */
	RD_VEC(struct rd_group_file) files;
	RD_VEC(struct rd_shard_ref) shards;
	struct rd_strings raw_stacks; /* distinct, addresses as bytes */
	size_t kept_stacks;           /* numbers in the shards' maps that are kept from the first pass on */
	struct rd_addresses addresses;
	struct rd_lives lives;
	struct rd_timeline command_lines; /* by pid; id: a string */
	struct rd_modules modules;
	struct rd_methods methods;
	struct rd_images images;
	struct rd_mappings mappings;
	struct rd_timeline keys; /* by stack key; id: a raw stack */
	struct rd_evidence evidence;
	struct rd_progress *progress; /* borrowed; NULL none */
	uint64_t facts;               /* how many rows of facts were read */
	bool thread_time;             /* counting met samples of thread time, discarded ones too */
};

/* progress may be NULL. */
void rd_group_init(struct rd_group *g, struct rd_content *content, struct rd_progress *progress);
/* info and what tables point to are borrowed until the release. RD_LIMIT: too many; RD_UNSUPPORTED: another clock. */
int rd_group_add_file(struct rd_group *g, uint32_t trace, const struct rd_trace_info *info, struct rd_tables tables,
		      struct rd_error *err);
/* Read the summaries of all shards. Only then g->shards stand, in the order of files. */
int rd_group_load_summaries(struct rd_group *g, struct rd_error *err);
/* Read all facts, and seal. */
int rd_group_gather(struct rd_group *g, struct rd_error *err);
void rd_group_release(struct rd_group *g);

static inline const struct rd_clock *rd_group_clock(const struct rd_group *g)
{
	return &g->files.at[0].info->clock;
}

#endif
