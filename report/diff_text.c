/*
 * diff_text - a difference for people.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/diff_show.h"
#include "report/label.h"
#include "report/people.h"
#include "report/text.h"

/* Less than these of a name tell nothing; on a terminal too narrow for them lines may wrap. */
#define NAME_COLUMNS_LEAST 16

struct words {
	char text[RD_NUMBER_TEXT];
};

/* "1,234  12.3 %", "1,234  41.1 /s", "1,234" */
static void put_count(const struct rd_diff *d, const struct rd_diff_row *row, int at, int digits, struct rd_out *o)
{
	char number[RD_NUMBER_TEXT], share[RD_NUMBER_TEXT];
	uint64_t n = rd_diff_count(d, row, at);

	rd_out_printf(o, "%*s", digits, rd_count_text(n, number));
	if (d->options.norm == RD_NORM_SAMPLES)
		rd_out_printf(o, " %7s", rd_percent_text(n, d->samples[at], share));
	else if (d->options.norm == RD_NORM_TIME)
		rd_out_printf(o, " %8.1f/s", row->value[at]);
	rd_out_text(o, "  ");
}

/* "+1.2 %", "0.0 %": what rounds to nothing has no sign, and what is none reads so. */
static const char *signed_percent(double part, struct words *w)
{
	double tenths = round(part * 1000);

	if (tenths > 1e9 || tenths < -1e9)
		snprintf(w->text, sizeof w->text, "%s1e6 %%", tenths < 0 ? "<-" : ">+");
	else if (tenths > 0 || tenths < 0)
		snprintf(w->text, sizeof w->text, "%+.1f %%", tenths / 10);
	else
		snprintf(w->text, sizeof w->text, "0.0 %%");
	return w->text;
}

static const char *relative_text(const struct rd_diff *d, const struct rd_diff_row *row, struct words *w)
{
	if (rd_diff_count(d, row, RD_BEFORE) == 0)
		return rd_diff_count(d, row, RD_AFTER) ? "new" : "";
	if (rd_diff_count(d, row, RD_AFTER) == 0)
		return "gone";
	return signed_percent(row->value[RD_AFTER] / row->value[RD_BEFORE] - 1, w);
}

static const char *verdict(const struct rd_diff_row *row)
{
	return row->significant ? "yes" : row->tested ? "no" : "few";
}

static void put_side(const struct rd_diff *d, const struct rd_diff_show *show, int at, struct rd_out *o)
{
	const struct rd_view *v = d->side[at];
	struct rd_span path = rd_text_span(show->path[at]);
	char number[RD_NUMBER_TEXT];

	rd_out_text(o, at == RD_BEFORE ? "before: " : "after:  ");
	rd_out_name(o, path, show->columns > 48 ? show->columns - 48 : 0);
	rd_out_printf(o, ": %s sample%s of %s time%s\n", rd_count_text(v->samples, number), v->samples == 1 ? "" : "s",
		      rd_view_has_thread_time(v) ? "thread" : "CPU",
		      v->result->trust.complete ? "" : "; its input was incomplete");
}

static const char *unit_of(enum rd_diff_norm norm)
{
	return norm == RD_NORM_SAMPLES ? "points" : "of all";
}

/* Where room is short the arguments of a method go first, and only then its middle. */
static void make_name(const struct rd_diff *d, const struct rd_diff_row *row, size_t room, struct rd_bytes *label)
{
	label->n = 0;
	if (d->options.by == RD_DIFF_METHODS) {
		struct rd_view_method m = rd_method_names_at(&d->names, row->method);
		rd_label_within(label, &m, d->side[RD_BEFORE]->filter.tiers, true, room);
	} else {
		rd_diff_label(label, d, row, " > ");
	}
}

static void put_table(const struct rd_diff *d, const struct rd_diff_show *show, struct rd_out *o,
		      struct rd_bytes *label)
{
	char number[RD_NUMBER_TEXT];
	int digits = 1;
	struct words difference, relative;

