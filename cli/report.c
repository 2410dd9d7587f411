/*
 * report - `rundown report RESULT`: show a result.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/job_top.h"
#include "cli/output.h"
#include "cli/report_words.h"
#include "net/validate.h"
#include "profile/merge.h"
#include "report/people.h"
#include "report/text.h"
#include "store/store.h"

#define NAME RD_REPORT_NAME

static void note_widened(const struct rd_view *v)
{
	char range[RD_RANGE_TEXT], width[RD_NUMBER_TEXT];

	if (v->widened)
		rd_note(NAME, "the time is widened to whole buckets of %s s: %s",
			rd_seconds_text((int64_t)v->result->bucket_width_ns, width),
			rd_range_text(v->has_from, v->from_ns, v->has_to, v->to_ns, range));
}

/* An empty answer is an answer, but more often a mistake: what there is instead. */
static void note_nothing(const struct rd_view *v)
{
	const struct rd_result *r = v->result;
	uint64_t width = r->bucket_width_ns;
	char number[RD_NUMBER_TEXT], from[RD_NUMBER_TEXT], to[RD_NUMBER_TEXT];

	if (v->samples > 0 || r->samples == 0)
		return;
	rd_count_text(r->samples, number);
	if (v->cut_in_time)
		rd_note(NAME, "no sample passes the filter; the %s there are lie from %s s to %s s", number,
			rd_seconds_text((int64_t)(r->first_bucket * width), from),
			rd_seconds_text((int64_t)((r->last_bucket + UINT64_C(1)) * width), to));
	else
		rd_note(NAME, "no sample passes the filter, of the %s there are", number);
}

static int write_report(const struct rd_report_words *w, const struct rd_result *r, struct rd_output *o,
			struct rd_error *err)
{
	const struct rd_report_format *format = rd_report_words_format(w);
	struct rd_report_options options = {.top = w->top == RD_REPORT_TOP_DEFAULT ? format->top : (size_t)w->top,
					    .stacks = w->stacks,
					    .stats = w->stats};
	struct rd_view_filter filter;
	struct rd_view v;
	char folder[4096];

	if (format->is_binary && isatty(o->out.fd))
		return rd_fail(err, RD_USAGE, "--format %s is nothing for a terminal: name a file with -o",
			       format->name);
	rd_view_words_filter(&w->view, &filter);
	filter.sort = w->sort < 0 ? RD_SORT_EXCLUSIVE : (enum rd_sort)w->sort;
	int code = rd_view_make(&v, r, &filter, err);
	if (code < 0)
		return code;
	note_widened(&v);
	note_nothing(&v);
	options.folder = getcwd(folder, sizeof folder);
	if (format == rd_report_format(0))
		code = rd_output_for_people(o, &w->people, err);
	options.columns = o->columns;
	if (code == 0)
		code = format->write(&v, &options, &o->out, err);
	rd_view_release(&v);
	return code;
}

static int write_digest(const struct rd_result *r, struct rd_output *o, struct rd_error *err)
{
	char digest[33];
	int code = rd_result_digest(r, digest, err);

	if (code == 0)
		rd_out_printf(&o->out, "%s\n", digest);
	return code;
}

/* All of them as one, which is released by the caller. */
static int read_all(const char *const *paths, size_t n, struct rd_result *out, struct rd_error *err)
{
	struct rd_result one;

	if (n == 1)
		return rd_store_read(paths[0], out, err);
	for (size_t i = 0; i < n; i++) {
		int code = rd_store_read(paths[i], &one, err);
		if (code < 0)
			return code;
		code = rd_result_merge(out, &one, err);
		rd_result_release(&one);
		if (code < 0)
			return rd_error_at(err, code, paths[i], RD_NO_OFFSET);
	}
	return 0;
}

static int report_results(const struct rd_report_words *w, const char *const *paths, size_t n, struct rd_error *err)
{
	struct rd_result r = {0};
	struct rd_output o;

	if (read_all(paths, n, &r, err) < 0) {
		rd_result_release(&r);
		return rd_complain(NAME, err);
	}
	int exit_code = rd_exit_of(&r.trust, w->strict);
	int code = rd_output_open(&o, w->output, err);
	if (code == 0) {
		code = w->digest ? write_digest(&r, &o, err) : write_report(w, &r, &o, err);
		int closed = rd_output_close(&o, code == 0, err);
		code = code < 0 ? code : closed;
	}
	rd_result_release(&r);
	return code < 0 ? rd_complain(NAME, err) : exit_code;
}

/* Of a job that runs: what is known so far. */
static int report_early(const struct rd_report_words *w, struct rd_error *err)
{
	const struct rd_report_format *format = rd_report_words_format(w);
	uint64_t top = w->top == RD_REPORT_TOP_DEFAULT ? format->top : w->top;
	struct rd_output o;
	int exit_code = rd_report_words_early(w);

	if (exit_code)
		return exit_code;
	if (top == 0 || top > RD_TOP_MAX)
		top = RD_TOP_MAX;
	int code = rd_output_open(&o, w->output, err);
	if (code == 0) {
		code = rd_job_top(&w->client, w->results[0], (uint32_t)top, format->write == rd_report_json, &o.out, err);
		int closed = rd_output_close(&o, code == 0, code < 0 ? NULL : err);
		code = code < 0 ? code : closed;
	}
	return code < 0 ? rd_complain(NAME, err) : RD_EXIT_OK;
}

static int report_job(const struct rd_report_words *w, struct rd_error *err)
{
	char path[RD_PATH_MAX + 1];
	int there = rd_job_result_path(&w->client, w->results[0], path, sizeof path, err);

	if (there < 0)
		return rd_complain(NAME, err);
	return there ? report_results(w, (const char *const[]){path}, 1, err) : report_early(w, err);
}

int rd_cmd_report(int argc, char **argv)
{
	struct rd_report_words w = {
		.format = -1,
		.sort = -1,
		.top = RD_REPORT_TOP_DEFAULT,
		.view = RD_VIEW_NO_WORDS,
		.client = rd_client_words(),
	};
	struct rd_error err;
	int exit_code;

	rd_error_clear(&err);
	/* What the environment says of a broker makes no job of a result. */
	w.client.broker = NULL;
	if (!rd_report_words(&w, argc, argv, &exit_code))
		return exit_code;
	return w.client.broker ? report_job(&w, &err) : report_results(&w, w.results, w.results_n, &err);
}
