/*
 * top - `rundown top RESULT...`: the hottest methods of several results, night by night.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/report_words.h"
#include "cli/terminal.h"
#include "report/text.h"
#include "report/trend.h"
#include "store/store.h"

#define NAME        "rundown top"
#define TOP_DEFAULT UINT64_MAX
#define TOP_TEXT    20

static const char *const by_words[] = {"result", NULL};

struct words {
	const char *const *paths;
	size_t paths_n;
	const char *output;
	int format, by, count;
	uint64_t top;
	struct rd_view_words view;
	struct rd_people_words people;
	bool strict;
};

/* While results are added. */
struct adding {
	const struct words *words;
	struct rd_view_filter filter;
	struct rd_trend trend;
	int exit_code; /* the worst so far */
	size_t unknown; /* results that have nothing of a name in the filter; */
	struct rd_error why;
};

static const char examples[] =
	"  rundown top --by result /results/shop\n"
	"      the hottest methods of all results in a folder, a column a result\n"
	"  rundown top monday.rundown tuesday.rundown wednesday.rundown --count inclusive --module shop\n"
	"  rundown top /results/shop --format csv -o trend.csv\n"
	"      a line a result and method, for a spreadsheet or a database\n";

static const char notes[] =
	"Results stand in the order in which their traces began. Methods are the same when their names are; processes\n"
	"and runtimes are one. A REGEX is as in `rundown report`. A folder stands for all results right in it, less\n"
	"those that a note says cannot be read.\n"
	"Exit code: 0 all inputs were whole; 1 no answer; 2 wrong usage; 3 one of the results is of an input that was\n"
	"cut, damaged or partly quarantined, or one of a folder cannot be read.\n";

static bool read_words(struct words *w, int argc, char **argv, int *exit_code)
{
	/* clang-format off */
	const struct rd_option own[] = {
		{.name = "by", .argument = "WHAT", .kind = RD_OPT_CHOICE, .target = &w->by, .words = by_words,
		 .help = "a column for each result (the only one there is)"},
		RD_OPTION_FORM(&w->format, rd_table_words),
		RD_OPTION_OUTPUT(&w->output),
		{.name = "count", .argument = "WHICH", .kind = RD_OPT_CHOICE, .target = &w->count,
		 .words = rd_count_words, .help = "which samples of a method count (default exclusive)"},
		{.name = "top", .argument = "N", .kind = RD_OPT_NUMBER, .target = &w->top, .max = UINT64_MAX - 1,
		 .help = "show the N methods with the largest shares of all results together, 0 for all (default: text 20, "
			 "others all)"},
		RD_OPTIONS_PEOPLE(&w->people),
		RD_OPTION_STRICT(&w->strict),
	};
	struct rd_option options[sizeof own / sizeof *own + RD_VIEW_OPTIONS];
	size_t n = sizeof own / sizeof *own;
	memcpy(options, own, sizeof own);
	n += rd_view_options_of_names(&w->view, options + n);
	const struct rd_command_line line = {
		.name = NAME, .words = "RESULT|FOLDER...", .min_words = 1, .max_words = -1,
		.about = "Show the hottest methods of several results of `rundown run` side by side: the trend of each.",
		.options = options, .options_n = n, .examples = examples, .notes = notes,
	};
	/* clang-format on */
	int first;
	if (!rd_options_parse(&line, argc, argv, &first, exit_code))
		return false;
	w->paths = (const char *const *)(argv + first);
	w->paths_n = (size_t)(argc - first);
	return true;
}

/* ---- results */

static int add_view(struct adding *a, const char *path, const struct rd_result *r, struct rd_error *err)
{
	struct rd_view v = {0};
	int code = rd_view_make(&v, r, &a->filter, err);

	if (code == RD_NOT_FOUND) {
		/* It was not there that night: no samples, unless it never was. */
		rd_error_at(err, code, path, RD_NO_OFFSET);
		a->unknown++;
		a->why = *err;
		v.result = r;
		code = 0;
	}
	if (code == 0)
		code = rd_trend_add(&a->trend, path, &v, err);
	rd_view_release(&v);
	return code < 0 ? rd_error_at(err, code, path, RD_NO_OFFSET) : 0;
}

static int add_result(struct adding *a, const char *path, struct rd_error *err)
{
	struct rd_result r = {0};
	int code = rd_store_read(path, &r, err);

	if (code < 0)
		return code;
	int own = rd_exit_of(&r.trust, a->words->strict);
	a->exit_code = own > a->exit_code ? own : a->exit_code;
	code = add_view(a, path, &r, err);
	rd_result_release(&r);
	return code;
}

