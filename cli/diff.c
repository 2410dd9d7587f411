/*
 * diff - `rundown diff BEFORE AFTER`: two results side by side.
 */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/report_words.h"
#include "cli/terminal.h"
#include "report/diff_show.h"
#include "report/label.h"
#include "report/text.h"
#include "store/store.h"

#define NAME        "rundown diff"
#define TOP_DEFAULT UINT64_MAX
#define TOP_TEXT    30

enum { FORMAT_HTML = RD_TABLE_CSV + 1 };
static const char *const format_words[] = {
	[RD_TABLE_TEXT] = "text", [RD_TABLE_JSON] = "json", [RD_TABLE_CSV] = "csv", [FORMAT_HTML] = "html", NULL};
enum { BY_METHOD, BY_STACK };
static const char *const by_words[] = {"method", "stack", NULL};
static const char *const norm_words[] = {"samples", "time", "none", NULL};

struct words {
	const char *path[2], *output;
	int format, by, count, norm; /* by: -1 not given */
	uint64_t top;
	struct rd_share fail_over, min;
	struct rd_view_words view;
	struct rd_people_words people;
	bool strict;
};

static const char examples[] =
	"  rundown diff monday.rundown tuesday.rundown\n"
	"      the methods whose share of all samples changed most, and whether that is more than noise\n"
	"  rundown diff monday.rundown tuesday.rundown --count inclusive --group module --process shop\n"
	"  rundown diff base.rundown new.rundown --fail-over 5% --normalise time -o diff.txt || exit 1\n"
	"      a gate: exit code 4 when a method costs more than 5 % of all before in addition\n"
	"  rundown diff monday.rundown tuesday.rundown --format html -o diff.html\n"
	"      a page with a flame graph in which red grew and blue shrank, for any browser\n"
	"  rundown diff base.rundown new.rundown --format json | jq '.methods[] | select(.significant)'\n";

static const char notes[] =
	"Methods are the same when their names are; processes and runtimes are one. A REGEX is as in `rundown "
	"report`.\n"
	"Exit code: 0 both inputs were whole; 1 no difference could be made; 2 wrong usage; 3 one of the results is "
	"of\n"
	"an input that was cut, damaged or partly quarantined; 4 something is worse than --fail-over allows.\n";

/* Words that are right each but say nothing together. */
static int check(const struct words *w)
{
	bool html = w->format == FORMAT_HTML;

	if (w->fail_over.given && w->fail_over.count)
		return rd_usage(NAME, "--fail-over is a part of all, such as 5%%");
	if (w->min.millionths > 1000000)
		return rd_usage(NAME, "--min: more than 100 %%");
	if (html && (w->by >= 0 || w->top != TOP_DEFAULT || w->min.given || w->view.inverted))
		return rd_usage(NAME, "--%s does not go with --format html: the page has all methods and all stacks",
				w->by >= 0              ? "by"
				: w->top != TOP_DEFAULT ? "top"
				: w->min.given          ? "min"
							: "inverted");
	if (w->view.inverted && w->by != BY_STACK)
		return rd_usage(NAME, "--inverted turns stacks around: it goes with --by stack");
	return 0;
}

static bool read_words(struct words *w, int argc, char **argv, int *exit_code)
{
	/* clang-format off */
	const struct rd_option own[] = {
		RD_OPTION_FORM(&w->format, format_words),
		RD_OPTION_OUTPUT(&w->output),
		{.name = "by", .argument = "WHAT", .kind = RD_OPT_CHOICE, .target = &w->by, .words = by_words,
		 .help = "compare methods, or whole stacks (default method)"},
		{.name = "count", .argument = "WHICH", .kind = RD_OPT_CHOICE, .target = &w->count,
		 .words = rd_count_words, .help = "which samples of a method are compared (default exclusive)"},
		{.name = "normalise", .argument = "BY", .kind = RD_OPT_CHOICE, .target = &w->norm,
		 .words = norm_words, .help = "what makes counts comparable: shares of all samples, samples a second "
			 "of what was recorded, or nothing (default samples)"},
		{.name = "top", .argument = "N", .kind = RD_OPT_NUMBER, .target = &w->top, .max = UINT64_MAX - 1,
		 .help = "show the N largest differences, 0 for all (default: text 30, others all)"},
		{.name = "fail-over", .argument = "PART", .kind = RD_OPT_SHARE, .target = &w->fail_over,
		 .help = "exit code 4 when something grew by more than this part of all before, as 5%, and by more "
			 "than noise"},
		{.name = "min", .argument = "SHARE", .kind = RD_OPT_SHARE, .target = &w->min,
		 .help = "leave out what has fewer inclusive samples on both sides: 10, or 0.5% of the side's"},
		{.name = "inverted", .kind = RD_OPT_FLAG, .target = &w->view.inverted,
		 .help = "stacks from the innermost frame out"},
		RD_OPTIONS_PEOPLE(&w->people),
		RD_OPTION_STRICT(&w->strict),
	};
	struct rd_option options[sizeof own / sizeof *own + RD_VIEW_OPTIONS];
	size_t n = sizeof own / sizeof *own;
	memcpy(options, own, sizeof own);
	n += rd_view_options_of_names(&w->view, options + n);
	const struct rd_command_line line = {
		.name = NAME, .words = "BEFORE AFTER", .min_words = 2, .max_words = 2,
		.about = "Compare two results of `rundown run`: what costs more or less, and whether that is more than noise.",
		.options = options, .options_n = n, .examples = examples, .notes = notes,
	};
	/* clang-format on */
	int first;
	if (!rd_options_parse(&line, argc, argv, &first, exit_code))
		return false;
	w->path[RD_BEFORE] = argv[first];
	w->path[RD_AFTER] = argv[first + 1];
	*exit_code = check(w);
	return *exit_code == 0;
}

