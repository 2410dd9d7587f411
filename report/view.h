/*
 * view - what a report shows of a result: the samples that pass a filter, and of their stacks what is asked for.
 *
 * A result is rows of (process, thread, kind, time bucket, stack). A view
 * chooses rows and stacks, changes the stacks (hides frames, groups them, cuts
 * them at a method, turns them around) and counts them by method. Every form
 * of a report is written from a view and nothing else. It borrows the result,
 * and the words of its filter.
 */
#ifndef RD_REPORT_VIEW_H
#define RD_REPORT_VIEW_H

#include "profile/result.h"

enum rd_sort { RD_SORT_EXCLUSIVE, RD_SORT_INCLUSIVE, RD_SORT_NAME, RD_SORT_DIRECT };
enum rd_group {
	RD_GROUP_NONE,
	RD_GROUP_MODULE,
	RD_GROUP_NAMESPACE, /* without the type */
	RD_GROUP_TYPE,
	RD_GROUP_TIER,
	RD_GROUP_PROCESS,
};

/*
 * Samples are chosen by what they are: process, thread, kind, time, the module of the innermost frame; then by what is
 * on their stacks. Patterns are POSIX extended regular expressions, looked for anywhere in
 * "module!Namespace.Name(args)".
 */
struct rd_view_filter {
	const char *process; /* NAME or PID; NULL all */
	const char *module;  /* of the innermost frame, letter case aside; NULL all */
	uint64_t trace;      /* 1 for the first; 0 all */
	int kind;            /* enum rd_sample_kind; -1 all */
	bool has_thread;
	uint64_t thread;
	bool has_from, has_to;
	bool from_is_utc, to_is_utc;
	int64_t from_ns, to_ns;  /* [from, to): since the result's origin, or UTC */
	const char *focus;       /* only stacks with such a frame */
	const char *ignore;      /* no stacks with such a frame */
	const char *hide;        /* such frames are taken out of their stacks; what has no other frame goes */
	const char *callers;     /* only stacks with such a frame, from the root to the outermost one; */
	const char *callees;     /* or from the outermost one inward. At most one of the two */
	enum rd_group group;     /* a frame stands for its group; neighbours of one group are one */
	bool tiers;              /* a row a tier of a method */
	bool by_thread;          /* a row a thread */
	bool inverted;           /* stacks begin with the innermost frame; rows of methods do not change */
	uint64_t min_samples;    /* what has fewer is no row, and no frame of a stack; */
	uint32_t min_millionths; /* nor what has less than this part of all */
	enum rd_sort sort;
};
/* "method", "module", … */
const char *rd_group_name(enum rd_group group);

#define RD_VIEW_ALL ((struct rd_view_filter){.kind = -1})

/* A row that stands for no method says so in its name, "[no stack]", and has nothing else but a process. */
enum rd_view_what { RD_VIEW_METHOD, RD_VIEW_NO_STACK, RD_VIEW_PRUNED };

/* What a frame of the view is. Grouped, only what names the group is there. Names are those of the result, or of the
 * view. */
struct rd_view_method {
	struct rd_span module, ns, name, signature;
	uint32_t process, clr;
	uint32_t tier; /* with rd_view_filter.tiers */
	uint32_t what; /* enum rd_view_what */
};

/* The counts of a method, or with rd_view_filter.by_thread of a method in a thread. */
struct rd_view_row {
	uint64_t thread;
	uint32_t method, zero;
	uint64_t exclusive, inclusive;
	uint64_t exclusive_weight, inclusive_weight;
	uint64_t direct, direct_weight; /* with callers or callees: samples in which it is next to that method */
};

/* A node of the tree of calls, as in a result. */
struct rd_view_call {
	uint32_t caller; /* a call's index + 1; 0: none */
	uint32_t method;
};

/* Samples of one stack in one process, or in one of its threads. */
struct rd_view_stack {
	uint64_t thread; /* with rd_view_filter.by_thread, else 0 */
	uint32_t process;
	uint32_t call; /* the number of its last call; never 0: what has no stack has one frame that says so */
	uint64_t count, weight;
};

struct rd_view {
	const struct rd_result *result;
	struct rd_view_filter filter; /* that it was made by */
	RD_VEC(struct rd_view_method) methods;
	RD_VEC(struct rd_view_call) calls;   /* callers before whom they call */
	RD_VEC(struct rd_view_stack) stacks; /* each once */
	RD_VEC(struct rd_view_row) rows;     /* those with samples enough, sorted as asked */
	size_t rows_left_out;                /* by --min */
	uint64_t pruned;                     /* samples whose stacks were cut short by it */
	RD_VEC(uint32_t) row_stack;          /* by row of the result: its stack here; RD_NONE: it does not pass */
	RD_VEC(uint64_t) process_samples;    /* by process */
	RD_VEC(uint8_t) process_passes;      /* 1: the process is within the filter */
	RD_VEC(uint64_t) buckets;            /* of first_bucket, first_bucket + 1, … */
	uint32_t first_bucket;
	uint64_t samples, weight, discarded; /* discarded: by the run's filter and by this one */
	uint64_t kinds[8];
	bool filtered;         /* not all samples are asked for */
	bool cut_in_time;      /* --from or --to hold: [from_ns, to_ns) since the origin is what is shown, */
	bool has_from, has_to; /* of which these ends were asked for */
	bool widened;          /* and that is more than was asked for, to whole buckets */
	int64_t from_ns, to_ns;
	struct rd_strings names; /* that are not the result's */
};

/*
 * RD_USAGE for a filter that contradicts itself or a pattern that is none; RD_NOT_FOUND when no process, thread or
 * module is meant (names those there are).
 */
int rd_view_make(struct rd_view *v, const struct rd_result *r, const struct rd_view_filter *f, struct rd_error *err);
void rd_view_release(struct rd_view *v);

/* The call with a number, NULL for 0. */
static inline const struct rd_view_call *rd_view_call(const struct rd_view *v, uint32_t number)
{
	return number ? &v->calls.at[number - 1] : NULL;
}
static inline const struct rd_view_method *rd_view_method(const struct rd_view *v, uint32_t call)
{
	return &v->methods.at[v->calls.at[call - 1].method];
}

/* The least number of samples that --min leaves; 0 all. */
uint64_t rd_view_least(const struct rd_view *v);

/* Whether a kind of sample is thread time: a thread that waits counts like one that works. */
static inline bool rd_is_thread_time(uint32_t kind)
{
	return kind == RD_SAMPLE_MANAGED || kind == RD_SAMPLE_EXTERNAL;
}
/* Whether any sample of the view is thread time. */
static inline bool rd_view_has_thread_time(const struct rd_view *v)
{
	return v->kinds[RD_SAMPLE_MANAGED] || v->kinds[RD_SAMPLE_EXTERNAL];
}

/* Whether rows count samples next to the method of --callers or --callees. */
static inline bool rd_view_has_direct(const struct rd_view *v)
{
	return v->filter.callers || v->filter.callees;
}

#endif