/* One of a folder's that cannot be read is noted, and the others are shown. */
static int add_or_note(struct adding *a, const char *path, struct rd_error *err)
{
	size_t before = a->trend.results.n;
	int code = add_result(a, path, err);

	if (code == 0 || code == RD_NOMEM || code == RD_USAGE || a->trend.results.n > before)
		return code;
	rd_note_left_out(NAME, path, err);
	a->exit_code = RD_EXIT_INCOMPLETE;
	return 0;
}

/* *found: whether it is a result. */
static int add_entry(struct adding *a, const char *folder, const char *name, bool *found, struct rd_error *err)
{
	char path[4096];

	*found = false;
	if (name[0] == '.')
		return 0;
	int code = rd_path_below(path, sizeof path, err, folder, name);
	*found = code == 0 && rd_store_own(path, NULL) == 0;
	return *found ? add_or_note(a, path, err) : code;
}

static int add_folder(struct adding *a, const char *folder, struct rd_error *err)
{
	struct dirent **names;
	int n = scandir(folder, &names, NULL, alphasort), code = 0;
	bool any = false, found;

	if (n < 0)
		return rd_error_at(err, rd_fail_errno(err, "cannot read the folder"), folder, RD_NO_OFFSET);
	for (int i = 0; i < n; i++) {
		if (code == 0) {
			code = add_entry(a, folder, names[i]->d_name, &found, err);
			any = any || found;
		}
		free(names[i]);
	}
	free(names);
	if (code == 0 && !any)
		code = rd_error_at(err, rd_fail(err, RD_NOT_FOUND, "neither a result nor a folder with one right in it"),
				   folder, RD_NO_OFFSET);
	return code;
}

static int add_all(struct adding *a, struct rd_error *err)
{
	const struct words *w = a->words;
	int code = 0;

	for (size_t i = 0; code == 0 && i < w->paths_n; i++)
		code = rd_store_own(w->paths[i], NULL) == 0 || !rd_is_folder(w->paths[i])
			       ? add_result(a, w->paths[i], err)
			       : add_folder(a, w->paths[i], err);
	if (code == 0 && a->trend.results.n == 0)
		code = rd_fail(err, RD_NOT_FOUND, "no result can be read");
	if (code == 0 && a->unknown == a->trend.results.n) {
		*err = a->why;
		code = err->code;
	}
	return code < 0 ? code : rd_trend_seal(&a->trend, err);
}

/* ---- the answer */

/* Shares of thread time and of CPU time say different things. */
static void note_kinds(const struct rd_trend *t)
{
	size_t thread = 0, some = 0;

	for (size_t i = 0; i < t->results.n; i++) {
		thread += t->results.at[i].thread_time;
		some += t->results.at[i].samples > 0;
	}
	if (thread > 0 && thread < some)
		rd_note(NAME, "%zu of %zu results have samples of thread time: they count something else than the others",
			thread, some);
}

static int show(const struct adding *a, struct rd_error *err)
{
	const struct words *w = a->words;
	struct rd_output o;
	int code = rd_output_open(&o, w->output, err);

	if (code < 0)
		return code;
	struct rd_trend_show s = {.top = w->top == TOP_DEFAULT ? 0 : (size_t)w->top};
	if (w->format == RD_TABLE_JSON)
		code = rd_trend_json(&a->trend, &s, &o.out, err);
	else if (w->format == RD_TABLE_CSV)
		code = rd_trend_csv(&a->trend, &s, &o.out, err);
	else if ((code = rd_output_for_people(&o, &w->people, err)) == 0) {
		s.top = w->top == TOP_DEFAULT ? TOP_TEXT : s.top;
		s.columns = o.columns;
		code = rd_trend_text(&a->trend, &s, &o.out, err);
	}
	int closed = rd_output_close(&o, code == 0, err);
	return code < 0 ? code : closed;
}

int rd_cmd_top(int argc, char **argv)
{
	struct words w = {.top = TOP_DEFAULT, .view = RD_VIEW_NO_WORDS};
	struct adding a = {.words = &w};
	struct rd_error err;
	int exit_code = 0;

	rd_error_clear(&err);
	if (!read_words(&w, argc, argv, &exit_code))
		return exit_code;
	rd_view_words_filter(&w.view, &a.filter);
	rd_trend_init(&a.trend, w.count == RD_COUNT_INCLUSIVE);
	int code = add_all(&a, &err);
	if (code == 0) {
		note_kinds(&a.trend);
		code = show(&a, &err);
	}
	rd_trend_release(&a.trend);
	return code < 0 ? rd_complain(NAME, &err) : a.exit_code;
}