/* Percentages of thread time and of CPU time say different things. */
static void note_kinds(const struct rd_view views[2])
{
	bool thread[2], cpu[2];

	for (int at = 0; at < 2; at++) {
		thread[at] = rd_view_has_thread_time(&views[at]);
		cpu[at] = views[at].kinds[RD_SAMPLE_CPU] != 0;
	}
	if (views[0].samples && views[1].samples && (thread[0] != thread[1] || cpu[0] != cpu[1]))
		rd_note(NAME,
			"one result has samples of thread time and the other has not: they count different things");
	for (int at = 0; at < 2; at++)
		if (views[at].samples == 0)
			rd_note(NAME, "the %s result has no samples%s", at == RD_BEFORE ? "first" : "second",
				views[at].filtered ? " that pass the filter" : "");
}

/* Whether the gate holds, and what does not pass it. */
static bool is_worse(const struct words *w, const struct rd_diff *d)
{
	const struct rd_diff_row *row;
	struct rd_bytes label = {0};

	if (!w->fail_over.given || !rd_diff_is_worse(d, w->fail_over.millionths, &row))
		return false;
	if (row == &d->all)
		rd_bytes_append(&label, "all samples", 11);
	else
		rd_diff_label(&label, d, row, " > ");
	rd_line("worse", NAME, "", "worse: %.*s: %+.1f %% of all, more than %.4g %%",
		(int)(label.n > 600 ? 600 : label.n), label.at ? (const char *)label.at : "", row->difference * 100,
		(double)w->fail_over.millionths / 1e4);
	rd_bytes_release(&label);
	return true;
}

static int write_diff(const struct words *w, const struct rd_diff *d, struct rd_output *o, struct rd_error *err)
{
	struct rd_diff_show show = {.top = w->top == TOP_DEFAULT ? 0 : (size_t)w->top,
				    .path = {w->path[0], w->path[1]},
				    .has_limit = w->fail_over.given,
				    .limit = w->fail_over.millionths};

	if (w->format == RD_TABLE_JSON)
		return rd_diff_json(d, &show, &o->out, err);
	if (w->format == RD_TABLE_CSV)
		return rd_diff_csv(d, &show, &o->out, err);
	if (w->format == FORMAT_HTML)
		return rd_diff_html(d, &show, &o->out, err);
	int code = rd_output_for_people(o, &w->people, err);
	if (code < 0)
		return code;
	show.columns = o->columns;
	if (w->top == TOP_DEFAULT)
		show.top = TOP_TEXT;
	return rd_diff_text(d, &show, &o->out, err);
}

/* The views are made. 0 or a code; *worse: what the gate says. */
static int compare(const struct words *w, const struct rd_view views[2], bool *worse, struct rd_error *err)
{
	struct rd_diff_options options = {.by = w->by == BY_STACK ? RD_DIFF_STACKS : RD_DIFF_METHODS,
					  .count = (enum rd_diff_count)w->count,
					  .norm = (enum rd_diff_norm)w->norm,
					  .min_samples = w->min.count,
					  .min_millionths = w->min.millionths};
	struct rd_output o;
	struct rd_diff d;
	int code = rd_diff_make(&d, &views[RD_BEFORE], &views[RD_AFTER], &options, err);

	if (code < 0)
		return code;
	note_kinds(views);
	code = rd_output_open(&o, w->output, err);
	if (code == 0) {
		code = write_diff(w, &d, &o, err);
		int closed = rd_output_close(&o, code == 0, err);
		code = code < 0 ? code : closed;
	}
	if (code == 0)
		*worse = is_worse(w, &d);
	rd_diff_release(&d);
	return code;
}

static int look(const struct words *w, const struct rd_result results[2], struct rd_view views[2], struct rd_error *err)
{
	struct rd_view_filter filter;

	rd_view_words_filter(&w->view, &filter);
	for (int at = 0; at < 2; at++) {
		int code = rd_view_make(&views[at], &results[at], &filter, err);
		if (code < 0)
			return rd_error_at(err, code, w->path[at], RD_NO_OFFSET);
	}
	return 0;
}

int rd_cmd_diff(int argc, char **argv)
{
	struct words w = {.top = TOP_DEFAULT, .by = -1, .view = RD_VIEW_NO_WORDS};
	struct rd_result results[2];
	struct rd_view views[2];
	struct rd_error err;
	bool worse = false;
	int exit_code = 0, code = 0, read = 0;

	rd_error_clear(&err);
	memset(views, 0, sizeof views);
	if (!read_words(&w, argc, argv, &exit_code))
		return exit_code;
	for (; read < 2 && code == 0; read += code == 0)
		code = rd_store_read(w.path[read], &results[read], &err);
	if (code == 0)
		code = look(&w, results, views, &err);
	if (code == 0)
		code = compare(&w, views, &worse, &err);
	for (int at = 0; at < read; at++) {
		int own = rd_exit_of(&results[at].trust, w.strict);
		exit_code = own > exit_code ? own : exit_code;
		rd_view_release(&views[at]);
		rd_result_release(&results[at]);
	}
	if (code < 0)
		return rd_complain(NAME, &err);
	return worse ? RD_EXIT_WORSE : exit_code;
}
