/*
 * diff_test - is a difference more than sampling noise?
 *
 * Normalised by samples, a count is a proportion of all: the two-proportion
 * z-test with the pooled proportion. Normalised by time or not at all, a count
 * is that of a Poisson process: given the sum of both, the second is binomial
 * by the shares of time (1/2 when not normalised), and its z is taken. Both
 * take the normal distribution for what is nearly so from five expected
 * samples a cell on; with fewer there is no test and no finding.
 *
 * Thousands of methods make hundreds of findings at 5 % each by chance alone.
 * Holm's correction holds the chance of even one false finding to 5 %,
 * however counts hang together; and those of callers and callees do.
 */
#include <math.h>
#include <stdlib.h>

#include "report/diff.h"

#define EXPECTED_LEAST 5.0

const char *rd_diff_test_name(enum rd_diff_norm norm)
{
	return norm == RD_NORM_SAMPLES ? "two-proportion z-test" : "z-test of two Poisson counts";
}

/* Two-sided. */
static double p_of_z(double z)
{
	return erfc(fabs(z) / sqrt(2));
}

static bool test_proportions(struct rd_diff_row *row, const double x[2], const double n[2])
{
	double pooled = (x[0] + x[1]) / (n[0] + n[1]), least = fmin(pooled, 1 - pooled) * fmin(n[0], n[1]);

	row->p = 1;
	/* All samples of both sides: there is nothing that could differ. */
	if (x[0] >= n[0] && x[1] >= n[1])
		return true;
	if (least < EXPECTED_LEAST)
		return false;
	row->p = p_of_z((x[1] / n[1] - x[0] / n[0]) / sqrt(pooled * (1 - pooled) * (1 / n[0] + 1 / n[1])));
	return true;
}

static bool test_counts(struct rd_diff_row *row, const double x[2], const double exposure[2])
{
	double sum = x[0] + x[1], share = exposure[1] / (exposure[0] + exposure[1]);

	row->p = 1;
	if (sum * fmin(share, 1 - share) < EXPECTED_LEAST)
		return false;
	row->p = p_of_z((x[1] - sum * share) / sqrt(sum * share * (1 - share)));
	return true;
}

static double value_of(double count, double denominator)
{
	return denominator > 0 ? count / denominator : 0;
}

static void judge(const struct rd_diff *d, struct rd_diff_row *row)
{
	const double x[2] = {(double)rd_diff_count(d, row, RD_BEFORE), (double)rd_diff_count(d, row, RD_AFTER)};
	double all_before = value_of((double)d->samples[RD_BEFORE], d->denominator[RD_BEFORE]);

	for (int at = 0; at < 2; at++)
		row->value[at] = value_of(x[at], d->denominator[at]);
	row->difference = row->value[RD_AFTER] - row->value[RD_BEFORE];
	if (d->options.norm != RD_NORM_SAMPLES)
		row->difference = value_of(row->difference, all_before);
	row->p = row->p_adjusted = 1;
	if (d->options.norm != RD_NORM_SAMPLES)
		row->tested = test_counts(row, x, d->denominator);
	else if (d->samples[RD_BEFORE] && d->samples[RD_AFTER])
		row->tested = test_proportions(row, x, d->denominator);
}

/* Those that were tested first, by p. */
static int compare_p(const void *x, const void *y)
{
	const struct rd_diff_row *a = x, *b = y;

	if (a->tested != b->tested)
		return a->tested ? -1 : 1;
	return (a->p > b->p) - (a->p < b->p);
}

/* Holm: the smallest p times the number of tests, the next times one less; none smaller than the one before. */
static void correct(struct rd_diff *d)
{
	double adjusted = 0;

	if (d->rows.n)
		qsort(d->rows.at, d->rows.n, sizeof *d->rows.at, compare_p);
	while (d->tested < d->rows.n && d->rows.at[d->tested].tested)
		d->tested++;
	for (size_t i = 0; i < d->tested; i++) {
		struct rd_diff_row *row = &d->rows.at[i];
		adjusted = fmax(adjusted, fmin(1, row->p * (double)(d->tested - i)));
		row->p_adjusted = adjusted;
		row->significant = adjusted <= RD_DIFF_LEVEL;
		d->significant += row->significant;
	}
}

void rd_diff_judge(struct rd_diff *d)
{
	for (size_t i = 0; i < d->rows.n; i++)
		judge(d, &d->rows.at[i]);
	correct(d);
	/* All samples are one question of their own. */
	judge(d, &d->all);
	d->all.p_adjusted = d->all.p;
	d->all.significant = d->all.tested && d->all.p <= RD_DIFF_LEVEL;
}
