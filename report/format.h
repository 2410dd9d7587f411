/*
 * format - the forms of a report: a row each.
 *
 * A new form is a file with a writer and a row in report/format.c.
 */
#ifndef RD_REPORT_FORMAT_H
#define RD_REPORT_FORMAT_H

#include "base/out.h"
#include "report/view.h"

struct rd_report_options {
	size_t top;         /* rows of methods; 0 all */
	bool stacks;        /* json: the stacks too */
	bool stats;         /* text and json: what the work was made of (report/stats.h) */
	unsigned columns;   /* text: of the terminal; 0 no limit */
	const char *folder; /* text: paths below it are shown from there; NULL: all are absolute */
};

struct rd_report_format {
	const char *name;
	size_t top;       /* rows of methods when nobody says how many; 0 all */
	bool has_rows;    /* it shows rows of methods: --top and --sort mean something */
	bool has_stacks;  /* it shows stacks: --inverted means something */
	bool has_threads; /* it tells threads apart whatever is asked: --by thread says nothing */
	bool is_binary;   /* nothing for a terminal */
	/* Fails for memory only; errors of writing are sticky in out. */
	int (*write)(const struct rd_view *v, const struct rd_report_options *o, struct rd_out *out,
		     struct rd_error *err);
};

/* By number from 0, NULL past the end. The first is the default. */
const struct rd_report_format *rd_report_format(size_t i);

int rd_report_json(const struct rd_view *v, const struct rd_report_options *o, struct rd_out *out,
		   struct rd_error *err);
int rd_report_html(const struct rd_view *v, const struct rd_report_options *o, struct rd_out *out,
		   struct rd_error *err);
int rd_report_csv(const struct rd_view *v, const struct rd_report_options *o, struct rd_out *out, struct rd_error *err);
int rd_report_folded(const struct rd_view *v, const struct rd_report_options *o, struct rd_out *out,
		     struct rd_error *err);
int rd_report_pprof(const struct rd_view *v, const struct rd_report_options *o, struct rd_out *out,
		    struct rd_error *err);
int rd_report_speedscope(const struct rd_view *v, const struct rd_report_options *o, struct rd_out *out,
			 struct rd_error *err);
int rd_report_prom(const struct rd_view *v, const struct rd_report_options *o, struct rd_out *out, struct rd_error *err);
int rd_report_sqlite(const struct rd_view *v, const struct rd_report_options *o, struct rd_out *out,
		     struct rd_error *err);

/* How many of the view's rows a form shows. */
static inline size_t rd_report_rows(const struct rd_view *v, const struct rd_report_options *o)
{
	return o->top && o->top < v->rows.n ? o->top : v->rows.n;
}

#endif
