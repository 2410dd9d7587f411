/*
 * inspect - `rundown inspect TRACE...`: what is in files, before a night is spent on it.
 */
#include "broker/plan.h"
#include "cli/command.h"
#include "cli/inspect_show.h"
#include "cli/options.h"
#include "cli/telling.h"

#define NAME "rundown inspect"

enum form { FORM_TEXT, FORM_JSON };

struct words {
	const char *const *traces;
	size_t traces_n;
	const char *output, *member;
	int format;
	struct rd_inspect_plan plan;
};

static const char *const format_words[] = {"text", "json", NULL};

static const char examples[] = "  rundown inspect shop.nettrace\n"
			       "  rundown inspect server.etl.zip --format json | jq '.events'\n";

static const char notes[] =
	"Events are named by what identifies them in the file: GUID/id/version (ETL), classic:GUID/opcode/version,\n"
	"kernel/GROUP/opcode/version, Provider-Name/id/version (nettrace).\n"
	"A folder stands for all traces right in it, less those that a note says cannot be used. Each file is told by\n"
	"itself, also those that run joins. JSON is one object for one trace, and {\"traces\": [...]} for an archive of\n"
	"several, a folder and several words.\n\n"
	"Exit code: 0 the trace is whole; 1 it cannot be read; 2 wrong usage; 3 it is cut or damaged, and what came\n"
	"whole is told.\n";

static int show_one(struct rd_telling *t, const struct rd_inspection *in, const char *path, const char *member,
		    struct rd_error *err)
{
	const struct words *w = t->ctx;
	struct rd_shown shown = {.in = in, .path = path, .member = member};
	int code = rd_inspect_shards(in, &w->plan, &shown.shards, err);

	if (code < 0)
		return code;
	if (t->json)
		return rd_inspect_json(&shown, &t->j, err);
	if (t->shown > 0)
		rd_out_text(&t->output.out, "\n");
	return rd_inspect_text(&shown, &t->output.out, err);
}

static bool read_words(struct words *w, int argc, char **argv, int *exit_code)
{
	/* clang-format off */
	const struct rd_option options[] = {
		RD_OPTION_FORM(&w->format, format_words),
		{.name = "member", .argument = "NAME", .kind = RD_OPT_TEXT, .target = &w->member,
		 .help = "only this trace of an archive, by its name there, with or without its folders"},
		{.name = "shards", .argument = "N", .kind = RD_OPT_NUMBER, .target = &w->plan.shards, .min = 1,
		 .max = RD_SHARDS_MAX, .help = "how the trace would be cut into at most N shards"},
		{.name = "shard-size", .argument = "SIZE", .kind = RD_OPT_SIZE, .target = &w->plan.shard_bytes, .min = 1,
		 .help = "how it would be cut into shards of about SIZE"},
		{.name = "workers", .argument = "N", .kind = RD_OPT_NUMBER, .target = &w->plan.workers, .min = 1,
		 .max = 1024, .help = "how it would be cut for N workers (default: as many as run would start)"},
		RD_OPTION_OUTPUT(&w->output),
	};
	const struct rd_command_line line = {
		.name = NAME, .words = "TRACE...", .min_words = 1, .max_words = -1,
		.about = "Tell what is in a trace before a night is spent on it: recorder, machine, clock, processes, samples,\n"
			 "rundowns, keyframes, what is lacking, lost or damaged, shards, and events of every kind.",
		.options = options, .options_n = sizeof options / sizeof *options,
		.examples = examples, .notes = notes,
	};
	/* clang-format on */
	int first;

	if (!rd_options_parse(&line, argc, argv, &first, exit_code))
		return false;
	w->traces = (const char *const *)(argv + first);
	w->traces_n = (size_t)(argc - first);
	return true;
}

int rd_cmd_inspect(int argc, char **argv)
{
	struct words w = {.format = FORM_TEXT};
	struct rd_telling t = {.name = NAME, .one = show_one, .ctx = &w};
	int exit_code;

	if (!read_words(&w, argc, argv, &exit_code))
		return exit_code;
	if (w.plan.shards && w.plan.shard_bytes)
		return rd_usage(NAME, "--shards and --shard-size exclude each other");
	t.json = w.format == FORM_JSON;
	t.member = w.member;
	return rd_telling_run(&t, w.traces, w.traces_n, w.output);
}
