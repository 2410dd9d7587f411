/*
 * trend_show - a trend for people: a column a result, a line a method; and for programs: JSON, CSV.
 */
#include <stdio.h>
#include <string.h>

#include "report/csv.h"
#include "report/json_parts.h"
#include "report/label.h"
#include "report/people.h"
#include "report/text.h"
#include "report/trend.h"

/* ---- text */

#define CELL_COLUMNS       9 /* "100.0 %" and what is between */
#define NAME_COLUMNS_LEAST 24

/* The row's cell of this result, NULL for none; asked for results in their order, with *at beginning at row->first. */
static const struct rd_trend_cell *cell_of(const struct rd_trend *t, const struct rd_trend_row *row, size_t result,
					   size_t *at)
{
	const struct rd_trend_cell *c = *at < row->first + row->n ? &t->cells.at[*at] : NULL;

	if (c == NULL || c->result != result)
		return NULL;
	++*at;
	return c;
}

/* Where there is no room for all the latest are shown. */
static size_t first_shown(const struct rd_trend *t, unsigned columns)
{
	size_t room = columns > NAME_COLUMNS_LEAST + CELL_COLUMNS ? (columns - NAME_COLUMNS_LEAST) / CELL_COLUMNS : 1;

	return columns && t->results.n > room ? t->results.n - room : 0;
}

static void put_results(const struct rd_trend *t, size_t from, const struct rd_trend_show *o, struct rd_out *out)
{
	char count[RD_NUMBER_TEXT], when[RD_NUMBER_TEXT];

	for (size_t i = from; i < t->results.n; i++) {
		const struct rd_trend_result *r = &t->results.at[i];
		rd_out_printf(out, "%4zu  %12s %-7s  %s  ", i + 1, rd_count_text(r->samples, count),
			      r->samples == 0  ? ""
			      : r->thread_time ? "thread"
					       : "CPU",
			      rd_utc_text(r->start_utc_ns, when));
		rd_out_name(out, rd_text_span(r->path), o->columns > 64 ? o->columns - 64 : o->columns ? 16 : 0);
		if (!r->complete) {
			rd_out_style(out, RD_STYLE_BAD);
			rd_out_text(out, "  incomplete");
			rd_out_style(out, RD_STYLE_PLAIN);
		}
		rd_out_text(out, "\n");
	}
}

static void put_line(const struct rd_trend *t, const struct rd_trend_row *row, size_t from, size_t room,
		     struct rd_bytes *label, struct rd_out *out)
{
	struct rd_view_method m = rd_method_names_at(&t->names, row->method);
	char share[RD_NUMBER_TEXT];
	size_t at = row->first;

	for (size_t i = 0; i < t->results.n; i++) {
		const struct rd_trend_cell *c = cell_of(t, row, i, &at);
		if (i >= from)
			rd_out_printf(out, "%7s  ",
				      c ? rd_percent_text(rd_trend_count(t, c), t->results.at[i].samples, share) : "-");
	}
	label->n = 0;
	rd_label_within(label, &m, t->tiers, true, room);
	rd_out_name(out, (struct rd_span){label->at, label->n}, room);
	rd_out_text(out, "\n");
}

static void put_head(const struct rd_trend *t, size_t from, struct rd_out *out)
{
	rd_out_style(out, RD_STYLE_HEAD);
	for (size_t i = from; i < t->results.n; i++)
		rd_out_printf(out, "%7zu  ", i + 1);
	rd_out_text(out, rd_group_name(t->group));
	rd_out_style(out, RD_STYLE_PLAIN);
	rd_out_text(out, "\n");
}

int rd_trend_text(const struct rd_trend *t, const struct rd_trend_show *o, struct rd_out *out, struct rd_error *err)
{
	size_t from = first_shown(t, o->columns), used = (t->results.n - from) * CELL_COLUMNS,
	       shown = rd_trend_shown(t, o);
	size_t room = o->columns == 0                          ? 0
		      : o->columns > used + NAME_COLUMNS_LEAST ? o->columns - used
							       : NAME_COLUMNS_LEAST;
	char number[RD_NUMBER_TEXT], of[RD_NUMBER_TEXT];
	struct rd_bytes label = {0};

	put_results(t, from, o, out);
	rd_out_text(out, "\n");
	if (t->rows.n)
		put_head(t, from, out);
	for (size_t i = 0; i < shown; i++)
		put_line(t, &t->rows.at[i], from, room, &label, out);
	rd_out_printf(out, "\n%s of %s rows; percentages are of each result's samples, %s",
		      rd_count_text(shown, number), rd_count_text(t->rows.n, of),
		      t->inclusive ? "inclusive" : "exclusive");
	if (from)
		rd_out_printf(out, "; %zu earlier results have no room here", from);
	rd_out_text(out, "\n");
	int code = label.failed ? rd_fail_nomem(err) : 0;
	rd_bytes_release(&label);
	return code;
}

