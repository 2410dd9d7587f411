#include "cli/report_words.h"

#include <string.h>

#include "cli/command.h"

#define NAME RD_REPORT_NAME

const char *const rd_table_words[] = {[RD_TABLE_TEXT] = "text", [RD_TABLE_JSON] = "json", [RD_TABLE_CSV] = "csv", NULL};
const char *const rd_count_words[] = {[RD_COUNT_EXCLUSIVE] = "exclusive", [RD_COUNT_INCLUSIVE] = "inclusive", NULL};

static const char *const kind_words[] = {"cpu", "managed", "external", NULL};
static const char *const sort_words[] = {"exclusive", "inclusive", "name", "direct", NULL};
/* In the order of enum rd_group, from its second on. */
static const char *const group_words[] = {"module", "namespace", "type", "tier", "process", NULL};
enum { BY_METHOD, BY_THREAD };
static const char *const by_words[] = {"method", "thread", NULL};

static const char examples[] =
	"  rundown report shop.nettrace.rundown\n"
	"      the 30 methods in which most samples fell, and how far the numbers can be trusted\n"
	"  rundown report shop.nettrace.rundown --sort inclusive --top 100 --process shop\n"
	"  rundown report shop.nettrace.rundown --from 10 --to 12.5 --format folded -o stacks.txt\n"
	"      stacks of the seconds 10 to 12.5, for a flame graph\n"
	"  rundown report shop.nettrace.rundown --focus '^shop!' --hide '^System' --group type\n"
	"      where the shop's own code spends its time, without the framework's frames, by class\n"
	"  rundown report shop.nettrace.rundown --callers 'Regex\\.Match\\(' --min 1%\n"
	"      who calls Regex.Match, directly and from further out\n"
	"  rundown report shop.nettrace.rundown --format html -o shop.html\n"
	"      a page with a flame graph, for any browser\n"
	"  rundown report shop.nettrace.rundown --format pprof -o shop.pb.gz && go tool pprof -top shop.pb.gz\n"
	"  rundown report shop.nettrace.rundown --format json | jq '.methods[:3]'\n"
	"  rundown report nights/*.rundown --group process\n"
	"      several results as one\n"
	"  rundown report --broker ipc:///run/rundown/broker 1f2e3d4c-7\n"
	"      what a job found so far, marked as preliminary\n";

static const char notes[] =
	"A REGEX is a POSIX extended one, looked for anywhere in module!Namespace.Type.Method(arguments); case "
	"counts.\n"
	"Exit code: 0 the input was whole; 1 no report; 2 wrong usage; 3 a report of an input that was cut,\n"
	"damaged or partly quarantined.\n";

const struct rd_report_format *rd_report_words_format(const struct rd_report_words *w)
{
	return rd_report_format((size_t)(w->format < 0 ? 0 : w->format));
}

static bool is_filtered(const struct rd_view_words *w)
{
	return w->process || w->module || w->focus || w->ignore || w->hide || w->callers || w->callees ||
	       w->thread != RD_NO_THREAD || w->trace || w->kind >= 0 || w->group >= 0 || w->by >= 0 || w->from.given ||
	       w->to.given || w->min.given || w->inverted;
}

/* What is of one result only. */
static int check_several(const struct rd_report_words *w)
{
	const char *alone = w->client.broker	 ? "broker"
			    : w->digest		 ? "digest"
			    : w->stats		 ? "stats"
			    : w->view.from.given ? "from"
			    : w->view.to.given	 ? "to"
						 : NULL;

	return w->results_n > 1 && alone ? rd_usage(NAME, "--%s goes with one result only", alone) : 0;
}

/* Words that are right each but say nothing together. */
static int check(const struct rd_report_words *w)
{
	const struct rd_report_format *format = rd_report_words_format(w);
	const struct rd_view_words *v = &w->view;
	const char *rows_only = w->top != RD_REPORT_TOP_DEFAULT ? "top" : w->sort >= 0 ? "sort" : NULL;
	bool stacks = format->has_stacks || w->stacks;

	if (w->digest && (w->format >= 0 || rows_only || v->tiers || w->stacks || w->stats || is_filtered(v)))
		return rd_usage(NAME, "--digest is of the whole result: no form, order or filter goes with it");
	if (w->digest)
		return 0;
	if (w->stacks && format->write != rd_report_json)
		return rd_usage(NAME, "--stacks does not go with --format %s", format->name);
	if (w->stats && format->write != rd_report_json && format != rd_report_format(0))
		return rd_usage(NAME, "--stats does not go with --format %s", format->name);
	if (rows_only && !format->has_rows)
		return rd_usage(NAME, "--%s does not go with --format %s", rows_only, format->name);
	if (v->inverted && !stacks)
		return rd_usage(NAME, "--inverted turns stacks around: it does not go with --format %s%s", format->name,
				format->write == rd_report_json ? " without --stacks" : "");
	if (v->by == BY_THREAD && format->has_threads)
		return rd_usage(NAME, "--by thread does not go with --format %s, which tells threads apart by itself",
				format->name);
	if (w->sort == RD_SORT_DIRECT && v->callers == NULL && v->callees == NULL)
		return rd_usage(NAME, "--sort direct needs --callers or --callees");
	if (v->min.millionths > 1000000)
		return rd_usage(NAME, "--min: more than 100 %%");
	return 0;
}

