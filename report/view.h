/*
 * view - what a report shows of a result: the rows that pass a filter, counted by method.
 *
 * A result is rows of (process, thread, kind, time bucket, stack); a view
 * folds those that pass into methods, processes, buckets and stacks. Every
 * writer of a report works from a view. It borrows the result.
 */
#ifndef RD_REPORT_VIEW_H
#define RD_REPORT_VIEW_H

#include "profile/result.h"

enum rd_sort { RD_SORT_EXCLUSIVE, RD_SORT_INCLUSIVE, RD_SORT_NAME };

struct rd_view_filter {
	const char *process; /* NAME or PID; NULL all */
	int kind;            /* enum rd_sample_kind; -1 all */
	bool has_from, has_to;
	bool from_is_utc, to_is_utc;
	int64_t from_ns, to_ns; /* [from, to): since the result's origin, or UTC */
	bool tiers;             /* a row a tier of a method */
	enum rd_sort sort;
};
#define RD_VIEW_ALL ((struct rd_view_filter){.kind = -1})

/* A row of the report. no_stack: the row of the samples of `process` that have no stack; it has no frame and no names.
 */
struct rd_view_method {
	uint32_t process, clr;
	uint32_t module, ns, name, signature; /* strings of the result */
	uint32_t tier;                        /* with rd_view_filter.tiers */
	uint32_t no_stack;                    /* 0 or 1 */
	uint64_t exclusive, inclusive;
	uint64_t exclusive_weight, inclusive_weight;
};

/* Samples of one stack in one process. */
struct rd_view_stack {
	uint32_t process;
	uint32_t stack;
	uint64_t count, weight;
};

struct rd_view {
	const struct rd_result *result;
	RD_VEC(struct rd_view_method) methods; /* those with samples, sorted as asked */
	RD_VEC(struct rd_view_stack) stacks;   /* in the order of the rows */
	RD_VEC(uint64_t) process_samples;      /* by process */
	RD_VEC(uint8_t) process_passes;        /* 1: the process is within the filter */
	RD_VEC(uint64_t) buckets;              /* of first_bucket, first_bucket + 1, … */
	uint32_t first_bucket;
	uint64_t samples, weight, discarded; /* discarded: by the run's filter and by this one */
	uint64_t kinds[8];
	bool filtered;         /* any filter holds */
	bool tiers;            /* methods are split by tier */
	bool cut_in_time;      /* --from or --to hold: [from_ns, to_ns) since the origin is what is shown, */
	bool has_from, has_to; /* of which these ends were asked for */
	bool widened;          /* and that is more than was asked for, to whole buckets */
	int64_t from_ns, to_ns;
};

/* RD_USAGE for a filter that contradicts itself, RD_NOT_FOUND when no process is meant (names those there are). */
int rd_view_make(struct rd_view *v, const struct rd_result *r, const struct rd_view_filter *f, struct rd_error *err);
void rd_view_release(struct rd_view *v);

#endif