/* ---- JSON */

/* A number for each result, 0 where the method has none. */
static void put_counts(struct rd_json *j, const struct rd_trend *t, const struct rd_trend_row *row, bool inclusive)
{
	size_t at = row->first;

	rd_json_array(j, inclusive ? "inclusive" : "exclusive");
	for (size_t i = 0; i < t->results.n; i++) {
		const struct rd_trend_cell *c = cell_of(t, row, i, &at);
		rd_json_u64(j, NULL, c == NULL ? 0 : inclusive ? c->count.inclusive : c->count.exclusive);
	}
	rd_json_array_end(j);
}

static void put_result(struct rd_json *j, const struct rd_trend_result *r)
{
	char text[RD_NUMBER_TEXT];

	rd_json_object(j, NULL);
	rd_json_text(j, "path", r->path);
	rd_json_text(j, "start", rd_utc_text(r->start_utc_ns, text));
	rd_json_u64(j, "samples", r->samples);
	rd_json_bool(j, "thread_time", r->thread_time);
	rd_json_bool(j, "complete", r->complete);
	rd_json_object_end(j);
}

int rd_trend_json(const struct rd_trend *t, const struct rd_trend_show *o, struct rd_out *out, struct rd_error *err)
{
	struct rd_json j;

	(void)err;
	rd_json_init(&j, out, true);
	rd_json_object(&j, NULL);
	rd_json_u64(&j, "rundown", 1);
	rd_json_text(&j, "count", t->inclusive ? "inclusive" : "exclusive");
	rd_json_array(&j, "results");
	for (size_t i = 0; i < t->results.n; i++)
		put_result(&j, &t->results.at[i]);
	rd_json_array_end(&j);
	rd_json_u64(&j, "left_out", t->rows.n - rd_trend_shown(t, o));
	rd_json_array(&j, "methods");
	for (size_t i = 0; i < rd_trend_shown(t, o); i++) {
		struct rd_view_method m = rd_method_names_at(&t->names, t->rows.at[i].method);
		rd_json_object(&j, NULL);
		rd_json_names(&j, &m, t->tiers);
		put_counts(&j, t, &t->rows.at[i], false);
		put_counts(&j, t, &t->rows.at[i], true);
		rd_json_object_end(&j);
	}
	rd_json_array_end(&j);
	rd_json_object_end(&j);
	return 0;
}

/* ---- CSV */

static void put_csv(const struct rd_trend *t, const struct rd_trend_cell *c, struct rd_bytes *clean, struct rd_out *out)
{
	struct rd_view_method m = rd_method_names_at(&t->names, c->method);
	const struct rd_trend_result *r = &t->results.at[c->result];
	char text[RD_NUMBER_TEXT];

	rd_csv_cell(out, clean, rd_text_span(r->path));
	rd_out_printf(out, "%s,%llu,", rd_utc_text(r->start_utc_ns, text), (unsigned long long)r->samples);
	rd_csv_names(out, clean, &m, t->tiers);
	rd_out_printf(out, "%llu,%llu\r\n", (unsigned long long)c->count.exclusive,
		      (unsigned long long)c->count.inclusive);
}

int rd_trend_csv(const struct rd_trend *t, const struct rd_trend_show *o, struct rd_out *out, struct rd_error *err)
{
	struct rd_bytes clean = {0};

	rd_out_printf(out, "result,start,samples,module,namespace,name,signature,%sexclusive,inclusive\r\n",
		      t->tiers ? "tier," : "");
	for (size_t i = 0; i < rd_trend_shown(t, o); i++)
		for (size_t k = 0; k < t->rows.at[i].n; k++)
			put_csv(t, &t->cells.at[t->rows.at[i].first + k], &clean, out);
	int code = clean.failed ? rd_fail_nomem(err) : 0;
	rd_bytes_release(&clean);
	return code;
}