int rd_report_words_early(const struct rd_report_words *w)
{
	const struct rd_report_format *format = rd_report_words_format(w);

	if (w->sort >= 0 || w->digest || w->stacks || w->stats || w->view.tiers || is_filtered(&w->view) ||
	    (format->write != rd_report_json && format != rd_report_format(0)))
		return rd_usage(NAME, "the job still runs: of it there are --format text and json, --top and --output");
	return 0;
}

size_t rd_view_options(struct rd_view_words *v, struct rd_option *to)
{
	/* clang-format off */
	const struct rd_option rows[] = {
		{.name = "process", .argument = "NAME|PID", .kind = RD_OPT_TEXT, .target = &v->process,
		 .help = "only samples of this process"},
		{.name = "trace", .argument = "N", .kind = RD_OPT_NUMBER, .target = &v->trace, .min = 1,
		 .max = UINT32_MAX, .help = "only samples of this one of several traces, by the number in the heading"},
		{.name = "thread", .argument = "ID", .kind = RD_OPT_NUMBER, .target = &v->thread,
		 .max = UINT64_MAX - 1, .help = "only samples of this thread"},
		{.name = "kind", .argument = "KIND", .kind = RD_OPT_CHOICE, .target = &v->kind, .words = kind_words,
		 .help = "only samples of this kind"},
		{.name = "module", .argument = "NAME", .kind = RD_OPT_TEXT, .target = &v->module,
		 .help = "only samples whose innermost frame is of this module"},
		{.name = "from", .argument = "TIME", .kind = RD_OPT_MOMENT, .target = &v->from,
		 .help = "only samples since TIME: seconds from the start, or ISO 8601 (UTC unless it has a zone); "
			 "widened to whole time buckets"},
		{.name = "to", .argument = "TIME", .kind = RD_OPT_MOMENT, .target = &v->to,
		 .help = "only samples before TIME, likewise"},
		{.name = "focus", .argument = "REGEX", .kind = RD_OPT_TEXT, .target = &v->focus,
		 .help = "only stacks with a frame that matches"},
		{.name = "ignore", .argument = "REGEX", .kind = RD_OPT_TEXT, .target = &v->ignore,
		 .help = "no stacks with a frame that matches"},
		{.name = "hide", .argument = "REGEX", .kind = RD_OPT_TEXT, .target = &v->hide,
		 .help = "take frames that match out of their stacks: their samples are their callers'"},
		{.name = "callers", .argument = "REGEX", .kind = RD_OPT_TEXT, .target = &v->callers,
		 .help = "only stacks with a frame that matches, from the root to the outermost of them"},
		{.name = "callees", .argument = "REGEX", .kind = RD_OPT_TEXT, .target = &v->callees,
		 .help = "the same stacks, from that frame inward"},
		{.name = "group", .argument = "BY", .kind = RD_OPT_CHOICE, .target = &v->group, .words = group_words,
		 .help = "a row, and a frame, for each of these instead of each method"},
		{.name = "by", .argument = "WHAT", .kind = RD_OPT_CHOICE, .target = &v->by, .words = by_words,
		 .help = "thread: a row a thread of each method; stacks begin with their thread (default method)"},
		{.name = "tiers", .kind = RD_OPT_FLAG, .target = &v->tiers,
		 .help = "a row for each compilation tier of a method"},
		{.name = "inverted", .kind = RD_OPT_FLAG, .target = &v->inverted,
		 .help = "stacks from the innermost frame out"},
		{.name = "min", .argument = "SHARE", .kind = RD_OPT_SHARE, .target = &v->min,
		 .help = "leave out what has fewer inclusive samples: 10, or 0.5% of those that pass; stacks are cut "
			 "there, and what was cut is a frame [pruned]"},
	};
	/* clang-format on */
	_Static_assert(sizeof rows / sizeof *rows == RD_VIEW_OPTIONS, "who makes room for them must know how many");
	memcpy(to, rows, sizeof rows);
	return RD_VIEW_OPTIONS;
}

