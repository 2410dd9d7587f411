/*
 * events - `rundown events TRACE...`: what kinds of events are in files, with their fields, and what documentation
 * calls them.
 */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/events_show.h"
#include "cli/options.h"
#include "cli/telling.h"

#define NAME "rundown events"

enum form { FORM_TEXT, FORM_JSON };

struct words {
	const char *const *traces;
	size_t traces_n;
	const char *output, *member;
	int format;
	struct rd_events_view view;
	bool matched;    /* some trace has what is asked for */
	char there[200]; /* what the first that has anything has instead */
};

#define NO_ID UINT64_MAX

static const char *const format_words[] = {"text", "json", NULL};
static const char *const sort_words[] = {"id", "count", "bytes", NULL};

static const char examples[] = "  rundown events shop.nettrace\n"
			       "  rundown events shop.nettrace --provider rundown --id 144\n"
			       "  rundown events server.etl.zip --sort bytes --format json | jq '.kinds[:5]'\n";

static const char notes[] =
	"Bytes are those of payloads. Fields are the file's own words (metadata, self-describing events, merged\n"
	"manifests) where it has any, else what rundown knows of the runtime's and the kernel's events. P is a "
	"pointer.\n"
	"\"published as\" tells under which name or id documentation has the event, where that is not what files "
	"hold.\n\n"
	"Exit code: 0 the trace is whole; 1 it cannot be read, or no trace has the\n"
	"provider or the id; 2 wrong usage; 3 it is cut or damaged, and what came whole is told.\n";

static int show_one(struct rd_telling *t, const struct rd_inspection *in, const char *path, const char *member,
		    struct rd_error *err)
{
	struct words *w = t->ctx;
	struct rd_shown shown = {.in = in, .path = path, .member = member};
	char there[sizeof w->there] = "";

	int code = w->matched ? 0 : rd_events_match(&shown, &w->view, there, sizeof there, err);
	if (code < 0)
		return code;
	w->matched |= code > 0;
	if (w->there[0] == 0)
		memcpy(w->there, there, sizeof there);
	if (t->json)
		return rd_events_json(&shown, &w->view, &t->j, err);
	if (t->shown > 0)
		rd_out_text(&t->output.out, "\n");
	return rd_events_text(&shown, &w->view, &t->output.out, err);
}

/* A name that nothing has is a mistake, as in `report`. */
static int end(struct rd_telling *t, struct rd_error *err)
{
	const struct words *w = t->ctx;
	char id[32] = "";

	if (w->matched || (w->view.provider == NULL && !w->view.by_id))
		return 0;
	if (w->view.by_id)
		snprintf(id, sizeof id, " of id %llu", (unsigned long long)w->view.id);
	return rd_fail(err, RD_NOT_FOUND, "no events%s%s%.40s%s; there are %s", id,
		       w->view.provider ? " of provider '" : "", w->view.provider ? w->view.provider : "",
		       w->view.provider ? "'" : "", w->there[0] ? w->there : "none");
}

static bool read_words(struct words *w, int argc, char **argv, int *exit_code)
{
	/* clang-format off */
	const struct rd_option options[] = {
		{.name = "provider", .argument = "NAME", .kind = RD_OPT_TEXT, .target = &w->view.provider,
		 .help = "only events of this provider: its GUID, its name, or a part of it"},
		{.name = "id", .argument = "N", .kind = RD_OPT_NUMBER, .target = &w->view.id, .max = UINT32_MAX,
		 .help = "only events of this id (classic and kernel events: opcode)"},
		{.name = "sort", .argument = "WHAT", .kind = RD_OPT_CHOICE, .target = &w->view.sort, .words = sort_words,
		 .help = "by provider and id, or the most first (default id)"},
		RD_OPTION_FORM(&w->format, format_words),
		{.name = "member", .argument = "NAME", .kind = RD_OPT_TEXT, .target = &w->member,
		 .help = "only this trace of an archive, by its name there, with or without its folders"},
		RD_OPTION_OUTPUT(&w->output),
	};
	const struct rd_command_line line = {
		.name = NAME, .words = "TRACE...", .min_words = 1, .max_words = -1,
		.about = "List the kinds of events in a trace: provider, id, version, name, fields, how many, how large,\n"
			 "and what documentation calls them.",
		.options = options, .options_n = sizeof options / sizeof *options,
		.examples = examples, .notes = notes,
	};
	/* clang-format on */
	int first;

	if (!rd_options_parse(&line, argc, argv, &first, exit_code))
		return false;
	w->view.by_id = w->view.id != NO_ID;
	w->traces = (const char *const *)(argv + first);
	w->traces_n = (size_t)(argc - first);
	return true;
}

int rd_cmd_events(int argc, char **argv)
{
	struct words w = {.format = FORM_TEXT, .view = {.id = NO_ID, .sort = RD_EVENTS_BY_ID}};
	struct rd_telling t = {.name = NAME, .one = show_one, .end = end, .ctx = &w};
	int exit_code;

	if (!read_words(&w, argc, argv, &exit_code))
		return exit_code;
	t.json = w.format == FORM_JSON;
	t.member = w.member;
	return rd_telling_run(&t, w.traces, w.traces_n, w.output);
}
