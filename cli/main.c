/*
 * main - the `rundown` command: find the subcommand and hand it its words.
 */
#include <string.h>
#include <unistd.h>

#include "base/out.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/family.h"
#include "cli/options.h"

static const struct command {
	const char *name;
	const char *about;
	int (*run)(int argc, char **argv);
} commands[] = {
	{"run", "work out where the time of a trace went, into a result", rd_cmd_run},
	{"report", "show a result: the hottest methods, or all of it as JSON, CSV, SQLite, pprof and more", rd_cmd_report},
	{"diff", "compare two results: what costs more or less, and whether that is more than noise", rd_cmd_diff},
	{"top", "show the hottest methods of several results side by side: nights and their trend", rd_cmd_top},
	{"inspect", "tell what is in a trace: machine, processes, rundowns, losses, damage, events", rd_cmd_inspect},
	{"events", "list the kinds of events in a trace: names, fields, and what documentation calls them", rd_cmd_events},
	{"submit", "give traces to a broker, whose workers do what `run` does", rd_cmd_submit},
	{"status", "tell what a broker is doing: all jobs, or one", rd_cmd_status},
	{"result", "where a job's result is, or a copy of it", rd_cmd_result},
	{"cancel", "end jobs", rd_cmd_cancel},
	{"retry", "try again what of jobs was given up", rd_cmd_retry},
	{"keys", "make the keys by which a broker and its peers know each other over tcp", rd_cmd_keys},
	{"capture-state", "write or check which providers Windows asks again and again for a rundown", rd_cmd_capture_state},
	{"il-map", "convert offsets of IL before and after a profiler rewrote a method", rd_cmd_il_map},
};
#define COMMANDS (sizeof commands / sizeof *commands)

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

static int unknown(const char *name)
{
	const char *names[COMMANDS + 2];

	for (size_t i = 0; i < COMMANDS; i++)
		names[i] = commands[i].name;
	names[COMMANDS] = "help";
	names[COMMANDS + 1] = NULL;
	if (name[0] == '-')
		return rd_usage("rundown", "unknown option %s", name);
	const char *near = rd_nearest_word(name, names);
	return rd_usage("rundown", "no such command: '%s'%s%s%s", name, near ? "; did you mean " : "", near ? near : "",
			near ? "?" : "");
}

/* What went to stdout, whole or not. */
static int close_stdout(struct rd_out *o)
{
	struct rd_error err;

	return rd_out_close(o, &err) == 0 ? RD_EXIT_OK : rd_complain("rundown", &err);
}

static int help(void)
{
	struct rd_out o;

	rd_out_init(&o, STDOUT_FILENO);
	rd_out_text(&o, "Usage: rundown COMMAND ...\n\n"
			"Profiles out of big .NET and Windows traces (.nettrace, .etl), on one machine or many.\n\n"
			"Commands:\n");
	for (size_t i = 0; i < COMMANDS; i++)
		rd_out_printf(&o, "  %-15s%s\n", commands[i].name, commands[i].about);
	rd_out_text(&o, "  help           show this, or with a command's name its options\n\n"
			"Examples:\n"
			"  rundown run shop.nettrace                 the hottest methods, and shop.nettrace.rundown/\n"
			"  rundown report shop.nettrace.rundown --sort inclusive --top 50\n"
			"  rundown diff monday.rundown tuesday.rundown --fail-over 5%\n"
			"  rundown top --by result nights/           a column for each result in a folder\n"
			"  rundown inspect shop.nettrace             what was recorded\n"
			"  rundown events shop.nettrace --sort bytes what fills the file\n");
	return close_stdout(&o);
}

static int help_about(const char *name)
{
	const struct command *c = find(name);
	char *words[] = {(char *)name, (char *)"--help", NULL};

	return c ? c->run(2, words) : unknown(name);
}

int main(int argc, char **argv)
{
	if (!rd_begin("rundown"))
		return RD_EXIT_FAILED;
	/* How `run` starts a daemon of its own again. */
	rd_program_fn daemon = argc > 0 ? rd_family_program(argv[0]) : NULL;
	if (daemon)
		return daemon(argc, argv);
	if (argc < 2)
		return rd_usage("rundown", "which command?");
	const char *name = argv[1];
	if (strcmp(name, "help") == 0 && argc > 2)
		return help_about(argv[2]);
	if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		return help();
	if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
		struct rd_out o;
		rd_out_init(&o, STDOUT_FILENO);
		rd_out_text(&o, "rundown " RD_VERSION "\n");
		return close_stdout(&o);
	}
	const struct command *c = find(name);
	return c ? c->run(argc - 1, argv + 1) : unknown(name);
}