size_t rd_view_options_of_names(struct rd_view_words *v, struct rd_option *to)
{
	static const char *const others[] = {"by", "thread", "trace", "inverted", "min"};
	struct rd_option all[RD_VIEW_OPTIONS];
	size_t n = 0, all_n = rd_view_options(v, all);

	for (size_t i = 0; i < all_n; i++) {
		bool other = false;
		for (size_t k = 0; k < sizeof others / sizeof *others; k++)
			other = other || strcmp(all[i].name, others[k]) == 0;
		if (!other)
			to[n++] = all[i];
	}
	return n;
}

bool rd_report_words(struct rd_report_words *w, int argc, char **argv, int *exit_code)
{
	const char *format_words[16];
	struct rd_view_words *v = &w->view;
	size_t n = 0;
	for (; rd_report_format(n) && n < 15; n++)
		format_words[n] = rd_report_format(n)->name;
	format_words[n] = NULL;

	/* clang-format off */
	const struct rd_option first_rows[] = {
		{.name = "format", .argument = "FORM", .help = "the form of the report (default text)",
		 .kind = RD_OPT_CHOICE, .target = &w->format, .words = format_words},
		RD_OPTION_OUTPUT(&w->output),
		{.name = "top", .argument = "N", .kind = RD_OPT_NUMBER, .target = &w->top, .max = UINT64_MAX - 1,
		 .help = "show N methods, 0 for all (default: text 30, others all)"},
		{.name = "sort", .argument = "BY", .kind = RD_OPT_CHOICE, .target = &w->sort, .words = sort_words,
		 .help = "order of methods (default exclusive; with --callers or --callees direct)"},
	};
	const struct rd_option last_rows[] = {
		{.name = "stacks", .kind = RD_OPT_FLAG, .target = &w->stacks,
		 .help = "json: all stacks too, and the samples of each over time"},
		{.name = "stats", .kind = RD_OPT_FLAG, .target = &w->stats,
		 .help = "text and json: what the work was made of, and how much reconciliation changed"},
		{.name = "digest", .kind = RD_OPT_FLAG, .target = &w->digest,
		 .help = "only one line of 32 hex digits, equal for equal contents"},
		RD_OPTIONS_PEOPLE(&w->people),
		RD_OPTION_STRICT(&w->strict),
		{.name = "broker", .argument = "ENDPOINT", .kind = RD_OPT_TEXT, .target = &w->client.broker,
		 .help = "RESULT is the id of a job there: its result, or while it runs the hottest methods so far"},
		RD_OPTIONS_SECURITY(&w->client.security),
	};
	struct rd_option options[sizeof first_rows / sizeof *first_rows + RD_VIEW_OPTIONS +
				 sizeof last_rows / sizeof *last_rows];
	size_t options_n = 0;
	memcpy(options, first_rows, sizeof first_rows);
	options_n += sizeof first_rows / sizeof *first_rows;
	options_n += rd_view_options(v, options + options_n);
	memcpy(options + options_n, last_rows, sizeof last_rows);
	options_n += sizeof last_rows / sizeof *last_rows;
	const struct rd_command_line line = {
		.name = NAME, .words = "RESULT...", .min_words = 1, .max_words = -1,
		.about = "Show a result of `rundown run`: the hottest methods, or all of it in a form for other tools.\n"
			 "Several are shown as one. With --broker: of a job, also while it runs.",
		.options = options, .options_n = options_n,
		.examples = examples, .notes = notes,
	};
	/* clang-format on */
	int first;
	if (!rd_options_parse(&line, argc, argv, &first, exit_code))
		return false;
	w->results = (const char *const *)(argv + first);
	w->results_n = (size_t)(argc - first);
	if (w->sort < 0 && (v->callers || v->callees) && rd_report_words_format(w)->has_rows)
		w->sort = RD_SORT_DIRECT;
	*exit_code = check_several(w);
	if (*exit_code == 0)
		*exit_code = check(w);
	if (*exit_code == 0 && w->client.broker)
		*exit_code = rd_client_check(&w->client, NAME);
	return *exit_code == 0;
}

void rd_view_words_filter(const struct rd_view_words *w, struct rd_view_filter *f)
{
	/* clang-format off */
	*f = (struct rd_view_filter){
		.process = w->process, .trace = w->trace, .module = w->module, .kind = w->kind,
		.has_thread = w->thread != RD_NO_THREAD, .thread = w->thread,
		.has_from = w->from.given, .from_is_utc = w->from.is_utc, .from_ns = w->from.ns,
		.has_to = w->to.given, .to_is_utc = w->to.is_utc, .to_ns = w->to.ns,
		.focus = w->focus, .ignore = w->ignore, .hide = w->hide,
		.callers = w->callers, .callees = w->callees,
		.group = w->group < 0 ? RD_GROUP_NONE : (enum rd_group)(w->group + 1),
		.tiers = w->tiers, .by_thread = w->by == BY_THREAD, .inverted = w->inverted,
		.min_samples = w->min.count, .min_millionths = w->min.millionths,
	};
	/* clang-format on */
}