	for (size_t i = 0; i < rd_diff_shown(d, show); i++)
		for (int at = 0; at < 2; at++) {
			int n = (int)strlen(rd_count_text(rd_diff_count(d, &d->rows.at[i], at), number));
			digits = n > digits ? n : digits;
		}
	int wide = digits + (d->options.norm == RD_NORM_SAMPLES ? 8 : d->options.norm == RD_NORM_TIME ? 11 : 0);
	wide = wide < 6 ? 6 : wide;
	digits = d->options.norm == RD_NORM_NONE ? wide : digits;
	size_t used = 2 * ((size_t)wide + 2) + 9 + 2 + 9 + 2 + 7 + 2;
	size_t room = show->columns == 0                          ? 0
		      : show->columns > used + NAME_COLUMNS_LEAST ? show->columns - used
								  : NAME_COLUMNS_LEAST;
	rd_out_text(o, "\n");
	rd_out_style(o, RD_STYLE_HEAD);
	rd_out_printf(o, "%*s  %*s  %9s  %9s  changed  %s", wide, "before", wide, "after", unit_of(d->options.norm),
		      "relative", d->options.by == RD_DIFF_METHODS ? rd_group_name(d->side[0]->filter.group) : "stack");
	rd_out_style(o, RD_STYLE_PLAIN);
	rd_out_text(o, "\n");
	for (size_t i = 0; i < rd_diff_shown(d, show); i++) {
		const struct rd_diff_row *row = &d->rows.at[i];
		put_count(d, row, RD_BEFORE, digits, o);
		put_count(d, row, RD_AFTER, digits, o);
		if (row->significant)
			rd_out_style(o, row->difference > 0 ? RD_STYLE_BAD : RD_STYLE_GOOD);
		rd_out_printf(o, "%9s  %9s  %-7s  ", signed_percent(row->difference, &difference),
			      relative_text(d, row, &relative), verdict(row));
		rd_out_style(o, RD_STYLE_PLAIN);
		make_name(d, row, room, label);
		rd_out_name(o, (struct rd_span){label->at, label->n}, room);
		rd_out_text(o, "\n");
	}
}

/* What is counted, and of what the percentages are. */
static void put_denominators(const struct rd_diff *d, struct rd_out *o)
{
	const char *what = d->options.count == RD_DIFF_EXCLUSIVE ? "exclusive" : "inclusive";
	const char *passing = d->side[0]->filtered ? " that pass the filter" : "";
	char before[RD_NUMBER_TEXT], after[RD_NUMBER_TEXT];

	rd_count_text(d->samples[RD_BEFORE], before);
	rd_count_text(d->samples[RD_AFTER], after);
	if (d->options.norm == RD_NORM_SAMPLES)
		rd_out_printf(o,
			      "counts are %s samples; percentages are of the %s samples before and of the %s after%s, "
			      "points their difference",
			      what, before, after, passing);
	else if (d->options.norm == RD_NORM_TIME)
		rd_out_printf(
			o,
			"counts are %s samples, rates for each second of %.1f s before and %.1f s after; 'of all' "
			"is the difference as a part of all %.1f samples a second before%s",
			what, d->denominator[RD_BEFORE], d->denominator[RD_AFTER], d->all.value[RD_BEFORE], passing);
	else
		rd_out_printf(o,
			      "counts are %s samples; 'of all' is the difference as a part of all %s samples before%s",
			      what, before, passing);
}

/* A share of all is always all; a rate or a count of all is news. */
static void put_all(const struct rd_diff *d, struct rd_out *o)
{
	struct words all;

	if (d->options.norm != RD_NORM_SAMPLES)
		rd_out_printf(o, "all samples: %s, %s than noise\n", signed_percent(d->all.difference, &all),
			      d->all.significant ? "more" : "no more");
}

static void put_foot(const struct rd_diff *d, const struct rd_diff_show *show, struct rd_out *o)
{
	char number[RD_NUMBER_TEXT], of[RD_NUMBER_TEXT], fresh[RD_NUMBER_TEXT], gone[RD_NUMBER_TEXT];

	rd_out_printf(o, "%s of %s %s, %s new, %s gone; ", rd_count_text(rd_diff_shown(d, show), number),
		      rd_count_text(d->rows.n, of), d->options.by == RD_DIFF_METHODS ? "rows" : "stacks",
		      rd_count_text(d->fresh, fresh), rd_count_text(d->gone, gone));
	if (d->too_few)
		rd_out_printf(o, "%s with fewer samples than --min; ", rd_count_text(d->too_few, number));
	rd_out_printf(o,
		      "%s of %s with samples enough changed by more than sampling noise (%s, Holm's correction, 5 %%)",
		      rd_count_text(d->significant, number), rd_count_text(d->tested, of),
		      rd_diff_test_name(d->options.norm));
}

int rd_diff_text(const struct rd_diff *d, const struct rd_diff_show *o, struct rd_out *out, struct rd_error *err)
{
	struct rd_bytes label = {0};
	struct rd_out line;

	put_side(d, o, RD_BEFORE, out);
	put_side(d, o, RD_AFTER, out);
	rd_out_init(&line, -1);
	put_denominators(d, &line);
	rd_text_wrapped(&line, o->columns, out);
	put_all(d, out);
	if (d->rows.n)
		put_table(d, o, out, &label);
	rd_out_text(out, "\n");
	rd_out_init(&line, -1);
	put_foot(d, o, &line);
	rd_text_wrapped(&line, o->columns, out);
	int code = label.failed ? rd_fail_nomem(err) : 0;
	rd_bytes_release(&label);
	return code;
}
