/*
 * diff_show - the forms of a difference.
 */
#ifndef RD_REPORT_DIFF_SHOW_H
#define RD_REPORT_DIFF_SHOW_H

#include "base/out.h"
#include "report/diff.h"
#include "report/json_parts.h"

struct rd_diff_show {
	size_t top;          /* rows; 0 all */
	unsigned columns;    /* text: of the terminal; 0 no limit */
	const char *path[2]; /* of the results, as the user gave them */
	bool has_limit;      /* --fail-over: */
	uint32_t limit;      /* in millionths */
};

/* Fail for memory only; errors of writing are sticky in out. */
int rd_diff_text(const struct rd_diff *d, const struct rd_diff_show *o, struct rd_out *out, struct rd_error *err);
int rd_diff_json(const struct rd_diff *d, const struct rd_diff_show *o, struct rd_out *out, struct rd_error *err);
int rd_diff_csv(const struct rd_diff *d, const struct rd_diff_show *o, struct rd_out *out, struct rd_error *err);

/*
 * Of a difference by method: a page, as `report --format html`, with the stacks of both sides for its flame graph. No
 * name in it can end the element that holds it.
 */
int rd_diff_html(const struct rd_diff *d, const struct rd_diff_show *o, struct rd_out *out, struct rd_error *err);
/* The object of rd_diff_json, as a member or (NULL) as the whole. */
int rd_diff_object(struct rd_json *j, const char *key, const struct rd_diff *d, const struct rd_diff_show *o,
		   struct rd_error *err);

/* Append a row's name: a method's label, or the labels of a stack, root first. */
void rd_diff_label(struct rd_bytes *b, const struct rd_diff *d, const struct rd_diff_row *row, const char *between);
/* "samples", "time", "none". */
const char *rd_diff_norm_name(enum rd_diff_norm norm);
static inline size_t rd_diff_shown(const struct rd_diff *d, const struct rd_diff_show *o)
{
	return o->top && o->top < d->rows.n ? o->top : d->rows.n;
}

#endif
