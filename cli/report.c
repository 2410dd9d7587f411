/*
 * report - `rundown report RESULT`: show a result.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"
#include "report/format.h"
#include "report/people.h"
#include "report/text.h"
#include "store/store.h"

#define NAME        "rundown report"
/* --top: nobody said. */
#define TOP_DEFAULT UINT64_MAX

struct words {
	const char *result, *output, *process;
	int format, kind, sort; /* -1: not given */
	uint64_t top;
	struct rd_moment from, to;
	bool tiers, digest, strict;
};

static const char *const kind_words[] = {"cpu", "managed", "external", NULL};
static const char *const sort_words[] = {"exclusive", "inclusive", "name", NULL};

static const char examples[] =
	"  rundown report shop.nettrace.rundown\n"
	"      the 30 methods in which most samples fell, and how far the numbers can be trusted\n"
	"  rundown report shop.nettrace.rundown --sort inclusive --top 100 --process shop\n"
	"  rundown report shop.nettrace.rundown --from 10 --to 12.5 --format folded -o stacks.txt\n"
	"      stacks of the seconds 10 to 12.5, for a flame graph\n"
	"  rundown report shop.nettrace.rundown --format json | jq '.methods[:3]'\n";

static const char notes[] =
	"Exit code: 0 the input was whole; 1 no report; 2 wrong usage; 3 a report of an input that was cut,\n"
	"damaged or partly quarantined.\n";

/* true: go on. */
static bool read_words(struct words *w, int argc, char **argv, int *exit_code)
{
	const char *format_words[16];
	size_t n = 0;
	for (; rd_report_format(n) && n < 15; n++)
		format_words[n] = rd_report_format(n)->name;
	format_words[n] = NULL;

	/* clang-format off */
	const struct rd_option options[] = {
		{.name = "format", .argument = "FORM", .help = "the form of the report (default text)",
		 .kind = RD_OPT_CHOICE, .target = &w->format, .words = format_words},
		{.name = "output", .letter = 'o', .argument = "FILE", .kind = RD_OPT_TEXT, .target = &w->output,
		 .help = "write to FILE, which appears whole or not at all"},
		{.name = "top", .argument = "N", .kind = RD_OPT_NUMBER, .target = &w->top, .max = UINT64_MAX - 1,
		 .help = "show N methods, 0 for all (default: text 30, others all)"},
		{.name = "sort", .argument = "BY", .kind = RD_OPT_CHOICE, .target = &w->sort, .words = sort_words,
		 .help = "order of methods (default exclusive)"},
		{.name = "process", .argument = "NAME|PID", .kind = RD_OPT_TEXT, .target = &w->process,
		 .help = "only samples of this process"},
		{.name = "kind", .argument = "KIND", .kind = RD_OPT_CHOICE, .target = &w->kind, .words = kind_words,
		 .help = "only samples of this kind"},
		{.name = "from", .argument = "TIME", .kind = RD_OPT_MOMENT, .target = &w->from,
		 .help = "only samples since TIME: seconds from the start, or ISO 8601 (UTC unless it has a zone); "
			 "widened to whole time buckets"},
		{.name = "to", .argument = "TIME", .kind = RD_OPT_MOMENT, .target = &w->to,
		 .help = "only samples before TIME, likewise"},
		{.name = "tiers", .kind = RD_OPT_FLAG, .target = &w->tiers,
		 .help = "a row for each compilation tier of a method"},
		{.name = "digest", .kind = RD_OPT_FLAG, .target = &w->digest,
		 .help = "only one line of 32 hex digits, equal for equal contents"},
		{.name = "strict", .kind = RD_OPT_FLAG, .target = &w->strict,
		 .help = "exit code 3 for lost events too"},
	};
	const struct rd_command_line line = {
		.name = NAME, .words = "RESULT", .min_words = 1, .max_words = 1,
		.about = "Show a result of `rundown run`: the hottest methods, or all of it in a form for other tools.",
		.options = options, .options_n = sizeof options / sizeof *options,
		.examples = examples, .notes = notes,
	};
	/* clang-format on */
	int first;
	if (!rd_options_parse(&line, argc, argv, &first, exit_code))
		return false;
	w->result = argv[first];
	return true;
}

/* Words that are right each but say nothing together. */
static int check_words(const struct words *w)
{
	const struct rd_report_format *format = rd_report_format((size_t)(w->format < 0 ? 0 : w->format));
	const char *off = w->top != TOP_DEFAULT ? "top" : w->sort >= 0 ? "sort" : w->tiers ? "tiers" : NULL;
	bool filtered = w->process || w->kind >= 0 || w->from.given || w->to.given;

	if (w->digest && (w->format >= 0 || off || filtered))
		return rd_usage(NAME, "--digest is of the whole result: no form, order or filter goes with it");
	if (!w->digest && off && !format->has_methods)
		return rd_usage(NAME, "--%s does not go with --format %s", off, format->name);
	return 0;
}

static void filter_of(const struct words *w, struct rd_view_filter *f)
{
	/* clang-format off */
	*f = (struct rd_view_filter){
		.process = w->process, .kind = w->kind, .tiers = w->tiers,
		.sort = w->sort < 0 ? RD_SORT_EXCLUSIVE : (enum rd_sort)w->sort,
		.has_from = w->from.given, .from_is_utc = w->from.is_utc, .from_ns = w->from.ns,
		.has_to = w->to.given, .to_is_utc = w->to.is_utc, .to_ns = w->to.ns,
	};
	/* clang-format on */
}

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
		rd_note(NAME, "no sample passes the filter; there are %s of other kinds", number);
}

static int write_report(const struct words *w, const struct rd_result *r, struct rd_output *o, struct rd_error *err)
{
	const struct rd_report_format *format = rd_report_format((size_t)(w->format < 0 ? 0 : w->format));
	struct rd_report_options options = {.top = w->top == TOP_DEFAULT ? format->top : (size_t)w->top};
	struct rd_view_filter filter;
	struct rd_view v;
	char folder[4096];

	filter_of(w, &filter);
	int code = rd_view_make(&v, r, &filter, err);
	if (code < 0)
		return code;
	note_widened(&v);
	note_nothing(&v);
	options.columns = rd_terminal_columns(o->out.fd);
	options.folder = getcwd(folder, sizeof folder);
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

int rd_cmd_report(int argc, char **argv)
{
	struct words w = {.format = -1, .kind = -1, .sort = -1, .top = TOP_DEFAULT};
	struct rd_result r;
	struct rd_output o;
	struct rd_error err;
	int exit_code;

	rd_error_clear(&err);
	if (!read_words(&w, argc, argv, &exit_code))
		return exit_code;
	if ((exit_code = check_words(&w)) != 0)
		return exit_code;
	if (rd_store_read(w.result, &r, &err) < 0)
		return rd_complain(NAME, &err);
	exit_code = rd_exit_of(&r.trust, w.strict);
	int code = rd_output_open(&o, w.output, &err);
	if (code == 0) {
		code = w.digest ? write_digest(&r, &o, &err) : write_report(&w, &r, &o, &err);
		int closed = rd_output_close(&o, code == 0, &err);
		code = code < 0 ? code : closed;
	}
	rd_result_release(&r);
	return code < 0 ? rd_complain(NAME, &err) : exit_code;
}
