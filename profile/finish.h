/*
 * finish - from the partials of a job to its result: reconciliation.
 *
 * Builds the histories of addresses, modules, images, threads and processes
 * from the facts of all shards, streams samples and stack records shard by
 * shard in the order of time, joins them, resolves every distinct stack once
 * per gap between facts, and counts. Rules: docs/design.md, section 3. What
 * memory it needs is an invariant of docs/reconciliation.md.
 */
#ifndef RD_PROFILE_FINISH_H
#define RD_PROFILE_FINISH_H

#include "profile/partial.h"
#include "profile/progress.h"
#include "profile/result.h"

struct rd_finish_trace {
	const char *path, *member;
	const struct rd_trace_info *info;
	struct rd_partial_source partials;
	const struct rd_byte_range *quarantined; /* .trace is ignored */
	size_t quarantined_n;
	uint32_t group; /* traces of one group are one trace (joined): one clock, one set of histories */
};

struct rd_finish_options {
	const char *process;   /* NAME or PID; NULL all */
	bool has_from, has_to; /* exact, on the sample's time */
	int64_t from_ns, to_ns; /* [from, to) since the origin, or UTC when the flag below says so */
	bool from_is_utc, to_is_utc;
	int kind;              /* enum rd_sample_kind, or -1 all */
	bool not_nothing;      /* RD_NOT_FOUND when there are samples and none passes: what there is instead */
	/* Told samples done of samples total, whatever it is that goes on; a negative return ends the finish. May be NULL. */
	int (*progress)(void *ctx, uint64_t done, uint64_t total);
	void *progress_ctx;
};

/* Samples that an option excludes are counted as discarded. *out is filled on success only. */
int rd_finish(const struct rd_finish_trace *traces, size_t n, const struct rd_finish_options *opt,
              struct rd_result *out, struct rd_error *err);

/*
 * The same for one shard alone, folded by method: the preliminary histogram, appended to p->preliminary.
 * progress may be NULL.
 */
int rd_finish_preliminary(const struct rd_trace_info *info, struct rd_partial *p, struct rd_progress *progress,
			  struct rd_error *err);

/*
 * What those shards that are there believe together, while others are still to come: appended to belief->preliminary,
 * samples of all processes and times. The traces are one group; each one's partials are those of its merged shards.
 */
int rd_finish_so_far(const struct rd_finish_trace *traces, size_t n, struct rd_partial *belief,
		     struct rd_progress *progress, struct rd_error *err);

#endif
