/*
 * diff - two views side by side: what of the one became more or less in the other.
 *
 * Methods are the same when their names are, whatever their process, runtime
 * or address; stacks when their frames are, root first. Counts are made
 * comparable by a denominator for each side, and what sampling alone may do is
 * told from what it may not.
 */
#ifndef RD_REPORT_DIFF_H
#define RD_REPORT_DIFF_H

#include "report/method_names.h"

enum rd_diff_by { RD_DIFF_METHODS, RD_DIFF_STACKS };
enum rd_diff_count { RD_DIFF_EXCLUSIVE, RD_DIFF_INCLUSIVE };
enum rd_diff_norm {
	RD_NORM_SAMPLES, /* shares of all samples of each side */
	RD_NORM_TIME,    /* samples a second of what was recorded */
	RD_NORM_NONE,    /* samples */
};
enum { RD_BEFORE, RD_AFTER };

struct rd_diff_options {
	enum rd_diff_by by;
	enum rd_diff_count count; /* that is compared */
	enum rd_diff_norm norm;
	/* What has fewer inclusive samples on both sides is no row: so many, */
	uint64_t min_samples;
	uint32_t min_millionths; /* or this part of the side's */
};

struct rd_diff_row {
	uint32_t method; /* by method */
	uint32_t call;   /* by stack: the number of its last call, of struct rd_diff.calls */
	uint64_t exclusive[2], inclusive[2];
	double value[2];   /* the compared count over its denominator */
	double difference; /* of the values; normalised by samples in parts of 1, else as a part of all before */
	bool tested;       /* there are samples enough for a test */
	bool significant;  /* after the correction */
	double p, p_adjusted;
};

struct rd_diff {
	const struct rd_view *side[2];
	struct rd_diff_options options;
	uint64_t samples[2];
	double denominator[2];
	struct rd_diff_row all; /* of all samples */
	struct rd_method_names names;
	struct rd_records calls;         /* struct rd_view_call, of these methods */
	RD_VEC(struct rd_diff_row) rows; /* the largest difference first */
	size_t fresh, gone, tested, significant;
	size_t too_few; /* rows that are none by min_samples or min_millionths */
};

/* A difference that sampling makes with this probability is no finding, all tests taken together. */
#define RD_DIFF_LEVEL 0.05

/* Borrows the views. RD_USAGE: normalised by time, and a side has none. */
int rd_diff_make(struct rd_diff *d, const struct rd_view *before, const struct rd_view *after,
		 const struct rd_diff_options *o, struct rd_error *err);
void rd_diff_release(struct rd_diff *d);

static inline uint64_t rd_diff_count(const struct rd_diff *d, const struct rd_diff_row *row, int side)
{
	return d->options.count == RD_DIFF_EXCLUSIVE ? row->exclusive[side] : row->inclusive[side];
}
/* Values, differences, tests and their correction, of rows that are counted (report/diff_test.c). */
void rd_diff_judge(struct rd_diff *d);
/* "two-proportion z-test". */
const char *rd_diff_test_name(enum rd_diff_norm norm);

/*
 * Whether something grew by more than this part of all that was before, and that is more than noise. what: the row of
 * the worst, &d->all for all samples; NULL allowed.
 */
bool rd_diff_is_worse(const struct rd_diff *d, uint32_t millionths, const struct rd_diff_row **what);

#endif
