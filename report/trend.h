/*
 * trend - what each method cost in each of several results: nights side by side.
 *
 * Results are added one after the other and not kept, so memory goes with
 * their rows and not with their stacks. Methods are the same when their names
 * are (report/method_names.h).
 */
#ifndef RD_REPORT_TREND_H
#define RD_REPORT_TREND_H

#include "base/out.h"
#include "report/method_names.h"

struct rd_trend_result {
	char *path; /* as the user gave it */
	uint64_t samples;
	int64_t start_utc_ns;
	bool complete;
	bool thread_time; /* some of its samples are thread time */
};

/* What a method has in a result; where it has nothing there is no cell. */
struct rd_trend_cell {
	uint32_t method, result;
	struct rd_method_count count;
};

struct rd_trend_row {
	uint32_t method;
	size_t first, n; /* its cells, in the order of results */
	double shares;   /* of the samples of each result, added up */
};

struct rd_trend {
	struct rd_method_names names;
	RD_VEC(struct rd_trend_result) results; /* sealed: the earliest first */
	RD_VEC(struct rd_trend_cell) cells;     /* sealed: by method, result */
	RD_VEC(struct rd_trend_row) rows;       /* sealed: those with the largest shares first */
	bool inclusive;                         /* which count shares are of */
	bool tiers;
	enum rd_group group;
};

void rd_trend_init(struct rd_trend *t, bool inclusive);
/* RD_NOMEM. */
int rd_trend_add(struct rd_trend *t, const char *path, const struct rd_view *v, struct rd_error *err);
/* All were added. RD_NOMEM. */
int rd_trend_seal(struct rd_trend *t, struct rd_error *err);
void rd_trend_release(struct rd_trend *t);

static inline uint64_t rd_trend_count(const struct rd_trend *t, const struct rd_trend_cell *c)
{
	return t->inclusive ? c->count.inclusive : c->count.exclusive;
}

struct rd_trend_show {
	size_t top;       /* methods; 0 all */
	unsigned columns; /* text: of the terminal; 0 no limit */
};
static inline size_t rd_trend_shown(const struct rd_trend *t, const struct rd_trend_show *o)
{
	return o->top && o->top < t->rows.n ? o->top : t->rows.n;
}

/* Fail for memory only; errors of writing are sticky in out. */
int rd_trend_text(const struct rd_trend *t, const struct rd_trend_show *o, struct rd_out *out, struct rd_error *err);
int rd_trend_json(const struct rd_trend *t, const struct rd_trend_show *o, struct rd_out *out, struct rd_error *err);
/* A line a result and method. */
int rd_trend_csv(const struct rd_trend *t, const struct rd_trend_show *o, struct rd_out *out, struct rd_error *err);

#endif
